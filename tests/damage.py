"""Damage to smartctl's reports, as tickets, bridges, full disks and firmware do it: seeded, so that
each comes again.

What comes out is broken, not forged: a number never becomes another plausible one. Rows vanish only
where each report has them: no reader could know of an attribute, a statistic or a "verify" row that
not every drive has. Each turn of the storm damages a report in a folder, and asks whether its drive
looks better for it in silence, and whether anything changes for the others.
"""

import copy
import gc
import io
import json
import random
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from conftest import ROOT, SHARED
from days import START
from simulator import Machine, names, read, why_not

from smart_attributes import main as main_module
from smart_attributes.model import State
from smart_attributes.reading.content import (
    NVME_KEYS,
    as_text,
    json_start,
)
from smart_attributes.reading.pysmart import NVME_LOG

Dice = random.Random
Place = tuple[Any, Any]  # a container, and the key or index in it
NAMES = tuple(f'{number}.txt' for number in range(6))  # of the reports in a folder
DAMAGES_EACH = 50  # damages of the reports in one folder, one after the other
MANY_BYTES = 200_000
# What a drive is called may hold any number: with another one it is another drive.
NO_NAME = r'^(?!\s*(?:Device Model|Model|Firmware|Vendor|Product|Revision|Serial))'
LOGS = ('scsi_error_counter_log', 'nvme_smart_health_information_log')
ROWS = frozenset((*NVME_KEYS, 'read', 'write')) - {
    'warning_temp_time',
    'critical_comp_time',
}
TEXT_ROWS = '|'.join(
    (
        r'(?:read|write):',
        *(re.escape(label) for label, key in NVME_LOG.items() if key in ROWS),
    )
)
HUGE = (2**64, -(2**63), 10**30, 1e300, float('inf'), float('nan'))
WRONG = (None, True, 'x', [], {}, 0.5, -1, '', ['x'], {'x': 1}, 'PASSED', 10**30)


def damaged(content: bytes, dice: Dice, kind: str = '') -> tuple[str, bytes]:
    """Return how a report was damaged, and what became of it. kind: of damage; '' for any."""
    text = as_text(content)
    kinds = OF_JSON if json_start(text) >= 0 else OF_TEXT
    kind = kind or dice.choice(sorted([*kinds, 'cut']))
    if kind == 'cut':  # a disk was full, a mail too long
        return kind, text[: dice.randrange(len(text))].encode()
    parts = (
        json.loads(text[json_start(text) :]) if kinds is OF_JSON else text.split('\n')
    )
    for _ in range(dice.choice((1, 1, 2, 5))):
        kinds[kind](parts, dice)
    return kind, (json.dumps(parts) if kinds is OF_JSON else '\n'.join(parts)).encode()


def _remove(choices: Sequence[Place], dice: Dice) -> None:
    if choices:
        container, key = dice.choice(choices)
        del container[key]


# --- JSON ------------------------------------------------------------------------------


def places(data: Any, of: tuple[type, ...] = (object,)) -> Iterator[Place]:
    """Yield where values of certain types stand in a document, at any depth."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        if isinstance(value, of):
            yield data, key
        if isinstance(value, (dict, list)):
            yield from places(value, of)


def _without_key(document: Any, dice: Dice) -> None:
    _remove([place for place in places(document) if isinstance(place[0], dict)], dice)


def _without_section(document: Any, dice: Dice) -> None:
    """Take away an object or a list: every second time one of the top, else one at any depth."""
    sections = [
        place for place in places(document, (dict, list)) if isinstance(place[0], dict)
    ]
    top = [place for place in sections if place[0] is document]
    _remove(dice.choice((top, sections)) or sections, dice)


def _without_row(document: Any, dice: Dice) -> None:
    """Take away a number that each report has: a row of the SCSI error counters, a line of the
    NVMe health log.
    """
    logs = [document[name] for name in LOGS if isinstance(document.get(name), dict)]
    _remove([(log, key) for log in logs for key in log if key in ROWS], dice)


def _of_wrong_type(document: Any, dice: Dice) -> None:
    container, key = dice.choice(list(places(document)))
    others = [value for value in WRONG if type(value) is not type(container[key])]
    container[key] = copy.deepcopy(dice.choice(others))


def _huge(document: Any, dice: Dice) -> None:
    numbers = [
        place for place in places(document, (int,)) if type(place[0][place[1]]) is int
    ]
    if numbers:
        container, key = dice.choice(numbers)
        container[key] = dice.choice(HUGE)


def _swapped(document: Any, dice: Dice) -> None:
    every = list(places(document))
    here, key = dice.choice(every)
    there, other = dice.choice(
        [at for at in every if type(at[0][at[1]]) is not type(here[key])]
    )
    here[key], there[other] = copy.deepcopy(there[other]), copy.deepcopy(here[key])


OF_JSON: Mapping[str, Callable[[Any, Dice], None]] = {
    'missing key': _without_key,
    'wrong type': _of_wrong_type,
    'huge number': _huge,
    'swapped': _swapped,
    'section': _without_section,
    'row': _without_row,
}

# --- text ------------------------------------------------------------------------------


def _with(pattern: str, lines: list[str]) -> list[Place]:
    """Return the places of the lines that a pattern is found in."""
    return [
        (lines, place) for place, line in enumerate(lines) if re.search(pattern, line)
    ]


def _without_line(lines: list[str], dice: Dice) -> None:
    _remove(_with('^[A-Z][^:]*:', lines), dice)


def _without_line_of_log(lines: list[str], dice: Dice) -> None:
    _remove(_with(f'^(?:{TEXT_ROWS})', lines), dice)


def _without_paragraph(lines: list[str], dice: Dice) -> None:
    """Take away the lines from one to the next empty one, as sed '/^SMART Error Log/,/^$/d'
    does.
    """
    empty = [
        -1,
        *(place for place, line in enumerate(lines) if not line.strip()),
        len(lines),
    ]
    pairs = [(begin, end) for begin, end in zip(empty, empty[1:]) if end - begin > 1]
    if pairs:
        begin, end = dice.choice(pairs)
        del lines[begin + 1 : end + 1]


def _word_changed(
    pattern: str, word: str, other: Callable[[str, Dice], str]
) -> Callable[[Any, Dice], None]:
    """Return what changes a word in a line; both are found by patterns."""

    def change(lines: list[str], dice: Dice) -> None:
        for _, place in (
            dice.sample(_with(pattern, lines), 1) if _with(pattern, lines) else ()
        ):
            found = dice.choice(list(re.finditer(word, lines[place])))
            new = other(found[0], dice)
            lines[place] = (
                lines[place][: found.start()] + new + lines[place][found.end() :]
            )

    return change


def _lines_swapped(lines: list[str], dice: Dice) -> None:
    first, second = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]


def _wrong_word(word: str, dice: Dice) -> str:
    return 'x' if re.search(r'\d', word) else dice.choice(['', '-', '[]'])


OF_TEXT: Mapping[str, Callable[[Any, Dice], None]] = {
    'missing key': _without_line,
    'wrong type': _word_changed(r'\S', r'\S+', _wrong_word),
    'huge number': _word_changed(
        NO_NAME + r'.*\d', r'\d+', lambda _, dice: dice.choice(['9' * 30, '1e300'])
    ),
    'swapped': _lines_swapped,
    'section': _without_paragraph,
    'row': _without_line_of_log,
}

# --- bytes -----------------------------------------------------------------------------


def _spliced(*instead: bytes, most: int) -> Callable[[bytes, Dice], bytes]:
    """Return what puts one of some bytes in place of none to *most* bytes, often in the head."""

    def change(content: bytes, dice: Dice) -> bytes:
        at = dice.randrange(min(dice.choice((64, len(content))), len(content)))
        return (
            content[:at]
            + dice.choice(instead)
            + content[at + dice.randrange(most + 1) :]
        )

    return change


def _long_number(content: bytes, dice: Dice) -> bytes:
    numbers = list(re.finditer(rb'[0-9]+', content))
    end = dice.choice(numbers).end() if numbers else 0
    return content[:end] + b'9' * dice.choice((30, 400, 4200, 5000)) + content[end:]


# None of these takes away a whole row on purpose; a digit may become another one.
OF_BYTES: Mapping[str, Callable[[bytes, Dice], bytes]] = {
    'byte': _spliced(*(bytes([number]) for number in range(256)), most=1),
    'NUL': _spliced(bytes(1), bytes(3), bytes(512), most=1),
    'cut out': _spliced(b'', most=4096),
    'long number': _long_number,
    'twice': lambda content, dice: content + content,
    'empty': lambda content, dice: b'',
    'UTF-16': lambda content, dice: content.decode('utf-8', 'replace').encode('utf-16'),
    'CRLF': lambda content, dice: content.replace(b'\n', b'\r\n'),
}


def wrecked(content: bytes, dice: Dice) -> tuple[str, bytes]:
    """Return how the bytes or the structure of a report were damaged, and what became of it."""
    if dice.random() < 2 / 3:
        return damaged(content, dice)
    kind = dice.choice(sorted(OF_BYTES))
    return kind, OF_BYTES[kind](content, dice)


# --- what is made of it ----------------------------------------------------------------


class Damage:
    """A bed of storm: folders of reports, one of them damaged, and what `triage --report` says."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._seed = folder, seed
        self.counted: Counter[str] = Counter()
        reports = {**recorded(), **simulated()}
        self._reports = [
            content for content in reports.values() if len(content) < MANY_BYTES
        ]
        names = [f'{number:04}.txt' for number in range(len(self._reports))]
        said = self._said(dict(zip(names, self._reports)))
        self._bad = [
            content
            for name, content in zip(names, self._reports)
            if name in said and said[name]['state'] != 'OK'
        ]
        for name in names:
            (folder / name).unlink()

    def turn(self, number: int) -> list[str]:
        """Damage a report; half of those in a folder are of drives that are not OK.

        Another folder is taken after DAMAGES_EACH.
        """
        dice = Dice(f'{self._seed} {number}')
        if number % DAMAGES_EACH == 0:
            some = [
                *dice.sample(self._bad, len(NAMES) // 2),
                *dice.sample(self._reports, 3),
            ]
            self._chosen = dict(zip(NAMES, some))
            self._before = self._said(self._chosen)
            gc.collect()  # a run disables it: 20,000 runs in one process took 23 GB
        name = dice.choice(NAMES)
        kind, content = wrecked(self._chosen[name], dice)
        self.counted[kind] += 1
        after = self._said({name: content})
        (self._folder / name).write_bytes(self._chosen[name])
        others = [other for other in NAMES if other != name]
        faults = [
            f'{each} changed'
            for each in others
            if after.get(each) != self._before[each]
        ]
        # No reader can know of a number that became another one.
        is_known = kind not in OF_BYTES or digits(content) == digits(self._chosen[name])
        if name not in after:
            faults += ['the drive is missing']
        elif is_known and _is_better_in_silence(self._before[name], after[name]):
            faults += [
                f'{self._before[name]["state"]} became {after[name]["state"]} in silence'
            ]
        first = self._chosen[name][:60]
        return [f'{kind} of {name} ({first!r}...): {fault}' for fault in faults]

    def _said(self, reports: Mapping[str, bytes]) -> dict[str, Any]:
        for name, content in reports.items():
            (self._folder / name).write_bytes(content)
        # forecasts are relative to the time of the run
        with (
            mock.patch.object(time, 'time', lambda: START),
            redirect_stdout(io.StringIO()) as printed,
        ):
            # A log that contradicts the power-on time alerts here: without a limit, losing it would
            # change no state.
            limit = ('-w', 'hidden_power_on_time=42d')
            words = (
                'triage',
                '--json',
                '--no-history',
                *limit,
                '--report',
                str(self._folder),
            )
            main_module.run([*words])
        return {
            Path(drive['device']).name: drive
            for drive in json.loads(printed.getvalue())['drives']
        }


def _is_better_in_silence(before: Any, after: Any) -> bool:
    said_before, said = _remarks(before), _remarks(after)
    is_silent = said <= said_before and not any('its end' in remark for remark in said)
    return is_silent and State[after['state']].urgency < State[before['state']].urgency


def _remarks(drive: Any) -> set[str]:
    """Return what is said of a drive besides its numbers."""
    said = [
        each['said']
        for each in drive['readings']
        if each['metric'] in ('unknown_model', 'unread_rows')
    ]
    return {note['text'] for note in drive['notes']}.union(said)


def digits(content: bytes) -> str:
    """Return the digits of a report: where they differ, a number became another one, which no
    reader can know.
    """
    return re.sub('[^0-9]', '', as_text(content))


def recorded() -> dict[str, bytes]:
    """Return the recorded reports, those beside the project as well."""
    paths = [
        *(ROOT / 'tests/reports').iterdir(),
        *(ROOT / 'tests/farm').iterdir(),
        *(SHARED / 'corpus/reports').glob('*/output.*'),
    ]
    return {'/'.join(path.parts[-2:]): path.read_bytes() for path in paths}


def simulated() -> dict[str, bytes]:
    """Return what the real smartctl prints of simulated drives that are not well; nothing where
    there is none.
    """
    found: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory(prefix='check-smart-damage-') as folder:
        for place, name in enumerate([] if why_not() else names()):
            if not name.endswith(
                ('-failing', '-worn', '-pending', '-worn-out', '-failed')
            ):
                continue
            machine = Machine(Path(folder) / str(place))
            address = '/dev/nvme0' if read(name).protocol == 'NVMe' else '/dev/sda'
            machine.add(address, name)
            form = ('-a', '-x', '--json -a', '--json -x')[place % 4]
            found[f'{name} {form}'] = subprocess.run(
                [machine.smartctl, *form.split(), address],
                capture_output=True,
                check=False,
            ).stdout
    return found
