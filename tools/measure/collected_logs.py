"""The logs that a collection of drives keeps beside its facts."""

from __future__ import annotations

from smart_attributes.model import ErrorEntry, Report, SelfTest
from smart_attributes.reading.content import self_test_passed
from smart_attributes.typed import Json


def with_logs(report: Report, logs: Json) -> Report:
    """Return the report with the error log and the self-test log of a drive, both newest first.

    Raises one of NOT_A_DRIVE unless `errors_logged` holds [hours, kind] and `self_tests` [kind,
    status, hours].
    """
    errors = tuple(
        ErrorEntry(
            (report.error_count or 0) - place,
            tuple(kind.split(', ')) if kind else (),
            _hour(hours),
        )
        for place, (hours, kind) in enumerate(logs['errors_logged'])
    )
    tests = tuple(
        SelfTest(
            _text(kind),
            status,
            self_test_passed(status),
            None if hours is None else _hour(hours),
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
