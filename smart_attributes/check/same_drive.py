"""Find the addresses that lead to the same drive, and make one report of what they say. Pure.

If in doubt, two addresses are two drives: a drive shown twice is a nuisance, but a failing drive
must not disappear in a healthy one. For the same reason, each fact of a drive is that of the best
witness, and the worst status that the drive itself has reported counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from ..errors import DriveAsleep
from ..model import DOUBTED, ONE, Alias, Identity, Read, Report, SelfTest
from ..reading.content import COMMAND_FAILED, FAILED
from ..reading.device_types import is_raid
from ..reading.identity import NONE, WEAK, agreement, identifiers
from ..typed import NamedTuple, T
from . import drive_facts

Known = Callable[[str, str], str]  # two addresses -> what the history says about them


class Distinct(NamedTuple):
    """A drive: its merged report at the address to keep, and its other addresses."""

    read: Read
    others: tuple[Read, ...]
    is_doubted: bool  # its reports contradict each other


def distinct(reads: Sequence[Read], seen_as: Known) -> list[Distinct]:
    """Return each drive once, in the order in which the drives were given.

    An address with a report is kept, preferably an address behind RAID, because it stays the same
    when the volume gets another letter. seen_as: asked only about reports that contradict each other.
    """
    groups: list[list[Read]] = []  # the addresses of each drive
    # These lists are the same objects as in *groups*, so they grow there, too.
    groups_by_identifier: dict[str, list[list[Read]]] = defaultdict(list)
    # Addresses that say less come last: they fit several drives that share a serial number.
    for read in sorted(reads, key=_vagueness):
        own_identifiers = _identifiers(read)
        alike = [
            group
            for identifier in own_identifiers
            for group in groups_by_identifier[identifier]
        ]
        group = _group_of(read, alike, seen_as)
        if group is None:
            group = []
            groups.append(group)
        group.append(read)
        # A group that is already listed under an identifier is listed again, which has no effect.
        for identifier in own_identifiers:
            groups_by_identifier[identifier].append(group)
    # The groups, and in each group its addresses, get back the order of *reads*.
    place = {id(read): number for number, read in enumerate(reads)}
    for group in groups:
        group.sort(key=lambda read: place[id(read)])
    groups.sort(key=lambda group: place[id(group[0])])
    return [_one_drive(group) for group in groups]


def _group_of(read: Read, alike: list[list[Read]], seen_as: Known) -> list[Read] | None:
    """Return the group to which an address belongs, preferably one that reports the same serial
    number and WWN; None if it belongs to none of them.
    """
    for group in sorted(alike, key=lambda group: _differs_in_name(group[0], read)):
        if _is_of(read, group, seen_as):
            return group
    return None


def _vagueness(read: Read) -> tuple[bool, bool, bool]:
    """Return a key by which addresses that say less about their drive come last: those without an
    answer, without a health status, and without a WWN.
    """
    has_wwn = read.identity is not None and read.identity.wwn != ''
    is_silent = _has_failed(read) or read.report is None
    return is_silent, _own_status(read) is None, not has_wwn


def _differs_in_name(first_read: Read, second_read: Read) -> bool:
    """Return whether two addresses report another serial number or WWN."""
    first = first_read.identity or Identity()
    second = second_read.identity or Identity()
    return (first.serial, first.wwn) != (second.serial, second.wwn)


def _identifiers(read: Read) -> list[str]:
    """Return the identifiers by which other addresses of a drive are found; [] if it has none."""
    # Two recordings of one drive stay separate reports, so that they can be compared.
    if read.identity is None or read.device.is_recorded:
        return []
    return identifiers(read.identity)


def _is_of(read: Read, group: Sequence[Read], seen_as: Known) -> bool:
    """Return whether an address leads to the same drive as each address of a group.

    An address that failed does not join a group whose reports have no health status, because its
    own health status, which is not known, could be FAILED. It can join a group without any report.
    """
    statuses = {_own_status(member) for member in group if member.report is not None}
    # Without any report, the set is empty.
    reports_have_no_status = statuses == {None}
    if reports_have_no_status and _has_failed(read):
        return False
    return all(_is_one_drive(read, member, seen_as) for member in group)


def _is_one_drive(first: Read, second: Read, seen_as: Known) -> bool:
    """Return whether two addresses lead to the same drive. If their reports differ, this depends on
    the last check, see seen_as():

                                                               SEPARATE  DOUBTED  ONE
    the identities do not agree                                False     False    False
    the reports differ, even if errors were counted meanwhile  False     False    True
    they differ unless errors were counted, and only one of    False     True     True
    serial number and WWN agrees
    all other cases                                            True      True     True

    DOUBTED: the last check found one drive, but the reports differed as in the second row. The
    second such difference in a row means two drives.
    """
    level = _agreement(first, second)
    if level == NONE:
        return False
    addresses = first.device.address, second.device.address
    differ_anyhow = _differ(first, second, may_count=True)
    if differ_anyhow:
        return seen_as(*addresses) == ONE
    if level == WEAK:
        differ_unless_errors_counted = _differ(first, second, may_count=False)
        if differ_unless_errors_counted:
            return seen_as(*addresses) in (ONE, DOUBTED)
    return True


def _has_failed(read: Read) -> bool:
    """Return whether a drive is at an address, but did not report the health status because a
    command failed. False for a drive in standby, which was not asked, and if no drive answered.
    """
    report = read.report
    if report is not None:
        return report.smart_status is None and report.has_exit_bit(COMMAND_FAILED)
    # Without a report, only a drive that answered has an identity.
    has_answered = read.identity is not None
    return has_answered and not isinstance(read.outcome, DriveAsleep)


def _agreement(first: Read, second: Read) -> int:
    """Return how far the identities at two addresses agree: NONE, WEAK or STRONG."""
    level = agreement(first.identity or Identity(), second.identity or Identity())
    namespaces = {_namespace(first), _namespace(second)} - {''}
    if len(namespaces) > 1:
        # an EUI-64 that two namespaces share identifies neither of them
        return min(level, WEAK)
    return level


def _namespace(read: Read) -> str:
    """Return the number of an NVMe namespace, "1" for /dev/nvme0n1; '' for another device."""
    match = re.search(r'/nvme\d+n(\d+)$', read.device.path)
    return match[1] if match else ''


def _differ(first: Read, second: Read, may_count: bool) -> bool:
    """Return whether there are reports at both addresses, and these are from different drives.

    may_count: if True, suppose that the drive has counted errors between the reads, so
    that higher counts of the later report are no difference; if False, any other count is one. See
    drive_facts.differ().
    """
    # If both ended at the same time, the second one counts as the earlier one.
    earlier, later = sorted((second, first), key=lambda read: read.ended)
    before = earlier.report
    after = later.report
    if before is None or after is None:
        return False
    began = earlier.ended - earlier.seconds
    seconds = later.ended - began
    return drive_facts.differ(before, after, seconds, may_count)


def aliases(drives: Sequence[Distinct]) -> dict[str, tuple[Alias, ...]]:
    """Return the other addresses of the drives that have any, by the address that is kept."""
    return {
        drive.read.device.address: tuple(
            Alias(read.device.address, drive.is_doubted) for read in drive.others
        )
        for drive in drives
        if drive.others
    }


# --- one report -----------------------------------------------------------------------------------


def _one_drive(group: Sequence[Read]) -> Distinct:
    """Return a drive, from all addresses that lead to it."""
    candidates = [read for read in group if read.report is not None] or group
    statuses = {_own_status(read) for read in group}
    if True in statuses and False in statuses:
        # an address that reports the failure
        candidates = [read for read in group if _own_status(read) is False]
    # preferably behind RAID, then no slot of a range; the first of equally good ones
    kept = max(
        candidates, key=lambda read: (is_raid(read.device), not read.device.optional)
    )
    others = tuple(read for read in group if read is not kept)
    reports = [read.report for read in (kept, *others) if read.report is not None]
    if len(reports) > 1:
        kept = kept._replace(outcome=merged(reports))
    is_doubted = any(
        _differ(first, second, may_count=True)
        for first, second in combinations(group, 2)
    )
    return Distinct(kept, others, is_doubted)


def _own_status(read: Read) -> bool | None:
    """Return the health status that the drive itself reported at an address; None without one."""
    return read.report.own_status if read.report is not None else None


def merged(reports: Sequence[Report]) -> Report:
    """Return one report of a drive that was read at several addresses.

    The most complete report is completed by the others of its protocol. Of two tables, the one with
    more errors counts. Of the statuses that the drive itself has reported, in any protocol, the
    worst one counts.
    """
    best = min(reports, key=lambda report: (-_completeness(report), len(report.gaps)))
    alike = [
        report
        for report in reports
        if report.identity.protocol == best.identity.protocol
    ]
    alike.sort(key=lambda report: report is not best)  # the best one first
    # A report of another protocol can be the only one that says that the drive fails.
    status = _status(reports) or best
    counts = [report.error_count for report in alike if report.error_count is not None]
    return best._replace(
        identity=_completed([report.identity for report in alike]),
        smart_status=status.smart_status,
        smart_status_text=status.smart_status_text,
        is_status_derived=status.is_status_derived,
        exit_status=_exit_status(best, status, alike),
        attributes=max(
            (report.attributes for report in alike), key=drive_facts.errors_of_table
        ),
        nvme=_nvme([report.nvme for report in alike]),
        scsi=max((report.scsi for report in alike), key=drive_facts.errors_of_scsi),
        statistics=_first((report.statistics for report in alike), {}),
        derived=_first((report.derived for report in alike), {}),
        self_tests=max((report.self_tests for report in alike), key=_newest_test),
        nvme_errors=tuple(
            dict.fromkeys(entry for report in alike for entry in report.nvme_errors)
        ),
        errors=max(alike, key=_errors_made).errors,
        error_count=max(counts, default=None),
        farm=_first((report.farm for report in alike), None),
        vendor_log=_first((report.vendor_log for report in alike), None),
    )


def _first(values: Iterable[T], default: T) -> T:
    """Return the first value that is not empty, or *default* if all are."""
    return next(filter(None, values), default)


def _exit_status(
    best: Report, status_source: Report, reports: Sequence[Report]
) -> int | None:
    """Return the exit status of a drive: the bits of the best report, but the bit FAILED of the
    report whose health status counts, and bits 4 to 7 of all reports.
    """
    if best.exit_status is None:
        return None
    bits = best.exit_status & ~FAILED
    if status_source.has_exit_bit(FAILED):
        bits |= FAILED
    for report in reports:
        bits |= (report.exit_status or 0) & 0xF0  # findings in attributes and logs
    return bits


def _newest_test(tests: Sequence[SelfTest]) -> tuple[int, int]:
    """Return a key by which the self-test log with the newest entry is the greatest one."""
    if not tests:
        return -1, 0
    return tests[0].hours or 0, len(tests)


def _errors_made(report: Report) -> tuple[int, int]:
    """Return a key by which the error log with the most errors is the greatest one."""
    return report.error_count or 0, len(report.errors)


def _completeness(report: Report) -> int:
    """Return how many parts a report has."""
    parts = (
        report.attributes,
        report.nvme,
        report.scsi,
        report.statistics,
        report.self_tests,
        report.error_count is not None,
        report.farm,
    )
    return sum(map(bool, parts))


def _status(reports: Sequence[Report]) -> Report | None:
    """Return the first report with the worst status that the drive itself has reported; None if it
    reported none.
    """
    for status in (False, True):
        for report in reports:
            if report.own_status is status:
                return report
    return None


def _completed(identities: Sequence[Identity]) -> Identity:
    """Return the first identity with what only the others say."""
    rotations = [own.rotation for own in identities if own.rotation is not None]
    return identities[0]._replace(
        rotation=rotations[0] if rotations else None,
        serial=_first((own.serial for own in identities), ''),
        wwn=_first((own.wwn for own in identities), ''),
        capacity=_first((own.capacity for own in identities), None),
    )


def _nvme(logs: Sequence[Mapping[str, int]]) -> Mapping[str, int]:
    """Return the health log with the most errors, with the warnings of all; {} if all are empty."""
    if not any(logs):
        return {}
    warnings = 0
    for log in logs:
        warnings |= log.get('critical_warning', 0)
    worst = max(filter(None, logs), key=drive_facts.errors_of_nvme)
    return {**worst, 'critical_warning': warnings}


def note(drive: Distinct) -> str:
    """Return a note that lists a drive's other addresses, each with the error if it could not be
    read.
    """
    others = []
    for read in drive.others:
        why = f', which {read.outcome}' if read.report is None else ''
        others.append(f'{read.device.address}{why}')
    return f'also reached as {", ".join(others)}'
