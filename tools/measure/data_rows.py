"""Read the lines of a data file, and write measured rows as CSV."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, TypeVar, Union

from smart_attributes.errors import DataError
from smart_attributes.typed import Json

# what a line raises that is not a drive
NOT_A_DRIVE = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    RecursionError,
)
Item = TypeVar('Item')
Value = TypeVar('Value')
Row = Mapping[str, Union[str, float, None]]


def json_lines(
    path: str, value_of: Callable[[Json], Value], shape: str
) -> Iterator[Value]:
    """Yield the value of each line of a plain or gzip file of JSON objects. shape: what a line
    holds.

    Raises DataError with the number of the line from which *value_of* cannot compute a value.
    """
    return _values(
        path,
        lambda lines: enumerate(lines, 1),
        lambda line: value_of(json.loads(line)),
        shape,
    )


def csv_rows(
    path: str, value_of: Callable[[Mapping[str, str]], Value], shape: str
) -> Iterator[Value]:
    """Yield the value of each row of a plain or gzip CSV file, as json_lines does for lines."""
    return _values(path, _rows, lambda row: value_of(_whole(row)), shape)


def _rows(lines: Iterable[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    rows = csv.DictReader(lines)
    yield from ((rows.line_num, row) for row in rows)


def _whole(row: Mapping[str, str]) -> Mapping[str, str]:
    """Return the row. Raises ValueError if it has more or fewer fields than the header."""
    if None in row or None in row.values():
        raise ValueError('number of fields')
    return row


def _values(
    path: str,
    items: Callable[[IO[str]], Iterable[tuple[int, Item]]],
    value_of: Callable[[Item], Value],
    shape: str,
) -> Iterator[Value]:
    try:
        with (gzip.open if path.endswith('.gz') else open)(
            path, 'rt', encoding='utf-8', newline=''
        ) as lines:
            for number, item in items(lines):
                try:
                    value = value_of(item)
                except NOT_A_DRIVE as error:
                    raise DataError(
                        f'{path}, line {number}: {type(error).__name__}: {shape}'
                    ) from None
                yield value
    except (OSError, UnicodeDecodeError, EOFError, csv.Error, zlib.error) as error:
        reason = (
            getattr(error, 'strerror', None)
            or 'this is neither text nor a complete gzip file'
        )
        raise DataError(f'{path}: {reason}; {shape}') from None


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV, with the keys of the first row as the header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator='\n')
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
