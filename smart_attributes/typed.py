"""NamedTuple, Any and TYPE_CHECKING without importing `typing`.

These classes exist only for speed: with `typing` and collections.namedtuple, a check takes 21
million instructions more, of about 200. `typing` is slow to import, and collections.namedtuple
compiles source code for each of the sixty classes in a check. This module compiles code only for
large classes, once per number of fields. Otherwise its classes behave like those of
collections.namedtuple.
"""

TYPE_CHECKING = False  # type checkers treat this name as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any as Any  # noqa: PLC0414 (the second name makes it an export)
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414
    from typing import TypeVar

    T = TypeVar('T')
    Json = Mapping[str, Any]  # a JSON object for reading
    MutableJson = dict[str, Any]  # a JSON object for writing
else:
    from collections import _tuplegetter, namedtuple
    from types import FunctionType

    Any = T = object
    Json = MutableJson = dict
    _new = tuple.__new__
    # The constructor for each number of fields that a check needs; others are added when needed.
    _MAKERS = {
        2: lambda cls, a, b: _new(cls, (a, b)),
        3: lambda cls, a, b, c: _new(cls, (a, b, c)),
        4: lambda cls, a, b, c, d: _new(cls, (a, b, c, d)),
        5: lambda cls, a, b, c, d, e: _new(cls, (a, b, c, d, e)),
        6: lambda cls, a, b, c, d, e, f: _new(cls, (a, b, c, d, e, f)),
        7: lambda cls, a, b, c, d, e, f, g: _new(cls, (a, b, c, d, e, f, g)),
        8: lambda cls, a, b, c, d, e, f, g, h: _new(cls, (a, b, c, d, e, f, g, h)),
        9: lambda cls, a, b, c, d, e, f, g, h, i: _new(
            cls, (a, b, c, d, e, f, g, h, i)
        ),
        10: lambda cls, a, b, c, d, e, f, g, h, i, j: _new(
            cls, (a, b, c, d, e, f, g, h, i, j)
        ),
        11: lambda cls, a, b, c, d, e, f, g, h, i, j, k: _new(
            cls, (a, b, c, d, e, f, g, h, i, j, k)
        ),
        12: lambda cls, a, b, c, d, e, f, g, h, i, j, k, m: _new(
            cls, (a, b, c, d, e, f, g, h, i, j, k, m)
        ),
        13: lambda cls, a, b, c, d, e, f, g, h, i, j, k, m, n: _new(
            cls, (a, b, c, d, e, f, g, h, i, j, k, m, n)
        ),
        14: lambda cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p: _new(
            cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p)
        ),
        15: lambda cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q: _new(
            cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p, q)
        ),
    }

    def _maker(fields, defaults):
        """Return __new__ for a class with these fields: a copy of a constructor with as
        many fields.
        """
        size = len(fields)
        if size not in _MAKERS:
            _MAKERS[size] = namedtuple(
                '_Sized', [f'place_{number}' for number in range(size)]
            ).__new__
        model = _MAKERS[size]
        code = model.__code__.replace(co_varnames=('_cls', *fields), co_name='__new__')
        # the defaults are those of the last fields, as in every function
        return FunctionType(
            code, model.__globals__, '__new__', tuple(defaults.values())
        )

    class _Fields(type):
        """The metaclass that turns annotations into fields of a named tuple, as
        typing.NamedTuple does.
        """

        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(body.get('__annotations__', ()))
            defaults = {field: body[field] for field in fields if field in body}
            getters = {field: _tuplegetter(i, '') for i, field in enumerate(fields)}
            return type(
                name,
                (_Named,),
                {
                    **body,
                    **getters,
                    '__slots__': (),
                    '_fields': fields,
                    '_field_defaults': defaults,
                    '__new__': _maker(fields, defaults),
                },
            )

    class _Named(tuple):
        """The methods that all named tuples have."""

        __slots__ = ()

        def _replace(self, **changes):
            made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise TypeError(f'Got unexpected field names: {list(changes)!r}')
            return made

        def _asdict(self):
            return dict(zip(self._fields, self))

        def __repr__(self):
            return f'{type(self).__name__}({", ".join(map("{}={!r}".format, self._fields, self))})'

    class NamedTuple(metaclass=_Fields):
        """The base of a class of named fields, as in `typing`."""
