"""If a drive cannot be judged, translate smartctl's messages into a reason and a next step. Pure.

Each sentence continues after the drive's name: "sdb: cannot be opened: Permission denied; run as
root or through sudo".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .. import files
from ..constants import (
    LONGEST_EXAMINED,
    LONGEST_SEARCHED_LINE,
    MOST_FAILED_LINES,
    MOST_SEARCHED_LINES,
)
from ..errors import (
    DriveAbsent,
    DriveAsleep,
    DriveError,
    DriveIsNoDrive,
    DriveUndetected,
    NotAReport,
    SudoRefused,
)
from ..words import clean
from .device_types import CONTROLLERS
from .failure_causes import (
    BRIDGED,
    CALL,
    CAUSES,
    DISABLED,
    ENABLE,
    EXCLUDE,
    LIST,
    NEEDS_TYPE,
    QUOTE,
    RECORD,
    RIGHT_TYPE,
    UNSUPPORTED,
    no_data,
)

# smartctl prints its errors near the top, in lines shorter than 200 characters. A drive can report
# any text, and the running time of the expressions below grows with the cube of the line length.
_REASON = 160  # maximum number of characters quoted from smartctl's own reason
# A failed call prints few lines. A longer text without smartctl's first line may contain these
# words by chance.
BANNER = r'^[ \t]*smartctl (?:version )?(?:pre-)?'  # the first line, up to the version

_SILENT_IS_EMPTY = '|'.join(
    name for name, family in CONTROLLERS.items() if family.silent_is_empty
)

# Code of an error -> its class, if it is not DriveError.
_CLASSES = {
    'sudo-rule-missing': SudoRefused,
    'asleep': DriveAsleep,
    'no-such-device': DriveAbsent,
    'empty-slot': DriveAbsent,
    'type-undetected': DriveUndetected,
    'no-medium': DriveIsNoDrive,
    'raid-volume': DriveIsNoDrive,
    'not-a-drive': DriveIsNoDrive,
    'not-a-report': NotAReport,
}


def diagnose(printed: str) -> DriveError | None:
    """Return why a drive cannot be judged, or None if the text matches no known cause.

    printed: standard output and standard error; of JSON, only smartctl's messages, of any severity.
    Call this only if a report lacks SMART data, because text in a
    complete report may also match.
    """
    text = examined(printed)
    for cause in CAUSES:
        match = re.search(cause.pattern, text, re.MULTILINE | re.IGNORECASE)
        if not match:
            continue
        first_group = next(filter(None, match.groups()), '')
        quote = clean(first_group, _REASON).rstrip('.;, ')
        why = cause.why.replace(QUOTE, quote)
        step = cause.step.replace(QUOTE, quote)
        return _error(cause.code, why, step)
    return None


def _error(code: str, why: str, step: str) -> DriveError:
    """Return the error for a code, in the class that its code has."""
    return _CLASSES.get(code, DriveError)(why, code, step)


def examined(text: str) -> str:
    """Return the part of an output to search: its first lines, each truncated, to limit the
    search time.
    """
    lines = text.split('\n', MOST_SEARCHED_LINES)[:MOST_SEARCHED_LINES]
    first = '\n'.join(line[:LONGEST_SEARCHED_LINE] for line in lines)
    return first[:LONGEST_EXAMINED]


def no_report(text: str, exit_status: int | None = None) -> DriveError:
    """Return why *text* is not a report: smartctl or sudo failed or printed nothing, or another
    program printed it.

    exit_status: of the call that printed the text; None for the text of a file.
    """
    is_of_call = exit_status is not None
    if is_of_call or _can_be_of_call(text):
        cause = diagnose(text)
        if cause:
            return cause
    is_empty = not text.strip()
    if exit_status:
        printed = 'nothing' if is_empty else 'no report'
        return _error(
            'smartctl-failed',
            f'cannot be read: smartctl printed {printed} and ended with exit status {exit_status}',
            'run smartctl by hand',
        )
    if is_empty:
        return _error(
            'report-empty',
            no_data('it is empty, because smartctl printed nothing'),
            'run smartctl -x PATH as root in a terminal to see why',
        )
    return _error('not-a-report', 'is not a smartctl report', RECORD)


def _can_be_of_call(text: str) -> bool:
    """Return whether a failed call of smartctl may have printed a text: it is short, or begins as
    smartctl does.
    """
    if text.count('\n') <= MOST_FAILED_LINES:
        return True
    return re.search(f'{BANNER}[0-9]', text, re.MULTILINE) is not None


def without_data(
    *,
    exit_status: int = 0,
    is_identified: bool,
    device_type: str = '',
    is_data_asked: bool = True,
    complaint: str,
    is_unsupported: bool = False,
) -> DriveError:
    """Return the error for a report that has no SMART data and no known reason for this.

    is_identified: the report names a model. device_type: smartctl's -d argument; '' if the report
    has no device. is_data_asked: whether SMART data was requested, if the command line is known.
    complaint: a message of smartctl whose cause is unknown. is_unsupported: the drive reports that
    it has no SMART.
    """
    if is_unsupported:
        return _error('smart-unsupported', UNSUPPORTED, BRIDGED)
    if not is_data_asked:
        why = no_data('smartctl was not asked for it')
        return _error('report-without-data', why, 'call smartctl with -x')
    if complaint:
        return _error(
            'smartctl-failed',
            f'cannot be read: smartctl reports "{clean(complaint, _REASON)}"',
            'run smartctl by hand: smartctl -x PATH',
        )
    if not is_identified and not device_type:
        return _error('report-without-data', no_data('it names no drive'), CALL)
    if exit_status & 6:  # the drive did not answer, or a command failed
        return _failed(exit_status, is_identified, device_type)
    return _error(
        'report-without-data',
        no_data('only the identity of the drive'),
        'run smartctl with -x; for a drive behind USB or RAID, also with -d TYPE',
    )


def _failed(exit_status: int, is_identified: bool, device_type: str) -> DriveError:
    """Return the error for a device that smartctl opened, but that did not answer (bit 1 of the exit
    status) or refused a command (bit 2).
    """
    if not exit_status & 2:
        return _error(
            'smart-data-unreadable',
            'returns no SMART data, because a command failed: SMART is disabled, not supported, or '
            'hidden by a bridge',
            f'{ENABLE}; or give {RIGHT_TYPE}',
        )
    if is_identified:
        return _error(
            'not-answering',
            'identified itself but returned no data: not ready, in standby or failing',
            'check dmesg -T',
        )
    if re.search(_SILENT_IS_EMPTY, device_type):
        return _error(
            'empty-slot',
            f'is an empty slot, or its drive is dead: no answer to the device type {clean(device_type)}',
            LIST,
        )
    return _error(
        'identify-failed',
        'did not identify itself (IDENTIFY or INQUIRY failed)',
        'check its path and type; see dmesg -T',
    )


def smart_disabled() -> DriveError:
    """Return the error for a drive whose SMART is disabled.

    Its counters are real, but its "OK" is meaningless: a SCSI drive with exceptions disabled
    reports no exception (SPC-5, DEXCPT), and an ATA drive stops updating its attributes.
    """
    return _error('smart-disabled', DISABLED, ENABLE)


def rows_unread(row: str) -> DriveError:
    """Return the error for a report whose tables are so damaged that no row can be read."""
    return _error(
        'report-damaged',
        'has no row that can be evaluated; rows are cut off or damaged, for example '
        f'"{clean(row, _REASON)}"',
        'compare the rows with the original output',
    )


def without_attributes() -> DriveError:
    """Return the error for a drive that reports "passed" but no attributes."""
    return _error(
        'smart-data-empty',
        'reports no SMART attributes, so "passed" cannot be trusted: a bridge hides them, or the '
        'drive is failing',
        f'{NEEDS_TYPE}; if the drive reports no attributes with any type, {EXCLUDE}',
    )


# --- devices that answer but are not drives: RAID volumes, virtual disks, optical drives ----------

# Hypervisor -> models of its virtual disks without SMART, exactly as smartctl prints them (for
# SCSI, the vendor comes first). A virtual disk that reports health data is judged like any drive.
VIRTUAL_DISKS: Mapping[str, Mapping[str, Sequence[str]]] = files.data(
    'reading/virtual_disks.json'
)
_HYPERVISORS = {
    model.upper(): hypervisor
    for hypervisor, disks in VIRTUAL_DISKS.items()
    for model in disks['models']
}

# SCSI peripheral device types that can have SMART. Source: SPC-5, table "Peripheral device type".
_DISK_TYPES = (
    '',
    'disk',
    'simplified disk',
    'host managed zoned block device',
    'object based storage',
)
_VOLUME = r'(?i)\b(?:logical volume|virtual[ _-]?di[sc]k|raid\w*|volume|vdisk|lun)\b'
_OPTICAL = r'(?i)\b(?:DVD|BD|CD)(?:[-_ +]?(?:ROM|RW?|RAM|RE|WRITER))?\b'
# A logical unit name of NAA format 6 has 32 digits and belongs to a controller's volume; a drive's
# name has 16 digits.
# Source: SPC-5, 7.7.6.6 "NAA designator format".
_NAA_6 = r'(?i)6[0-9a-f]{31}'


def virtual_disk(model: str) -> DriveIsNoDrive | None:
    """Return the error for a virtual disk, or None if the model is not in the list."""
    hypervisor = _HYPERVISORS.get(' '.join(model.split()).upper())
    if not hypervisor:
        return None
    return DriveIsNoDrive(
        f'is a virtual disk of {hypervisor}, so it has no SMART',
        'virtual-disk',
        step='check the drives on the host',
    )


def areca_volume(model: str) -> DriveIsNoDrive | None:
    """Return the error for a volume of an Areca controller, which reports values like a drive; None
    for another model. The name of a volume set can be changed, so only the vendor is compared.

    Source: logs of hosts: Vendor: Areca Model: ARC-1160-VOL#00, ARC-1226-VOL#000.
    """
    if not model.startswith('Areca '):
        return None
    return DriveIsNoDrive(
        'is a RAID volume, not a drive',
        'raid-volume',
        step='check its drives with -d areca,N',
    )


def not_a_drive(
    model: str, kind: str, transport: str, unit_id: str
) -> DriveIsNoDrive | None:
    """Return why this SCSI device has no SMART of its own, or None if it may be a drive.

    kind: the peripheral device type as smartctl names it: "disk", "CD/DVD".
    transport: "iSCSI", "SAS (SPL-4)". unit_id: hexadecimal digits.
    """
    if kind not in _DISK_TYPES:
        why = f'is not a disk ({clean(kind)}), so it has no SMART'
        return DriveIsNoDrive(why, step=EXCLUDE)
    if transport.lower().startswith('iscsi'):
        step = 'check its drives in the storage system'
        return DriveIsNoDrive('is an iSCSI volume', 'iscsi-volume', step)
    if re.search(_OPTICAL, model):
        return DriveIsNoDrive('is an optical drive, so it has no SMART', step=EXCLUDE)
    if re.search(_VOLUME, model) or re.fullmatch(_NAA_6, unit_id):
        why = 'is a RAID volume or virtual disk without SMART'
        step = 'name the drives behind it (smartctl --scan)'
        return DriveIsNoDrive(why, 'raid-volume', step)
    return None
