"""The list of codes in codes.json: one stable name for each finding, note and reason for UNKNOWN.

Programs decide by codes and fields, never by sentences. A code keeps its name and its meaning in
later versions.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import files
from ..typed import NamedTuple


class Code(NamedTuple):
    """A code: its name, its meaning, and the next step or ''."""

    name: str
    meaning: str
    remedy: str


class Finding(NamedTuple):
    """A finding of `doctor`: its usual subject, its state, and the templates for its sentences and
    its command.

    {field} is a value, {field!q} is quoted for the shell, {field:#drive} is "1 drive" or "2
    drives", and {field:bytes} has a unit.
    """

    state: str
    meaning: str
    subject: str = ''
    remedy: str = ''
    command: str = ''


# reasons: why a drive, or a whole check, is UNKNOWN. findings: what is wrong with a drive that was
# read. notes: information that does not change the state. redundancy: how the groups on a drive
# affect its replacement. fleet_notes: what a fleet report says in addition to its drives.
DATA = files.data('codes.json')
# why a fleet lacks drives of a host; only these remedies name the host
CAUSES = frozenset(DATA['fleet_causes'])
# Findings of doctor about an installation.
DOCTOR: Mapping[str, Finding] = {
    name: Finding(**entry) for name, entry in DATA['doctor'].items()
}
BY_NAME: Mapping[str, Code] = {
    name: Code(name, entry['meaning'], entry.get('remedy', ''))
    for group, entries in DATA.items()
    if group != 'doctor'
    for name, entry in entries.items()
}
