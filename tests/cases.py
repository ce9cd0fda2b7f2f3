"""Drives as the outputs show them, made of a verdict and of what a test says about the drive."""

from collections.abc import Iterable
from typing import Any

from smart_attributes.model import Case, Located, Outlook, Place, Use, Verdict
from smart_attributes.redundancy.replacement import Drive
from smart_attributes.shown import shown
from smart_attributes.work.work_list import item


def case(
    verdict: Verdict,
    now: float = 0,
    hide_serial: bool = False,
    is_listed: bool = True,
    **facts: Any,
) -> Case:
    """Return a drive. facts: fields of Outlook and Use. is_listed: it has an action."""
    outlook = Outlook(
        **{name: facts.pop(name) for name in Outlook._fields if name in facts}
    )
    use = Use(verdict, **facts)
    seen = verdict.last_seen
    return Case(
        verdict,
        shown(verdict.identity, hide_serial),
        shown(seen, hide_serial) if seen else None,
        outlook,
        use,
        item(use, now, outlook) if is_listed else None,
    )


def cases(
    verdicts: Iterable[Verdict], now: float = 0, hide_serial: bool = False
) -> list[Case]:
    """Return drives about which only the verdicts are known."""
    return [case(verdict, now, hide_serial) for verdict in verdicts]


def of_uses(uses: Iterable[Use], now: float = 0) -> list[Case]:
    """Return drives whose groups were examined."""
    return [
        Case(
            use.verdict,
            shown(use.verdict.identity, False),
            use=use,
            item=item(use, now),
        )
        for use in uses
    ]


def on(verdict: Verdict, *disks: str) -> Located:
    """Return a drive with these disks."""
    return Located(verdict, Place(disks=disks))


def sound(name: str) -> Drive:
    """Return a healthy drive that is a disk of the same name."""
    return Drive(name, frozenset((name,)))


def worn(name: str) -> Drive:
    """Return a drive to replace that has not failed."""
    return Drive(name, frozenset((name,)), is_to_replace=True)


def bad(name: str) -> Drive:
    """Return a failing drive."""
    return Drive(name, frozenset((name,)), is_failing=True, is_to_replace=True)
