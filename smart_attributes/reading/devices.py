"""Addresses: what an admin writes, or smartctl's scan prints, becomes Devices.

Pure functions, and the only place that knows the types smartctl takes after -d.
"""

import re
from collections import Counter
from itertools import product
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Pattern, Sequence, Tuple

from ..errors import SmartError, UsageError
from ..model import Device, Identity
from ..words import clean

MAX_SLOTS = 256


class DeviceType(NamedTuple):
    """One type of smartctl's -d option."""

    form: str                # as shown to people: "areca,N[/E]"
    arguments: str = ''      # regular expression of what may follow the name
    is_scsi: bool = False    # "sat+" or "scsi+" may stand before it
    slots: Tuple[Tuple[int, int], ...] = ()  # lowest and highest number of each N of the form
    nodes: str = ''          # regular expression of the paths below /dev that it belongs to; '': any drive's
    is_vendors: bool = False  # asks with vendor commands, which another disk under that path would get as well

    @property
    def name(self) -> str:
        """The type without its arguments: "areca"."""
        return re.split(r'[],[/]', self.form)[0]


_NSID = r'(,0x[0-9a-f]{1,8})?'
_SAT_OR_NVME = r'(/sat)?'

# Source: smartctl(8) and get_smart_device(), get_custom_smart_device(),
# get_sat_device(), get_snt_device() of smartmontools 7.3 and 7.5. Where
# smartctl checks no upper limit (megaraid, aacraid), 16 bits are the limit.
TYPES = (
    DeviceType('ata'),
    DeviceType('scsi', is_scsi=True),
    DeviceType('nvme[,0xNSID]', _NSID),
    DeviceType('sat[,auto][,N]', r'(,auto)?(,0|,12|,16)?'),
    # usbcypress takes an operation code, too; a wrong one may damage the drive (smartctl(8)).
    DeviceType('usbcypress', is_vendors=True),
    DeviceType('usbjmicron[,p][,x][,PORT]', r'(,p)?(,x)?(,[01])?', is_vendors=True),
    DeviceType('usbprolific', is_vendors=True),
    DeviceType('usbsunplus[/sat]', _SAT_OR_NVME, is_vendors=True),
    DeviceType('usbasm1352r,PORT', r',[01]', is_vendors=True),
    DeviceType('sntasmedia[/sat]', _SAT_OR_NVME, is_vendors=True),
    DeviceType('sntjmicron[,0xNSID][/sat]', _NSID + _SAT_OR_NVME, is_vendors=True),
    DeviceType('sntrealtek[/sat]', _SAT_OR_NVME, is_vendors=True),
    DeviceType('marvell', is_vendors=True),
    DeviceType('atacam'),  # FreeBSD's scan prints it
    # WRITE BUFFER to whatever has that /dev/sgN, which every disk may have.
    DeviceType('areca,N[/E]', slots=((1, 128), (1, 8)), nodes='sg[0-9]+', is_vendors=True),
    DeviceType('3ware,N', slots=((0, 127),), nodes='tw[ael][0-9]+'),
    DeviceType('hpt,L/M[/N]', slots=((1, 8), (1, 128), (1, 15))),
    DeviceType('megaraid,N', is_scsi=True, slots=((0, 65535),)),
    DeviceType('mpi3mr,N', is_scsi=True, slots=((0, 65535),)),
    DeviceType('aacraid,H,L,ID', is_scsi=True, slots=((0, 65535),) * 3),
    DeviceType('cciss,N', is_scsi=True, slots=((0, 127),)),
    DeviceType('sssraid,E,S', is_scsi=True, slots=((0, 65535),) * 2),
)
_TYPE = {entry.name: entry for entry in TYPES}

# What smartctl knows and a check must not use, with the reason.
_TUNNEL = 'sends its commands by writing to a sector of the volume; a check must not write'
REFUSED = {
    'jmb39x': _TUNNEL,
    'jmb39x-q': _TUNNEL,
    'jmb39x-q2': _TUNNEL,
    'jms56x': _TUNNEL,
    # Two checks at once would read one drive under the name of the other.
    'intelliprop': 'switches the bridge from drive to drive by writing to one of its logs; a check must not write',
    'test': 'only tells how smartctl would open the drive',
}

# The expressions are compiled where they are used (re keeps them): an import must not pay for those it does not need.
TUNNELS = r'(?:sat(,auto)?(,0|,12|,16)?|scsi)\+'

# One slot, "0-7", or "[0-7,16]"; without brackets a list is clear where the type takes one number.
_SLOT = r'(\[[0-9,-]+\]|[0-9]+(?:-[0-9]+)?)'
_ONLY_SLOT = r'(\[[0-9,-]+\]|[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*)'

# What stands in a path: udev's names under /dev/disk; on macOS, the registry path that scans print.
_SIGNS = frozenset('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:+=@-')
_MACOS = 'IOService:'
_MACOS_SIGNS = _SIGNS | frozenset(',()')
_LONGEST_PATH = 255
# Doors to other files, to memory, to terminals, and a device that reboots when it is opened and left.
_NO_DRIVES = frozenset((
    'shm', 'fd', 'stdin', 'stdout', 'stderr', 'mqueue', 'hugepages', 'mem', 'kmem', 'port', 'kmsg', 'core', 'log',
    'initctl', 'console', 'ptmx', 'pts', 'input', 'net', 'cpu', 'snapshot'))
_NO_DRIVE_FAMILIES = ('tty', 'vcs', 'watchdog')
# Block devices that have no SMART: optical, tape, memory, mapped, remote.
_VIRTUAL = (r'/dev/(?:sr|scd|cdrom|st|nst|zram|ram|loop|md|dm-|mapper/|fd|nbd|rbd|drbd|zd|bcache)[^/]*'
            r'|/dev/disk/by-path/.*iscsi.*')


def parse(text: str) -> List[Device]:
    """Return the devices that an address means: one, or one for each slot of a range.

    TYPE@PATH, PATH, a line of smartctl's scan ("PATH -d TYPE"), and what the
    original plugin took ("megaraid6,/dev/sda", "cciss,1_/dev/sg2", …).
    Names are unique only after named(). Raises UsageError.
    """
    wanted, path = _split(text)
    _check_path(path, text)
    types, is_range = _expand(_modern(wanted), path, text)
    return [_with_short_name(Device(path, each, optional=is_range)) for each in types]


def _split(text: str) -> Tuple[str, str]:
    """Return type and path of an address, the type still as written."""
    if not text.isascii() or not text.isprintable():
        raise UsageError(f'{_quoted(ascii(text)[1:-1])} holds characters that no device address has; '
                         'write it again by hand')
    if text.startswith('/dev/') and ' ' not in text:
        return '', text
    words = re.fullmatch(r'(\S+) -d (\S+)(?: #.*)?', text)
    if words:  # as smartctl's scan prints it
        return words[2], words[1]
    start = re.search(rf'/dev(?:/|$)|{_MACOS}', text)
    if not start:
        raise UsageError(_without_path(text))
    before = re.sub(r'^-d ?', '', text[:start.start()])
    if before == '@' or (before and before[-1] not in '@, _'):
        raise UsageError(f'{_quoted(text)}: type and device are written TYPE@PATH, such as megaraid,6@/dev/bus/0')
    return before[:-1], text[start.start():]


def _quoted(text: str) -> str:
    """Return what the admin (or a scan) wrote, fit for a sentence."""
    return f'"{clean(text)}"'


def _without_path(text: str) -> str:
    """Return the sentence for an address that names no path under /dev."""
    name = re.split(r'[,0-9\[+]', text)[0] if not text.startswith('3ware') else '3ware'
    if name in _TYPE or name in REFUSED:
        return f'{_quoted(text)} names a type but no device; write TYPE@PATH, such as megaraid,6@/dev/bus/0'
    if re.fullmatch(r'[a-z][a-z0-9]{1,15}', text):
        return f'{_quoted(text)} is no device; write /dev/{text}'
    return f'{_quoted(text)} is no device; write a path such as /dev/sda, or TYPE@PATH such as megaraid,6@/dev/bus/0'


def _check_path(path: str, text: str) -> None:
    parts = path.split('/')
    if '..' in parts or '.' in parts:
        raise UsageError(f'{_quoted(text)}: a device path has no . and .. in it; write the path that it leads to')
    if not _is_path(parts) or len(path) > _LONGEST_PATH:
        raise UsageError(f'{_quoted(text)} holds no device path; write one under /dev, such as /dev/sda, '
                         'made of letters, digits and . _ : + = @ - only')
    if parts[0] == '' and (parts[2] in _NO_DRIVES or parts[2].startswith(_NO_DRIVE_FAMILIES)):
        raise UsageError(f'{_quoted(text)} is no drive; write the path of one, such as /dev/sda')


def _is_path(parts: List[str]) -> bool:
    if parts[:2] == ['', 'dev']:
        rest, signs = parts[2:], _SIGNS
    else:
        rest, signs = parts[1:] if parts[0] == _MACOS else [], _MACOS_SIGNS
    return bool(rest) and all(part and signs.issuperset(part) for part in rest)


def _modern(wanted: str) -> str:
    """Return a type in smartctl's spelling: the original plugin took "megaraid6" and "areca1/1"."""
    glued = '|'.join(entry.name for entry in TYPES if entry.slots)
    return re.sub(rf'(?<![^+])({glued})(?=[0-9\[])', r'\1,', wanted)


def _expand(wanted: str, path: str, text: str) -> Tuple[List[str], bool]:
    """Return the exact types that *wanted* means, and whether it is a range."""
    if wanted in ('', 'auto'):
        return [''], False
    tunnel = re.match(TUNNELS, wanted)
    base = wanted[tunnel.end():] if tunnel else wanted
    entry = _entry(base, text)
    if tunnel and not entry.is_scsi:
        raise UsageError(f'{_quoted(text)}: {entry.name} is not reached through {tunnel[0]}; '
                         f'write {clean(base)}@{path}')
    if not entry.slots:
        if not re.fullmatch(re.escape(entry.name) + entry.arguments, base):
            raise UsageError(f'{_quoted(text)}: the type is written {entry.form}')
        return [wanted], False
    bases, is_range = _slots(entry, base, text)
    return [(tunnel[0] if tunnel else '') + each for each in bases], is_range


def _entry(base: str, text: str) -> DeviceType:
    name = re.split(r'[],[/+]', base)[0]
    if name in REFUSED:
        raise UsageError(f'{_quoted(text)}: {name} is refused, because it {REFUSED[name]}')
    if 'force' in re.split(r'[,+]', base):
        raise UsageError(f'{_quoted(text)}: force is refused, because it takes away a guard of smartctl; leave it out')
    if name not in _TYPE:
        raise UsageError(f'{_quoted(text)}: the type {clean(name)} is not known; write one of '
                         + ', '.join(entry.form for entry in TYPES))
    return _TYPE[name]


def _slots(entry: DeviceType, base: str, text: str) -> Tuple[List[str], bool]:
    """Return the RAID types that *base* means: "megaraid,[0-1]" is megaraid,0 and megaraid,1."""
    written = _slot_pattern(entry).fullmatch(base)
    if not written:
        raise UsageError(f'{_quoted(text)}: the type is written {entry.form}, '
                         'with numbers, or with ranges such as [0-7,16]')
    groups = [group for group in written.groups() if group is not None]
    choices = [_numbers(group, limits, entry, text) for group, limits in zip(groups, entry.slots)]
    separator = '/' if '/' in entry.form else ','
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > MAX_SLOTS:
        raise UsageError(f'{_quoted(text)} means {count} slots; at most {MAX_SLOTS} are looked at')
    bases = [f'{entry.name},' + separator.join(map(str, numbers)) for numbers in product(*choices)]
    return bases, any(not group.isdigit() for group in groups)


def _slot_pattern(entry: DeviceType) -> Pattern[str]:
    """Return the regular expression of a RAID type, one group for each number of its form."""
    if len(entry.slots) == 1:
        return re.compile(f'{entry.name},{_ONLY_SLOT}')
    pattern = re.escape(entry.form).replace(r'\[', '(?:').replace(r'\]', ')?')
    return re.compile(re.sub(r'[A-Z]+', lambda _: _SLOT, pattern))


def _numbers(written: str, limits: Tuple[int, int], entry: DeviceType, text: str) -> List[int]:
    """Return the slots of "6", "0-7" or "[0-7,16]", each once, in the order written."""
    numbers: Dict[int, None] = {}
    for item in written.strip('[]').split(','):
        ends = re.fullmatch(r'([0-9]{1,6})(?:-([0-9]{1,6}))?', item)
        if not ends:
            raise UsageError(f'{_quoted(text)}: {written} is no range; write it like 0-7 or [0-7,16]')
        low, high = int(ends[1]), int(ends[2] or ends[1])
        if low > high:
            raise UsageError(f'{_quoted(text)}: the range {item} runs backwards; write {high}-{low}')
        if low < limits[0] or high > limits[1]:
            raise UsageError(f'{_quoted(text)}: numbers of {entry.form} go from {limits[0]} to {limits[1]} here')
        numbers.update(dict.fromkeys(range(low, high + 1)))
    return list(numbers)


def is_raid(device: Device) -> bool:
    """Tell whether the type picks one of several drives behind a controller."""
    entry = _TYPE.get(_base(device).partition(',')[0])
    return bool(entry and entry.slots)


def _base(device: Device) -> str:
    """Return the type without what only tunnels: "sat+megaraid,6" is megaraid,6."""
    return device.type.rpartition('+')[2]


# Names

def named(devices: Iterable[Device]) -> List[Device]:
    """Return the devices, each address once and each under a name that no other has.

    A name is as short as the others allow, in [a-z0-9_], and depends on which
    devices there are, not on their order.
    """
    merged: Dict[str, Device] = {}
    for device in devices:
        known = merged.get(device.address, device)
        merged[device.address] = known._replace(optional=known.optional and device.optional)
    length = dict.fromkeys(merged, 0)
    while True:
        names = {each: _NAMES[length[each]](device) for each, device in merged.items()}
        bearers = Counter(names.values())
        clashing = [each for each in merged if bearers[names[each]] > 1]
        if not clashing:
            return [device._replace(name=names[each]) for each, device in merged.items()]
        for each in clashing:
            length[each] = min(length[each] + 1, len(_NAMES) - 1)


def _with_short_name(device: Device) -> Device:
    return device._replace(name=_short_name(device))


def _short_name(device: Device) -> str:
    """Return "sda", "bus_0_megaraid_6", "ata_intel_ssdsc2bb240g4_btwl0000"."""
    path = re.sub(r'^/dev/(disk/by-[a-z]+/)?|^IOService:.*/', '', device.path)
    base = _base(device)
    # Only the numbers say which drive it is; "sat,12" and "usbjmicron,x" say how it is asked.
    numbers = re.findall(r'0x[0-9a-f]+|(?<![0-9a-z])[0-9]+', base.partition(',')[2])
    picks = numbers and not base.startswith('sat')
    return slug('_'.join([path, base.partition(',')[0], *numbers]) if picks else path)


def _long_name(device: Device) -> str:
    return slug(device.path.replace('/dev/', '', 1) + '_' + device.type)


def _certain_name(device: Device) -> str:
    """Return a name that differs even where addresses differ only in signs and case: "/dev/sdA" is _2fdev_2fsd_41."""
    return re.sub(r'[^a-z0-9]', lambda sign: f'_{ord(sign[0]):02x}', device.address)


_NAMES: Tuple[Callable[[Device], str], ...] = (_short_name, _long_name, _certain_name)


def slug(text: str) -> str:
    """Return *text* in [a-z0-9_], as labels are made of."""
    return re.sub(r'[^a-z0-9]+', '_', text.lower()).strip('_') or 'drive'


# Scans

class Scan(NamedTuple):
    """What smartctl --scan found."""

    devices: Tuple[Device, ...]
    refused: Tuple[str, ...]  # a sentence for each that was left out


# "# " stands before what --scan-open could not open. What follows the type is info, or words
# that --scan-open was told to append.
_SCAN_LINE = r'(?P<failed># )?(?P<path>\S+) -d (?P<type>\S+)(?: (?P<rest>.*))?'


def from_scan(text: str) -> Scan:
    """Return the drives in the output of smartctl --scan or --scan-open, JSON or text.

    Raises SmartError where the text is no such output at all.
    """
    entries = _json_entries(text) if text.lstrip().startswith('{') else _text_entries(text)
    devices: List[Device] = []
    refused: List[str] = []
    for path, kind, failure in entries:
        try:
            _check_path(path, path)
            types, _ = _expand(kind, path, path)
        except UsageError as error:
            refused.append(f'the scan found {_quoted(path)}, which is left out: {error}')
            continue
        if failure or is_virtual(path):
            reason = clean(failure, 200) or 'it is no drive that has SMART'
            refused.append(f'the scan found {path}, which is left out: {reason}')
            continue
        devices.append(Device(path, _as_needed(types[0], path)))
    return Scan(tuple(named(devices)), tuple(refused))


def is_virtual(path: str) -> bool:
    """Tell whether a block device has no SMART by its very kind."""
    return re.fullmatch(_VIRTUAL, path) is not None


def _as_needed(kind: str, path: str) -> str:
    """Return the type to ask with: none where smartctl finds out by itself.

    A scan that opens nothing calls every SATA drive "scsi". Said aloud, that
    would be obeyed, and the drive's ATA side never be seen.
    """
    if kind == 'scsi' or (kind in ('sat', 'ata') and re.match(r'/dev/[sh]d', path)):
        return ''
    return '' if kind == 'nvme' and path.startswith('/dev/nvme') else kind


def _text_entries(text: str) -> List[Tuple[str, str, str]]:
    """Return path, type and failure of each line. Source: smartctl.cpp, scan_devices()."""
    entries = []
    for line in text.splitlines():
        entry = re.fullmatch(_SCAN_LINE, line.strip())
        if entry:
            _, _, failure = (entry['rest'] or '').partition('open failed: ')
            failure = (failure or 'it cannot be opened') if entry['failed'] else ''
            entries.append((entry['path'], entry['type'], failure))
    if text.strip() and not entries:
        raise SmartError('smartctl --scan printed no list of devices; run it by hand to see what it says')
    return entries


def _json_entries(text: str) -> List[Tuple[str, str, str]]:
    """Return path, type and failure of each device of a JSON scan."""
    import json
    try:
        scan = json.loads(text)
        # A scan that finds nothing has no key "devices"; neither have other outputs.
        head = scan['smartctl']
        is_scan = not head['exit_status'] and any(word in ('--scan', '--scan-open') for word in head['argv'])
        entries = [(each['name'], each['type'], each.get('open_error', '')) for each in scan.get('devices', [])]
        if is_scan and all(isinstance(word, str) for entry in entries for word in entry):
            return entries
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        pass
    raise SmartError('smartctl --scan printed JSON that is no list of devices; run it by hand to see what it says')


# One drive, several addresses

class Distinct(NamedTuple):
    """A drive: the address to keep, and the others that reach it, too."""

    device: Device
    identity: Identity
    others: Tuple[Device, ...] = ()


def distinct(found: Sequence[Tuple[Device, Identity]]) -> List[Distinct]:
    """Return each drive once, in the order found.

    When in doubt two addresses are two drives: a drive shown twice is a
    nuisance, a failing one merged into another is lost. Of several addresses
    the one behind RAID is kept: it stays when the volume gets another letter.
    """
    groups: List[List[Tuple[Device, Identity]]] = []
    for device, identity in found:
        for group in groups:
            if all(is_same_drive(identity, known) for _, known in group):
                group.append((device, identity))
                break
        else:
            groups.append([(device, identity)])
    return [_kept(group) for group in groups]


def _kept(group: List[Tuple[Device, Identity]]) -> Distinct:
    best = min(group, key=lambda pair: (not is_raid(pair[0]), pair[0].optional))  # the first of equals
    return Distinct(*best, tuple(device for device, _ in group if device is not best[0]))


def note(drive: Distinct) -> str:
    """Return what to tell about the addresses that were given up, or ''."""
    return 'also reached as ' + ', '.join(device.address for device in drive.others) if drive.others else ''


def is_same_drive(one: Identity, other: Identity) -> bool:
    """Tell whether two identities are surely those of one drive."""
    if not _models_agree(one.model, other.model):
        return False  # one WWN under two models is a manufacturer's slip
    serials = _serial(one), _serial(other)
    if all(serials) and serials[0] != serials[1]:
        return False
    wwns = _wwn(one), _wwn(other)
    # An NVMe drive has a WWN for each namespace, and one health log for all of them.
    if all(wwns) and (wwns[0] == wwns[1] or 'NVMe' not in (one.protocol, other.protocol)):
        return wwns[0] == wwns[1]
    return bool(serials[0] and serials[0] == serials[1] and one.model and other.model)


def _models_agree(one: str, other: str) -> bool:
    """SCSI shows a SATA drive as vendor "ATA" and the first 16 characters of its model."""
    first, second = (re.sub(r'^ATA +| +', '', model.upper()) for model in (one, other))
    return first.startswith(second) or second.startswith(first)


def _serial(identity: Identity) -> str:
    """Return the serial number for comparing, '' where it identifies nothing."""
    serial = re.sub(r'[^0-9A-Z]', '', identity.serial.upper())
    return '' if re.match(_PLACEHOLDER, serial) or serial in _COUNTING or len(serial.lstrip('0')) < 4 else serial


def _wwn(identity: Identity) -> str:
    wwn = re.sub(r'^0X|[^0-9A-F]', '', identity.wwn.upper())
    return '' if len(set(wwn[1:])) < 2 or re.match(_NO_WWN, wwn) else wwn


# Empty, one character throughout, masked by people or by RAID volumes, or a word instead of a number.
_PLACEHOLDER = (r'(.?)\1*$|.*XXXX|(NONE|NULL|NA|UNKNOWN|DEFAULT|SERIAL(NUMBER)?|NOTAVAILABLE|NOSERIAL'
                r'|TOBEFILLED.*|REDACTED|HIDDEN|MASKED|VOLUME[0-9]*|SN)$')
# What cheap bridges are shipped with: digits or letters in a row.
_COUNTING = '12345678901234567890 0123456789ABCDEF0123456789ABCDEF ABCDEFGHIJKLMNOPQRSTUVWXYZ'
# Organisation 0, or a drive number that was never set: all zero, or 1234567890 (in hexadecimal, or as written).
_NO_WWN = r'[0-9A-F]000000|[0-9A-F]{7}(000000000|0499602D2|123456789)'


# Choice by pattern

def patterns(texts: Iterable[str]) -> List[Pattern[str]]:
    """Return the regular expressions of --match or --ignore. Raises UsageError."""
    compiled = []
    for text in texts:
        try:
            compiled.append(re.compile(text))
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f'{_quoted(text)} is no regular expression ({error}); '
                             'write one such as "^/dev/sd" or "ST4000.*"') from None
    return compiled


def is_wanted(device: Device, identity: Optional[Identity],
              match: Sequence[Pattern[str]], ignore: Sequence[Pattern[str]]) -> Optional[bool]:
    """Tell whether a drive is to be checked; None: that depends on model and serial, read them.

    Each pattern is searched in the address, the path, the name, the model and the serial
    number. identity: None as long as it is not known. A drive that cannot be
    read stays None, and so stays in the check.
    """
    texts = [device.address, device.path, device.name]
    texts += [identity.model, identity.serial] if identity else []
    if _any_in(ignore, texts):
        return False
    if identity is None:
        return True if not ignore and (not match or _any_in(match, texts)) else None
    return not match or _any_in(match, texts)


def _any_in(patterns_: Sequence[Pattern[str]], texts: Sequence[str]) -> bool:
    return any(pattern.search(text) for pattern in patterns_ for text in texts)
