"""What mail programs, wikis, chats, ticket systems and people make of smartctl's text; and how the
reports of the corpus are judged afterwards.

Each shape is a function from a text to a text. None of them changes a number on purpose; mutants
damage single lines. `python tests/pasting.py` prints the figures of all shapes, and `make storm
KIND=pasting` takes random shapes one upon the other.
"""

from __future__ import annotations

import base64
import html
import io
import json
import quopri
import random
import re
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from conftest import ROOT, SHARED
from days import START

from smart_attributes import main as main_module
from smart_attributes.model import State
from smart_attributes.reading.content import as_text, json_start

Dice = random.Random
ROW = re.compile(r'^\s*(\d{1,3}|ID#)\s+\S+ +(?:0x|FLAG|[P-][O-])')
Shape = Callable[[str], str]
WIDTHS = range(60, 99)
SHARE = 4  # of the healthy reports, one in so many is tried in each shape
BATCH, MUTANTS = 250, 20_000
TURN = 40  # reports of a turn of storm
ALARMS = (State.CRITICAL, State.WARNING)
MAIL = (
    'Hello,',
    '',
    'my disk makes strange noises: what is your advice? - It is 3 years old.',
    '',
)
FOOTER = ('', 'Thanks a lot, 2 colleagues wait for me', '-- ', 'Tel: 0123 456', '')


def each_line(text: str, change: Callable[[str], str]) -> str:
    return '\n'.join(map(change, text.split('\n')))


def wrapped(text: str, width: int, prefix: str = '') -> str:
    """Break lines between words, as mail programs do: no line is longer than *width*."""
    return '\n'.join(
        prefix + part
        for line in text.split('\n')
        for part in textwrap.wrap(line, width - len(prefix), break_on_hyphens=False)
        or ['']
    )


def quoted_and_wrapped(text: str, width: int) -> str:
    """Quote each line, then break it without a further mark: "> - 0" becomes "- 0"."""
    return '\n'.join(
        part
        for line in text.split('\n')
        for part in textwrap.wrap('> ' + line, width, break_on_hyphens=False) or ['>']
    )


def cut(text: str, width: int) -> str:
    return each_line(text, lambda line: line[:width])


def broken(text: str, width: int) -> str:
    """Break lines at a column, also within a word, as a terminal does."""
    return '\n'.join(
        line[at : at + width]
        for line in text.split('\n')
        for at in range(0, max(len(line), 1), width)
    )


def in_prose(text: str) -> str:
    return '\n'.join((*MAIL, text, *FOOTER))


def numbered(text: str) -> str:
    return '\n'.join(
        f'{number:6}  {line}' for number, line in enumerate(text.split('\n'), 1)
    )


def flowed(text: str) -> str:
    """Format=flowed (RFC 3676): soft breaks end with a blank."""
    lines = []
    for line in text.split('\n'):
        parts = textwrap.wrap(
            line, 72, drop_whitespace=False, break_on_hyphens=False
        ) or ['']
        parts = [
            part if part.endswith(' ') else part + ' ' for part in parts[:-1]
        ] + parts[-1:]
        lines += [
            ' ' + part if part.startswith((' ', '>', 'From ')) else part
            for part in parts
        ]
    return '\n'.join(lines)


def quoted_printable(text: str) -> str:
    return quopri.encodestring(text.replace('=', '=').encode()).decode()


def in_base64(text: str) -> str:
    head = (
        'Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n'
    )
    return head + base64.encodebytes(text.encode()).decode()


def typographic(text: str) -> str:
    """What an editor for prose makes of hyphens, quotes and blanks."""
    text = (
        re.sub(r'(?<= )-(?= )', '\u2013', text)
        .replace('--', '\u2014')
        .replace("'", '\u2019')
    )
    return text.replace('  ', '\u00a0 ').replace('...', '\u2026')


def as_html(text: str) -> str:
    escaped = (
        html.escape(text, quote=True).replace('  ', '&nbsp; ').replace('\n', '<br>\n')
    )
    return f'<div class="gmail_quote"><p>See:</p>{escaped}</div>'


def in_pre(text: str) -> str:
    return f'<pre><code class="language-none">{html.escape(text)}</code></pre>'


def in_wiki_table(text: str) -> str:
    return each_line(text, lambda line: f'| {line:96} |')


def in_columns(text: str) -> str:
    """Return each row of a table as a row of Markdown."""
    return each_line(
        text,
        lambda line: f'| {" | ".join(line.split())} |' if ROW.match(line) else line,
    )


def in_chat(text: str) -> str:
    return each_line(text, lambda line: f'[14:0{len(line) % 10}] <jo_2> {line}')


def in_journal(text: str) -> str:
    return each_line(
        text, lambda line: f'Nov 28 14:05:0{len(line) % 10} host-1 cron[812]: {line}'
    )


def in_json_string(text: str) -> str:
    return json.dumps({'channel': 'ops', 'text': text})


def markdown_escaped(text: str) -> str:
    return re.sub(r'([_*#\[\]<>])', r'\\\1', text)


SHAPES: Mapping[str, Shape] = {
    'quoted': lambda text: each_line(text, lambda line: f'> {line}'),
    'quoted by name': lambda text: each_line(text, lambda line: f'Jo> {line}'),
    'quoted twice': lambda text: each_line(text, lambda line: f'>> {line}'),
    'numbered': numbered,
    'numbered with a colon': lambda text: '\n'.join(
        f'{number}: {line}' for number, line in enumerate(text.split('\n'), 1)
    ),
    'en dashes': lambda text: re.sub(r'(?<=\s)-(?=\s)', '\u2013', text),
    'all dashes': lambda text: text.replace('-', '\u2011'),
    'minus signs': lambda text: text.replace('-', '\u2212'),
    'prose': in_prose,
    # ten and more further shapes
    'flowed': flowed,
    'flowed and quoted': lambda text: each_line(flowed(text), lambda line: f'> {line}'),
    'quoted-printable': quoted_printable,
    'base64': in_base64,
    'typographic': typographic,
    'HTML': as_html,
    'pre': in_pre,
    'terminal of 80 columns': lambda text: broken(
        f'root@nas:~# smartctl -a /dev/sda\n{text}', 80
    ),
    'Jira': lambda text: (
        f'h3. Disk\n{{code:title=sda|borderStyle=solid}}\n{text}\n{{code}}'
    ),
    'Markdown': lambda text: f'Look **here**:\n\n```console\n{text}\n```\n',
    'BBCode': lambda text: f'[quote="Jo, post:3"][code]{text}[/code][/quote]',
    'backslashes': lambda text: each_line(text, lambda line: line + '\\'),
    'two blanks': lambda text: each_line(text, lambda line: line + '  '),
    'wiki table': in_wiki_table,
    'columns': in_columns,
    'chat': in_chat,
    'journal': in_journal,
    'JSON string': in_json_string,
    'escaped': markdown_escaped,
    'one blank': lambda text: each_line(text, lambda line: ' '.join(line.split())),
    'tabs': lambda text: re.sub(' {2,}', '\t', text),
    'double spaced': lambda text: text.replace('\n', '\n\n'),
    'no empty lines': lambda text: re.sub(r'\n(?:[ \t]*\n)+', '\n', text),
    'comment': lambda text: each_line(text, lambda line: f'# {line}'),
    'diff': lambda text: each_line(text, lambda line: f'+{line}'),
    'list': lambda text: each_line(text, lambda line: f'    * {line}'),
    'box': lambda text: each_line(text, lambda line: f'\u2502 {line:110} \u2502'),
    'ANSI': lambda text: each_line(
        text, lambda line: f'\x1b[0;32m{line}\x1b[0m\x1b[K\r'
    ),
    'CR': lambda text: text.replace('\n', '\r'),
    'cat -A': lambda text: each_line(text, lambda line: line.replace('\t', '^I') + '$'),
    'semicolons': lambda text: each_line(
        text,
        lambda line: re.sub(' {1,}', ';', line.strip()) if ROW.match(line) else line,
    ),
    'grep': lambda text: '\n'.join(
        f'sda.txt:{number}:{line}' for number, line in enumerate(text.split('\n'), 1)
    ),
    'XML': lambda text: each_line(
        text, lambda line: f'<line>{html.escape(line)}</line>'
    ),
}

# --- lines that are damaged ------------------------------------------------------------


def _doubled(lines: list[str], at: int, dice: Dice) -> None:
    lines.insert(at, lines[at])


def _joined(lines: list[str], at: int, dice: Dice) -> None:
    if at + 1 < len(lines):
        lines[at : at + 2] = [lines[at] + dice.choice(('', ' ')) + lines[at + 1]]


def _swapped(lines: list[str], at: int, dice: Dice) -> None:
    other = (
        min(at + 1, len(lines) - 1)
        if dice.random() < 0.5
        else dice.randrange(len(lines))
    )
    lines[at], lines[other] = lines[other], lines[at]


def _truncated(lines: list[str], at: int, dice: Dice) -> None:
    """Cut a line between two words, or within one; never within a number, a model or a firmware:
    what is left of that is another one, which no reader can know.
    """
    line = lines[at]
    name = NAME.match(line)
    places = [
        place
        for place in range(name.end() if name else len(line))
        if line[:place].strip()
        and not re.match(r'[0-9.,][0-9.,]', line[max(place - 1, 0) : place + 1])
    ]
    lines[at] = line[: dice.choice(places)] if places else line


NAME = re.compile(
    r'(?:Device Model|Model Number|Firmware Version|Product|Revision|Vendor|Device):\s*'
)


def _truncated_at_front(lines: list[str], at: int, dice: Dice) -> None:
    line = lines[at]
    places = [
        place
        for place in range(len(line))
        if not line[max(place - 1, 0) : place].isdigit()
    ]
    lines[at] = line[dice.choice(places) :] if places else line


MUTATIONS = {
    'doubled': _doubled,
    'joined': _joined,
    'swapped': _swapped,
    'truncated': _truncated,
    'truncated at the front': _truncated_at_front,
}


def mutant(text: str, dice: Dice) -> tuple[str, str]:
    """Return how some lines of a text were damaged, and what became of it."""
    lines, kind = text.split('\n'), dice.choice(list(MUTATIONS))
    # half of them within the data, which follows the identity of the drive
    first = next((at for at, line in enumerate(lines) if 'DATA SECTION' in line), 0)
    for _ in range(dice.choice((1, 1, 1, 3))):
        full = [
            at
            for at in range(first * dice.randrange(2), len(lines))
            if lines[at].strip()
        ]
        MUTATIONS[kind](lines, dice.choice(full), dice)
    return kind, '\n'.join(lines)


# --- how they are judged ---------------------------------------------------------------


def corpus() -> dict[str, str]:
    """Return recorded texts by case: those beside the project, or else those of these tests."""
    paths = sorted((SHARED / 'corpus/reports').glob('*/output.txt'))
    named = {path.parent.name: path for path in paths} or {
        path.stem: path for path in sorted((ROOT / 'tests/reports').glob('*.txt'))
    }
    texts = {name: as_text(path.read_bytes()) for name, path in named.items()}
    return {name: text for name, text in texts.items() if json_start(text) < 0}


def judged(texts: Mapping[str, str | bytes]) -> dict[str, Any]:
    """Return what `triage --report` says about each text, by name."""
    with tempfile.TemporaryDirectory(prefix='check-smart-pasting-') as folder:
        for name, text in texts.items():
            content = text if isinstance(text, bytes) else text.encode()
            (Path(folder) / f'{name}.smart.txt').write_bytes(content)
        words = ['triage', '--json', '--no-history', '--report', folder]
        with (
            mock.patch.object(time, 'time', lambda: START),
            redirect_stdout(io.StringIO()) as printed,
        ):
            main_module.run(words)
    drives = json.loads(printed.getvalue())['drives']
    return {
        Path(drive['device']).name.removesuffix('.smart.txt'): drive for drive in drives
    }


def states(texts: Mapping[str, str | bytes]) -> dict[str, State]:
    return {name: State[drive['state']] for name, drive in judged(texts).items()}


class Figures:
    """What became of the states of reports: alarms (CRITICAL or WARNING), and healthy drives."""

    def __init__(self) -> None:
        self.alarms = self.kept = self.lost = self.healthy = self.ok = self.critical = 0
        self.faults: list[str] = []

    def add(
        self, what: str, before: Mapping[str, State], after: Mapping[str, State]
    ) -> None:
        for name, state in before.items():
            now = after.get(name, State.OK)
            if state in ALARMS:
                self.alarms += 1
                self.kept += now is state
                self.lost += now is State.OK
                if now is State.OK:
                    self.faults.append(f'{what}: {name} was {state.name}, is OK')
            elif state is State.OK:
                self.healthy += 1
                self.ok += now is State.OK
                self.critical += now is State.CRITICAL
                if now is State.CRITICAL:
                    self.faults.append(f'{what}: {name} was OK, is CRITICAL')

    def __str__(self) -> str:
        return (
            f'{self.lost} of {self.alarms} alarms OK, {self.kept / max(self.alarms, 1):.1%} kept; '
            f'{self.critical} of {self.healthy} healthy CRITICAL, '
            f'{self.ok / max(self.healthy, 1):.1%} OK'
        )


def figures(
    texts: Mapping[str, str], shapes: Mapping[str, Shape]
) -> Iterator[tuple[str, Figures]]:
    """Yield what becomes of the states in each shape: of all alarms, and of a share of the healthy
    reports, which is another one for each shape.
    """
    before = states(texts)
    healthy = [name for name, state in before.items() if state not in ALARMS]
    alarms = [name for name, state in before.items() if state in ALARMS]
    for number, (what, shape) in enumerate(shapes.items()):
        names = [*alarms, *healthy[number % SHARE :: SHARE]]
        sums = Figures()
        after = states({name: shape(texts[name]) for name in names})
        sums.add(what, {name: before[name] for name in names}, after)
        yield what, sums


def widths(
    change: Callable[[str, int], str], some: Iterable[int] = WIDTHS
) -> dict[str, Shape]:
    return {
        f'{change.__name__} {width}': lambda text, width=width: change(text, width)
        for width in some
    }


def wrapped_and_quoted(text: str, width: int) -> str:
    return wrapped(text, width, '> ')


OF_A_WIDTH = (wrapped, wrapped_and_quoted, quoted_and_wrapped, cut, broken)


def mutants(
    texts: Mapping[str, str], seed: int, count: int
) -> Iterator[tuple[str, str, str]]:
    """Yield (name of the text, how it was damaged, the damaged text)."""
    names = sorted(texts)
    for number in range(count):
        dice = Dice(f'{seed} {number}')
        name = dice.choice(names)
        yield (name, *mutant(texts[name], dice))


def of_mutants(texts: Mapping[str, str], seed: int, count: int) -> Figures:
    """Return what becomes of the states of damaged texts."""
    before, sums = states(texts), Figures()
    damaged = list(mutants(texts, seed, count))
    for start in range(0, count, BATCH):
        batch = dict(enumerate(damaged[start : start + BATCH], start))
        after = states({str(number): text for number, (_, _, text) in batch.items()})
        for number, (name, kind, _) in batch.items():
            sums.add(
                f'{kind} {number}', {name: before[name]}, {name: after[str(number)]}
            )
    return sums


class Pasting:
    """A bed of storm: reports in one or two random shapes, some with damaged lines."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._texts, self._seed = corpus(), seed
        self._before = states(self._texts)
        self._shapes = dict(SHAPES)
        for change in OF_A_WIDTH:
            self._shapes |= widths(change)
        self.counted: Counter[str] = Counter()

    def turn(self, number: int) -> list[str]:
        dice, pasted, tried = Dice(f'{self._seed} {number}'), {}, {}
        for name in dice.sample(sorted(self._texts), min(TURN, len(self._texts))):
            names = dice.sample(sorted(self._shapes), dice.choice((1, 1, 2)))
            text = self._texts[name]
            is_damaged = dice.random() < 0.2
            if is_damaged:
                text = mutant(text, dice)[1]
            for shape in names:
                text = self._shapes[shape](text)
            pasted[name], tried[name] = (
                text,
                ', '.join([*names, 'damaged'] if is_damaged else names),
            )
            self.counted['damaged' if is_damaged else f'in {len(names)} shapes'] += 1
        sums = Figures()
        for name, state in states(pasted).items():
            sums.add(tried[name], {name: self._before[name]}, {name: state})
        return sums.faults


def main(words: Sequence[str]) -> None:
    texts, count = corpus(), int(words[0]) if words else MUTANTS
    shapes = {**SHAPES}
    for change in OF_A_WIDTH:
        shapes |= widths(change)
    for what, sums in figures(texts, shapes):
        print(f'{what}: {sums}', *sums.faults, sep='\n    ', flush=True)
    alarms = {
        name: text
        for name, text in texts.items()
        if states({name: text})[name] in ALARMS
    }
    sums = of_mutants(alarms, 1, count)
    print(f'{count} mutants: {sums}', *sums.faults, sep='\n    ')


if __name__ == '__main__':
    main(sys.argv[1:])
