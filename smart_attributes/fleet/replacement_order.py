"""The drives of a fleet to replace, in order. Pure.

For example, an array that must not lose another member is at risk. If a host has such a group, its
drives come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..constants import MOST_GROUPS
from ..knowledge.severity import Rank
from ..redundancy.replacement import AT_RISK, LABELS, Risk, risk_of
from ..work import actions
from .drives import FleetDrive

NOW = 'now'


class Step(NamedTuple):
    """A row of the plan; '' means unknown or not applicable."""

    action: str
    by: str = ''  # "now", "2027-Q1", "no forecast"
    host: str = ''
    drive: str = ''
    serial: str = ''
    model: str = ''
    firmware: str = ''
    drives: int = 0
    hosts: int = 0  # 0: unknown
    why: str = ''


class Waiting(NamedTuple):
    """A drive to replace, and what its place in the fleet depends on, the most important first."""

    risk: Risk  # of its group
    rank: Rank
    place: int  # of its label in LABELS; after all of them without a group
    step: Step


class ReplacementOrder:
    """Collects drives one by one and keeps the most urgent of those to replace."""

    def __init__(self) -> None:
        self._kept: list[Waiting] = []

    def add(self, drive: FleetDrive) -> None:
        """Keep a drive if it must be replaced."""
        if drive.facts['action'] not in actions.REPLACING:
            return
        replacement = drive.facts.get('replacement') or {}
        risk = risk_of(replacement.get('code') or '')
        label = replacement.get('label')
        place = LABELS.index(label) if label else len(LABELS)
        self._kept.append(Waiting(risk, drive.rank, place, _step(drive)))
        if len(self._kept) > 2 * MOST_GROUPS:
            self._kept = self._most_urgent()

    def _most_urgent(self) -> list[Waiting]:
        return sorted(self._kept)[:MOST_GROUPS]

    def steps(self) -> list[Step]:
        """Return the drives to replace, most urgent first.

        The drives of a host with a group at risk are adjacent: the drive to replace next, then the
        drives that wait.
        """
        kept = self._most_urgent()
        risks: dict[str, Risk] = {}  # host -> the worst risk of its groups
        for drive in kept:  # the worst risk first
            if drive.risk in AT_RISK:
                risks.setdefault(drive.step.host, drive.risk)
        kept.sort(key=lambda drive: _key(drive, risks))
        return [drive.step for drive in kept]


def _key(drive: Waiting, risks: Mapping[str, Risk]) -> tuple[object, ...]:
    """Return the sort key of a drive. The drives of the hosts in *risks* come first, together for
    each host, and the hosts with the worst risk at the top. All other drives follow, in the order
    of the fields of Waiting.
    """
    host = drive.step.host
    if host in risks:
        return risks[host], host, drive.place, drive
    # *risks* contains only values of AT_RISK, and PLAIN comes after all of them.
    return Risk.PLAIN, '', 0, drive


def _step(drive: FleetDrive) -> Step:
    facts = drive.facts
    return Step(
        facts['to_do'],
        by=NOW,
        host=facts['host'],
        drive=facts['name'],
        serial=facts['serial'] or '',
        model=facts['model'] or '',
        firmware=facts['firmware'] or '',
        drives=1,
        hosts=1,
        why=facts['why'] or '',
    )
