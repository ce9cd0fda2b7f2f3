"""Change acknowledged.json: add and remove acknowledgements, and keep everything else that a site wrote. Pure."""
from __future__ import annotations

from ..errors import DataError
from ..typed import TYPE_CHECKING, Json, NamedTuple
from . import data_file, site_file
from .acknowledgements import FILE, from_overrides, override

if TYPE_CHECKING:
    from typing import Any, Collection, Dict, Optional, Sequence, Tuple

    from .acknowledgements import Acknowledgement

    Key = Tuple[str, str]    # serial number and metric

COMMENT = 'Written by check_smart_attributes acknowledge; each number is silent until it is passed.'
# Keys of an override that says nothing beside its acknowledgements.
_OURS = frozenset(('for', 'why', 'until', 'by', 'at', 'metrics'))


class Document(NamedTuple):
    """The content of the file."""

    data: Json                               # all of it, valid or not
    given: Tuple[Acknowledgement, ...] = ()  # what checks take from it, in the order of the file
    mistakes: Tuple[str, ...] = ()           # sentences, as checks report them


EMPTY = Document({'comment': COMMENT})


def document(text: str) -> Document:
    """Return the content of a file. Raises DataError where a change could lose what somebody wrote."""
    data, doubled = data_file.parse(text, FILE)
    if doubled:
        raise DataError(doubled[0])
    overrides = data.get('overrides', []) if isinstance(data, dict) else None
    if not isinstance(overrides, list) or not all(isinstance(each, dict) for each in overrides):
        raise DataError(f'{FILE} is not an object with a list of objects under "overrides"')
    valid = site_file.understood(text, 'thresholds', FILE)
    return Document(data, tuple(from_overrides(valid.data.get('overrides', ()))), valid.mistakes)


def with_added(data: Json, given: Sequence[Acknowledgement]) -> Json:
    """Return the data with acknowledgements, which replace earlier ones of the same metric of the same drive."""
    rest = without(data, {(each.serial, each.metric) for each in given})
    return {**rest, 'overrides': [*rest['overrides'], *map(override, given)]}


def without(data: Json, ended: Collection[Key]) -> Json:
    """Return the data without these acknowledgements; limits that stand beside them stay."""
    left = [_without(each, ended) for each in data.get('overrides', ())]
    return {**data, 'overrides': [each for each in left if each is not None]}


def _without(override: Json, ended: Collection[Key]) -> Optional[Json]:
    """Return what is left of an override, None for nothing."""
    device, metrics = override.get('for'), override.get('metrics')
    serial = device.get('serial') if isinstance(device, dict) else None
    if not isinstance(metrics, dict) or not isinstance(serial, str):
        return override
    left: Dict[str, Any] = {}
    for metric, limits in metrics.items():
        is_ended = (serial, metric) in ended and isinstance(limits, dict) and 'acknowledged' in limits
        rest = {key: value for key, value in limits.items() if key != 'acknowledged'} if is_ended else limits
        if not is_ended or set(rest) - {'why'}:  # the reason of a number that is no longer accepted goes with it
            left[metric] = rest
    if left == metrics:
        return override
    return {**override, 'metrics': left} if left or set(override) - _OURS else None
