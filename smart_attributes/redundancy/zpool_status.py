"""Parse the output of `zpool status -P` into trees of devices. Pure.

Names can contain anything, because anyone who may write to a disk can choose them. If a line cannot
be parsed, the pool
counts as unknown: a pool without the line of a failed device would look healthy.
Sources: OpenZFS 0.8 to 2.4, cmd/zpool/zpool_main.c (status_callback, print_status_config).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..constants import DEEPEST_IN_POOL
from ..typed import NamedTuple
from .survival import doubt

_POOL = '  pool: '  # begins the lines of a pool
# classes of virtual devices that have a heading
_CLASSES = ('dedup', 'special', 'logs', 'cache', 'spares')
REMEDY = 'scrub the pool, then clear its errors'
ABOVE = 'it has errors that belong to no single device'
RESILVERING = ('resilvering', 'awaiting resilver')
_ODD_ROW = 'a row of the table has an unknown format'
# The lines about a pool, in their order. Only "scan" may be repeated, and "errors" if the error
# list is unreadable.
_KEYS = (
    'pool',
    'state',
    'status',
    'action',
    'see',
    'scan',
    'scan warning',
    'remove',
    'checkpoint',
    'expand',
    'config',
    'errors',
)
_FIELD = f' {{0,4}}({"|".join(_KEYS)}):(?: (.*))?'
_CLASS = f'\t({"|".join(_CLASSES)})[\t ]*'
_COUNT = r'[0-9][0-9.,]{0,20}[KMGTPEZ]?'
# The table, in which "further" are columns of newer versions:
#   NAME        STATE     READ WRITE CKSUM
#   tank        DEGRADED     0     0     0
#     sda       FAULTED      3     0     0  too many errors
_HEAD = '\tNAME +  (?P<state>STATE) +READ +WRITE +CKSUM(?P<further>(?: +(?:SLOW|POWER|DIO))*)'
# the part of a row from the state on
_STATE = re.compile(
    '(?P<state>ONLINE|DEGRADED|FAULTED|OFFLINE|REMOVED|UNAVAIL|SPLIT|AVAIL|INUSE) *'
    f'(?:(?<= )(?P<counts>{_COUNT} +{_COUNT} +{_COUNT})'
    f'(?P<further>(?: +(?:-|on|off|{_COUNT}))*)(?= |$))?(?:  (?P<remarks>.*))?'
)
# Remarks after the counts of a working device, apart from RESILVERING and reasons in words.
_HARMLESS = (
    r'\((?:repairing|removing|non-allocating|initializing|trimming|trim unsupported'
    r'|(?:un|[0-9]{1,3}% )(?:initialized|trimmed)(?:, completed at [^()]*)?)\)'
    '|block size: [0-9]{1,9}B configured, [0-9]{1,9}B native'
)
_PERCENT = r'\b([0-9]{1,3}[.,][0-9]{1,2})% done'
_RUNNING = r'(resilver|scrub)(?: \((.*)\))? in progress\b'
_AT_REST = (
    'resilvered |resilver (?:\\(.*\\) )?canceled |scrub (?:repaired|canceled|paused) |scrubbed '
    '|error scrub |none requested'
)
_SUSPENDED = 'ZFS-8000-(?:HC|JQ)|response to IO failures|suspended'
# Key, pattern of texts that raise a doubt, the doubt as a clause, and what removes the doubt.
_DOUBTS = (
    (
        'expand',
        r'\A(?!expanded )',
        'its expansion has not ended',
        'wait until it has ended',
    ),
    (
        'errors',
        r'\A(?!No known data errors\s*\Z)',
        'zpool reports data errors in it',
        REMEDY,
    ),
    (
        'scan',
        ' with (?!0 )[0-9]+ errors ',
        'its last scrub or resilver found errors that it could not repair',
        REMEDY,
    ),
    ('scan', r'\Aresilver (?:\(.*\) )?canceled ', 'its resilver was canceled', REMEDY),
)


class Vdev(NamedTuple):
    """A virtual device: one device or a group of devices."""

    name: str
    state: str  # as printed: "ONLINE", "DEGRADED", ...
    detail: str  # the reason for its state: "too many errors", "was /dev/sda1"
    path: str  # path of a device; '' if its present path is unknown
    is_resilvering: bool  # or waits for a resilver
    has_errors: bool  # a count above 0; failed writes are lost
    children: tuple[Vdev, ...] = ()

    def leaves(self) -> Iterator[Vdev]:
        """Yield the devices at the lowest level."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    @property
    def lacks_data(self) -> bool:
        """Return whether any device at the lowest level resilvers, or waits for a resilver."""
        return any(leaf.is_resilvering for leaf in self.leaves())


# the depth of a row of the table, 0 for the pool, and its content
Row = tuple[int, Vdev]


class Scan(NamedTuple):
    """A running resilver or scrub."""

    function: str  # "resilver" or "scrub"
    vdev: str = ''  # the only virtual device to resilver; '': all that need it
    progress: float | None = None  # %


class Pool(NamedTuple):
    """A pool as zpool reports it."""

    name: str
    state: str = ''
    scans: tuple[Scan, ...] = ()
    vdevs: tuple[Vdev, ...] = ()  # only virtual devices that hold data of the pool
    logs: tuple[Vdev, ...] = ()
    cache: tuple[Vdev, ...] = ()
    spares: tuple[Vdev, ...] = ()  # that work and replace no device yet
    unknown: str = ''  # why its redundancy is not known
    doubts: tuple[str, ...] = ()  # why working devices may lack data

    @property
    def in_use(self) -> tuple[Vdev, ...]:
        """Return all virtual devices except for spares."""
        return (*self.vdevs, *self.logs, *self.cache)


class _NotUnderstood(ValueError):
    """The output differs from the format that the sources describe."""


def pools(text: str) -> tuple[Pool, ...]:
    """Return the pools in the output of `zpool status -P`; no pools if the format is unknown.

    If a pool occurs twice or cannot be parsed, only its name and `unknown` are set.
    """
    by_name: dict[str, Pool] = {}
    for pool in map(_of_text, _sections(text)):
        twice = Pool(pool.name, unknown='zpool reports two pools with this name')
        by_name[pool.name] = twice if pool.name in by_name else pool
    return tuple(by_name.values())


def _sections(text: str) -> list[str]:
    """Return the text about each pool. What precedes the first pool is added to it, so its parsing
    fails.
    """
    before, *sections = re.split(f'^(?={_POOL})', text, flags=re.MULTILINE)
    if sections:
        sections[0] = before + sections[0]
    return sections


def _of_text(text: str) -> Pool:
    """Return the pool that a text is about; only its name and `unknown` if it cannot be parsed."""
    lines = text.split('\n')
    pool_line = next(line for line in lines if line.startswith(_POOL))
    name = pool_line.removeprefix(_POOL)
    try:
        fields = _fields(lines)
        state = fields['state'][0]
        rows = _rows(fields['config'][0])
        root = _root(rows['normal'], name, state)
        of_class = {kind: _trees(rows.get(kind, []), 1) for kind in _CLASSES}
    except _NotUnderstood as error:
        return Pool(
            name, unknown=f'the output of zpool status is not understood ({error})'
        )
    remarks = [*fields.get('see', ()), *fields.get('status', ())]
    if re.search(_SUSPENDED, ' '.join(remarks)):
        state = 'SUSPENDED'
    return Pool(
        name,
        state,
        scans=tuple(filter(None, map(_scan, fields.get('scan', [])))),
        vdevs=(*root.children, *of_class['dedup'], *of_class['special']),
        logs=of_class['logs'],
        cache=of_class['cache'],
        spares=tuple(spare for spare in of_class['spares'] if spare.state == 'AVAIL'),
        doubts=tuple(_doubts(fields, root)),
    )


def _doubts(fields: Mapping[str, list[str]], root: Vdev) -> Iterator[str]:
    """Yield why working devices may lack data. root: the row of the pool."""
    for key, pattern, why, remedy in _DOUBTS:
        if any(re.search(pattern, text) for text in fields.get(key, ())):
            yield doubt(why, remedy)
    if root.has_errors:
        yield doubt(ABOVE, REMEDY)


def _fields(lines: list[str]) -> dict[str, list[str]]:
    """Return the texts under each key, with their continuation lines. Raises _NotUnderstood."""
    fields: dict[str, list[str]] = {}
    key = ''
    allowed: tuple[str, ...] = _KEYS  # the keys that may follow
    for line in lines:
        match = re.fullmatch(_FIELD, line)
        if match:
            key = match[1]
            if key not in allowed:
                raise _NotUnderstood(f'"{key}" is not expected there')
            # the keys follow in this order; only these two may be repeated
            rank = _KEYS.index(key)
            allowed = _KEYS[rank:] if key in ('scan', 'errors') else _KEYS[rank + 1 :]
            fields.setdefault(key, []).append(match[2] or '')
            continue
        is_continuation = line.startswith('\t') and key not in ('', 'errors')
        if line and not is_continuation:
            raise _NotUnderstood('a line has an unknown format')
        # an empty line can come before the first key
        if key:
            fields[key][-1] += f'\n{line}'
    for key in ('pool', 'state', 'config', 'errors'):
        if key not in fields:
            raise _NotUnderstood(f'"{key}" is missing')
    return fields


def _rows(config: str) -> dict[str, list[Row]]:
    """Return the rows of a table by class: "logs", ..., and "normal" for those before the first
    heading, which begin with the row of the pool. Raises _NotUnderstood.
    """
    head_line, *lines = config.strip('\n').split('\n')
    head = re.fullmatch(_HEAD, head_line)
    if not head:
        raise _NotUnderstood('the table has unexpected columns')
    column = head.start('state')
    further_columns = len(head['further'].split())
    name = 'normal'
    of_class: dict[str, list[Row]] = {name: []}
    for line in lines:
        heading = re.fullmatch(_CLASS, line)
        if not heading:
            of_class[name].append(_row(line, column, further_columns))
            continue
        name = heading[1]
        if name in of_class:
            raise _NotUnderstood(f'"{name}" occurs twice')
        of_class[name] = []
    return of_class


def _root(rows: list[Row], pool: str, state: str) -> Vdev:
    """Return the row of the pool with its virtual devices as children. rows: those before the first
    heading. pool, state: what the lines before the table say. Raises _NotUnderstood.
    """
    roots = _trees(rows, 0)
    if [root.name for root in roots] != [pool]:
        raise _NotUnderstood('the table does not begin with the pool')
    (root,) = roots
    if state not in (root.state, 'SUSPENDED'):
        raise _NotUnderstood('zpool reports two different states for the pool')
    return root


def _row(line: str, column: int, further_columns: int) -> Row:
    """Return the depth of a row of the table, 0 for the pool, and its content.

    column: where the state begins. further_columns: number of columns after the usual ones. Raises
    _NotUnderstood.
    """
    indented = line[1:column].rstrip(' ')  # after a tab: "  sda"
    name = indented.strip(' ')
    indent = len(indented) - len(name)
    match = _STATE.fullmatch(line, column)
    is_printable = line[:1] == '\t' and line[1:].isprintable()
    is_in_column = line[column - 2 : column] == '  '
    if not match or not is_printable or not is_in_column:
        raise _NotUnderstood(_ODD_ROW)
    state, counts, further, remarks = match.groups('')
    # a spare, for example, has no counts at all
    has_wrong_columns = counts and len(further.split()) != further_columns
    if has_wrong_columns or indent % 2 or indent // 2 > DEEPEST_IN_POOL:
        raise _NotUnderstood(_ODD_ROW)
    is_resilvering = False
    reasons = []
    for remark in remarks.split('  '):
        if remark.strip('()') in RESILVERING:
            is_resilvering = True
        elif remark and not re.fullmatch(_HARMLESS, remark):
            reasons.append(remark)
    if reasons and state == 'ONLINE':
        raise _NotUnderstood(
            'zpool prints an unknown remark beside a device that is ONLINE'
        )
    detail = ', '.join(reasons)
    # True also for '', which stands for no counts.
    are_counts_zero = re.fullmatch('[0., ]*', counts)
    vdev = Vdev(
        name,
        state,
        detail,
        path=path_of(name, state, detail),
        is_resilvering=is_resilvering,
        has_errors=not are_counts_zero,
    )
    return indent // 2, vdev


def _trees(rows: list[Row], depth: int) -> tuple[Vdev, ...]:
    """Return the rows at a depth as virtual devices, whose children are the deeper rows that
    follow. Raises _NotUnderstood.
    """
    trees: list[tuple[Vdev, list[Row]]] = []
    for row in rows:
        row_depth, vdev = row
        if row_depth == depth:
            trees.append((vdev, []))
        elif row_depth > depth and trees:
            _, below = trees[-1]
            below.append(row)
        else:
            raise _NotUnderstood('a row of the table is indented too far')
    return tuple(
        vdev._replace(children=_trees(below, depth + 1)) for vdev, below in trees
    )


def path_of(name: str, state: str, detail: str) -> str:
    """Return the path of a device; '' if another device may have received this path, and for a name
    that is not a path, such as "mirror-0".

    A device that is gone keeps its last path, but the kernel gives a free name such as sdc to the
    next disk. Names below /dev/disk/by-id are made from device data. detail: see Vdev.
    """
    is_renamed = detail.startswith('was ')
    is_gone = is_renamed or state in ('UNAVAIL', 'REMOVED')
    path = detail.removeprefix('was ') if is_renamed else name
    if is_gone:
        return path if path.startswith('/dev/disk/by-id/') else ''
    return path if path.startswith('/') else ''


def _scan(text: str) -> Scan | None:
    """Return the running scan that a text describes; None if no scan is running.

    An unknown text is treated as a possible resilver.
    """
    running = re.match(_RUNNING, text)
    if not running:
        return None if re.match(_AT_REST, text) else Scan('resilver')
    percent = re.search(_PERCENT, text)
    progress = min(100.0, float(percent[1].replace(',', '.'))) if percent else None
    return Scan(running[1], running[2] or '', progress)
