"""What `make mutants` reads and writes; it runs by itself, since it takes minutes."""

import ast
import io
import os
import signal
import struct
import subprocess
import sys
import time
import types
from pathlib import Path

import mutants
import mutations
import pytest
import trials
from guard import stay_within
from mutations import Change, Mutant, Statements
from trials import ALIVE, NOT_RUN, NOTICED

pytestmark = pytest.mark.tools


# --- what is asked ------------------------------------------------------------------------------

TEXT = """\
class House:
    def rooms(self, most=3):
        for room in (
                self.found):
            if room:
                yield (room,
                       most)
        return None
"""


@pytest.mark.parametrize(
    ('differs', 'lines'),
    [
        pytest.param(range(1), range(2, 9), id='head-of-the-function'),
        pytest.param(range(2, 3), range(3, 5), id='head-of-a-loop'),
        pytest.param(range(5, 6), range(6, 8), id='second-line-of-a-statement'),
        pytest.param(range(3, 6), range(5, 8), id='condition-and-what-depends-on-it'),
    ],
)
def test_the_tests_that_are_asked_run_the_statement_that_differs(differs, lines):
    """Others do the same as without the mutant."""
    assert Statements(ast.parse(TEXT)).around(('House', 'rooms'), differs) == lines


# --- how it is tried ----------------------------------------------------------------------------


MADE_UP = """\
from functools import lru_cache
STEP = 1
def plain(number, step=1): return number + step + STEP
@lru_cache(maxsize=None)
def kept(number): return number + 1
class House:
    @property
    def rooms(self): return 3
"""


@pytest.mark.parametrize(
    ('place', 'code', 'call', 'result'),
    [
        (
            ('', 'plain'),
            'def plain(number, step=2): return number - step + STEP',
            'plain(5)',
            4,
        ),
        (('', 'kept'), 'def kept(number): return number + 2', 'kept(5)', 7),
        (
            ('House', 'rooms'),
            'class House:\n    def rooms(self): return 4',
            'House().rooms',
            4,
        ),
    ],
    ids=['function-with-its-default', 'cached', 'property'],
)
def test_a_mutant_takes_the_place_of_a_function_wherever_it_was_imported(
    monkeypatch, place, code, call, result
):
    """Who has imported a function holds it, and not its name."""
    module = types.ModuleType('smart_attributes.made_up')
    module.__file__ = 'made_up.py'
    exec(MADE_UP, vars(module))
    monkeypatch.setitem(sys.modules, 'smart_attributes.made_up', module)
    names = dict(vars(module))

    Change(Mutant('f', (), ()), 'made_up', place, code, range(1)).make()

    assert eval(call, names) == result


def says(*numbers: int, then=lambda: trials.PASSED):
    """Work that tells some numbers, and then does something."""

    def work(writer: int) -> int:
        for number in numbers:
            os.write(writer, struct.pack('I', number))
        return then()

    return work


@pytest.mark.parametrize(
    ('work', 'told'),
    [
        pytest.param(says(3, 4), (trials.PASSED, 4), id='passed'),
        pytest.param(
            says(3, then=lambda: trials.FAILED), (trials.FAILED, 3), id='failed'
        ),
        pytest.param(
            says(then=lambda: 1 // 0), (trials.FAILED, None), id='failed-by-an-error'
        ),
        pytest.param(
            says(3, then=lambda: os.kill(os.getpid(), signal.SIGKILL)),
            (trials.FAILED, 3),
            id='failed-dead',
        ),
        pytest.param(
            says(3, then=lambda: time.sleep(60)),
            (trials.FAILED, 3),
            id='failed-hanging',
        ),
    ],
)
def test_a_process_that_dies_or_hangs_has_noticed(work, told):
    """And which test it was asked last is known: the next mutant is shown to that one first."""
    assert trials.ended(*trials.forked(work), lambda number: number / 10) == told


def test_what_a_mutant_starts_ends_with_it(tmp_path):
    """Nothing goes on behind our back for the next mutant to meet."""

    def work(writer: int) -> int:
        if not os.fork():
            time.sleep(0.5)
            (tmp_path / 'later').touch()
            os._exit(0)
        return trials.PASSED

    assert trials.ended(*trials.forked(work), lambda _: 10)[0] == trials.PASSED
    time.sleep(0.7)
    assert not (tmp_path / 'later').exists()


def test_a_mutant_whose_line_no_test_runs_here_is_not_called_alive():
    """Tests that start or fork a process may run it."""
    trial = trials.Trials([change(0)], {}, Path(), None, print)

    assert trial._result(0) == trials.NOT_RUN


def kill_a_child():
    os.kill(os.posix_spawn('/bin/sh', ['sh', '-c', 'sleep 5'], {}), 9)


ALLOWED = {
    'write-inside': lambda own, other: (own / 'file').write_text('new'),
    'read-outside': lambda own, other: (other / 'file').read_text(),
    'remove-a-link': lambda own, other: (own / 'link').unlink(),
    'remove-in-an-open-folder': lambda own, other: os.unlink(
        'file', dir_fd=os.open(own, 0)
    ),
    'signal-to-what-it-started': lambda own, other: kill_a_child(),
}
FORBIDDEN = {
    'write-outside': lambda own, other: (other / 'file').write_text('new'),
    'remove-through-a-link': lambda own, other: (own / 'link/file').unlink(),
    'move-out': lambda own, other: (own / 'file').rename(other / 'gone'),
    'remove-in-another-one': lambda own, other: os.unlink(
        'file', dir_fd=os.open(other, 0)
    ),
    'mode-of-what-is-open': lambda own, other: os.chmod(os.open(other, 0), 0),
    'signal-to-others': lambda own, other: os.kill(os.getppid(), 0),
    'signal-to-all': lambda own, other: os.kill(-1, 0),
    'another-program': lambda own, other: os.posix_spawn('/bin/rm', ['rm'], {}),
    'process': lambda own, other: subprocess.run(['true'], check=False),
}


@pytest.mark.parametrize('work', [*ALLOWED, *FORBIDDEN])
def test_a_mutant_harms_nothing_outside_of_its_folder(tmp_path, work):
    """A wrong path or number may reach any file or process of whoever runs this."""
    own, other = tmp_path / 'own', tmp_path / 'other'
    for folder in (own, other):
        folder.mkdir()
        (folder / 'file').write_text('old')
    (own / 'link').symlink_to(other)

    def guarded(_: int) -> int:
        stay_within(own)
        try:
            {**ALLOWED, **FORBIDDEN}[work](own, other)
        except (PermissionError, ProcessLookupError):
            return trials.FAILED
        return trials.PASSED

    status, _ = trials.ended(*trials.forked(guarded), lambda number: 10)

    assert status == (trials.PASSED if work in ALLOWED else trials.FAILED)
    assert (other / 'file').read_text() == 'old'


# --- what is told -------------------------------------------------------------------------------


def change(number: int) -> Change:
    removed = (str(number),)
    return Change(
        Mutant('f', removed, ()), 'check/judging', ('', 'f'), '', range(1), str(number)
    )


def test_the_score_has_its_interval_and_leaves_out_what_no_test_runs(capsys):
    """The survivors are shown, and one line for each mutant is written."""
    results = io.StringIO()
    report = mutants.Report(results)
    for number in range(100):
        report(change(number), (ALIVE, NOT_RUN)[number % 2] if number < 20 else NOTICED)
    report.close()

    told = capsys.readouterr().out
    assert '80 noticed, 10 alive, 10 not run in process' in told
    assert '88.9 % of those that run (80.7 to 93.9 %)' in told
    assert told.count('check/judging.f:\n- ') == 10
    assert results.getvalue().splitlines()[0] == 'check/judging\tf\t0\talive'


# --- modules and their tests ----------------------------------------------------------------------


def test_each_mutant_has_an_identity_that_lines_above_do_not_change(tmp_path):
    pytest.importorskip('mutmut')
    source = tmp_path / 'module.py'
    text = TEXT.replace('return None', 'return 1 + most + 1 + most')
    source.write_text(text)
    drafts = mutations.drafts('module', source)
    wanted = {drafts[0].identity, drafts[-1].identity}
    source.write_text(f'\n\n{text}')

    assert mutations.drafts('module', source) == drafts
    assert len({draft.identity for draft in drafts}) == len(drafts) > 3
    assert {draft.function for draft in drafts} == {'House.rooms'}
    assert {
        made.identity for made in mutations.changes('module', source, wanted)
    } == wanted
