"""What `make mutants` reads and writes; it runs by itself, since it takes minutes."""
from __future__ import annotations

import mutants
import pytest


def test_every_survivor_has_a_reason_and_belongs_to_a_module_that_is_measured():
    """A list without reasons would only hide what the tests do not notice."""
    assert {mutant.function.partition('.')[0] for mutant in mutants.accepted()} <= set(mutants.FIGURES)


def test_a_survivor_is_read_as_it_is_printed(tmp_path, monkeypatch):
    """What the command prints is pasted into the file, with a reason in place of the question mark."""
    survivor = mutants.Mutant('judge._hours', ('a - b',), ('a + b', 'c'))
    monkeypatch.setattr(mutants, 'SURVIVORS', tmp_path / 'survivors.txt')
    mutants.SURVIVORS.write_text(f'judge._hours: accepted because of a test\n{survivor}\n')

    assert mutants.accepted() == {survivor: 'accepted because of a test'}


@pytest.mark.parametrize('reason', ['?', '', 'accepted', 'accepted because', 'words'])
def test_a_survivor_without_a_reason_is_refused(tmp_path, monkeypatch, reason):
    """Somebody has to say why it does not matter."""
    monkeypatch.setattr(mutants, 'SURVIVORS', tmp_path / 'survivors.txt')
    mutants.SURVIVORS.write_text(f'judge._hours: {reason}\n- a\n+ b\n')

    with pytest.raises(SystemExit, match='gives no reason'):
        mutants.accepted()


@pytest.mark.parametrize(('name', 'function'), [
    ('smart_attributes.judge.x__hours__mutmut_3', 'judge._hours'),
    ('smart_attributes.judge.x_judge__mutmut_12', 'judge.judge'),
    ('smart_attributes.judge.xǁThresholdsǁ_limit__mutmut_1', 'judge.Thresholds._limit')])
def test_a_mutant_is_named_by_its_function_and_the_statements_that_differ(name, function):
    """The tool's own numbers change with every line that is added, and so does where a line is wrapped."""
    was, is_now = (f'    def f():\n        a = 3\n        return (a +\n                {number})\n'
                   for number in (1, 2))

    assert mutants.mutant('judge', name, was, is_now) == mutants.Mutant(function, ('return a + 1',), ('return a + 2',))


@pytest.mark.parametrize(('survivors', 'is_missed'), [(5, False), (6, True)])
def test_a_module_that_misses_its_figure_is_told(survivors, is_missed):
    """judge must have 95 of 100 mutants killed."""
    found = [mutants.Mutant('judge.f', (str(number),), ()) for number in range(survivors)]

    line, missed = mutants.summary('judge', 100, found, {found[0]: 'equal', found[1]: 'accepted because of this'})

    assert missed is is_missed
    assert line.endswith(f'survivors: 1 accepted, 1 equal, {survivors - 2} nobody looked at')
