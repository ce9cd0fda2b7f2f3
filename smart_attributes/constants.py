"""Constants that several parts share: durations, defaults of options about reading drives, the JSON version.

Imported before the first process starts, so it imports nothing.
"""

MINUTE = 60  # seconds
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MONTH = 30 * DAY
YEAR = 365.25 * DAY
LETTERS = {'m': MINUTE, 'h': HOUR, 'd': DAY, 'w': 7 * DAY, 'y': YEAR}  # that people write behind their numbers

SMARTCTL = '/usr/sbin/smartctl'
PARALLEL = 64         # drives at once; the drives take the time, not this machine
DRIVE_TIMEOUT = 30.0  # seconds
TIMEOUT = 55.0        # seconds; Icinga ends a check after 60

DOCUMENT = 2  # version of each JSON document; the starters of the program, which import nothing, have it as well
