"""Constants that several parts share: durations, defaults for reading drives, input limits, JSON
versions.

This module is imported before the first process starts, so it imports only a module that Python has
already loaded.
"""

import sys

MINUTE = 60  # seconds
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MONTH = 30 * DAY
YEAR = 365.25 * DAY
# suffixes of a duration
LETTERS = {'m': MINUTE, 'h': HOUR, 'd': DAY, 'w': 7 * DAY, 'y': YEAR}

# FreeBSD installs packages below /usr/local, and has /var/run in place of /run. Source: FreeBSD,
# hier(7).
IS_FREEBSD = sys.platform.startswith('freebsd')
PACKAGES, RUN = ('/usr/local', '/var/run') if IS_FREEBSD else ('/usr', '/run')

SMARTCTL = f'{PACKAGES}/sbin/smartctl'
# drives read at once; the time is spent waiting for drives, not on this machine
PARALLEL = 64
DRIVE_TIMEOUT = 30.0  # seconds
TIMEOUT = 55.0  # seconds; Icinga ends a check after 60

# Version of each JSON document, by its command; schema/NAME.schema.json describes it. "messages":
# for a command without its own document. The launchers, which import nothing, repeat these
# versions.
DOCUMENTS = {
    'triage': 2,
    'list': 2,
    'history': 2,
    'metrics': 2,
    'fleet': 2,
    'doctor': 2,
    'messages': 2,
}

# --- limits of input: only damaged or hostile input exceeds them ----------------------------------
# LARGEST_: bytes
# a file of /sys or /proc; the kernel limits a file of /sys to a page
LARGEST_SYSTEM_FILE = 1 << 16
LARGEST_MOUNT_TABLE = 1 << 22  # a host of containers has thousands of mounts
LOG_PAGE = 512  # bytes of a vendor's NVMe log page
LARGEST_FILE = 4 << 20  # a report or a data file; the largest known one has 0.3 MB
# settings of a daemon or sudo, a list of drives (1,000 drives take 300 kB)
LARGEST_SMALL_FILE = 1 << 20
LARGEST_PASSWORD_FILE = 4096  # one line
LARGEST_HISTORY = 128 << 10  # history of a drive; 3 kB are usual
LARGEST_HISTORIES = 3 << 20  # histories of all drives: 1 s of CPU, 50 MB of RAM
# from a child process: 200 groups of 24 members take 0.5 MB
LARGEST_SENT = 16 << 20
LARGEST_DOCUMENT = 4 << 20  # triage --json of another host; 24 drives take 0.1 MB
LARGEST_SERVICE_LIST = 4 << 20  # from Icinga: 25,000 services
# from Icinga for one service; the plugin prints at most 65,000 bytes
LARGEST_ANSWER = 1 << 20
# for each further service; 20,000 bytes are usual for 24 drives
LARGEST_NEXT_ANSWER = 64 << 10
LARGEST_TABLE = 64 << 20  # all drives of a fleet's table or page
# LONGEST_: characters, or digits of a number
LONGEST_LIGHT = 300  # path of a locate LED in /sys, for a command, which is never cut
LONGEST_PATH = 255  # path of a device; file systems allow 255 bytes for a name
# name of an array, volume, pool or mount point: people choose these names
LONGEST_GIVEN_NAME = 200
# name of a drive as the name of a lock; file systems allow 255 bytes
LONGEST_DRIVE_NAME = 250
# model, serial number, firmware of another host; the standards allow 40
LONGEST_SIGNATURE = 80  # who acknowledged a value, as in the schema of limits
# host or service. Source: Icinga 2, name1 and name2 of icinga_objects
LONGEST_SERVICE_NAME = 255
LONGEST_LINE = 400  # line of a report; smartctl never prints a longer line
# a chat or a ticket system may make one line of a whole report
LONGEST_PASTED_LINE = 16_000
LONGEST_SEARCHED_LINE = 300  # line of an error message that is searched
LONGEST_EXAMINED = 8192  # searched text of all error messages of one call
# of a drive, in the first line; then its serial number is shorter
LONGEST_NAME_IN_LINE = 40
LONGEST_STATEMENT = 400  # text from a drive, which may have any length
LONGEST_TEXT = 500  # text from another host
# names of an attribute and of a family, in a draft
LONGEST_NAME = 60
LONGEST_FAMILY = 80
# output of a check on another host; Icinga's database keeps 65,535
LONGEST_OUTPUT = 256 << 10
# the part of this output that is searched for the cause of a failure
LONGEST_HEAD = 4096
# a raw value or a formula: twice the longest that smartctl prints
LONGEST_RAW = 64
LONGEST_RANGE = 308  # a number with more digits may be too large for a float
LONGEST_NUMBER = 40  # number in a data file; 48 bits have 15 digits
# int() of a million digits takes half a minute before Python 3.11
LONGEST_FOREIGN_NUMBER = 30
# MOST_, DEEPEST_: counts
# drives of a machine; a changing serial number must not fill a disk
MOST_DRIVES = 1000
# files in the folder of the history; a drive has at most seven
MOST_HISTORY_FILES = 8 * MOST_DRIVES
# series of a drive, and addresses at which it was found
MOST_SERIES = 300
MOST_PLACES = 200
MOST_FINDINGS = 8  # stored findings of a drive's last verdict, the worst ones
MOST_DRIVES_OF_HOST = 2_000  # drives in a document of another host
MOST_SLOTS = 256  # slots of one address with a range
MOST_ATTRIBUTES = 255  # a drive has about thirty; the attribute ID has 8 bits
# the largest ratio of any disk; a higher limit would hide errors
MOST_SECTORS_IN_ONE = 8
# lines of a report; real reports have less than half of this
MOST_LINES = 3000
# results of the background scan of a SCSI disk. Source: SBC-4, 6.4.2
MOST_RESULTS = 2048
MOST_SEARCHED_LINES = 200  # lines of an error message that are searched
# lines of an error message; a longer file must have smartctl's banner
MOST_FAILED_LINES = 50
MOST_CONTROLLERS = 16  # controllers for which a vendor's tool is run
# members of one group, mount points of one device
MOST_MEMBERS = 1024
MOST_MOUNT_POINTS = 8
# files and commands of a daemon's configuration, examined by doctor
MOST_FILES = 500
MOST_COMMANDS = 20
# reported errors of one data file: a million would take minutes
MOST_ERRORS = 100
# of a part of a pattern, if all {n} in it are nested; takes 120 MB
MOST_REPETITIONS = 1_000_000
# entries of a list, and points of a history, in a document of another host
MOST_ENTRIES = 200
MOST_POINTS = 2_000
MOST_VALUES = 20_000  # values in the perfdata of one check
# unreadable answers of Icinga, after which the query is stopped
MOST_UNREAD = 20
# groups of a fleet, and drives to replace; all others are only counted
MOST_GROUPS = 1_000
MOST_ROWS = 25_000  # rows of a fleet's table
MOST_OTHERS = 500  # drives on a page that neither alert nor need an action
# layers of groups in /sys; files that include each other
DEEPEST_GROUPS = 16
DEEPEST_INCLUDE = 6
# levels; level 5: a device in spare-0 in replacing-0 in spare-6 in a dRAID
DEEPEST_IN_POOL = 8
# HIGHEST_: values
HIGHEST_COUNTER = 2**128  # exclusive: range of the widest counter (NVMe)
# exclusive: the eighth byte states whether the drive supports the number
HIGHEST_IN_FARM = 2**56
# number in the history; sums of two larger numbers could be infinite
HIGHEST_STORED = 1e30
# percentage in the history; capacitors may have more than 255 %
HIGHEST_PERCENTAGE = 1000
HIGHEST_ENDURANCE = 255  # %, in an entry; the largest value of the standards
# %, for drives that count beyond 255; 40,182 drives reported at most 470
HIGHEST_BEYOND = 999

# The text in column WHEN_FAILED, in any of smartctl's layouts -> AttributeRow.when_failed.
WHEN_FAILED = {
    '-': '',
    'FAILING_NOW': 'now',
    'NOW': 'now',
    'In_the_past': 'past',
    'Past': 'past',
}
# bytes of text and perfdata; NRPE passes 65,505, Icinga's IDO keeps 65,535 of each
OUTPUT_LIMIT = 65000
# Output limits in bytes for programs that exit right after printing, such as check_nrpe: Nagios 4.4
# reads only two blocks of 4,096 bytes from them.
KEPT_BEHIND_NRPE = 8192
BEHIND_NRPE = 8000
