"""What is said about a report that cannot be judged: the sentences that several tests expect."""

NO_DRIVE = (
    'contains no SMART data: it describes no drive; '
    'call smartctl -x PATH; smartctl --scan lists the paths'
)
NOT_ASKED = (
    'contains no SMART data: smartctl was not asked for them; '
    'call smartctl with -x, or at least with -i -H -A'
)
IDENTITY = (
    'contains no SMART data: only the identity of the drive; '
    'call smartctl with -x, and with -d TYPE behind USB or RAID'
)
EMPTY = (
    'contains no SMART data: it is empty, because smartctl printed nothing; '
    'call smartctl -x PATH as root in a terminal, where it says why'
)
DISABLED = 'has SMART disabled, so its status means nothing; enable it: smartctl -s on PATH'
