"""The list of codes: each reason for UNKNOWN stands there, and each that stands there is used."""
from __future__ import annotations

import ast
import re
from typing import Iterator

import pytest
from conftest import ROOT

from smart_attributes import codes, errors, main
from smart_attributes.alarm import TimeIsOver
from smart_attributes.model import Device, Identity, State, Verdict
from smart_attributes.output import plugin_lines
from smart_attributes.reading.failure_reasons import _CAUSES, diagnose
from smart_attributes.words import coded, findings, headline

ERRORS = {name for name, value in vars(errors).items() if isinstance(value, type)
          and issubclass(value, errors.SmartError)}
NAMES = {each.name for each in codes.REASONS}
TREES = {path: ast.parse(path.read_text()) for path in (ROOT / 'smart_attributes').rglob('*.py')
         if path.name != 'codes.py'}


def calls() -> Iterator[ast.Call]:
    """Yield each call of a plain name in the package."""
    for tree in TREES.values():
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))


def given() -> Iterator[str]:
    """Yield each code that an error or a sentence is given where it is made."""
    for call in calls():
        place = {'Coded': 0, '_error': 0}.get(call.func.id, 1 if call.func.id in ERRORS else None)
        if place is not None and len(call.args) > place and isinstance(call.args[place], ast.Constant):
            yield call.args[place].value


def test_each_code_that_is_given_stands_in_the_list():
    found = {*given(), *(code for _, code, _ in _CAUSES),
             *(getattr(errors, name).code for name in ERRORS - {'SmartError'})}

    assert found <= NAMES | {each.name for each in (*codes.FINDINGS, *codes.NOTES)}
    assert len(found) > 50  # the search above finds them


def test_each_reason_is_used():
    constants = {node.value for tree in TREES.values() for node in ast.walk(tree)
                 if isinstance(node, ast.Constant) and isinstance(node.value, str)}

    assert constants >= NAMES


def test_no_error_about_a_drive_leaves_its_code_to_the_class_of_all():
    bare = [ast.unparse(call) for call in calls() if call.func.id == 'DriveError' and len(call.args) < 2]

    assert bare == []


@pytest.mark.parametrize('code', codes.REASONS, ids=[each.name for each in codes.REASONS])
def test_a_code_is_in_kebab_case_and_comes_with_its_meaning_and_its_remedy(code):
    assert re.fullmatch('[a-z0-9]+(-[a-z0-9]+)*', code.name)
    assert code.severity in State.__members__
    assert code.meaning and code.remedy and not (code.meaning + code.remedy).endswith('.')


def test_each_code_stands_once():
    every = [each.name for each in (*codes.REASONS, *codes.FINDINGS, *codes.NOTES)]

    assert len(set(every)) == len(every)


@pytest.mark.parametrize('error, code', [
    (errors.UsageError('x'), 'usage-error'), (errors.SmartError('x', 'scan-failed'), 'scan-failed'),
    (KeyboardInterrupt(), 'interrupted'), (TimeIsOver(), 'time-over'),
    (ModuleNotFoundError(name='rich'), 'python-package-missing'),
    (ImportError('damaged'), 'plugin-damaged'), (ValueError('x'), 'internal-error')])
def test_a_run_that_failed_prints_its_code_in_its_first_line(error, code):
    sentence = main.explained(error)

    assert main.failure(['check'], sentence) == f'SMART UNKNOWN - [{code}] {sentence}'
    assert f'"code": "{code}"' in main.failure(['triage', '--json'], sentence)


SILENT = Verdict(Device('/dev/sda', name='sda'), Identity(), State.UNKNOWN, problem='cannot be opened',
                 code='no-permission')


def test_the_line_of_an_unread_drive_has_its_code_in_brackets_and_gives_it_back():
    line = plugin_lines.line(SILENT, hide_serial=False)

    text = plugin_lines.written(line)

    assert text == 'UNKNOWN   sda  -  [no-permission] cannot be opened  -'
    [found] = plugin_lines.read(f'SMART UNKNOWN - x\n{text}\n').lines
    assert found == line
    assert (found.findings, found.findings.code) == ('cannot be opened', 'no-permission')
    assert headline(SILENT) == '[no-permission] cannot be opened'


def test_a_drive_in_standby_that_is_ok_has_no_brackets():
    asleep = SILENT._replace(state=State.OK, problem='is asleep', code='asleep')

    assert coded(findings(asleep)) == 'is asleep'
    assert coded(findings(asleep._replace(state=State.WARNING))) == '[asleep] is asleep'


def test_words_give_an_error_its_code_and_its_class():
    error = diagnose((), 2, 'sudo: a password is required')

    assert (error.code, type(error)) == ('sudo-rule-missing', errors.SudoRefused)
