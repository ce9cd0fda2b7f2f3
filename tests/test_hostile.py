"""Reports with wrong numbers, wrong types and hostile strings anywhere, and hostile names of files:
a verdict, and one harmless text.
"""

import contextlib
import json
import random
import shutil
from typing import Any

import pytest
from cases import case
from conftest import ROOT, drive_path, perfdata, run
from shipped import DATABASE, LIMITS

from smart_attributes.check import fence, judging
from smart_attributes.commands import list as drive_list
from smart_attributes.errors import Coded, DriveError
from smart_attributes.model import Device, Report, State, Verdict
from smart_attributes.output import explain, json_document, page, plugin, triage_table
from smart_attributes.reading import json_report, text_report

NASTY = [
    "|'=\n\x1b[2J",
    '\u202eKO',
    '\x9b2J',
    '\u2028|x=1',
    '$(reboot)`reboot`"\\',
    '<script>',
    '\udc80',
    '\r\x07\x00',
]
WRONG = [
    None,
    0,
    -1,
    1,
    255,
    256,
    65535,
    2**48 - 1,
    2**64,
    1e300,
    1e-300,
    float('inf'),
    float('nan'),
    '',
    'x',
    '0x10',
    [],
    {},
    True,
    False,
    '9' * 50,
    *NASTY,
]
ROUNDS = 40
REPORTS = sorted((ROOT / 'tests/reports').iterdir())


def spoil(document: Any, chance: random.Random) -> None:
    """Replace or remove about every thirtieth thing in a document."""
    places = list(document) if isinstance(document, dict) else range(len(document))
    for place in places:
        if chance.random() < 0.03:
            document[place] = chance.choice(WRONG)
        elif isinstance(document, dict) and chance.random() < 0.01:
            del document[place]
        elif isinstance(document[place], (dict, list)):
            spoil(document[place], chance)


def spoilt_document(text: str, chance: random.Random) -> Report:
    document = json.loads(text)
    spoil(document, chance)
    return json_report.from_json(document)


def spoilt_text(text: str, chance: random.Random) -> Report:
    """About every thirtieth line has something nasty in it, behind a word or in its place."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if line and chance.random() < 0.03:
            cut = chance.randrange(len(line))
            lines[place] = (
                line[:cut]
                + str(chance.choice(WRONG))
                + line[cut + chance.choice([0, 5]) :]
            )
    return text_report.parse_text('\n'.join(lines))


def assert_harmless(text: str, forbidden: str = '<>`|') -> None:
    """No control character, no line break but our own, no bidirectional mark, nothing without a
    shape, no tag, no command.
    """
    assert [
        line
        for line in text.split('\n')
        if not line.isprintable() or set(line) & set(forbidden)
    ] == []


def assert_answer_is_harmless(text: str) -> None:
    """One Nagios result: a bar before the perfdata and nowhere else."""
    perfdata(text)
    assert_harmless(text.replace('\n| ', '\n', 1))


def spoken(verdict: Verdict) -> list[str]:
    """Return what each face that is no daemon's says of a drive."""
    addresses, drives = [verdict.device.address], [case(verdict)]
    return [
        '\n'.join((*explain.head(drives[0]), *explain.details(drives[0]))),
        '\n'.join(map(str, triage_table.rows(drives, 0)[0])),
        json_document.as_text(json_document.document(drives, [], 0)),
        drive_list.as_text(drives, addresses),
        drive_list.as_json(drives, addresses),
    ]


@pytest.mark.parametrize('path', REPORTS, ids=lambda path: path.stem)
def test_a_spoiled_report_gives_one_harmless_result_in_every_face(path):
    """A drive's firmware, a bridge or a bug may put anything anywhere; daemon, terminal, page and
    shell must survive it.
    """
    judged, chance = 0, random.Random(path.stem)
    spoilt = spoilt_document if path.suffix == '.json' else spoilt_text
    text = path.read_text(errors='replace')
    for _ in range(ROUNDS):
        with contextlib.suppress(DriveError):  # it can no longer be read
            report = spoilt(text, chance)
            verdict = judging.judge(SDA, report, DATABASE, LIMITS, judging.Rules())
            face = plugin.Face(verbose=2, all_perfdata=True)
            assert_answer_is_harmless(
                plugin.render(
                    [case(verdict)], DATABASE.metrics, face, plugin.Whole()
                ).text
            )
            for said in spoken(verdict):
                assert_harmless(said)
            judged += 1

    assert judged > ROUNDS / 2


@pytest.mark.parametrize('nasty', NASTY, ids=ascii)
def test_what_a_drive_calls_itself_is_harmless_in_every_face(nasty):
    """Model, serial number, firmware, names of attributes, words of a self-test and complaints
    of smartctl.
    """
    document = json.loads((ROOT / 'tests/reports/hgst-failed.json').read_text())
    document.update(
        model_name=f'X{nasty}Y', serial_number=nasty, firmware_version=f'1{nasty}'
    )
    document['smartctl']['messages'] = [
        {'string': f'Warning: {nasty}', 'severity': 'error'}
    ]
    for row in document['ata_smart_attributes']['table']:
        row.update(name=nasty, when_failed='past')
    report = json_report.from_json(document)
    verdict = judging.judge(SDA, report, DATABASE, LIMITS, judging.Rules())

    answer = plugin.render(
        [case(verdict)], DATABASE.metrics, plugin.Face(verbose=2), plugin.Whole()
    ).text
    assert_answer_is_harmless(answer)
    assert not set(answer) & set('$\\')
    assert 'note: Warning:' in answer
    for text in spoken(verdict):
        assert_harmless(text)
    gone = Coded('drive-missing', nasty)
    messages = [(State.CRITICAL, gone)]
    shown = page.page(
        json_document.document([case(verdict)], messages, 0, [gone]), 'Drives', 0
    )
    assert_harmless(shown, forbidden='')
    assert (shown.count('<script'), shown.count('</script>')) == (2, 2)


@pytest.mark.parametrize('problem', NASTY, ids=ascii)
def test_a_problem_and_a_note_are_harmless(problem):
    """A bar in a sentence would be perfdata; a line break would be another drive."""
    verdict = fence.unreadable(SDA, DriveError(f'cannot be read: {problem}'), State.OK)
    whole = plugin.Whole(notes=[problem])

    answer = plugin.render(
        [case(verdict._replace(notes=(problem,)))],
        DATABASE.metrics,
        plugin.Face(verbose=1),
        whole,
    ).text

    assert_answer_is_harmless(answer)
    assert len(answer.splitlines()) == 5


SDA = Device('/dev/sda', name='sda')
JOBS = ['', '-v', '-vvv', 'triage', 'list', 'explain', 'draft']


@pytest.mark.parametrize('job', JOBS)
@pytest.mark.parametrize('is_alone', [True, False], ids=['file', 'folder'])
def test_names_of_files_are_harmless_in_every_face(job, is_alone, tmp_path):
    """A ticket brings files that are called what their sender liked; list and explain printed
    them raw.
    """
    folder = tmp_path / 'a\n\x1b[31mX'
    folder.mkdir()
    file = folder / 'b|c\u202e\u2028\x9b2J.json'
    shutil.copy(drive_path('hgst-failed'), file)
    (folder / 'no\x1b[2Jreport.txt').write_text('hello')

    report = ['--report', str(file if is_alone else folder)]
    answer = run(*job.split(), *report, env={'LC_ALL': 'C.UTF-8'}).text

    assert_harmless(answer, forbidden='')
    if job in ('', '-v', '-vvv'):
        assert_answer_is_harmless(answer)


@pytest.mark.parametrize('job', ['validate', 'migrate'])
def test_names_of_data_files_are_harmless(job, tmp_path):
    """They come with a ticket, too."""
    file = tmp_path / 'a\x1b[31mX\u202e\n.json'
    file.write_text('{"x": 1}')

    assert_harmless(run(job, str(file), env={'LC_ALL': 'C.UTF-8'}).text, forbidden='')
