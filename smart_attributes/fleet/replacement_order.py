"""The drives of a fleet to replace, in order. Pure.

For example, an array that must not lose another member is at risk. If a host has such a group, its
drives come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..constants import MOST_GROUPS
from ..redundancy.replacement import AT_RISK, LABELS, Risk, risk_of
from ..typed import Json
from ..work import actions
from .plugin_output import FleetDrive

# kept facts
FACTS = ('host', 'name', 'model', 'serial', 'firmware', 'action', 'to_do', 'why', 'replacement')


class Waiting(NamedTuple):
    """A drive to replace and its sort key within the fleet."""

    key: tuple[object, ...]
    facts: Json  # the items of FACTS that are known


class ReplacementOrder:
    """Collects drives one by one and keeps the most urgent of those to replace."""

    def __init__(self) -> None:
        self.count = 0
        self._kept: list[Waiting] = []

    def add(self, drive: FleetDrive) -> None:
        """Count a drive if it must be replaced."""
        facts = drive.facts
        if facts['action'] in actions.REPLACING:
            self.count += 1
            kept = {key: facts[key] for key in FACTS if key in facts}
            self._kept.append(Waiting((_risk(facts), drive.rank), kept))
            if len(self._kept) > 2 * MOST_GROUPS:
                self._kept = self._most_urgent()

    def _most_urgent(self) -> list[Waiting]:
        return sorted(self._kept, key=lambda drive: drive.key)[:MOST_GROUPS]

    def drives(self) -> list[Json]:
        """Return the facts of the drives to replace, most urgent first.

        The drives of a host with such a group are adjacent: the drive to replace next, then the
        drives that wait.
        """
        kept = self._most_urgent()
        risks: dict[str, Risk] = {}
        for drive in kept:
            host, grade = drive.facts['host'], _risk(drive.facts)
            if grade in AT_RISK:
                risks[host] = min(grade, risks.get(host, grade))
        return [drive.facts for drive in sorted(kept, key=lambda drive: _key(drive, risks))]


def _key(drive: Waiting, risks: Mapping[str, Risk]) -> tuple[object, ...]:
    host = drive.facts['host']
    if host not in risks:
        return Risk.PLAIN, '', 0, drive.key
    label = (drive.facts.get('replacement') or {}).get('label')
    place = LABELS.index(label) if label in LABELS else len(LABELS)
    return risks[host], host, place, drive.key


def _risk(facts: Json) -> Risk:
    """Return the risk of a drive's group, as given by the code in the drive's facts."""
    return risk_of((facts.get('replacement') or {}).get('code') or '')
