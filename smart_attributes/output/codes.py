"""The list of codes in codes.json: one stable name for each finding, note and reason for UNKNOWN.

Programs decide by codes and fields, never by sentences. A code keeps its name and its meaning in
later versions.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import files
from ..typed import NamedTuple


class Code(NamedTuple):
    """A code: its name, its usual state ('' for a note), its meaning, and the next step or ''."""

    name: str
    severity: str
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


def _group(name: str) -> tuple[Code, ...]:
    return tuple(
        Code(code, entry.get('state', ''), entry['meaning'], entry.get('remedy', ''))
        for code, entry in _DATA[name].items()
    )


_DATA = files.data('codes.json')
REASONS = _group('reasons')  # why a drive, or a whole check, is UNKNOWN
FINDINGS = _group('findings')  # what is wrong with a drive that was read
NOTES = _group('notes')  # information that does not change the state
REDUNDANCY = _group('redundancy')  # how the groups on a drive affect its replacement
# why a fleet lacks drives of a host; only these remedies name the host
CAUSES = _group('fleet_causes')
# what a fleet report says in addition to its drives
FLEET_NOTES = _group('fleet_notes')
BY_NAME: Mapping[str, Code] = {
    code.name: code
    for code in (*REASONS, *FINDINGS, *NOTES, *REDUNDANCY, *CAUSES, *FLEET_NOTES)
}
# Findings of doctor about an installation.
DOCTOR: Mapping[str, Finding] = {
    name: Finding(**entry) for name, entry in _DATA['doctor'].items()
}
