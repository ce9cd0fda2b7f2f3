"""A month of a machine, a check each day at noon: the state of each day is as a careful admin
would want it.
"""

import pytest
from days import DAY, HOUR, START, Machine, disk


def creeping(day: int) -> int:
    return 3 * (day - 2)


def alone(**numbers):
    """Return the days on which the numbers of a disk change. numbers: attribute -> day: number."""
    [(attribute, by_day)] = numbers.items()
    return {day: {'sda': disk(**{attribute: number})} for day, number in by_day.items()}


# Drives from a day on, and the states of the days: "." OK, W WARNING, C CRITICAL.
MONTHS = {
    # 212 errors of long ago are silent, those of days 3 to 5 are loud until a week after them
    'bad-cable-replaced': (
        alone(a199={0: 212, 3: 226, 4: 230, 5: 290}),
        '...WWWWWWWWW....',
    ),
    # three sectors a day: the limit would be reached on day 16; a lull ends nothing
    'sectors-creep': (
        alone(a5={0: 0, **{day: creeping(day) for day in range(3, 10)}}),
        '....WWWWWWWWWW',
    ),
    'many-sectors-in-two-days': (alone(a5={0: 0, 2: 60, 3: 120}), '..WCCC'),
    # the number is back at 0, the reason is not
    'pending-sector-written-over': (alone(a197={0: 0, 2: 1, 4: 0}), '..WWWWWW'),
}


@pytest.mark.parametrize('name', MONTHS)
def test_each_day_has_its_state(tmp_path, name):
    machine, (drives, expected) = Machine(tmp_path), MONTHS[name]
    states = ''
    for day in range(len(expected)):
        if day in drives:
            machine.holds(**drives[day])
        result = machine.check(START + day * DAY + 12 * HOUR, '--scan')
        states += '.WCU'[result.code]

    assert states == expected
