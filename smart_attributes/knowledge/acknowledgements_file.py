"""Add acknowledgements to acknowledged.json and remove them, and keep everything else in the file. Pure."""
from __future__ import annotations

from ..errors import DataError
from ..typed import TYPE_CHECKING, Json, MutableJson, NamedTuple
from . import data_file, site_file
from .acknowledgements import FILE, GONE, from_overrides, override

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .acknowledgements import Acknowledgement

COMMENT = 'Written by check_smart_attributes acknowledge; a value does not alert until it gets worse.'
# Keys of an override that holds only acknowledgements.
_OURS = frozenset(('for', 'why', 'until', 'by', 'at', 'metrics', GONE))


class AcknowledgementsFile(NamedTuple):
    """The content of the file."""

    data: Json                                          # all data, valid or not
    acknowledgements: tuple[Acknowledgement, ...] = ()  # those that checks use, in the order of the file
    mistakes: tuple[str, ...] = ()                      # sentences, as checks report them


EMPTY = AcknowledgementsFile({'comment': COMMENT})


def document(text: str) -> AcknowledgementsFile:
    """Return the content of a file. Raises DataError if a change could lose existing content."""
    data, doubled = data_file.parse(text, FILE)
    if doubled:
        raise DataError(doubled[0])
    overrides = data.get('overrides', []) if isinstance(data, dict) else None
    if not isinstance(overrides, list) or not all(isinstance(each, dict) for each in overrides):
        raise DataError(f'{FILE} is not an object with a list of objects under "overrides"')
    valid = site_file.understood(text, 'thresholds', FILE)
    return AcknowledgementsFile(data, tuple(from_overrides(valid.data.get('overrides', ()))), valid.mistakes)


def with_added(data: Json, given: Sequence[Acknowledgement]) -> Json:
    """Return the data with the given acknowledgements, which replace earlier ones of the same drive and metric."""
    rest = without(data, {(each.serial, each.metric) for each in given})
    return {**rest, 'overrides': [*rest['overrides'], *map(override, given)]}


def without(data: Json, names: Collection[tuple[str, str]]) -> Json:
    """Return the data without the acknowledgements of these (serial number, metric) pairs; limits are kept."""
    rest = (_without(each, names) for each in data.get('overrides', ()))
    return {**data, 'overrides': [each for each in rest if each is not None]}


def _without(override: Json, names: Collection[tuple[str, str]]) -> Json | None:
    """Return the rest of an override, which may be invalid; None if nothing is left."""
    device, metrics = override.get('for'), override.get('metrics', {})
    serial = device.get('serial') if isinstance(device, dict) else None
    if not isinstance(metrics, dict) or not isinstance(serial, str):
        return override
    kept: MutableJson = {key: value for key, value in override.items() if key != GONE or (serial, GONE) not in names}
    rest = {}
    for metric, limits in metrics.items():
        is_ended = (serial, metric) in names and isinstance(limits, dict) and 'acknowledged' in limits
        others = {key: value for key, value in limits.items() if key != 'acknowledged'} if is_ended else limits
        if not is_ended or set(others) - {'why'}:  # a reason is removed with its acknowledgement
            rest[metric] = others
    if rest == metrics and kept == override:
        return override
    if 'metrics' in kept:
        kept['metrics'] = rest
    return kept if rest or GONE in kept or set(kept) - _OURS else None
