"""Find the self-test result that counts for the drive, and its age, in the self-test log. Pure.

Sources: ACS-4 section 7.42 (SMART EXECUTE OFF-LINE IMMEDIATE), SPC-5 (self-test code), NVM Express base
specification (device self-test log); the terms are smartctl's.
"""
from __future__ import annotations

from ..constants import HOUR
from ..model import Identity, Reading, SelfTest, Source, State
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import since
from . import standards

if TYPE_CHECKING:
    from collections.abc import Sequence

WHOLE, SELECTIVE, UNKNOWN = 'whole', 'selective', 'unknown'
# Coverage of each kind of test that a standard defines, by smartctl's name. Only the vendor knows the meaning of other
# kinds (vendor-specific, reserved, aborted).
COVERAGE = {
    'offline': 'offline', 'short offline': 'short', 'extended offline': WHOLE, 'conveyance offline': 'conveyance',
    'selective offline': SELECTIVE, 'short captive': 'short', 'extended captive': WHOLE,
    'conveyance captive': 'conveyance', 'selective captive': SELECTIVE, 'default': 'default',
    'background short': 'short', 'background long': WHOLE, 'foreground short': 'short', 'foreground long': WHOLE,
    'short': 'short', 'extended': WHOLE, 'last self-test': UNKNOWN}
ERASED_HOUR = 0xff00   # from here on: content of a log that was never written
LAST_SCSI_HOUR = 0xffff  # SPC-5: this hour or any later one


class SelfTestResult(NamedTuple):
    """A test that passed or failed."""

    test: SelfTest
    coverage: str
    ago: float | None  # power-on seconds since the test; None if unknown


def results(tests: Sequence[SelfTest], identity: Identity, age: float | None) -> list[SelfTestResult]:
    """Return the tests that passed or failed, newest first. age: the drive's power-on time, seconds."""
    conclusive = []
    for test in tests:
        coverage = COVERAGE.get(test.kind.lower())
        if coverage and test.passed is not None:
            is_any_later = identity.protocol == 'SCSI' and test.hours == LAST_SCSI_HOUR
            ago = None if test.hours is None or is_any_later else standards.seconds_since(test.hours, age)
            if ago is not None or age is None or (test.hours or 0) < ERASED_HOUR or identity.protocol != 'ATA':
                conclusive.append(SelfTestResult(test, coverage, ago))
    return conclusive


def _standing(newest_first: Sequence[SelfTestResult]) -> SelfTestResult | None:
    """Return the newest failure not cleared by a later test, else the newest passed test, or None without tests."""
    passed: set[str] = set()
    for result in newest_first:
        if result.test.passed:
            passed.add(result.coverage)
        elif WHOLE not in passed and result.coverage not in passed - {SELECTIVE}:  # it may have covered another part
            return result
    return newest_first[0] if newest_first else None


def verdict(tests: Sequence[SelfTest], identity: Identity, age: float | None, is_bound: bool = False) -> Reading | None:
    """Return the reading self_test, or None if the log has no result.

    age: the drive's power-on time, seconds. is_bound: it may have been longer.
    """
    result = _standing(results(tests, identity, age))
    if result is None:
        return None
    test = result.test
    ago = f', {"more than " * is_bound}{since(result.ago)}' if result.ago is not None else ''
    when = '' if test.hours is None else f' at {test.hours} h{ago}'
    return Reading('self_test', 1 if test.passed else 0, '', Source(standards.SELF_TEST_LOG),
                   f'{test.kind}: {test.status}{when}', State.OK if test.passed else State.CRITICAL, quiet=result.ago)


def newest_extended(tests: Sequence[SelfTest], identity: Identity, age: float | None) -> float | None:
    """Return the power-on seconds since the newest extended test that passed; None if unknown, or without such a test.

    age: the drive's power-on time, seconds.
    """
    newest = _newest_extended(tests, identity, age)
    return newest.ago if newest else None


def _newest_extended(tests: Sequence[SelfTest], identity: Identity, age: float | None) -> SelfTestResult | None:
    return next((result for result in results(tests, identity, age)
                 if result.coverage == WHOLE and result.test.passed), None)


def freshness(tests: Sequence[SelfTest], identity: Identity, age: float | None, most: float,
              is_bound: bool) -> Reading:
    """Return the reading self_test_age: whether the newest extended test that passed is recent enough.

    most: the maximum age, in seconds of power-on time. age: the drive's power-on time, seconds. is_bound: it may have
    been longer.
    """
    newest = _newest_extended(tests, identity, age)
    is_fresh = newest is not None and newest.ago is not None and newest.ago <= most
    when = ('none known' if newest is None else f'{"more than " * is_bound}{since(newest.ago)}'
            if newest.ago is not None else 'at an unknown time')
    advice = ('' if is_fresh
              else f', must be at most {round(most / HOUR / 24)} days old; to start one, run: smartctl -t long DEVICE')
    return Reading('self_test_age', 1 if is_fresh else 0.5, '', Source(standards.SELF_TEST_LOG),
                   f'newest extended self-test that passed: {when}{advice}', State.OK if is_fresh else State.WARNING)
