"""What `make mutants` reads and writes; it runs by itself, since it takes minutes."""
from __future__ import annotations

import ast
import os
import signal
import struct
import sys
import time
import types

import architecture
import mutants
import pytest
import survivors
import trials
from mutations import Change, Statements, _is_same_sql, changed
from survivors import Mutant


def test_every_survivor_has_a_reason_and_belongs_to_a_module_that_is_measured():
    """A list without reasons would only hide what the tests do not notice."""
    assert {mutant.function.partition('.')[0] for mutant in survivors.accepted()} <= set(architecture.MODULES)


def test_a_survivor_is_read_as_it_is_printed(tmp_path, monkeypatch):
    """What the command prints is pasted into the file, with a reason in place of the question mark."""
    survivor = Mutant('judge._hours', ('a - b',), ('a + b', 'c'))
    monkeypatch.setattr(survivors, 'SURVIVORS', tmp_path / 'survivors.txt')
    survivors.SURVIVORS.write_text(f'judge._hours: accepted because of a test\n{survivor}\n')

    assert survivors.accepted() == {survivor: 'accepted because of a test'}


@pytest.mark.parametrize('reason', ['?', '', 'accepted', 'accepted because', 'words'])
def test_a_survivor_without_a_reason_is_refused(tmp_path, monkeypatch, reason):
    """Somebody has to say why it does not matter."""
    monkeypatch.setattr(survivors, 'SURVIVORS', tmp_path / 'survivors.txt')
    survivors.SURVIVORS.write_text(f'judge._hours: {reason}\n- a\n+ b\n')

    with pytest.raises(SystemExit, match='gives no reason'):
        survivors.accepted()


def test_a_mutant_is_known_by_its_function_and_the_statements_that_differ():
    """Lines move with every change above them, and a line is wrapped otherwise where its name grows."""
    was, is_now = (f'def f():\n    a = 3\n    return (a +\n            {number})\n' for number in (1, 2))

    assert survivors.mutant('check/judging.f', was, is_now) == Mutant('check/judging.f', ('return a + 1',),
                                                                      ('return a + 2',))


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


@pytest.mark.parametrize(('differs', 'lines'), [
    pytest.param(range(1), range(2, 9), id='head-of-the-function'),
    pytest.param(range(2, 3), range(3, 5), id='head-of-a-loop'),
    pytest.param(range(3, 4), range(5, 6), id='condition'),
    pytest.param(range(5, 6), range(6, 8), id='second-line-of-a-statement'),
    pytest.param(range(3, 6), range(5, 8), id='condition-and-what-depends-on-it'),
    pytest.param(range(6, 7), range(8, 9), id='one-line')])
def test_the_tests_that_are_asked_run_the_statement_that_differs(differs, lines):
    """Others do the same as without the mutant; whoever does not run a condition cannot notice it either."""
    assert Statements(ast.parse(TEXT)).around(('House', 'rooms'), differs) == lines


@pytest.mark.parametrize(('before', 'after', 'lines'), [
    ('a\nb\nc', 'a\nB\nc', range(1, 2)), ('a\nb\nc', 'a\nc', range(1, 2)), ('a\nb\nb\nc', 'a\nb\nc', range(2, 3)),
    ('a\nb\nc', 'A\nb\nC', range(3)), ('a\nb', 'a\nb\nc', range(2, 3))],
    ids=['one', 'gone', 'gone-of-two', 'from-first-to-last', 'more'])
def test_lines_that_differ_go_from_the_first_to_the_last(before, after, lines):
    assert changed(before, after) == lines


# --- how it is tried ----------------------------------------------------------------------------

@pytest.fixture
def module(monkeypatch):
    """A module with every sort of function that is changed."""
    made = types.ModuleType('smart_attributes.made_up')
    made.__file__ = 'made_up.py'
    exec('from functools import lru_cache\n'
         'STEP = 1\n'
         'def plain(number, step=1): return number + step + STEP\n'
         '@lru_cache(maxsize=None)\n'
         'def kept(number): return number + 1\n'
         'class House:\n'
         '    @property\n'
         '    def rooms(self): return 3\n'
         '    @staticmethod\n'
         '    def of(number): return number\n', vars(made))
    monkeypatch.setitem(sys.modules, 'smart_attributes.made_up', made)
    return made


@pytest.mark.parametrize(('place', 'code', 'call', 'result'), [
    (('', 'plain'), 'def plain(number, step=2): return number - step + STEP', 'plain(5)', 4),
    (('', 'kept'), 'def kept(number): return number + 2', 'kept(5)', 7),
    (('House', 'rooms'), 'class House:\n    def rooms(self): return 4', 'House().rooms', 4),
    (('House', 'of'), 'class House:\n    @staticmethod\n    def of(number): return -number', 'House.of(5)', -5)],
    ids=['function-with-its-default', 'cached', 'property', 'static'])
def test_a_mutant_takes_the_place_of_a_function_wherever_it_was_imported(module, place, code, call, result):
    """Who has imported a function holds it, and not its name."""
    names = {name: getattr(module, name) for name in ('plain', 'kept', 'House')}

    Change(Mutant('made_up.f', (), ()), 'made_up', place, code, range(1)).make()

    assert eval(call, names) == result


def says(*numbers: int, then=lambda: trials.PASSED):
    """Work that tells some numbers, and then does something."""
    def work(writer: int) -> int:
        for number in numbers:
            os.write(writer, struct.pack('I', number))
        return then()
    return work


@pytest.mark.parametrize('was, is_now, is_same', [
    ("'DELETE FROM point'", "'delete from point'", True), ("'DELETE FROM point'", "'DELETE FROM POINT'", True),
    ("'DELETE FROM point'", "'XXDELETE FROM pointXX'", False), ("'delete it'", "'DELETE IT'", False)])
def test_sql_in_another_letter_case_is_no_mutant(was, is_now, is_same):
    """It does the same, so no test could notice it."""
    nodes = (types.SimpleNamespace(value=value) for value in (was, is_now))

    assert _is_same_sql(types.SimpleNamespace(**dict(zip(('original_node', 'mutated_node'), nodes)))) is is_same


@pytest.mark.parametrize(('work', 'told'), [
    pytest.param(says(3, 4), (trials.PASSED, 4), id='passed'),
    pytest.param(says(3, then=lambda: trials.FAILED), (trials.FAILED, 3), id='failed'),
    pytest.param(says(then=lambda: 1 // 0), (trials.FAILED, None), id='failed-by-an-error'),
    pytest.param(says(3, then=lambda: os.kill(os.getpid(), signal.SIGKILL)), (trials.FAILED, 3), id='failed-dead'),
    pytest.param(says(3, then=lambda: time.sleep(60)), (trials.FAILED, 3), id='failed-hanging')])
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


def test_own_tests_are_asked_first_and_others_while_there_is_time():
    """Of those that run the changed line. Who noticed a mutant of the same function will notice the next one, too."""
    own, other = types.ModuleType('test_judging'), types.ModuleType('test_other')
    trial = trials.Trials({}, survivors.SURVIVORS, print)
    trial._items = [types.SimpleNamespace(module=file) for file in (other, other, own, own, other, other)]
    trial._covered = [trials.Covered(seconds, {'check/judging': frozenset({line})}) for seconds, line in (
        (2, 5), (1, 5), (99, 5), (3, 5), (1, 6), (trials.LONGEST - 3, 5))]
    change = Change(Mutant('check/judging.f', (), ()), 'check/judging', ('', 'f'), '', range(4, 6))

    assert trial._asked(change) == [3, 2, 1, 0]
    trial._likely['check/judging.f'].append(5)
    assert trial._asked(change) == [5, 3, 2, 1, 0]


# --- what is told -------------------------------------------------------------------------------

@pytest.mark.parametrize(('is_sample', 'is_told'), [(True, False), (False, True)])
def test_a_sample_says_nothing_of_survivors_that_it_does_not_try(tmp_path, monkeypatch, capsys, is_sample, is_told):
    monkeypatch.setattr(mutants, 'DOCUMENT', tmp_path / 'tests.md')
    mutants.DOCUMENT.write_text('<!-- mutants -->\n<!-- end of mutants -->\n')
    report = mutants.Report(is_sample)
    report.known = {Mutant('check/judging.f', ('1',), ()): 'equal'}
    report('check/judging', [Change(Mutant('check/judging.f', ('2',), ()), 'check/judging', ('', 'f'), '', range(1))],
           [])

    assert ('take it out' in capsys.readouterr().out) is is_told
    assert (' (sample) |' in mutants.DOCUMENT.read_text()) is is_sample


@pytest.mark.parametrize(('words', 'asked'), [
    ([], (['alarm', 'coded'], True)), (['trust'], (['trust'], False)), (['--sample', 'trust'], (['trust'], True)),
    (['trust', 'words', '--sample'], (['trust', 'words'], True))])
def test_a_sample_is_tried_without_module_or_on_request(monkeypatch, words, asked):
    """A module of many hundred mutants takes longer than somebody waits."""
    found = []
    monkeypatch.setattr(mutants, 'pure', lambda: ['alarm', 'coded'])
    monkeypatch.setattr(mutants, 'measured', lambda *given: found.append(given[:2]))

    assert mutants.main(words) == 0 and found == [asked]


@pytest.mark.parametrize(('number', 'is_bad'), [(10, False), (11, True)])
def test_a_module_that_misses_its_figure_is_told(tmp_path, monkeypatch, capsys, number, is_bad):
    """Tests must notice 90 of 100 mutants; each survivor has a reason here."""
    monkeypatch.setattr(mutants, 'DOCUMENT', tmp_path / 'tests.md')
    mutants.DOCUMENT.write_text('<!-- mutants -->\n<!-- end of mutants -->\n')
    made = [Change(Mutant('check/judging.f', (str(each),), ()), 'check/judging', ('', 'f'), '', range(1))
            for each in range(100)]
    report = mutants.Report(is_sample=False)
    report.known = {change.mutant: 'equal' for change in made[:number]}
    report('check/judging', made, made[:number])

    assert report.is_bad is is_bad
    row = f'| `check/judging` | 100 | {100 - number} | {100 - number}.0 % | {"missed" if is_bad else "met"} | '
    assert row in mutants.DOCUMENT.read_text()
    assert f' survivors: {number} equal\n' in capsys.readouterr().out


def test_who_survives_without_a_reason_and_who_has_one_for_nothing_are_told(tmp_path, monkeypatch, capsys):
    """Both are for somebody to look at; the second is good news."""
    monkeypatch.setattr(mutants, 'DOCUMENT', tmp_path / 'tests.md')
    mutants.DOCUMENT.write_text('<!-- mutants -->\n<!-- end of mutants -->\n')
    made = [Change(Mutant('check/judging.f', (str(each),), ()), 'check/judging', ('', 'f'), '', range(1))
            for each in range(100)]
    report = mutants.Report(is_sample=False)
    report.known = {made[0].mutant: 'equal', Mutant('words.f', ('1',), ()): 'equal'}
    report('check/judging', made, [made[1]])

    told = capsys.readouterr().out
    assert report.is_bad
    assert 'check/judging.f: ?\n- 1' in told
    assert 'survives no more; take it out\n- 0' in told and 'words.f' not in told


def test_a_module_that_is_measured_again_has_one_row_and_a_module_that_is_gone_has_none():
    document = ('A\n<!-- mutants -->\n| head |\n|---|\n| `trust` | 1 |\n| `gone` | 1 |\n| `check/judging` | 1 |\n'
                '<!-- end of mutants -->\nZ')

    rows = mutants.with_row(document, 'trust', '| `trust` | 2 |').splitlines()

    assert rows == ['A', '<!-- mutants -->', *mutants.HEAD, '| `check/judging` | 1 |', '| `trust` | 2 |',
                    '<!-- end of mutants -->', 'Z']


# --- modules and their tests -----------------------------------------------------------------------

def test_a_module_is_pure_by_what_it_imports():
    """No list is kept by hand."""
    pure = mutants.pure()

    assert {'check/judging', 'output/page', 'fleet/worst_drives', 'doctor/drives'} <= set(pure)
    assert not {'trust', 'reading/processes', 'history/database', 'fleet/icinga'} & set(pure)
    assert all(not mutants.IMPURE & {name for name, _ in architecture.imports(module)} for module in pure)


@pytest.mark.parametrize(('module', 'files'), [
    pytest.param('constants', {'test_dates', 'test_forecast'}, id='imported'),
    pytest.param('knowledge/nagios', {'test_nagios'}, id='by-name'),
    pytest.param('history/clock', {'test_history_clock'}, id='by-package-and-name'),
    pytest.param('reading/report_common', {'test_report_common', 'test_simulator'}, id='by-name-and-imported'),
    pytest.param('reading/recorded', {'test_survey'}, id='of-who-uses-it')])
def test_the_tests_of_a_module_are_found_by_name_or_import(module, files, monkeypatch):
    monkeypatch.chdir(mutants.ROOT)

    assert files <= {file.stem for file in mutants.tests_of(module)}


def test_a_sample_is_the_same_in_each_run_and_keeps_its_order():
    made = [Change(Mutant('check/judging.f', (str(each),), ()), 'check/judging', ('', 'f'), '', range(1))
            for each in range(500)]
    kept = mutants.sampled('check/judging', made)

    assert len(kept) == mutants.SAMPLE and kept == mutants.sampled('check/judging', made) == sorted(
        kept, key=lambda change: int(change.mutant.before[0]))
    assert mutants.sampled('check/judging', made[:3]) == made[:3]
    assert mutants.sampled('words', made) != kept


def test_tasks_are_spread_over_processes_and_results_keep_their_order():
    assert list(trials.spread(lambda number: (number * number, os.getpid() != here), range(20))) == [
        (number * number, True) for number in range(20)]


here = os.getpid()


def test_a_test_that_starts_a_process_is_skipped():
    """A mutant would not be in that process."""
    with pytest.raises(pytest.skip.Exception):
        trials.no_process(['true'])


def test_a_module_is_named_with_or_without_its_folder():
    assert mutants.named('judging') == mutants.named('check/judging') == ['check/judging']
    assert mutants.named('judge') == []
