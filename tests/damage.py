"""Damage to smartctl's reports, as tickets, bridges, full disks and firmware do it: seeded, so that
each comes again.

What comes out is broken, not forged: a number never becomes another plausible one. Rows vanish only
where each report
has them: no reader could know of an attribute, a statistic or a "verify" row that not every drive
has. `make damage` damages 2,000 reports and asks whether any drive looks better for it in silence,
and `make damage KIND=folders` whether a damaged report changes what is said of the 19 others beside
it; test_damage asks of some.
"""

from __future__ import annotations

import copy
import gc
import gzip
import io
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable, NamedTuple

from conftest import ROOT, SHARED
from simulator import Machine, names, read, why_not
from smartctl_output import Facts, as_json

from smart_attributes import main as main_module
from smart_attributes.check import judging
from smart_attributes.errors import SmartError
from smart_attributes.knowledge import drive_database, thresholds
from smart_attributes.model import Answer, Device, Report, State
from smart_attributes.reading import nvme_log, text_report
from smart_attributes.reading.content import NVME_KEYS, as_text, json_start, looks_like_json
from smart_attributes.reading.pysmart import NVME_LOG

Dice = random.Random
# What a drive is called may hold any number: with another one it is another drive.
NO_NAME = r'^(?!\s*(?:Device Model|Model|Firmware|Vendor|Product|Revision|Serial))'
ROWS = frozenset((*NVME_KEYS, 'read', 'write')) - {'warning_temp_time', 'critical_comp_time'}
TEXT_ROWS = '|'.join(
    (r'(?:read|write):', *(re.escape(label) for label, _, key in NVME_LOG if key in ROWS))
)
# beginning of what smartctl prints of a vendor's log, here
DUMP = b'{"smartctl_00'
LOGGED = 'Dell Ent NVMe P5520 RI U.2 1.92TB'  # a model whose vendor log is read
NAMES = tuple(f'{number:02}.txt' for number in range(20))  # of the reports in a folder
DAMAGES_EACH = 50  # damages of the reports in one folder, one after the other
MANY_BYTES = 200_000
COLLECTED = 2000  # drives of the collection that are looked at
Place = tuple[Any, Any]  # a container, and the key or index in it
HUGE = (2**64, -(2**63), 10**30, 1e300, float('inf'), float('nan'))
WRONG = (None, True, 'x', [], {}, 0.5, -1, '', ['x'], {'x': 1}, 'PASSED', 10**30)


def damaged(content: bytes, dice: Dice, kind: str = '') -> tuple[str, bytes]:
    """Return how a report was damaged, and what became of it. kind: of damage; '' for any."""
    text = as_text(content)
    is_json = looks_like_json(text)
    kinds: Mapping[str, Callable[[str, Dice], str]] = {
        **(OF_JSON if is_json else OF_TEXT),
        'cut': cut,
    }
    kind = kind or dice.choice(sorted(kinds))
    return kind, kinds[kind](text, dice).encode()


def cut(text: str, dice: Dice) -> str:
    """Return the beginning of a report: a disk was full, a mail too long."""
    return text[: dice.randrange(len(text))]


# --- JSON ------------------------------------------------------------------------------


def places(data: Any, of: tuple[type, ...] = (object,)) -> list[Place]:
    """Return where values of certain types stand in a document, at any depth."""
    items = (
        list(data.items())
        if isinstance(data, dict)
        else list(enumerate(data))
        if isinstance(data, list)
        else []
    )
    found = [(data, key) for key, value in items if isinstance(value, of)]
    return found + [place for _, value in items for place in places(value, of)]


def _in_document(change: Callable[[Any, Dice], None]) -> Callable[[str, Dice], str]:
    def changed(text: str, dice: Dice) -> str:
        document = json.loads(text[json_start(text) :])
        for _ in range(dice.choice((1, 1, 2, 5))):
            change(document, dice)
        return json.dumps(document)

    return changed


def _without_key(document: Any, dice: Dice) -> None:
    keys = [(container, key) for container, key in places(document) if isinstance(container, dict)]
    container, key = dice.choice(keys)
    del container[key]


def _of_wrong_type(document: Any, dice: Dice) -> None:
    container, key = dice.choice(places(document))
    container[key] = copy.deepcopy(
        dice.choice([value for value in WRONG if type(value) is not type(container[key])])
    )


def _huge(document: Any, dice: Dice) -> None:
    numbers = [
        (container, key)
        for container, key in places(document, (int,))
        if type(container[key]) is int
    ]
    if numbers:
        container, key = dice.choice(numbers)
        container[key] = dice.choice(HUGE)


def _swapped(document: Any, dice: Dice) -> None:
    first = dice.choice(places(document))
    others = [
        place
        for place in places(document)
        if type(place[0][place[1]]) is not type(first[0][first[1]])
    ]
    second = dice.choice(others)
    values = [copy.deepcopy(container[key]) for container, key in (first, second)]
    (first[0][first[1]], second[0][second[1]]) = values[1], values[0]


def _without_section(document: Any, dice: Dice) -> None:
    """Take away an object or a list: every second time one of the top, else one at any depth."""
    top = [place for place in places(document, (dict, list)) if place[0] is document]
    sections = [place for place in places(document, (dict, list)) if isinstance(place[0], dict)]
    chosen = dice.choice((top, sections)) or sections
    if chosen:
        container, key = dice.choice(chosen)
        del container[key]


def _without_row(document: Any, dice: Dice) -> None:
    """Take away a number that each report has: a row of the SCSI error counters, a line of the
    NVMe health log.
    """
    rows = [
        (document[log], key)
        for log in ('scsi_error_counter_log', 'nvme_smart_health_information_log')
        if isinstance(document.get(log), dict)
        for key in document[log]
        if key in ROWS
    ]
    if rows:
        container, key = dice.choice(rows)
        del container[key]


OF_JSON: Mapping[str, Callable[[str, Dice], str]] = {
    'missing key': _in_document(_without_key),
    'wrong type': _in_document(_of_wrong_type),
    'huge number': _in_document(_huge),
    'swapped': _in_document(_swapped),
    'section': _in_document(_without_section),
    'row': _in_document(_without_row),
}


# --- text ------------------------------------------------------------------------------


def _in_lines(change: Callable[[list[str], Dice], None]) -> Callable[[str, Dice], str]:
    def changed(text: str, dice: Dice) -> str:
        lines = text.split('\n')
        for _ in range(dice.choice((1, 1, 2, 5))):
            change(lines, dice)
        return '\n'.join(lines)

    return changed


def _with(pattern: str, lines: list[str], dice: Dice) -> int:
    """Return the place of a line that a pattern is found in; of any line where it is found in
    none.
    """
    return dice.choice(
        [place for place, line in enumerate(lines) if re.search(pattern, line)] or range(len(lines))
    )


def _without_line(lines: list[str], dice: Dice) -> None:
    del lines[_with(r'^[A-Z][^:]*:', lines, dice)]


def _word_of_wrong_type(lines: list[str], dice: Dice) -> None:
    place = _with(r'\S', lines, dice)
    words = re.split(r'(\S+)', lines[place])
    at = dice.randrange(1, len(words), 2) if len(words) > 1 else 0
    words[at] = 'x' if re.search(r'\d', words[at]) else dice.choice(['', '-', '[]'])
    lines[place] = ''.join(words)


def _huge_number(lines: list[str], dice: Dice) -> None:
    place = _with(NO_NAME + r'.*\d', lines, dice)
    numbers = list(re.finditer(r'\d+', lines[place])) if re.match(NO_NAME, lines[place]) else []
    if numbers:
        number = dice.choice(numbers)
        lines[place] = (
            lines[place][: number.start()]
            + dice.choice(['9' * 30, '1e300'])
            + lines[place][number.end() :]
        )


def _lines_swapped(lines: list[str], dice: Dice) -> None:
    first, second = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]


def _without_paragraph(lines: list[str], dice: Dice) -> None:
    """Take away the lines from one to the next empty one, as sed '/^SMART Error Log/,/^$/d'
    does.
    """
    starts = [place for place, line in enumerate(lines) if line.strip()]
    first = dice.choice(starts) if starts else 0
    end = next(
        (place for place in range(first, len(lines)) if not lines[place].strip()), len(lines)
    )
    begin = next((place for place in range(first, 0, -1) if not lines[place - 1].strip()), 0)
    del lines[begin : end + 1]


def _without_line_of_log(lines: list[str], dice: Dice) -> None:
    rows = [place for place, line in enumerate(lines) if re.match(TEXT_ROWS, line)]
    if rows:
        del lines[dice.choice(rows)]


OF_TEXT: Mapping[str, Callable[[str, Dice], str]] = {
    'missing key': _in_lines(_without_line),
    'wrong type': _in_lines(_word_of_wrong_type),
    'huge number': _in_lines(_huge_number),
    'swapped': _in_lines(_lines_swapped),
    'section': _in_lines(_without_paragraph),
    'row': _in_lines(_without_line_of_log),
}


# --- bytes -----------------------------------------------------------------------------


def _at(content: bytes, dice: Dice, end: int = 0) -> int:
    return dice.randrange(min(end or len(content), len(content)))


def _with_byte(content: bytes, dice: Dice) -> bytes:
    place = _at(content, dice, dice.choice((64, 0)))
    return content[:place] + bytes([dice.randrange(256)]) + content[place + 1 :]


def _with_nul(content: bytes, dice: Dice) -> bytes:
    place = _at(content, dice, dice.choice((64, 0)))
    return (
        content[:place] + bytes(dice.choice((1, 1, 3, 512))) + content[place + dice.randrange(2) :]
    )


def _long_number(content: bytes, dice: Dice) -> bytes:
    numbers = list(re.finditer(rb'[0-9]+', content))
    end = dice.choice(numbers).end() if numbers else 0
    return content[:end] + b'9' * dice.choice((30, 400, 4200, 5000)) + content[end:]


def _cut_out(content: bytes, dice: Dice) -> bytes:
    begin = _at(content, dice)
    return content[:begin] + content[begin + dice.choice((1, 80, 512, 4096)) :]


# None of these takes away a whole row on purpose; a digit may become another one.
OF_BYTES: Mapping[str, Callable[[bytes, Dice], bytes]] = {
    'byte': _with_byte,
    'NUL': _with_nul,
    'long number': _long_number,
    'cut out': _cut_out,
    'cut off': lambda content, dice: content[: _at(content, dice)],
    'twice': lambda content, dice: content + content,
    'empty': lambda content, dice: b'',
    'UTF-16': lambda content, dice: content.decode('utf-8', 'replace').encode('utf-16'),
    'CRLF': lambda content, dice: content.replace(b'\n', b'\r\n'),
}


def wrecked(content: bytes, dice: Dice) -> tuple[str, bytes]:
    """Return how the bytes or the structure of a report were damaged, and what became of it."""
    if dice.random() < 1 / 3:
        return damaged(content, dice)
    kind = dice.choice(sorted(OF_BYTES))
    return kind, OF_BYTES[kind](content, dice)


# --- what is made of it ----------------------------------------------------------------


class Said(NamedTuple):
    """What the program says of a report."""

    state: State
    notes: tuple[str, ...]  # or the reason why there is no verdict


class Desk:
    """Reports, and what the program says of them and of what damage leaves of them."""

    def __init__(
        self, seed: int, kind: str = '', more: Mapping[str, bytes] = MappingProxyType({})
    ) -> None:
        self.seed, self.kind = seed, kind
        self._database = drive_database.SpecDatabase(
            json.loads((ROOT / 'attributes.json').read_text())
        )
        # A log that contradicts the power-on time alerts here: without a limit, losing it would
        # change no state.
        self._limits = thresholds.Thresholds(
            json.loads((ROOT / 'thresholds/default.json').read_text()),
            command_line=thresholds.CommandLineLimits({'hidden_power_on_time': '42d'}, {}),
        )
        self.reports: dict[str, bytes] = {**recorded(), **simulated(), **dumps(), **more}
        self._said = {name: self.said(content) for name, content in self.reports.items()}
        self._bad = sorted(name for name, said in self._said.items() if said.state is not State.OK)
        self.counted: Counter[str] = Counter()

    def said(self, content: bytes) -> Said:
        """Return what the program says of a report."""
        try:
            report = (
                _with_page(content)
                if content.startswith(DUMP)
                else text_report.parse_report(content)
            )
        except SmartError as error:
            return Said(State.UNKNOWN, (str(error),))
        verdict = judging.judge(
            Device('/dev/sda', name='sda'), report, self._database, self._limits, judging.Rules()
        )
        return Said(
            verdict.state,
            (
                *verdict.notes,
                *(
                    judgement.reading.verdict
                    for judgement in verdict.judgements
                    if judgement.reading.metric == 'unknown_model'
                ),
            ),
        )

    def faults(self, count: int) -> list[str]:
        """Damage so many reports, every second one of a drive that is not OK; return where one
        looks better in silence.
        """
        return [fault for number in range(count) for fault in self._faults_of(number)]

    def _faults_of(self, number: int) -> list[str]:
        dice = Dice(f'{self.seed} {number}')
        name = dice.choice(self._bad if number % 2 else sorted(self.reports))
        kind, content = damaged(self.reports[name], dice, self.kind)
        before, after = self._said[name], self.said(content)
        self.counted[kind] += 1
        is_silent = not set(after.notes).difference(before.notes) and not any(
            'its end' in note for note in after.notes
        )
        if after.state.urgency < before.state.urgency and is_silent:
            return [
                f'{name}, {kind} (seed {self.seed}, number {number}): {before.state.name} became '
                f'{after.state.name}, and nothing is said to be missing'
            ]
        return []


class Folder:
    """Folders of 20 reports, one of them damaged, and what `triage --report` says of each drive."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self._folder, self.counted = seed, folder, Counter()  # type: int, Path, Counter[str]
        self._reports = [content for content in recorded().values() if len(content) < MANY_BYTES]

    def faults(self, count: int) -> list[str]:
        """Damage a report in each of so many folders; return where another drive changed, or it
        went missing or looks better in silence.
        """
        return [fault for number in range(count) for fault in self._faults_of(number)]

    def _faults_of(self, number: int) -> Iterator[str]:
        dice = Dice(f'{self.seed} {number}')
        if number % DAMAGES_EACH == 0:
            self._chosen = dict(zip(NAMES, dice.sample(self._reports, len(NAMES))))
            self._before = self._said(self._chosen)
            gc.collect()  # a run disables it: 20,000 runs in one process took 23 GB
        name = dice.choice(NAMES)
        kind, content = wrecked(self._chosen[name], dice)
        self.counted[kind] += 1
        after, place = (
            self._said({name: content}),
            f'{kind} of {name} (seed {self.seed}, number {number})',
        )
        (self._folder / name).write_bytes(self._chosen[name])
        yield from (
            f'{place}: {other} changed'
            for other in NAMES
            if other != name and after.get(other) != self._before[other]
        )
        if name not in after:
            yield f'{place}: the drive is missing'
        elif self._is_better(self._before[name], after[name]) and digits(content) == digits(
            self._chosen[name]
        ):
            yield f'{place}: {self._before[name]["state"]} became {after[name]["state"]} in silence'

    def _said(self, reports: Mapping[str, bytes]) -> dict[str, Any]:
        for name, content in reports.items():
            (self._folder / name).write_bytes(content)
        with redirect_stdout(io.StringIO()) as printed:
            main_module.run(['triage', '--json', '--no-history', '--report', str(self._folder)])
        return {
            Path(drive['device']).name: drive for drive in json.loads(printed.getvalue())['drives']
        }

    @staticmethod
    def _is_better(before: Any, after: Any) -> bool:
        is_silent = not {
            note['text'] if isinstance(note, dict) else note for note in after['notes']
        }.difference(note['text'] if isinstance(note, dict) else note for note in before['notes'])
        return is_silent and State[after['state']].urgency < State[before['state']].urgency


def digits(content: bytes) -> str:
    """Return the digits of a report: where they differ, a number became another one, which no
    reader can know.
    """
    return re.sub('[^0-9]', '', as_text(content))


def _with_page(content: bytes) -> Report:
    """Return the report of a drive that is not worn whose vendor log was printed as *content*."""
    report = text_report.parse_report((ROOT / 'tests/reports/nvme-worn.json').read_bytes())
    report = report._replace(nvme={**report.nvme, 'percentage_used': 1})
    page = nvme_log.page_of(Answer((), 'done', status=0, stdout=content), '0xC0')
    return report._replace(identity=report.identity._replace(model=LOGGED), vendor_log=page)


def dumps() -> dict[str, bytes]:
    """Return vendor logs of drives that are not well: their capacitor, their spare blocks, their
    wear.
    """
    found = {}
    for offset, number in ((128, 1), (128, 90), (46, 10), (80, 99), (76, 3)):
        page = bytearray(512)
        page[0], page[46], page[128], page[494] = 1, 100, 163, 3
        page[496:] = bytes.fromhex('C5AF1028EABFF2A49C4F6F7CC914D5AF')
        page[offset] = number
        lines = [
            'NVMe Log 0xc0 (0x0200 bytes)',
            *(nvme_log._line(at, bytes(page[at : at + 16])) for at in range(0, 512, 16)),
        ]
        document = {
            **{f'smartctl_{place:04}_u': line for place, line in enumerate(lines, 4)},
            'smartctl': {'exit_status': 0},
        }
        found[f'vendor log, byte {offset} is {number}'] = json.dumps(document).encode()
    return found


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
            if not name.endswith(('-failing', '-worn', '-pending', '-worn-out', '-failed')):
                continue
            machine = Machine(Path(folder) / str(place))
            address = '/dev/nvme0' if read(name).protocol == 'NVMe' else '/dev/sda'
            machine.add(address, name)
            form = ('-a', '-x', '--json -a', '--json -x')[place % 4]
            found[f'{name} {form}'] = subprocess.run(
                [machine.smartctl, *form.split(), address], capture_output=True, check=False
            ).stdout
    return found


def collected(seed: int) -> dict[str, bytes]:
    """Return some drives of the collection as smartctl --json -x prints them; nothing where
    there is none.
    """
    source = SHARED / 'drives/drives.jsonl.gz'
    if not source.exists():
        return {}
    with gzip.open(source, 'rt') as file:
        drives = [json.loads(line) for line in Dice(seed).sample(list(file), COLLECTED)]
    return {facts['path']: json.dumps(whole(facts)).encode() for facts in drives}


def whole(facts: Facts) -> Any:
    """Return the document of a drive with what the collection leaves out: arguments, an empty
    self-test log.
    """
    logs = [0, 1, 2, 3, 6, 7] + [4] * ('devstat' in facts)
    document = {**as_json(facts), 'smart_support': {'available': True, 'enabled': True}}
    document['smartctl']['argv'] = ['smartctl', '--json', '-x', '/dev/sda']
    if 'attributes' in facts:
        document.update(
            ata_smart_self_test_log={'extended': {'count': 0}},
            ata_log_directory={'table': [{'address': log} for log in sorted(logs)]},
        )
    return document


def main(count: int, seed: int, kind: str = '') -> int:
    """Damage so many reports and print what became of them; 1 where a drive looked better in
    silence.
    """
    if kind == 'folders':
        with tempfile.TemporaryDirectory(prefix='check-smart-damage-') as folder:
            return _printed(Folder(seed, Path(folder)), count, time.monotonic())
    began, desk = time.monotonic(), Desk(seed, kind, collected(seed))
    print(f'{count} damages of {len(desk.reports)} reports, seed {seed}', flush=True)
    return _printed(desk, count, began)


def _printed(desk: Desk | Folder, count: int, began: float) -> int:
    faults = desk.faults(count)
    print(*faults, sep='\n')
    print(
        f'{count} damages, {len(faults)} faults in {time.monotonic() - began:.0f} s: '
        + ', '.join(f'{number} {kind}' for kind, number in sorted(desk.counted.items()))
    )
    return 1 if faults else 0


if __name__ == '__main__':
    reports, chosen, of_kind = (*sys.argv[1:], '', '')[:3]
    sys.exit(main(int(reports), int(chosen or random.SystemRandom().randrange(10**6)), of_kind))
