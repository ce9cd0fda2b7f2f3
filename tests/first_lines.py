"""How well alerts can be read, measured: over recorded reports, and over random machines with a
past and with arrays.

`make storm KIND=lines` prints the figures of random machines. `PYTHONPATH=.:tests .venv/bin/python
tests/first_lines.py 100 2026` measures the reports of ../shared, too, and prints the longest
examples. A figure knows nothing of how an output is made: it compares what the program prints for
an admin with what it prints for programs.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import simulator
from conftest import ROOT, SHARED, Result
from days import DAY, HOUR
from situations import Scene, changed

Json = Mapping[str, Any]
# characters within which who, why and action stand; of a first line
BEST, MOST = 120, 160
SHOWN = 3  # examples of each kind
UNNEEDED = re.compile(
    r'; |(?<=FAILED), |(?<=\)), |(?:(?<= in \d [dh])|(?<= in \d\d [dh])|(?<= \d\d min)) \(|(?<=when last read) '
)
UNREAD_STEP = re.compile(
    r'\b(?:address|apply|check|compare|copy|correct|enable|exclude|find|give|increase|install|look|'
    r'make|name|order|print|record|replace|run|update|use|wait)\b'
)
# A command of ours that a message names; words in capitals stand for something.
COMMAND = re.compile(
    r'(?:check_smart_attributes|\brun) ((?:[a-z]+)(?: -{1,2}[a-z-]+| [\w/@,.:-]+)*)'
)
READ_ONLY = frozenset(
    ('triage', 'explain', 'list', 'history', 'sudoers', 'draft', 'validate')
)
STATES = 'OK', 'WARNING', 'CRITICAL', 'UNKNOWN'
_LINE = re.compile(rf'^({"|".join(STATES)}) +(\S+)(?:  (.*))?$', re.MULTILINE)


class Fault(NamedTuple):
    """What is wrong with a line."""

    kind: str
    detail: str


class Tally:
    """What was measured."""

    def __init__(self) -> None:
        self.lines = 0  # first lines that alert
        self.counted: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}

    def add(self, faults: Sequence[Fault]) -> None:
        for fault in faults:
            self.counted[fault.kind] += 1
            examples = self.examples.setdefault(fault.kind, [])
            examples.append(fault.detail)
            examples.sort(key=len, reverse=True)
            del examples[SHOWN:]

    def told(self) -> list[str]:
        """Return the figures and the worst examples."""
        lines = [f'{self.lines} first lines that alert']
        for kind, count in sorted(self.counted.items()):
            lines.append(f'{count} {kind}')
            lines += [f'    {detail}' for detail in self.examples[kind]]
        return lines


# --- one line -------------------------------------------------------------------------------------


def of_first_line(text: str, worst: Json | None) -> list[Fault]:
    """Return what is wrong with the first line of an alert. worst: its drive, as JSON; None: it is
    about the check.
    """
    faults = [
        Fault('without ' + part, text) for part in lacking(text[:BEST], text, worst)
    ]
    if faults:
        faults.append(Fault(f'without who, why or action within {BEST}', text))
    if len(text) > MOST:
        faults.append(Fault(f'longer than {MOST}', f'{len(text)}: {text}'))
    return faults + of_statements(text)


def lacking(head: str, text: str, worst: Json | None) -> list[str]:
    """Return what an admin does not read in the head of a first line: "who", "why", "action"."""
    drive = worst or {}
    names = [str(drive[key]) for key in ('name', 'serial') if drive.get(key)]
    why = str(drive.get('reason') or text.partition(' - ')[2])
    to_do = str(drive.get('to_do') or '')
    if not to_do:
        steps = [part for part in text.split('; ') if UNREAD_STEP.search(part)]
        to_do = steps[0] if steps else '(no step)'
    return [
        what
        for what, is_there in (
            ('who', not names or any(word in head for word in names)),
            # what was found earlier, a command in brackets and what to do in other cases may follow;
            # a second finding may be left out: "health status FAILED, 1290 uncorrectable errors",
            # the limit of a rise: "pending sectors grew by 9 in 24 h (warning above 4 in 7 d)", and
            # the time of an earlier reading: "9 pending sectors when last read 24 h ago"
            ('why', UNNEEDED.split(why)[0] in head),
            ('action', re.split(r'; | \(', to_do)[0] in head),
        )
        if not is_there
    ]


def of_statements(text: str) -> list[Fault]:
    """Return parts that are cut, and words that are said twice in a line."""
    faults = [Fault('"..." inside a part', text)] if '...' in text else []
    twice = said_twice(text)
    return faults + ([Fault('said twice', f'"{twice}": {text}')] if twice else [])


def said_twice(text: str) -> str:
    """Return the first words that a line says twice: a code and the same word, or three words in
    the same order.
    """
    code = re.search(r'\[([a-z]+)\] (?=\1\b)', text)
    if code:
        return f'[{code[1]}] {code[1]}'
    words = re.findall(r'[\w/.%-]+', re.sub(r'\[[a-z-]+\]|\|.*', '', text.lower()))
    seen = set()
    for three in zip(words, words[1:], words[2:]):
        if three in seen:
            return ' '.join(three)
        seen.add(three)
    return ''


# --- all outputs of a machine ---------------------------------------------------------------------


class Outputs(NamedTuple):
    """What the program prints about one machine."""

    check: Result
    triage: Result
    document: Json  # triage --json
    metrics: str = ''  # '': not run
    page: str = ''

    @property
    def lines(self) -> dict[str, tuple[str, str]]:
        """Return state and findings of each line of the check, by name."""
        return {
            name: (state, text) for state, name, text in _LINE.findall(self.check.text)
        }

    @property
    def worst(self) -> Json | None:
        """Return the drive of the first line."""
        drives = {drive['name']: drive for drive in self.document['drives']}
        text = self.check.first_line.partition(' - ')[2]
        if text.startswith('['):  # about the check
            return None
        name = next(
            (word for word in re.findall(r'[\w-]+', text) if word in self.lines), ''
        )
        return drives.get(name) if self.lines.get(name, ('OK', ''))[0] != 'OK' else None


def outputs_of(scene: Scene, words: Sequence[str], is_all: bool = True) -> Outputs:
    """Run a check and the other commands. is_all: with the metrics and the page."""
    page = scene.folder / 'page.html'
    check, triage = scene.check(0, *words), scene.triage(*words)
    document = json.loads(scene.triage(*words, '--json').text)
    if not is_all:
        return Outputs(check, triage, document)
    metrics = scene.run('metrics', *words).text
    scene.triage(*words, '--html', str(page))
    return Outputs(check, triage, document, metrics, page.read_text())


def of_outputs(outputs: Outputs) -> list[Fault]:
    """Return all that is wrong with what the program prints about a machine."""
    faults = of_first_line(outputs.check.first_line, outputs.worst)
    for text in [
        *outputs.check.text.splitlines()[1:],
        *outputs.triage.text.splitlines(),
    ]:
        if not text.startswith('| '):
            faults += [
                Fault(f'{kind}, further lines', text) for kind, _ in of_statements(text)
            ]
    for drive in outputs.document['drives']:
        if '...' in (drive.get('reason') or ''):
            faults.append(Fault('"..." inside a part, JSON', drive['reason']))
    return faults + disagreements(outputs)


def disagreements(outputs: Outputs) -> list[Fault]:
    """Return where two outputs have another state or action for a drive than the JSON document."""
    wrong = []
    rows = {name: state for state, name, _ in _LINE.findall(outputs.triage.text)}
    lines = outputs.lines
    for drive in outputs.document['drives']:
        name, to_do = drive['name'], drive['to_do']
        state, text = lines.get(name, ('', ''))
        is_alert = drive['state'] != 'OK'
        number = f'{STATES.index(drive["state"])}.0'
        said = {
            'state of check': state == drive['state'],
            'state of triage': rows.get(name) == drive['state'],
            'state of metrics': not outputs.metrics
            or f'smart_drive_state{{device="{name}"}} {number}' in outputs.metrics,
            'action of check': not is_alert or f'[{drive["action"]}] {to_do}' in text,
            'action of triage': drive['action'] == 'nothing'
            or re.search(
                rf'^  (?:.*, )?{re.escape(name)}(?: \(.*\))?(?:, .*?)?(?:: | .*; ){re.escape(to_do)}',
                outputs.triage.text,
                re.MULTILINE,
            ),
            'action of metrics': not outputs.metrics
            or f'action="{drive["action"]}",device="{name}",to_do="{to_do}"'
            in outputs.metrics,
            'action of page': not outputs.page
            or drive['action'] == 'nothing'
            or f'<strong>{to_do[0].upper()}{to_do[1:]}</strong>' in outputs.page,
        }
        wrong += [
            Fault(
                'disagreement',
                f'{what}: {name}: {drive["state"]}, {to_do}; {state} {text}',
            )
            for what, is_right in said.items()
            if not is_right
        ]
    return wrong


def of_names(scene: Scene, outputs: Outputs) -> list[Fault]:
    """Return printed names of drives that a command does not accept."""
    names = [name for name in outputs.lines if name != '(check)']
    answer = scene.run('triage', *names)
    if re.search(r'matches no|\[usage-error\]', answer.text):
        return [Fault('name refused', f'{names}: {answer.text[:200]}')]
    return []


def of_commands(scene: Scene, words: Sequence[str], outputs: Outputs) -> list[Fault]:
    """Return printed commands that are refused, lead to the same advice, or delete evidence."""
    wrong = []
    printed = {
        command
        for text in (outputs.check.text, outputs.triage.text)
        for command in COMMAND.findall(text)
    }
    for command in sorted(printed):
        name, *arguments = command.split()
        if '--remove' in arguments:
            wrong.append(Fault('deletes evidence', command))
        if name not in READ_ONLY or any(
            word.isupper() and word.isalpha() for word in arguments
        ):
            continue
        if name == 'triage' and '-d' not in arguments:
            arguments += words
        answer = scene.run(name, *arguments)
        if '[usage-error]' in answer.text:
            wrong.append(Fault('command refused', f'{command}: {answer.first_line}'))
        elif re.search(
            rf'\brun:? (?:check_smart_attributes )?{re.escape(command)}', answer.text
        ):
            wrong.append(Fault('command is a circle', command))
    return wrong


# --- random machines ------------------------------------------------------------------------------

HEALTHY = [name for name in simulator.names() if 'healthy' in name]
OTHERS = [
    name for name in simulator.names() if 'volume' not in name and name not in HEALTHY
]
HEALTHY_DISKS = [name for name in HEALTHY if simulator.read(name).protocol == 'ATA']
GROWING = {'a5': 400, 'a197': 40, 'a187': 3, 'a199': 60}
LEVELS = ('raid1', 'raid1', 'raid5', 'raid6', 'raid10', 'raid0')
MEMBERS = ('in_sync', 'in_sync', 'in_sync', 'in_sync', 'faulty none', 'spare')


class RandomMachine:
    """A machine made by dice, and what happened to it before the last check."""

    def __init__(self, dice: random.Random, folder: Path) -> None:
        self.dice, self.scene = dice, Scene(folder)
        # address -> description, serial number
        self.drives: dict[str, tuple[str, str]] = {}
        count = 12 if dice.random() < 0.05 else dice.randrange(1, 6)
        is_raid = dice.random() < 0.2
        for number in range(count):
            name = dice.choice(HEALTHY if dice.random() < 0.6 else OTHERS)
            is_nvme = simulator.read(name).protocol == 'NVMe'
            address = (
                f'/dev/nvme{number}n1'
                if is_nvme
                else f'/dev/sd{"abcdefghijkl"[number]}'
            )
            if is_raid and not is_nvme:
                address = f'megaraid,{number}@/dev/bus/0'
            self.drives[address] = name, f'EXAMPLE{number:04}'
        self._lay_arrays([a[5:] for a in self.drives if a.startswith('/dev/sd')])
        for address, (name, serial) in self.drives.items():
            self.scene.put(address, name, serial)
        if is_raid and dice.random() < 0.5:
            numbers = [
                int(a[9:].partition('@')[0])
                for a in self.drives
                if a.startswith('megaraid')
            ]
            self.scene.install_storcli(*((f'32:{n + 3}', n, 'Onln') for n in numbers))

    def _lay_arrays(self, disks: list[str]) -> None:
        """Put an array, swap space or nothing on disks; the others get a mounted file system."""
        dice, tree = self.dice, self.scene.tree
        if len(disks) > 1 and dice.random() < 0.6:
            chosen = dice.sample(disks, dice.randrange(2, len(disks) + 1))
            disks = [disk for disk in disks if disk not in chosen]
            tree.disks(*chosen)
            states = {f'{disk}1': dice.choice(MEMBERS) for disk in chosen}
            is_rebuilding = dice.random() < 0.2
            tree.md(
                'md0',
                dice.choice(LEVELS),
                states,
                degraded=str(sum('faulty' in state for state in states.values())),
                layout='258',
                sync_action='recover' if is_rebuilding else 'idle',
                sync_completed='400 / 1000' if is_rebuilding else 'none',
            )
            tree.mounted('/dev/md0', '/srv')
        for disk in disks:
            kind = dice.random()
            if kind < 0.1:
                tree.disk(disk)
            elif kind < 0.2:
                tree.disks(disk)
                tree.swap(f'/dev/{disk}1')

    def lives(self) -> None:
        """Check the machine some time ago, and let something happen to its drives."""
        self.scene.check(self.dice.choice((HOUR, DAY, 9 * DAY)))
        for address, (name, serial) in self.drives.items():
            event = self.dice.random()
            if event < 0.1 and len(self.drives) > 1 and address.startswith('/dev/'):
                self.scene.pull(address)
            elif event < 0.2:
                self.scene.put(address, name, serial, asleep=True)
            elif event < 0.25:
                self.scene.put(address, name, serial, error=self.dice.randrange(0, 3))
            elif event < 0.3:
                self.scene.put(
                    address, self.dice.choice(HEALTHY_DISKS), f'EXAMPLF{serial[-4:]}'
                )
            elif event < 0.5 and simulator.read(name).protocol == 'ATA':
                metric = self.dice.choice([*GROWING])
                drive = changed(name, **{metric: GROWING[metric]})
                self.scene.put(address, drive, serial)


def of_machine(seed: int, number: int, folder: Path, tally: Tally) -> None:
    """Measure one random machine."""
    shutil.rmtree(folder, ignore_errors=True)
    machine = RandomMachine(random.Random(f'{seed} {number}'), folder)
    if machine.dice.random() < 0.7:
        machine.lives()
    outputs = outputs_of(machine.scene, ('--scan',))
    if not outputs.check.code:
        return
    tally.lines += 1
    tally.add(of_outputs(outputs))
    tally.add(of_names(machine.scene, outputs))
    tally.add(of_commands(machine.scene, ('--scan',), outputs))


class Lines:
    """The kind `lines` of tests/storm.py: one machine each turn. It counts, and fails nothing."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed, self.tally = folder, seed, Tally()

    @property
    def counted(self) -> Counter[str]:
        """Return the figures."""
        return Counter({'first lines': self.tally.lines, **self.tally.counted})

    def turn(self, number: int) -> list[str]:
        """Measure one machine; return what is wrong that is right today."""
        before = Counter(self.tally.counted)
        of_machine(self.seed, number, self.folder / 'machine', self.tally)
        return [
            f'machine {number} of seed {self.seed}: {kind}: {self.tally.examples[kind]}'
            for kind in HELD
            if self.tally.counted[kind] > before[kind]
        ]


# What holds today on all machines.
HELD = (
    'disagreement',
    'name refused',
    'command refused',
    'command is a circle',
    'deletes evidence',
)


# --- recorded reports -----------------------------------------------------------------------------


def reports() -> list[Path]:
    """Return the reports of ../shared and of tests/reports."""
    corpus = SHARED / 'corpus'
    return [
        *sorted((ROOT / 'tests/reports').glob('*.*')),
        *sorted((SHARED / 'cases').glob('[0-9]*.txt')),
        *(
            path
            for folder in ('reports', 'failures')
            for case in sorted((corpus / folder).iterdir())
            for path in sorted(case.glob('output.*'))[:1]
        ),
        *sorted((corpus / 'clocks').glob('*.txt')),
    ]


def alerting(scene: Scene, paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the reports of which a check alerts."""
    for first in range(0, len(paths), 100):
        some = {
            scene.as_installed(str(path)): path for path in paths[first : first + 100]
        }
        words = [word for path in some.values() for word in ('--report', str(path))]
        document = json.loads(scene.run('triage', '--json', '-t', '300', *words).text)
        for drive in document['drives']:
            if drive['state'] != 'OK':
                yield some[drive['device']]


def of_reports(folder: Path, tally: Tally, paths: Sequence[Path]) -> None:
    """Measure the check of each report that alerts."""
    scene = Scene(folder)
    for path in alerting(scene, paths):
        words = '--report', str(path)
        outputs = outputs_of(scene, words, is_all=False)
        tally.lines += 1
        tally.add(of_outputs(outputs))
        tally.add(of_commands(scene, words, outputs))


def main() -> None:
    """Print the figures of all reports, then those of some machines: [MACHINES [SEED]]."""
    import tempfile

    import warm

    numbers = [*map(int, sys.argv[1:]), 100, 2026]
    machines, seed = numbers[0], numbers[1] if len(sys.argv) != 2 else 2026
    with tempfile.TemporaryDirectory() as folder:
        tally = Tally()
        if SHARED.exists():
            of_reports(Path(folder) / 'reports', tally, reports())
            print('\n'.join(['reports:', *tally.told()]), flush=True)
        tally = Tally()
        for number in range(machines):
            of_machine(seed, number, Path(folder) / 'machine', tally)
        print('\n'.join([f'{machines} random machines, seed {seed}:', *tally.told()]))
    warm.stop()


if __name__ == '__main__':
    os.environ.setdefault('XDG_STATE_HOME', '/nonexistent')
    main()
