"""Make strings from drives and other programs safe for a line of output.

Firmware can report any text as model or serial. The output is parsed by a daemon, put into the command line of a
notification, a web page and a mail, shown on terminals and pasted into tickets. All output code prints such strings
through one of three functions: `visible` for names that must not change (a path), `sentence` for our own text with
names in it, and `clean` for text from a drive or smartctl.
"""
from __future__ import annotations

import re

from .coded import Coded
from .constants import DAY, HOUR, YEAR
from .model import Forecast, Judgement, Reading, State, Verdict
from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 80                # characters of a model with its marketing name; the standards allow 40
_ELLIPSIS = '...'

# Printable ASCII except _FOREIGN, with single blanks inside: such strings need no change.
_HARMLESS = re.compile(r'[]!#%&(-;?-[^_a-{}~]+(?: []!#%&(-;?-[^_a-{}~]+)*').fullmatch

# ECMA-48: control sequences (CSI), strings (OSC, DCS, SOS, PM, APC) and two-character
# escapes, each in the 7-bit and the 8-bit form. An unterminated string is removed completely.
_ESCAPES = re.compile(
    '(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?'
    '|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?'
    '|\x1b[ -/]*[0-~]?',
)
# Printable in Unicode but invisible: they could forge an empty name, or one that looks like another.
_SHAPELESS = str.maketrans(dict.fromkeys('\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0', ' '))
# A bar begins perfdata. Our own sentences never need <, > or `, which could be HTML tags on a page (Nagios with
# escape_html_tags=0) or a command in the shell of a notification.
_OURS = str.maketrans(dict.fromkeys('|<>`', ' '))
# Text from a drive must not contain characters of perfdata, or characters that a shell expands in double quotes.
# The apostrophe is removed ("Drive's" stays one word); the others become blanks.
_FOREIGN = str.maketrans({"'": None, **dict.fromkeys('|=<>`"$\\', ' ')})
_SHOWN = 20  # characters examined for each one that may be printed, because escape sequences take up space


def literally(text: str) -> str:
    """Return a regular expression, valid in Python and POSIX, that matches exactly *text*."""
    return re.sub(r'[.^$*+?{}\[\]\\|()]', r'\\\g<0>', text)


def clean(text: str, limit: int = LIMIT) -> str:
    """Return a string of a drive or of smartctl as one line of at most *limit* characters, safe in any output.

    Invisible characters are removed, and so are those that Nagios reserves (| ' =), that begin tags in HTML and that
    begin commands in a shell. Blanks are collapsed.
    """
    if len(text) <= limit and _HARMLESS(text):
        return text
    return _shortened(visible(text[:limit * _SHOWN]).translate(_FOREIGN), limit)


def sentence(text: str, limit: int) -> str:
    """Return our own text, with names of files and options, as one line; keep = and quotes, remove bars."""
    return _shortened(visible(text[:limit * _SHOWN]).translate(_OURS), limit)


def argument(name: str, placeholder: str) -> str:
    """Return a name that others chose, as a word of a command that admins paste; *placeholder* if it is not harmless.

    Names are not quoted instead: a daemon removes quotes from its notifications, and long sentences lose their end.
    """
    return name if re.fullmatch('[A-Za-z0-9._/:@%+][A-Za-z0-9._/:@%+-]{0,79}', name) else placeholder


def visible(text: str) -> str:
    """Return *text* as one line, without escape sequences and with a blank for each invisible character.

    These are control characters, line breaks of all kinds, bidirectional marks, zero width, halves of a character.
    """
    if '\x1b' in text or not text.isascii():
        text = _ESCAPES.sub('', text).translate(_SHAPELESS)
    # str.isprintable() is false for every control, format, surrogate and unassigned character.
    return text if text.isprintable() else ''.join(character if character.isprintable() else ' ' for character in text)


def _shortened(text: str, limit: int) -> str:
    """Return *text* with single blanks, its end replaced by "..." where it is longer than *limit*."""
    text = ' '.join(text.split())
    if len(text) <= limit:
        return text
    return text[:max(limit - len(_ELLIPSIS), 0)].rstrip() + _ELLIPSIS[:limit]


# --- numbers, metrics and states, as text for people ---

_SIZES = ('B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB')
WORDS = 400  # characters of one statement; text from a drive may be of any length
TELLING_METRICS = ('endurance_used', 'spare_available', 'reallocated', 'pending', 'media_errors', 'temperature',
                   'power_on_time')
TELLING = 3
HEALTH, NOT_REPORTED = 'smart_status', 'health status not reported'
IMPLAUSIBLE = 'implausible'  # first word of the reason if other numbers of the drive contradict this one
SPEAKS_FOR_ITSELF = ('unknown_model', 'vendor_threshold', 'vendor_threshold_past', 'firmware_advisory', 'legacy_limit')


def plain(number: float) -> str:
    """Return *number* without exponent and without meaningless decimals: "97", "0.025"."""
    if number == int(number):
        return str(int(number))
    text = f'{number:.{6 if abs(number) < 1 else 2}f}'.rstrip('0').rstrip('.')
    return '0' if text == '-0' else text


def plural(number: int, word: str, words: str = '') -> str:
    """Return "1 entry", "2 entries". words: the plural, if it is not the word plus "s"."""
    return f'{number} {word if number == 1 else words or word + "s"}'


def listed(names: Sequence[str], most: int) -> str:
    """Return at most so many names, and how many there are besides: "a, b and 3 more"."""
    return ', '.join(names[:most]) + (f' and {len(names) - most} more' if len(names) > most else '')


def amount(number: float | None, unit: str) -> str:
    """Return a reading's number as text for people: "97 %", "21473 h", "12.3 TB", "unknown"."""
    if number is None:
        return 'unknown'
    if unit == 's':
        return f'{plain(round(number / HOUR, 1))} h' if number >= HOUR else f'{plain(number)} s'
    if unit == 'B':
        return _size(number)
    return f'{plain(number)} {unit}'.rstrip()


def _size(number: float) -> str:
    power = 0
    while number >= 999.5 and power < len(_SIZES) - 1:
        number, power = number / 1000, power + 1
    return f'{number:.3g} {_SIZES[power]}'


def quantity(reading: Reading) -> str:
    """Return the number of a numeric reading as text: "97 %", "255 % or more", "1 (8 logical sectors)"."""
    if reading.forecast is not None:
        return _foreseen(reading.forecast)
    number = amount(reading.number, reading.unit)
    if reading.logical_sectors is not None:
        number = f'{number} ({plural(reading.logical_sectors, "logical sector")})'
    return f'{number} or more' if reading.at_ceiling else number


def _foreseen(forecast: Forecast) -> str:
    """Return "400 days (160 to 1000, estimated from use and age)"."""
    if forecast.left <= 0:
        return '0 days'
    left, earliest, latest = (f'{seconds / DAY:.0f}' for seconds in (forecast.left, forecast.earliest, forecast.latest))
    return f'{left} days ({earliest} to {latest}{", estimated from use and age" * forecast.is_estimate})'


def since(seconds: float) -> str:
    """Return how long ago, as text for people: "5 h ago", "40 days ago", "3.2 years ago"."""
    if seconds < 2 * DAY:
        return f'{round(seconds / HOUR)} h ago'
    return f'{round(seconds / DAY)} days ago' if seconds < YEAR else f'{seconds / YEAR:.1f} years ago'


def kind(verdict: Verdict) -> str:
    """Return "hdd", "ssd", "nvme" or "sas", or '' if no drive answered."""
    identity = verdict.identity
    # A disk in standby or without an answer did not report its rotation, and the history does not store it.
    is_told = not verdict.problem or identity.kind != 'ssd' or identity.rotation is not None
    return identity.kind if identity.protocol and is_told else ''


def statement(reading: Reading) -> str:
    """Return a reading as a statement: "endurance_used 97 %", "self_test Short offline: Completed"."""
    if reading.metric in SPEAKS_FOR_ITSELF:
        return reading.verdict
    if reading.state is not None:
        return f'{reading.metric}: {reading.verdict}'
    if reading.metric == HEALTH:
        return NOT_REPORTED
    words = f'{reading.metric} {quantity(reading)}'
    if reading.quiet is not None:
        words += f', newest {"more than " if reading.quiet_is_bound else ""}{since(reading.quiet)}'
    return f'{words} ({reading.unknown})' if reading.unknown else words


def finding(judgement: Judgement) -> str:
    """Return what a judgement found, with its limit: "endurance_used 97 %, critical above 95"."""
    words, limit = _told(judgement)
    more = '' if judgement.growth_against else judgement.growth
    return '; '.join(part for part in (f'{words}, {limit}' if limit else words, more) if part)


def _told(judgement: Judgement) -> tuple[str, str]:
    """Return ("endurance_used 97 %", "critical above 95"), or the growth that decided; no limit: ''."""
    against = judgement.growth_against or judgement.against
    words = judgement.growth if judgement.growth_against else statement(judgement.reading)
    return clean(words, limit=WORDS), f'{judgement.state.name.lower()} {against}' if against else ''


def coded(text: str) -> str:
    """Return a sentence with its code in front: "[no-drives] no drives to check"; unchanged without a code."""
    code = getattr(text, 'code', '')
    return f'[{code}] {text}' if code and text else text


def problem(verdict: Verdict, limit: int = WORDS) -> str:
    """Return why a drive was not read, with the code if it is a fault; '' if it was read."""
    text = sentence(verdict.problem, limit)
    return Coded(verdict.code, text) if verdict.code and verdict.state is not State.OK else text


def headline(verdict: Verdict) -> str:
    """Return the worst finding of a drive: "endurance_used 97 % (critical above 95)"."""
    if verdict.problem:
        return coded(problem(verdict))
    worst = [judgement for judgement in verdict.judgements if judgement.state is verdict.state]
    told = worst[:1]
    if worst[0].reading.metric == HEALTH:
        # "FAILED" alone does not show what failed, so add the most severe other finding, such as lost data.
        told += sorted(worst[1:], key=lambda judgement: judgement.concern == worst[0].concern)[:1]
    return '; '.join(f'{words} ({limit})' if limit else words for words, limit in map(_told, told))


def findings(verdict: Verdict) -> str:
    """Return all findings of a drive, worst first, then the acknowledged ones.

    If nothing is wrong, return the readings that show this.
    """
    if verdict.problem:
        return problem(verdict)
    wrong = [finding(judgement) for judgement in verdict.judgements if judgement.state is not State.OK]
    accepted = [clean(f'{statement(each.reading)} (acknowledged)', limit=WORDS) for each in verdict.judgements
                if each.acknowledged]
    return '; '.join([*wrong, *accepted, *(() if wrong else _well(verdict, bool(accepted)))])


def _well(verdict: Verdict, is_accepted: bool) -> list[str]:
    """Return the most informative readings of a drive that is OK, and the expected readings that are unknown.

    is_accepted: acknowledged findings are shown as well.
    """
    readings = [each.reading for each in verdict.judgements if not each.acknowledged]
    judged = {reading.metric: reading for reading in readings if reading.judged and reading.number is not None}
    telling = [metric for metric in TELLING_METRICS if metric in judged][:TELLING]
    unknown = {reading.metric: reading for reading in readings if is_worth_showing(reading)}
    told = [*(judged[metric] for metric in telling), *(unknown[metric] for metric in unknown if metric not in judged),
            *(judged[metric] for metric in ('hidden_power_on_time', 'unknown_model') if metric in judged)]
    if told or is_accepted:
        return [clean(statement(reading), limit=WORDS) for reading in told]
    return [f'health status: {judged[HEALTH].verdict}; the report contains nothing else' if HEALTH in judged
            else NOT_REPORTED]


def is_worth_showing(reading: Reading) -> bool:
    """Return whether an OK means less without this number: the SMART health status, or implausible wear."""
    return reading.number is None and (reading.metric == HEALTH or reading.unknown.startswith(IMPLAUSIBLE))


def reading_line(judgement: Judgement) -> str:
    """Return one reading with its source and its limits."""
    reading = judgement.reading
    words = f'{reading.metric} unknown: {reading.unknown}' if reading.number is None else statement(reading)
    parts = [clean(words, limit=WORDS), str(reading.source), '' if reading.judged else 'not judged',
             f'warning {judgement.warning}' if judgement.warning else '',
             f'critical {judgement.critical}' if judgement.critical else '',
             f'limit from {judgement.origin}' if judgement.against else '']
    return ', '.join(part for part in parts if part)


EXIT_STATUS_BITS = (
    'smartctl rejected its command line',
    'the drive could not be opened, did not identify itself or is in standby',
    'a command to the drive failed or a checksum was wrong',
    'the drive reports that it is failing',
    'a pre-fail attribute is at or below its threshold',
    'an attribute is or was at or below its threshold',
    'the error log contains errors',
    'the self-test log contains failed tests',
)
"""smartctl's exit status, bit 0 first. Source: smartctl(8), section EXIT STATUS."""


def exit_status_notes(status: int | None) -> tuple[Coded, ...]:
    """Return one sentence for each bit that is set in smartctl's exit status.

    Bit 2 (0x04) is only a note if the data is complete, because smartctl always
    sets it behind some RAID controllers.
    """
    if not status:
        return ()
    if status < 0:
        return (Coded('smartctl-status', f'smartctl was terminated by signal {-status}'),)
    return tuple(Coded('smartctl-status', sentence) for bit, sentence in enumerate(EXIT_STATUS_BITS)
                 if status >> bit & 1)
