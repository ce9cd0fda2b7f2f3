"""Read drives that were reported several times, and the logs that a collection of drives keeps
beside its facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from smart_attributes.model import ErrorEntry, Report, SelfTest
from smart_attributes.reading.content import self_test_passed
from smart_attributes.typed import Json

from . import collection


class FollowedDrive(NamedTuple):
    """One drive that was reported several times."""

    name: str  # path of the drive in the collection, else the number of its line
    reports: tuple[Report, ...]  # oldest first


def read_followed(path: str) -> Iterator[FollowedDrive]:
    """Yield the drives of a plain or gzip file that has the reports of one drive on each line, as
    facts under "seen".

    Sector sizes stay unknown. Raises DataError, with the line number, for a line that is not such a
    drive.
    """

    def drive(line: Json, number: int) -> FollowedDrive:
        reports = tuple(collection.report_of(seen['facts']) for seen in line['seen'])
        return FollowedDrive(str(line.get('path', number)), reports)

    yield from collection.each(path, drive, 'seen, a list of objects with facts')


def with_logs(report: Report, logs: Json) -> Report:
    """Return the report with the error log and the self-test log of a drive, both newest first.

    Raises one of NOT_A_DRIVE unless `errors_logged` holds [hours, kind] and `self_tests` [kind,
    status, hours].
    """
    errors = tuple(
        ErrorEntry(
            (report.error_count or 0) - place, tuple(kind.split(', ')) if kind else (), _hour(hours)
        )
        for place, (hours, kind) in enumerate(logs['errors_logged'])
    )
    tests = tuple(
        SelfTest(
            _text(kind), status, self_test_passed(status), None if hours is None else _hour(hours)
        )
        for kind, status, hours in logs['self_tests']
    )
    return report._replace(errors=errors, self_tests=tests)


def _hour(number: object) -> int:
    """Return power-on hours. Raises TypeError if they are not a whole number."""
    if type(number) is not int:
        raise TypeError('hours')
    return number


def _text(text: object) -> str:
    """Return a text, '' for None. Raises TypeError for anything else."""
    if not isinstance(text, (str, type(None))):
        raise TypeError('kind')
    return text or ''
