"""The readings of a vendor's log, from this check or stored by an earlier check. Pure."""

from __future__ import annotations

from ..knowledge import vendor_logs
from ..knowledge.vendor_logs import VendorLog
from ..model import Reading, Report, Source
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from ..history.past import Past
    from ..history.series import History
    from ..knowledge.drive_database import SpecDatabase

    Log = tuple[str, str]  # page, "0xC0", and the name of its layout


def vendor_log(
    report: Report, log: Log, database: SpecDatabase, past: Past | None
) -> VendorLog:
    """Return the readings and notes of a drive's vendor log; both are empty if no file defines
    its layout.
    """
    _, layout_name = log
    layout = database.layouts.get(layout_name)
    if layout is None:
        return VendorLog()
    source = vendor_logs.source_of(*log)
    metrics = database.metrics
    # the last number of each metric that is recent enough
    stored = {}
    for name in vendor_logs.names(layout):
        history = _history(past, name, metrics[name].unit, source)
        if past and history and past.now - history.last_read <= vendor_logs.KEPT:
            stored[name] = history.points[-1].number
    attempt = last_attempt(past, log)
    if attempt:
        stored[vendor_logs.STATUS] = attempt.points[-1].number
    return vendor_logs.of_drive(report, log, layout, metrics, stored)


def last_attempt(past: Past | None, log: Log) -> History | None:
    """Return the stored history of attempts to read a log; None if there was no attempt."""
    return _history(past, vendor_logs.STATUS, '', vendor_logs.source_of(*log))


def _history(
    past: Past | None, metric: str, unit: str, source: Source
) -> History | None:
    """Return the stored history of a metric; None if it has no points."""
    if past is None:
        return None
    from ..history.past import key

    history = past.histories.get(key(Reading(metric, None, unit, source)))
    return history if history and history.points else None
