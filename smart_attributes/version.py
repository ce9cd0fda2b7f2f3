"""The version, which the wheel, the Debian package and every output take from here."""

VERSION = '2.0.0'
