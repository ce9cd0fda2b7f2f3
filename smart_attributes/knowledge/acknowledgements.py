"""Read and describe acknowledgements, and add them to acknowledged.json or remove them. Pure.

Everything else in the file is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..errors import DataError
from ..typed import Json, NamedTuple
from ..wording import amount
from ..words import clean, sentence
from . import data_file, site_file
from .thresholds import FILE, MISSING, NOTES, Acknowledgement, from_override

COMMENT = 'Written by "check_smart_attributes acknowledge"; a value in this file does not alert until it gets worse.'


def telling(accepted: Acknowledgement, unit: str) -> str:
    """Return a text such as "reallocated is acknowledged at 8 by martin on 2026-11-22: stable
    (acknowledged.json)".
    """
    why = f': {sentence(accepted.why, 200)}' if accepted.why else ''
    return (
        f'{accepted.metric} is acknowledged at '
        f'{amount(accepted.value, unit)}{given_by(accepted, " ")}{why} ({accepted.origin})'
    )


def given_by(accepted: Acknowledgement, separator: str) -> str:
    """Return a text such as " by martin on 2026-11-22 until 2027-01-31", without unknown parts."""
    parts = (('by', accepted.by), ('on', accepted.at), ('until', accepted.until))
    return ''.join(f'{separator}{word} {clean(text)}' for word, text in parts if text)


class AcknowledgementsFile(NamedTuple):
    """The content of the file."""

    data: Json  # all data, valid or not
    # the valid ones, in the order of the file
    acknowledgements: tuple[Acknowledgement, ...] = ()
    mistakes: tuple[str, ...] = ()  # messages, as checks report them


EMPTY = AcknowledgementsFile({'comment': COMMENT})


def document(text: str) -> AcknowledgementsFile:
    """Return the content of a file. Raises DataError if a change could lose existing content."""
    data = data_file.parse(text, FILE)
    overrides = data.get('overrides', []) if isinstance(data, dict) else None
    is_valid = isinstance(overrides, list) and all(
        isinstance(override, dict) for override in overrides
    )
    if not is_valid:
        raise DataError(
            f'{FILE}: write a JSON object; its "overrides" must be a list of objects'
        )
    valid = site_file.understood(text, 'thresholds', FILE, FILE)
    acknowledgements: list[Acknowledgement] = []
    for override in valid.data.get('overrides', ()):
        acknowledgements += from_override(override)
    return AcknowledgementsFile(data, tuple(acknowledgements), valid.mistakes)


def with_added(data: Json, added: Sequence[Acknowledgement]) -> Json:
    """Return the data with the added acknowledgements, which replace earlier ones of the same
    drive and metric.
    """
    rest = without(data, {(accepted.serial, accepted.metric) for accepted in added})
    return {**rest, 'overrides': [*rest['overrides'], *map(as_override, added)]}


def without(data: Json, withdrawn: Collection[tuple[str, str]]) -> Json:
    """Return the data without the acknowledgements of these (serial number, metric) pairs;
    limits are kept.
    """
    rest = [_without(override, withdrawn) for override in data.get('overrides', ())]
    return {**data, 'overrides': list(filter(None, rest))}


def _without(override: Json, withdrawn: Collection[tuple[str, str]]) -> Json | None:
    """Return an override, which may be invalid, without these acknowledgements; None if the rest
    has no effect. An override for other drives is returned unchanged.

    withdrawn: serial number and metric of each; the metric can be MISSING.
    """
    device = override.get('for')
    serial = device.get('serial') if isinstance(device, dict) else None
    # the metrics that are no longer acknowledged for this drive
    ended = {metric for owner, metric in withdrawn if owner == serial}
    metrics = override.get('metrics', {})
    if not ended or not isinstance(metrics, dict):
        return override
    rest = {**override, 'metrics': _without_values(metrics, ended)}
    if not rest['metrics']:
        del rest['metrics']
    # the acknowledgement of a missing drive is a key of the override itself
    if MISSING in ended:
        rest.pop('missing', None)
    return rest if rest.keys() - {'for', *NOTES} else None


def _without_values(metrics: Json, ended: Collection[str]) -> Json:
    """Return the metrics of an override without the acknowledged values of some metrics; a metric
    without limits of its own is left out.
    """
    kept = {}
    for metric, limits in metrics.items():
        has_value = isinstance(limits, dict) and 'acknowledged' in limits
        if metric not in ended or not has_value:
            kept[metric] = limits
            continue
        rest = {key: limits[key] for key in limits if key != 'acknowledged'}
        # a reason is removed with its acknowledgement
        if rest.keys() - {'why'}:
            kept[metric] = rest
    return kept


def as_override(accepted: Acknowledgement) -> Json:
    """Return an acknowledgement as an override object for acknowledged.json or thresholds.d, such as
    {"for": {"serial": "S1"}, "by": "ann", "metrics": {"pending": {"acknowledged": 8}}}.
    """
    notes = {note: getattr(accepted, note) for note in NOTES if getattr(accepted, note)}
    override = {'for': {'serial': accepted.serial}, **notes}
    if accepted.metric == MISSING:
        return {**override, 'missing': True}
    value = {'acknowledged': accepted.value}
    return {**override, 'metrics': {accepted.metric: value}}
