"""The list of codes: each code that is used is in the list, each in the list is used, and each
sentence has one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

import pytest
from cases import case
from conftest import ROOT
from test_plugin_lines import recorded, simulated  # noqa: F401  fixtures

from smart_attributes import errors, main
from smart_attributes.fleet import plugin_output
from smart_attributes.model import Device, Identity, State, Verdict
from smart_attributes.output import codes, plugin
from smart_attributes.reading.failure_causes import CAUSES
from smart_attributes.reading.failure_reasons import diagnose
from smart_attributes.sudo.reports import REASONS
from smart_attributes.words import coded
from smart_attributes.work.statements import findings

pytestmark = pytest.mark.xdist_group('lines')  # the fixtures of another file

ERRORS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.SmartError)
}
GROUPS = {name: codes.DATA[name] for name in codes.DATA if name != 'doctor'}
STATELESS = {*GROUPS['notes'], *GROUPS['redundancy'], *GROUPS['fleet_notes']}
UNNAMED = '(no code)'  # of a sentence without one


@lru_cache(maxsize=None)
def nodes() -> list[ast.Call | ast.Constant]:
    """Return each call of a plain name in the package, and each constant."""
    paths = [
        path
        for path in (ROOT / 'smart_attributes').rglob('*.py')
        if path.name != 'codes.py'
    ]
    return [
        node
        for path in paths
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    ]


def calls() -> Iterator[ast.Call]:
    """Yield each call of a plain name in the package."""
    return (node for node in nodes() if isinstance(node, ast.Call))


def used() -> Iterator[str]:
    """Yield each code that an error or a sentence gets where it is made."""
    for call in calls():
        place = {'Coded': 0, '_error': 0}.get(
            call.func.id, 1 if call.func.id in ERRORS else None
        )
        if (
            place is not None
            and len(call.args) > place
            and isinstance(call.args[place], ast.Constant)
        ):
            yield call.args[place].value


def test_each_code_that_is_used_is_in_the_list():
    found = {
        *used(),
        *(cause.code for cause in CAUSES),
        *(getattr(errors, name).code for name in ERRORS - {'SmartError'}),
    } - {''}

    assert found <= set(codes.BY_NAME)
    assert len(found) > 100  # the search above finds them


def test_each_code_in_the_list_is_used():
    constants = {
        node.value
        for node in nodes()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    constants.update(cause.code for cause in CAUSES)
    constants.update(code for _, code in REASONS)

    assert {*codes.BY_NAME, *codes.DOCTOR} - constants == set()


def sentences(document: object) -> Iterator[str]:
    """Yield the code of each note and finding of a document, at any depth, and of each drive
    that was not read.
    """
    if isinstance(document, list):
        for each in document:
            yield from sentences(each)
    elif isinstance(document, dict):
        for key, value in document.items():
            if key in ('notes', 'findings', 'remarks', 'came', 'went'):
                yield from (
                    each.get('code') or UNNAMED if isinstance(each, dict) else UNNAMED
                    for each in value
                )
            yield from sentences(value)
        if (
            document.get('state') == 'UNKNOWN'
            and 'why' in document
            and not document['findings']
        ):
            yield document['code'] or UNNAMED


@pytest.mark.parametrize('drives', ['recorded', 'simulated'])
def test_each_sentence_about_a_drive_has_a_code_of_the_list(drives, request):
    """Of recorded reports and simulated machines."""
    found = set(
        sentences([documents for _, documents in request.getfixturevalue(drives)])
    )

    assert found - set(codes.BY_NAME) == set()
    assert {'above-limit', 'health-failed'} <= found


def test_no_error_about_a_drive_leaves_its_code_to_the_class_of_all():
    bare = [
        ast.unparse(call)
        for call in calls()
        if call.func.id == 'DriveError' and len(call.args) < 2
    ]

    assert bare == []


def test_a_code_is_in_kebab_case_and_comes_with_its_meaning_and_its_remedy():
    for entries in GROUPS.values():
        for name, entry in entries.items():
            state, remedy = entry.get('state', ''), entry.get('remedy', '')
            assert re.fullmatch('[a-z0-9]+([-.][a-z0-9]+)*', name)
            assert state in State.__members__ or name in STATELESS, name
            assert remedy or not state, name
            assert entry['meaning'] and not (entry['meaning'] + remedy).endswith('.')


def test_each_code_is_in_the_list_once():
    assert len(codes.BY_NAME) == sum(map(len, GROUPS.values()))
    assert set(codes.BY_NAME) & set(codes.DOCTOR) == set()
    assert [
        code
        for code in codes.DOCTOR
        if not re.fullmatch('[a-z0-9]+(-[a-z0-9]+)*', code)
    ] == []


@pytest.mark.parametrize(
    'error, code',
    [
        (errors.UsageError('x'), 'usage-error'),
        (ValueError('x'), 'internal-error'),
    ],
)
def test_a_run_that_failed_prints_its_code_in_its_first_line(error, code):
    sentence = main.explained(error)

    assert main.failure([], sentence) == f'SMART UNKNOWN - [{code}] {sentence}'
    assert main.failure(['triage'], sentence) == f'error: [{code}] {sentence}'
    assert f'"code": "{code}"' in main.failure(['triage', '--json'], sentence)


SILENT = Verdict(
    Device('/dev/sda', name='sda'),
    Identity(),
    State.UNKNOWN,
    problem='is shut',
    code='no-permission',
    step='look',
)


def test_the_line_of_an_unread_drive_has_its_code_in_brackets_and_gives_it_back():
    line = plugin.line(case(SILENT))

    text = plugin.written(line)

    assert text == 'UNKNOWN   sda  -  [no-permission] is shut; [investigate] look  -'
    [found] = plugin_output.plugin_text(f'SMART UNKNOWN - x\n{text}\n').lines
    assert found == line
    assert (found.findings, found.findings.code) == (
        'is shut; [investigate] look',
        'no-permission',
    )


def test_a_drive_in_standby_that_is_ok_has_no_brackets():
    asleep = SILENT._replace(state=State.OK, problem='is asleep', code='asleep')

    assert coded(findings(asleep)) == 'is asleep'
    assert coded(findings(asleep._replace(state=State.WARNING))) == '[asleep] is asleep'


def test_words_give_an_error_its_code_and_its_class():
    error = diagnose('sudo: a password is required')

    assert (error.code, type(error)) == ('sudo-rule-missing', errors.SudoRefused)
