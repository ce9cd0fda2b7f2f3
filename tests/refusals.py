"""What is said about a report that cannot be judged: the sentences that several tests expect."""

NO_DRIVE = (
    'contains no SMART data: it names no drive; '
    'run smartctl -x PATH, with a PATH from smartctl --scan'
)
NOT_ASKED = (
    'contains no SMART data: smartctl was not asked for it; call smartctl with -x'
)
IDENTITY = (
    'contains no SMART data: only the identity of the drive; '
    'run smartctl with -x; for a drive behind USB or RAID, also with -d TYPE'
)
EMPTY = (
    'contains no SMART data: it is empty, because smartctl printed nothing; '
    'run smartctl -x PATH as root in a terminal to see why'
)
DISABLED = (
    'has SMART disabled, so its status means nothing; enable it: smartctl -s on PATH'
)
