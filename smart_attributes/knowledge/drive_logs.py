"""Read a drive's own logs: the self-test result that counts, and hours that contradict the power-on time. Pure.

Sources: ACS-4 section 7.42 (SMART EXECUTE OFF-LINE IMMEDIATE), SPC-5 (self-test code), NVM Express base
specification (device self-test log); the terms are smartctl's.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import localtime, strftime

from ..constants import HOUR
from ..errors import Coded
from ..model import Identity, Reading, Report, SelfTest, Source, State
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import amount, since
from . import standards

if TYPE_CHECKING:
    from ..model import Farm
    from .drive_database import Interval, Metric

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


# --- logs that are ahead of the power-on time ------------------------------------------

# A counter that was set back is behind them. Of 22,176 dated reports of linuxhw/EnterpriseDrive, 22,039 have no entry
# more than 2 hours ahead of the counter. The FARM log of Seagate disks has a counter of its own, which agrees within
# hours. Recertification resets both counters, so a log that agrees, or is missing, does not show that a disk is new.
AGE, HIDDEN = 'power_on_time', 'hidden_power_on_time'
CODES = 'power-on-time-set-back', 'power-on-time-behind'
APART = 1000                      # hours; a log that is less far ahead contradicts nothing
WIDE = ((1, 0x010), (3, 0x008))   # device statistics of 32 bits, in hours: power-on, spindle motor (ACS-4, 9.5)
AGREED = 24, 0.02                 # hours and share by which such a statistic may differ from attribute 9


def hidden(report: Report, found: Iterable[Reading], metrics: Mapping[str, Metric]) -> list[Reading]:
    """Return the power-on time by which each log is ahead of the counter; the largest is judged, and comes first.

    The self-test log and the error log count as one, the FARM log as another. found: the readings of the drive.
    """
    age = next((each.number for each in found if each.metric == AGE and each.judged), None)
    if age is None:
        return []
    logged, log = max(_logged(report, metrics[AGE].valid), default=(0, ''))
    witnesses = ((logged, log, APART * HOUR),
                 (_farm_hours(report, metrics[AGE].valid), standards.FARM_LOG, AGREED[0] * HOUR + AGREED[1] * age))
    ahead = sorted(((hours * HOUR - age, name) for hours, name, apart in witnesses if hours * HOUR > age + apart),
                   reverse=True)
    return [Reading(HIDDEN, seconds, 's', Source(name), judged=place == 0)
            for place, (seconds, name) in enumerate(ahead)]


def _farm_hours(report: Report, valid: Interval) -> int:
    """Return the hours in the FARM log, or 0 if they are missing, impossible or those of another drive."""
    hours = 0 if report.farm is None or report.farm.is_foreign else report.farm.hours or 0
    return hours if hours * HOUR <= (valid[1] or 0) else 0


def _logged(report: Report, valid: Interval) -> Iterator[tuple[int, str]]:
    """Yield the hours in the logs, each with the name of its log, without those that are impossible."""
    # The logs of NVMe drives have 64 bits for an hour, the others 16, of which the largest mean "erased" or "or later".
    end = (valid[1] or 0) / HOUR if report.identity.protocol == 'NVMe' else ERASED_HOUR
    logs = ((standards.SELF_TEST_LOG, report.self_tests), (standards.ERROR_LOG, report.errors))
    yield from ((entry.hours, log) for log, entries in logs for entry in entries
                if entry.hours is not None and entry.hours < end)


def clock_notes(report: Report, found: Sequence[Reading]) -> tuple[str, list[str]]:
    """Return the code for a counter that is behind a log of the drive, and a note for each log that is ahead."""
    code, verb = ((CODES[0], 'was set back') if is_certain(report, found) else
                  (CODES[1], 'was set back, or ran over'))
    return code, [f'the {each.source} is {amount(each.number, "s")} ahead of the power-on time: its counter {verb}'
                  for each in found if each.metric == HIDDEN]


def farm_notes(farm: Farm) -> Iterator[Coded]:
    """Yield a note on a FARM log that could not be read, or that names another drive."""
    if farm.unread:
        yield Coded('farm-unread', f'the FARM log could not be read on {strftime("%Y-%m-%d", localtime(farm.asked))}: '
                                   f'{farm.unread}')
    if farm.is_foreign:
        yield Coded('farm-foreign', 'the FARM log names another serial number than the drive, so its hours are not '
                                    'compared')


def is_certain(report: Report, found: Iterable[Reading]) -> bool:
    """Return whether no counter of 16 bits that ran over explains a log that is ahead of the power-on time."""
    hours = {each.source.attribute is None: (each.number or 0) / HOUR for each in found if each.metric == AGE}
    counted = hours.get(False, hours.get(True, 0.0))  # by the attribute if there is one
    return report.identity.protocol != 'ATA' or any(
        abs(report.statistics[place].number - counted) <= AGREED[0] + AGREED[1] * counted
        for place in WIDE if place in report.statistics)
