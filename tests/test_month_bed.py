"""A month of a machine with the real smartctl on simulated drives: the state of each drive on each
day.

One check a day at noon, through the entry point, over what smartctl finds; history began a month
before.

    sda    a hard disk whose cable is bad on days 4 to 6 and replaced on day 6
    sdb    an SSD, 40 % used in three years, that wears two points a day from day 3 on
    sdc    a hard disk that has lost a sector on day 8, 12 on day 10, 30 on day 12, 180 on day 22; swapped on day 24
    sdd    a hard disk that falls asleep on day 3 and wakes on day 14
    nvme0  a drive that only gets older
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from conftest import Result
from days import DAY, HOUR, START, run_at
from simulator import Description, Machine, read, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

DAYS = 31
HOURS, CRC, SECTORS, WEAR = 9, 199, 5, 233
Drive = tuple[Description, Mapping[str, object]]  # and how it behaves


def since(steps: Mapping[int, int], day: int) -> int:
    """Return what holds on a day. steps: first day -> number."""
    return steps[max(first for first in steps if first <= max(day, 0))]


def told(name: str, day: int, serial: str, **statistics: int) -> Description:
    """Return a described drive, a day older with each day; statistics: numbers in its own words,
    by attribute.
    """
    drive = read(name)
    numbers = {int(attribute[1:]): number for attribute, number in statistics.items()}
    hours = next(int(row.raw.split()[0]) for row in drive.attributes if row.id == HOURS) + 24 * day
    rows = tuple(
        row._replace(raw=str({**numbers, HOURS: hours}.get(row.id, row.raw)))
        for row in drive.attributes
    )
    kept = tuple(
        each
        for each in drive.statistics
        if 'CRC' not in each.name and 'Reallocated' not in each.name and 'Power-on' not in each.name
    )
    return drive._replace(serial=serial, wwn='', attributes=rows, statistics=kept)


def worn(day: int, used: int) -> Description:
    """Return an SSD that says so in its attribute and in its statistics."""
    drive = told('intel-healthy', day, 'EXAMPLE-B')
    left = 100 - used
    rows = tuple(
        row._replace(value=left, worst=left) if row.id == WEAR else row for row in drive.attributes
    )
    return drive._replace(
        attributes=rows,
        statistics=tuple(
            each._replace(number=used) if 'Percentage Used' in each.name else each
            for each in drive.statistics
        ),
    )


def drives(day: int) -> dict[str, Drive]:
    """Return what stands in the machine on a day."""
    cable = since({0: 212, 4: 226, 5: 230, 6: 290}, day)
    # it counts 512 bytes of sectors of 4 KiB
    sectors = since({0: 0, 8: 1, 10: 12, 12: 30, 22: 180, 24: 0}, day) * 8
    nvme = read('nvme-samsung-healthy')
    hours = int(nvme.log['power_on_hours']) + 24 * day
    return {
        'sda': (told('wd-hdd-healthy', day, 'EXAMPLE-A', a199=cable), {}),
        'sdb': (worn(day, 40 + 2 * max(day - 2, 0)), {}),
        'sdc': (
            told('toshiba-hdd-healthy', day, 'EXAMPLE-C' if day < 24 else 'EXAMPLE-C2', a5=sectors),
            {},
        ),
        'sdd': (told('hgst-healthy', day, 'EXAMPLE-D'), {'asleep': True} if 3 <= day < 14 else {}),
        'nvme0': (nvme._replace(log={**nvme.log, 'power_on_hours': hours}), {}),
    }


@pytest.fixture(scope='module')
def month(tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    """The answer of each day's check."""
    folder, found = tmp_path_factory.mktemp('month'), []
    (folder / 'state').mkdir()
    for day in (-30, *range(DAYS)):
        machine = Machine(folder / f'day-{day}')
        for name, (drive, behaviour) in drives(day).items():
            machine.add(f'/dev/{name}', drive, **behaviour)
        found.append(
            run_at(
                START + day * DAY + 12 * HOUR,
                '-p',
                machine.smartctl,
                '--nosudo',
                '--state-dir',
                str(folder / 'state'),
                '--scan',
            )
        )
    del found[0]
    return found


def states(month: list[Result], drive: str) -> str:
    """Return a letter a day: . for OK, else the first one of the state."""
    return ''.join(
        {'OK': '.'}.get(word, word[0]) for word in (day.line_of(drive).split()[0] for day in month)
    )


def days_with(month: list[Result], words: str) -> list[int]:
    return [day for day, result in enumerate(month) if words in result.text]


@pytest.mark.parametrize(
    ('drive', 'wanted'),
    [
        ('sda', '....' + 'W' * 9 + '.' * 18),
        ('sdb', '.......' + 'W' * 23 + 'C'),
        ('sdc', '.' * 10 + 'W' * 12 + 'CC' + '.' * 7),
        ('sdd', '.' * 10 + 'WWWW' + '.' * 17),
        ('nvme0', '.' * 31),
    ],
)
@pytest.mark.long
def test_each_drive_has_the_state_of_each_day_that_a_careful_admin_wants(month, drive, wanted):
    """sda is loud until its new cable has held a week; sdb 18 days before its level; sdc 12 days
    before its many.
    """
    assert states(month, drive) == wanted


def test_each_day_has_the_state_of_its_worst_drive(month):
    """And says why; 212 CRC errors of long ago are no reason."""
    assert ''.join(str(day.code) for day in month) == '0000' + '1' * 18 + '22' + '1' * 6 + '2'


def test_a_bad_cable_is_told_with_what_it_grew_by(month):
    """To the newest step, with its real time; then no more."""
    assert 'crc_errors grew by 14 in 24 h (212 to 226): check cable and backplane' in month[
        4
    ].line_of('sda')
    assert days_with(month, 'crc_errors grew') == list(range(4, 13))


def test_wear_is_told_as_speed_before_it_is_told_as_level(month):
    """40 % in three years, and then two a day: 18 days are left to find out who writes."""
    assert days_with(month, 'endurance_used grew') == list(range(7, 31))
    assert 'it wears much faster than before' in month[7].line_of('sdb')
    assert 'endurance_used 86 %' in month[25].line_of('sdb')


def test_a_swapped_drive_is_told_on_its_day_and_takes_its_alarm_along(month):
    """Its address is the old one."""
    words = (
        'note: /dev/sdc: TOSHIBA MG04ACA600E EXAMPLE-C was replaced by TOSHIBA '
        'MG04ACA600E EXAMPLE-C2'
    )

    assert days_with(month, words) == days_with(month, 'was replaced') == [24]


def test_a_sleeping_drive_goes_by_its_name_and_is_told_when_nobody_has_read_it_for_a_week(month):
    """Standby tells neither model nor serial number."""
    assert days_with(month, 'is in standby') == list(range(3, 14))
    assert all(
        'HGST HUH721212ALN604' in day.line_of('sdd') and 'EXAMPLE-D' in day.line_of('sdd')
        for day in month
    )
    assert days_with(month, 'longer than 7 d') == list(range(10, 14))
