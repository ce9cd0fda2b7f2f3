"""Real outputs of smartctl, read by the package and a second time by other means.

The corpus lies beside the project (../shared/corpus); nothing of it is copied here.
"""

import json
import os

import independent
import pytest

from smart_attributes.errors import DriveAbsent, DriveError, DriveIsNoDrive
from smart_attributes.reading import text_report
from smart_attributes.reading.content import as_text, has_smart_data, json_start

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
    assert all(
        has_smart_data(report) and report.identity.protocol
        for report, _ in reports.values()
    )
    assert len(reports) + len(WITHOUT_VERDICT) == len(
        os.listdir(os.path.join(CORPUS, 'reports'))
    )


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
        (key, mine.get(key), theirs.get(key))
        for key in keys
        if mine.get(key) != theirs.get(key)
    ]


def rows(report):
    return {
        place: (row.id, row.value, row.worst, row.threshold, row.when_failed, row.raw)
        for place, row in enumerate(report.attributes)
    }


# What is compared -> its values as the package has read them, and a second reading of the text.
READINGS = {
    'attribute rows': (rows, lambda text: dict(enumerate(independent.text_rows(text)))),
    'NVMe values': (lambda report: report.nvme, independent.text_nvme),
    # tests/test_sas.py has the background scan
    'SCSI values': (
        lambda report: {
            key: number
            for key, number in report.scsi.items()
            if not key.startswith('background_')
        },
        independent.text_scsi,
    ),
    'verdicts': (
        lambda report: {'passed': report.smart_status},
        lambda text: {'passed': independent.health(text)},
    ),
}


@pytest.mark.parametrize('kind', READINGS)
def test_a_second_reading_of_the_text_finds_the_same_values(reports, kind):
    """Own regular expressions, no shared code: at least 99.9 % of all values are equal."""
    mine, theirs = READINGS[kind]
    total, different = 0, []
    for case, (report, content) in reports.items():
        text = as_text(content)
        if json_start(text) >= 0:
            continue
        count, wrong = compared(mine(report), theirs(text))
        total += count
        different += [(case, *difference) for difference in wrong]

    assert total > 200
    assert len(different) <= total * (1 - ENOUGH), different[:10]


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
    'blanks at the ends cut off': lambda text: '\n'.join(
        line.strip() for line in text.splitlines()
    ),
    'empty lines between': lambda text: text.replace('\n', '\n\n'),
    'below a prompt': lambda text: (
        f'root@host:~# smartctl -a /dev/sda\n{text}\nroot@host:~# '
    ),
    'blanks of a web page': lambda text: text.replace('  ', '\u00a0 '),
}


@pytest.mark.parametrize('disguise', DISGUISES)
def test_a_text_that_went_through_mails_and_forums_is_read_the_same(reports, disguise):
    """Tickets arrive so; nothing of a report depends on its blanks and line ends."""
    different = []
    for case, (expected, content) in reports.items():
        text = content.decode('utf-8', 'replace').replace('\r\n', '\n')
        if json_start(text) >= 0:
            continue
        changed = DISGUISES[disguise](text)
        found = text_report.parse_report(
            changed if isinstance(changed, bytes) else changed.encode()
        )
        # whether its end is there, is told by an empty line
        if found._replace(gaps=()) != expected._replace(gaps=()):
            different.append(case)

    assert different == []


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
