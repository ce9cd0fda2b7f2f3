"""What `make reached` compares; it runs by itself, since it takes minutes."""
from __future__ import annotations

from pathlib import Path

import pytest
import reached
from reached import Reason, Unreached

CODE = """\
def used(number):
    if number:
        return 1
    return 2


class House:
    def planted(self):
        return 3
"""


def test_a_planted_function_and_a_branch_that_no_line_reaches_are_found(tmp_path, monkeypatch):
    """By the data that processes leave, as in a run."""
    coverage = pytest.importorskip('coverage')
    package = tmp_path / 'smart_attributes'
    package.mkdir()
    module = package / 'house.py'
    module.write_text(CODE)
    (tmp_path / 'data').mkdir()
    (tmp_path / 'config').write_text(reached.CONFIG.format(folder=tmp_path, package=package))
    monkeypatch.setattr(reached, 'PACKAGE', package)
    watch = coverage.Coverage(config_file=str(tmp_path / 'config'))
    names: dict = {}
    watch.start()
    exec(compile(module.read_text(), str(module), 'exec'), names)
    names['used'](1)
    watch.stop()
    watch.save()

    assert list(reached.unreached(tmp_path)) == [Unreached('house:used', 1, '2->4'),
                                                 Unreached('house:House.planted', 0)]


FOUND = [Unreached('a/b:lost', 0), Unreached('a/b:used', 3, '1->2')]


@pytest.mark.parametrize('found, known, said', [
    (FOUND, [Reason('a/b:lost', 0, 'x'), Reason('a/', 3, 'y')], []),
    (FOUND, [Reason('a/', 3, 'y')], ['a/b:lost: no command line calls it']),
    (FOUND, [Reason('a/b:lost', 0, 'x'), Reason('a/', 2, 'y')], ['a/: 3 branches are never taken, 2 have a reason']),
    (FOUND, [Reason('a/b:lost', 0, 'x')], ['a/: 3 branches are never taken, 0 have a reason']),
    (FOUND[1:], [Reason('a/b:lost', 0, 'x'), Reason('a/', 3, 'y')], ['a/b:lost: a command line calls it, or it is']),
    (FOUND[1:], [Reason('a/b:lost', 0, 'x', True), Reason('a/', 3, 'y')], []),
    (FOUND[:1], [Reason('a/b:lost', 0, 'x'), Reason('a/', 90, 'y')], ['a/: only 0 branches are never taken'])],
    ids=['all-have-one', 'function-without', 'one-branch-more', 'room-without', 'obsolete', 'varies',
         'far-fewer-branches'])
def test_what_has_no_reason_and_reasons_without_need_are_named(found, known, said):
    problems = list(reached.mistakes(found, known))

    assert [problem.startswith(words) for problem, words in zip(problems, said)] == [True] * len(said)
    assert len(problems) == len(said)


def test_a_function_that_moved_keeps_its_reason():
    """Unless two functions have its name."""
    known = [Reason('a/b:lost', 0, 'x')]

    assert reached.moved(known, ['c/d:lost', 'c/d:other']) == [Reason('c/d:lost', 0, 'x')]
    assert reached.moved(known, ['c/d:lost', 'e:lost']) == known


def test_lines_belong_to_blocks_and_may_continue():
    assert reached.blocks('# note\n[one]\n-V\ntriage\n    --json\n\n[two]\n! true\n') == {
        'one': ['-V', 'triage --json'], 'two': ['! true']}


def test_each_reason_is_readable():
    known = reached.reasons(reached.REASONS.read_text())

    assert len({reason.name for reason in known}) == len(known)
    with pytest.raises(SystemExit, match='not "module:function: reason"'):
        reached.reasons('a/b:lost')


def test_each_command_is_in_a_line():
    """What the table of commands gains must be run."""
    from smart_attributes.commands.records import OTHERS

    lines = [line for each in reached.blocks(Path(reached.SCENARIOS).read_text()).values() for line in each]
    assert {command.name for command in OTHERS} <= {line.split()[0] for line in lines if line.split()}
