"""The drives of a fleet to replace, in order: first those of hosts with a group at risk. Pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..output.advice import COPY, KEEP, LATER, REJOIN, REPLACE
from ..output.group_risk import AT_RISK, OF_CODE, Risk
from ..redundancy.replacement import LABELS
from ..typed import Json
from .groups_at_risk import AtRisk
from .plugin_output import FleetDrive

ACTIONS = frozenset((REPLACE, COPY, KEEP, LATER, REJOIN))
MOST = 1_000           # drives that are kept; further ones are only counted
FACTS = ('host', 'name', 'model', 'serial', 'firmware', 'action', 'to_do', 'why', 'replacement')  # kept of a drive


class Waiting(NamedTuple):
    """A drive to replace and its sort key within the fleet."""

    key: tuple[object, ...]
    facts: Json        # FACTS, as far as they are known


class ReplacementOrder:
    """Takes drives one by one and keeps the most urgent of those to replace."""

    def __init__(self, hide_serial: bool = False) -> None:
        """Create an empty order. hide_serial: omit serial numbers, and reasons, which may contain some."""
        self.count = 0
        self._hidden = {'serial': None, 'why': None} if hide_serial else {}
        self._kept: list[Waiting] = []

    def add(self, drive: FleetDrive) -> None:
        """Count a drive, if it is to be replaced."""
        facts = drive.facts
        if facts['action'] in ACTIONS:
            self.count += 1
            kept = {**{key: facts[key] for key in FACTS if key in facts}, **self._hidden}
            self._kept.append(Waiting((_risk(facts), drive.rank), kept))
            if len(self._kept) > 2 * MOST:
                self._kept = self._most_urgent()

    def _most_urgent(self) -> list[Waiting]:
        return sorted(self._kept, key=lambda each: each.key)[:MOST]

    def drives(self, groups: Iterable[AtRisk]) -> list[Json]:
        """Return the facts of the drives to replace, most urgent first. groups: those at risk in the fleet.

        The drives of a host with a group at risk stand together: the one to replace next, before those that must wait.
        """
        risks = {each.host: each.risk for each in sorted(groups, key=lambda each: -each.risk)}
        kept = self._most_urgent()
        for each in kept:
            host, risk = each.facts['host'], _risk(each.facts)
            if risk in AT_RISK:
                risks[host] = min(risk, risks.get(host, risk))
        return [each.facts for each in sorted(kept, key=lambda each: _key(each, risks))]


def _key(drive: Waiting, risks: Mapping[str, Risk]) -> tuple[object, ...]:
    host = drive.facts['host']
    if host not in risks:
        return Risk.PLAIN, '', 0, drive.key
    label = (drive.facts.get('replacement') or {}).get('label')
    return risks[host], host, LABELS.index(label) if label in LABELS else len(LABELS), drive.key


def _risk(facts: Json) -> Risk:
    """Return the risk of the group that a drive belongs to, as far as its own line or document says."""
    return OF_CODE.get((facts.get('replacement') or {}).get('code') or '', ('', Risk.PLAIN))[1]
