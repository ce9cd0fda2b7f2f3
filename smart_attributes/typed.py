"""Named tuples, and what only type checkers read, without the import of typing: 8 of the 50 ms that a check costs."""
from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False  # as type checkers read typing.TYPE_CHECKING
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 (the second name makes it an export)
else:
    class _Fields(type):
        """What typing.NamedTuple does: the annotations of a class body become the fields of a named tuple."""

        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.get('__annotations__', {})
            made = namedtuple(name, fields, defaults=[body.pop(field) for field in fields if field in body],
                              module=body['__module__'])
            for key, value in body.items():
                if key not in ('__module__', '__qualname__'):
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Fields):
        """The base of a class of named fields, as in typing."""
