"""Constants that several parts share: durations, defaults of options about reading drives, the JSON version.

Imported before the first process starts, so it imports nothing but a module that Python has loaded already.
"""
import sys

MINUTE = 60  # seconds
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MONTH = 30 * DAY
YEAR = 365.25 * DAY
LETTERS = {'m': MINUTE, 'h': HOUR, 'd': DAY, 'w': 7 * DAY, 'y': YEAR}  # suffixes of a duration

# FreeBSD installs packages below /usr/local, and has /var/run in place of /run. Source: FreeBSD, hier(7).
IS_FREEBSD = sys.platform.startswith('freebsd')
PACKAGES, RUN = ('/usr/local', '/var/run') if IS_FREEBSD else ('/usr', '/run')

SMARTCTL = f'{PACKAGES}/sbin/smartctl'
PARALLEL = 64         # drives read at once; the time is spent waiting for drives, not on this machine
DRIVE_TIMEOUT = 30.0  # seconds
TIMEOUT = 55.0        # seconds; Icinga ends a check after 60

LONGEST_STATEMENT = 400  # characters; text from a drive may be of any length

ENDINGS = ('failed', 'retired', 'unknown')  # how a drive can end, in the ledger of a fleet

DOCUMENT = 2  # version of each JSON document; the launchers import nothing and hold a copy of it
