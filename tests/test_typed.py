"""typed: named tuples that cost a check less than those of typing, and are used in the same way."""

from typing import NamedTuple

import pytest

from smart_attributes import typed


class Ours(typed.NamedTuple):
    """A drive."""

    name: str
    age: int = 3

    @property
    def is_old(self) -> bool:
        return self.age > 5


class Theirs(NamedTuple):
    """A drive."""

    name: str
    age: int = 3

    @property
    def is_old(self) -> bool:
        return self.age > 5


@pytest.mark.parametrize(
    'use',
    [
        lambda kind: tuple(kind(age=9, name='sda')),
        lambda kind: kind('sda', 6).is_old,
        lambda kind: kind.__doc__,
        lambda kind: kind('sda')._asdict(),
        lambda kind: kind._fields,
        lambda kind: kind._field_defaults,
        lambda kind: kind('sda') == ('sda', 3),
        lambda kind: hash(kind('sda')),
        lambda kind: repr(kind('sda', 5)).partition('(')[2],
        lambda kind: type(kind('sda')._replace(age=4)) is kind,
        lambda kind: tuple(kind('sda')._replace(age=4)),
        lambda kind: kind.__module__,
    ],
)
def test_they_do_what_those_of_typing_do(use):
    assert use(Ours) == use(Theirs)


@pytest.mark.parametrize(
    'use',
    [
        lambda kind: kind(),
        lambda kind: kind('sda', 1, 2),
        lambda kind: kind('sda', size=2),
        lambda kind: kind('sda')._replace(size=2),
    ],
)
def test_what_does_not_fit_is_refused_as_by_typing(use):
    for kind in (Ours, Theirs):
        with pytest.raises((TypeError, ValueError)):
            use(kind)


@pytest.mark.parametrize(
    'use',
    [lambda drive: setattr(drive, 'age', 4), lambda drive: setattr(drive, 'size', 4)],
)
def test_nothing_in_them_changes(use):
    with pytest.raises(AttributeError):
        use(Ours('sda'))


def test_many_fields_are_as_good_as_few():
    """The command line has more than forty options."""
    body = {
        '__annotations__': {f'field{number}': int for number in range(60)},
        '__module__': __name__,
    }
    wide = type(typed.NamedTuple)('Wide', (typed.NamedTuple,), body)

    made = wide(*range(60))

    assert [getattr(made, field) for field in wide._fields] == list(range(60))
    assert wide(**{f'field{number}': number for number in range(60)}) == made
