"""The recommended action for a drive, such as ordering a replacement or checking a cable, and its date. Pure."""
from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from ..constants import DAY, YEAR
from ..knowledge import severity
from ..model import State
from ..redundancy.replacement import Drive
from ..typed import TYPE_CHECKING, NamedTuple
from .statements import findings

if TYPE_CHECKING:
    from ..model import Forecast, Verdict

REPLACE, COPY, KEEP, LATER, REJOIN, ORDER, CABLE, UPDATE, COOL, SEARCH, REPAIR, READ, WATCH, NOTHING = (
    'replace now', 'copy the data, then replace', 'keep in place: last good copy', 'wait, then replace',
    'replace, or add to its array again', 'order a replacement', 'look at the cable',
    'update the firmware', 'look at the cooling', 'look for the drive',
    'repair the check', 'find out why it cannot be read', 'watch', 'nothing')
ORDER_OF_ACTIONS: tuple[str, ...] = (REPLACE, COPY, KEEP, LATER, REJOIN, SEARCH, REPAIR, READ, ORDER, CABLE, UPDATE,
                                     COOL, WATCH, NOTHING)

# Metrics or findings whose action is the same in every state. All others concern the drive itself.
CURES: Mapping[str, str] = {
    'crc_errors': CABLE, 'logged_interface_errors': CABLE, 'link_downshift': CABLE, 'firmware_advisory': UPDATE,
    'temperature': COOL, 'temperature_warning': COOL, 'over_temperature_time': COOL, 'critical_temperature_time': COOL,
    'unknown_model': WATCH, 'endurance_time_left': ORDER}
# Wear is gradual, so there is time to order a replacement.
WORN = ('endurance_used', 'spare_available')
# Codes of a drive that is no longer there: it must be found before it can be read.
GONE = frozenset(('no-such-device', 'empty-slot', 'drives-missing', 'drive-gone'))
FAR = 10 * YEAR           # later dates are too uncertain to plan with
LEAD_TIME = 90 * DAY      # time to order, receive and install a drive


class Due(NamedTuple):
    """An action and the date by which a replacement must be ordered."""

    to_do: str                # "order a replacement by 2027-03-04", or "... now" if that is past
    order_by: str | None   # "2027-03-04", today if that is past; None: no forecast or no order


class Advice(NamedTuple):
    """The recommended action and its reason."""

    action: str               # one of ORDER_OF_ACTIONS
    why: str
    due: Due


def advice(verdict: Verdict, now: float) -> Advice:
    """Return the recommended action for a drive. now: seconds since 1970."""
    action, why = _action_and_why(verdict, now)
    if verdict.replacement:
        action = in_its_groups(action, verdict.replacement.label)
        why = '; '.join(part for part in (why, verdict.replacement.why) if part)
    return Advice(action, why, due(action, [forecast.left for forecast in verdict.forecasts.values()], now))


def drives(verdicts: Iterable[Verdict], now: float) -> list[Drive]:
    """Return the drives that have disks, the most severe first, with what their verdicts mean for the groups on them.

    now: seconds since 1970.
    """
    return [_drive(verdict, now) for verdict in sorted(verdicts, key=severity.of_verdict) if verdict.place.disks]


def _drive(verdict: Verdict, now: float) -> Drive:
    is_unread = bool(verdict.problem) and verdict.state is not State.OK
    return Drive(verdict.device.name, frozenset(verdict.place.disks), verdict.state is State.CRITICAL or is_unread,
                 advice(verdict, now).action in (REPLACE, ORDER))


def in_its_groups(action: str, label: str) -> str:
    """Return the action for a drive after a look at the groups on it. label: that of its replacement."""
    if action == REPLACE:
        return {'next': REPLACE, 'copy first': COPY, 'unknown': COPY, 'last good copy': KEEP, 'wait': LATER}[label]
    if action in (NOTHING, WATCH):
        return {'next': REJOIN, 'last good copy': KEEP}.get(label, action)
    return action


def due(action: str, left: Sequence[float], now: float) -> Due:
    """Return an action with its date. left: for each forecast of the drive, the seconds until wear-out."""
    by = order_by(left, now) if action == ORDER else None
    if by is None:
        return Due(action, None)
    return Due(f'{action} by {day(by)}' if by > now else f'{action} now', day(by))


def is_due(left: Iterable[float], now: float) -> bool:
    """Return whether a replacement must be ordered now, regardless of the state of the drive."""
    by = order_by(left, now)
    return by is not None and by <= now


def _action_and_why(verdict: Verdict, now: float) -> tuple[str, str]:
    if verdict.problem and verdict.state is not State.OK:
        return of_problem(verdict.code), findings(verdict)
    alarms = [judgement for judgement in verdict.judgements if judgement.state is not State.OK]
    if alarms:
        # Without a corrected version, a firmware defect is judged by its state, like any other finding.
        return of_alarms((judgement.reading.metric if judgement.reading.has_remedy else '', judgement.state)
                         for judgement in alarms), findings(verdict)
    soon = [lasting(metric, forecast, now) for metric, forecast in verdict.forecasts.items()
            if is_due([forecast.left], now)]
    return (ORDER, '; '.join(soon)) if soon else (NOTHING, '')


def of_problem(code: str) -> str:
    """Return the action for a drive that could not be read. code: the reason."""
    return SEARCH if code in GONE else READ


def of_alarms(alarms: Iterable[tuple[str, State]]) -> str:
    """Return the most urgent action for alerts, each given as a metric and its state."""
    return min((_action(metric, state) for metric, state in alarms), key=ORDER_OF_ACTIONS.index)


def _action(metric: str, state: State) -> str:
    """Return the action for one alert."""
    if metric in CURES:
        return CURES[metric]
    if state is State.CRITICAL:
        return REPLACE
    return ORDER if metric in WORN else WATCH


# --- forecasts as dates ----------------------------------------------------------------

def day(when: float, form: str = '%Y-%m-%d') -> str:
    """Return a time as a date. when: seconds since 1970. form: as for strftime."""
    return time.strftime(form, time.gmtime(when))


def order_by(left: Iterable[float], now: float) -> float | None:
    """Return the time by which to order a replacement, in seconds since 1970, or *now* if that is past.

    Return None without a forecast, or if that time is further ahead than FAR. left: for each forecast of the drive,
    the seconds until wear-out. The earliest one, minus LEAD_TIME, counts.
    """
    first = min(left, default=None)
    return None if first is None or first > FAR else now + max(first - LEAD_TIME, 0)


def date(forecast: Forecast, now: float) -> str:
    """Return the month of a forecast: "2027-03", or "~2027-03" if it is an estimate."""
    if forecast.left <= 0:
        return 'used up'
    if forecast.left > FAR:
        return '>10 y'
    return ('~' if forecast.is_estimate else '') + day(now + forecast.left, '%Y-%m')


def lasting(metric: str, forecast: Forecast, now: float) -> str:
    """Return "endurance_used: used up about 2029-03-01 (between 2027-10-20 and 2032-05-02)"."""
    if forecast.left <= 0:
        return f'{metric}: used up'
    about, why = ('about ', '; an estimate from use and age alone') if forecast.is_estimate else ('', '')
    left, earliest, latest = (day(now + seconds) for seconds in (forecast.left, forecast.earliest, forecast.latest))
    return f'{metric}: used up {about}{left} (between {earliest} and {latest}{why})'
