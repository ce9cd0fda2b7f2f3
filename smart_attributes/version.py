"""The version, which the wheel, the Debian package and every output take from here."""

VERSION = '2.0.0'
DOCUMENT = 2   # of each JSON document; the program's starters, which import nothing, have the number as well
