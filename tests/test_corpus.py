"""Real outputs of smartctl, read by the package and a second time by other means.

The corpus lies beside the project (../shared/corpus); nothing of it is copied here.
"""

from __future__ import annotations

import json
import os
import re

import independent
import pytest

from smart_attributes.errors import DriveAbsent, DriveError, DriveIsNoDrive, NotAReport
from smart_attributes.reading import text_report
from smart_attributes.reading.content import as_text, has_smart_data, looks_like_json

CORPUS = os.path.join(os.path.dirname(__file__), '..', '..', 'shared', 'corpus')
ENOUGH = 0.999  # of all values equal the second reading

pytestmark = pytest.mark.skipif(
    not os.path.isdir(CORPUS), reason='no ../shared/corpus beside the project'
)


def files(folder, *names):
    """Yield (case, content) of each output in a folder of the corpus."""
    top = os.path.join(CORPUS, folder)
    for case in sorted(os.listdir(top)) if os.path.isdir(top) else []:
        for name in names:
            path = os.path.join(top, case, name)
            if os.path.exists(path):
                with open(path, 'rb') as file:
                    yield case, file.read()


# Reports that hold no SMART data at all, or no drive's: what the sentence must say.
WITHOUT_VERDICT = {
    '006': 'no SMART data',
    '060': 'smartctl -s on',
    '206': 'not asked',
    '207': 'only the identity',
    '208': 'only the identity',
    '245': 'only the identity',
    '314': 'smartctl -s on',
    '369': 'only the identity',
    '371': 'only the identity',
    '374': 'only the identity',
    '376': 'only the identity',
    '383': 'only the identity',
    '384': 'only the identity',
    '394': 'only the identity',
    '416': 'RAID volume',
    '420': 'optical',
}


@pytest.fixture(scope='module')
def reports():
    """All reports that were read, by case, with their content."""
    found = {}
    for case, content in files('reports', 'output.txt', 'output.json'):
        try:
            found[case] = (text_report.parse_report(content), content)
        except DriveError as error:
            expected = WITHOUT_VERDICT.get(case[:3])
            assert expected is not None and expected in str(error), f'{case}: {error}'
    return found


def test_every_report_is_read_or_says_why_not(reports):
    """525 outputs of smartctl 5.38 to 7.5; no traceback, no unexplained gap."""
    assert len(reports) + len(WITHOUT_VERDICT) == len(os.listdir(os.path.join(CORPUS, 'reports')))


def test_every_report_names_its_protocol_and_carries_data(reports):
    """A report that passed must be good for a verdict."""
    assert all(report.identity.protocol for report, _ in reports.values())
    assert all(has_smart_data(report) for report, _ in reports.values())


def test_models_and_families_are_those_that_the_corpus_names(reports):
    """meta.json was written by another reader."""
    for case, meta in files('reports', 'meta.json'):
        if case in reports:
            told, identity = json.loads(meta), reports[case][0].identity
            assert (identity.model or None, identity.family or None) == (
                told['model'],
                told['family'],
            ), case


def compared(mine, theirs):
    """Return how many values there are, and which differ."""
    keys = set(mine) | set(theirs)
    return len(keys), [
        (key, mine.get(key), theirs.get(key)) for key in keys if mine.get(key) != theirs.get(key)
    ]


def rows(report):
    return {
        place: (row.id, row.value, row.worst, row.threshold, row.when_failed, row.raw)
        for place, row in enumerate(report.attributes)
    }


def read_twice(kind, report, text):
    """Return the values of one kind, by the package and by the second reading."""
    data = json.loads(text) if looks_like_json(text) else None
    if kind == 'attribute rows':
        return rows(report), dict(
            enumerate(independent.text_rows(text) if data is None else independent.json_rows(data))
        )
    if kind == 'NVMe values':
        return report.nvme, independent.text_nvme(text) if data is None else independent.json_nvme(
            data
        )
    if kind == 'SCSI values':
        # tests/test_sas.py has the background scan.
        mine = {
            key: number for key, number in report.scsi.items() if not key.startswith('background_')
        }
        return mine, independent.text_scsi(text) if data is None else independent.json_scsi(data)
    passed = (
        independent.health(text) if data is None else data.get('smart_status', {}).get('passed')
    )
    return {'passed': report.smart_status}, {'passed': passed}


@pytest.mark.parametrize('kind', ['attribute rows', 'NVMe values', 'SCSI values', 'verdicts'])
def test_the_second_reading_finds_the_same_values(reports, kind, capsys):
    """Own regular expressions, no shared code: at least 99.9 % of all values are equal."""
    total, different = 0, []
    for case, (report, content) in reports.items():
        count, wrong = compared(*read_twice(kind, report, as_text(content)))
        total += count
        different += [(case, *difference) for difference in wrong]
    with capsys.disabled():
        print(f'\n{kind}: {total - len(different)} of {total} equal the second reading')
    assert total > 200
    assert len(different) <= total * (1 - ENOUGH), different[:10]


# Reports whose text cannot be the same.
MASKED = dict.fromkeys(
    ('331', '332', '338'), 'their sources masked model_name otherwise than vendor and product'
)


@pytest.mark.parametrize(
    'form',
    [
        pytest.param({}, id='classic'),
        pytest.param({'brief': True}, id='brief'),
        pytest.param({'group': '.'}, id='dots'),
        pytest.param({'group': ' '}, id='blanks'),
        pytest.param({'group': '\u202f'}, id='narrow-blanks'),
        pytest.param({'group': "'"}, id='apostrophes'),
    ],
)
def test_text_of_the_same_drive_gives_the_same_report(reports, form):
    """The JSON reports, printed as smartctl prints them as text, in several locales."""
    compared_reports = 0
    for case, (report, content) in reports.items():
        text = as_text(content)
        if not looks_like_json(text) or not report.identity.model or case[:3] in MASKED:
            continue
        again = text_report.parse(independent.printed(json.loads(text), **form))
        compared_reports += 1
        assert again.attributes == tuple(
            row._replace(raw_number=None) for row in report.attributes
        ), case
        assert (again.nvme, again.scsi, again.statistics) == (
            report.nvme,
            report.scsi,
            report.statistics,
        ), case
        assert again.identity == report.identity, case
        assert (again.smart_status, again.error_count) == (
            report.smart_status,
            report.error_count,
        ), case
        assert again.errors == report.errors, case
        assert again.self_tests == report.self_tests or report.identity.protocol == 'NVMe', case
    assert compared_reports > 150


# Failures: what each sentence must hold. JSON leaves out words that text has, so the two may
# differ.
FAILURES = {
    '002': 'RAID volume',
    '005': 'RAID volume',
    '007': 'not asked',
    '008': 'SMART disabled',
    '011': 'USB bridge',
    '017': 'no SMART data',
    '018': 'no SMART data',
    '019': 'no readable SMART data',
    '025': 'Unknown device type',
    '033': 'RAID volume',
    '037': 'RAID volume',
    '040': 'Permission denied',
    '041': 'SMART disabled',
    '043': 'no SMART data',
    '044': 'informational exceptions',
    'L01': 'does not exist',
    'L02': 'No such device',
    'L03': 'cannot detect',
    'L04': ('Inappropriate ioctl', 'IDENTIFY or INQUIRY failed'),
    'L05': ('Inappropriate ioctl', 'IDENTIFY or INQUIRY failed'),
    'L06': 'Inappropriate ioctl',
    'L07': 'regular file',
    'L08': 'cannot detect',
    'L09': 'virtual disk',
    'L10': 'not permitted',
    'L11': 'not permitted',
    'L12': 'not permitted',
    'L13': 'Permission denied',
    'L14': 'no MegaRAID controller',
    'L15': 'not permitted',
    'L16': 'not permitted',
    'L17': 'no 3ware controller',
    'L18': 'no Areca controller',
    'L19': 'no aacraid controller',
    'L20': 'nonsense',
    'L21': 'megaraid,0',
    'L22': 'frobnicate',
    'L23': 'without a device',
    'L24': 'several devices',
    'L25': 'cannot detect',
    'L26': 'no SMART data',
    'L27': 'no SMART data',
    'L28': 'no SMART data',
}
KINDS = {
    '002': DriveIsNoDrive,
    '005': DriveIsNoDrive,
    '033': DriveIsNoDrive,
    '037': DriveIsNoDrive,
    'L02': DriveAbsent,
}


DISGUISES = {
    'lines of Windows': lambda text: text.replace('\n', '\r\n'),
    'as PowerShell writes it': lambda text: text.encode('utf-16'),
    'indented': lambda text: ''.join('    ' + line for line in text.splitlines(True)),
    'blanks at the ends cut off': lambda text: '\n'.join(
        line.strip() for line in text.splitlines()
    ),
    'empty lines between': lambda text: text.replace('\n', '\n\n'),
    'no empty lines': lambda text: re.sub('\n{2,}', '\n', text),
    'below a prompt': lambda text: f'root@host:~# smartctl -a /dev/sda\n{text}\nroot@host:~# ',
    'quoted in an answer': lambda text: ''.join('> ' + line for line in text.splitlines(True)),
    'blanks of a web page': lambda text: text.replace('  ', '\u00a0 '),
}


@pytest.mark.parametrize('disguise', DISGUISES)
def test_a_text_that_went_through_mails_and_forums_is_read_the_same(reports, disguise):
    """Tickets arrive so; nothing of a report depends on its blanks and line ends."""
    different = []
    for case, (expected, content) in reports.items():
        text = content.decode('utf-8', 'replace').replace('\r\n', '\n')
        if text_report.looks_like_json(text):
            continue
        changed = DISGUISES[disguise](text)
        found = text_report.parse_report(
            changed if isinstance(changed, bytes) else changed.encode()
        )
        # whether its end is there, is told by an empty line
        if found._replace(gaps=()) != expected._replace(gaps=()):
            different.append(case)

    assert different == []


def test_every_failure_of_the_corpus_has_an_expected_word():
    """A new case must be looked at, not skipped."""
    assert {case[:3] for case in os.listdir(os.path.join(CORPUS, 'failures'))} == set(FAILURES)


@pytest.mark.parametrize(
    'case, content',
    [
        pytest.param(*found, id=f'unknown-{found[0]}-{number}')
        for number, found in enumerate(files('failures', 'output.txt', 'output.json'))
    ],
)
def test_every_failure_is_a_true_sentence(case, content):
    """43 cases of what smartctl prints when it cannot read a drive."""
    with pytest.raises(DriveError) as caught:
        text_report.parse_report(content)

    words = FAILURES[case[:3]]
    assert any(
        word in str(caught.value) for word in ([words] if isinstance(words, str) else words)
    ), str(caught.value)
    assert isinstance(caught.value, KINDS.get(case[:3], DriveError))
    assert 'OK' not in str(caught.value)


@pytest.mark.parametrize(
    'content',
    [
        pytest.param(content, id=f'scan-{case}')
        for case, content in files('scans', 'output.txt', 'output.json')
    ],
)
def test_a_list_of_devices_is_no_report(content):
    """--report on a folder meets what else was recorded there."""
    with pytest.raises(DriveError) as caught:
        text_report.parse_report(content)

    assert str(caught.value)


def test_the_notes_beside_the_reports_are_no_reports():
    """meta.json is JSON, and not smartctl's."""
    for case, content in files('reports', 'meta.json'):
        with pytest.raises(NotAReport):
            text_report.parse_report(content)
        if case > '05':
            break
