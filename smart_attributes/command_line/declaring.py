"""Short forms of argparse's add_argument() for declaring options.

*spellings* has all spellings of an option, separated by blanks; *text* is its help.
"""

from __future__ import annotations

from ..typed import Any
from .options import Option


def option(spellings: str, **arguments: Any) -> Option:
    """Return an option. arguments: the arguments of add_argument()."""
    return tuple(spellings.split()), arguments


def flag(spellings: str, text: str, **more: Any) -> Option:
    """Return an option without a value."""
    return option(spellings, action='store_true', help=text, **more)


def single(spellings: str, metavar: str, text: str, default: Any = '', **more: Any) -> Option:
    """Return an option with one value."""
    return option(spellings, metavar=metavar, help=text, default=default, **more)


def repeated(spellings: str, metavar: str, text: str, **more: Any) -> Option:
    """Return an option that may be repeated; its value is a list."""
    return option(spellings, action='append', default=[], metavar=metavar, help=text, **more)


def positional(name: str, metavar: str, text: str, nargs: str = '*') -> Option:
    """Return arguments without a spelling; their value is a list."""
    return option(name, nargs=nargs, metavar=metavar, help=text)
