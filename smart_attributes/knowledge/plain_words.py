"""Findings in words for people, from the noun or the label of a metric in attributes.json. Pure."""

from __future__ import annotations

from ..constants import LONGEST_STATEMENT
from ..model import LastFinding, Reading
from ..typed import TYPE_CHECKING
from ..wording import SPEAKS_FOR_ITSELF, amount, quantity
from ..words import clean

if TYPE_CHECKING:
    from .drive_database import Metric


def of_reading(reading: Reading, metric: Metric | None) -> str:
    """Return a reading in words: "576 reallocated sectors", "temperature 66 C", "SMART health status
    FAILED". metric: None for a metric that the database does not have.
    """
    if reading.brief:
        return clean(reading.brief, limit=LONGEST_STATEMENT)
    if reading.state is not None:
        return _of_text(reading.verdict, reading.metric, metric)
    if reading.number is None:
        return f'{label(reading.metric, metric)} unknown'
    # without the addition "(8 logical sectors)"
    text = quantity(reading._replace(logical_sectors=None))
    return _of_number(text, reading.number, reading.metric, metric)


def of_last(finding: LastFinding, metric: Metric | None) -> str:
    """Return a stored finding in words, as of_reading() or of_change() does."""
    if finding.ends:  # only an alert about growth ends by itself
        change = finding.words.removeprefix(finding.metric).strip()
        return of_change(finding.metric, metric, change)
    if finding.number is None:
        text = finding.words.removeprefix(f'{finding.metric}: ')
        return _of_text(text, finding.metric, metric)
    text = amount(finding.number, metric.unit if metric else '')
    return _of_number(text, finding.number, finding.metric, metric)


def of_change(name: str, metric: Metric | None, change: str) -> str:
    """Return growth in words. change: "grew by 14 in 10 min"."""
    return f'{label(name, metric)} {change}'


def label(name: str, metric: Metric | None) -> str:
    """Return what people call a metric: its label, "reallocated sectors" from its noun, or else its
    name.
    """
    if metric is None:
        return name
    return metric.label or (f'{metric.noun}s' if metric.noun else name)


def _of_number(text: str, number: float, name: str, metric: Metric | None) -> str:
    """Return a number in words: "1 reallocated sector" for a metric with a noun, else "temperature
    66 C". text: the number with its unit.
    """
    if metric is None or not metric.noun:
        return f'{label(name, metric)} {text}'
    noun = metric.noun if number == 1 else f'{metric.noun}s'
    return f'{text} {noun}'


def _of_text(text: str, name: str, metric: Metric | None) -> str:
    """Return a status in words, after the label of its metric if it has one and the status needs
    it.
    """
    is_named = metric is not None and metric.label and name not in SPEAKS_FOR_ITSELF
    words = f'{label(name, metric)} {text}' if is_named else text
    return clean(words, limit=LONGEST_STATEMENT)
