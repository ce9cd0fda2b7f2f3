"""The table at a terminal: which of these drives do I replace first, on whatever screen there
is.
"""

import json
import re
from collections.abc import Sequence

import abilities
import described
import picture
import pytest
from conftest import drive, drive_path, run

from smart_attributes.reading.smartctl_calls import read_arguments

COLOUR = re.compile('\x1b\\[[0-9;]*3[0-7][0-9;]*m')


def printed(columns: int, arguments: Sequence[str], **variables: str) -> str:
    """Return what `triage` prints on a terminal."""
    abilities.skip_without(abilities.no_terminal())
    return picture.printed(columns, arguments, **variables)


def test_no_color_means_none():
    """https://no-color.org"""
    arguments = ('--report', drive_path('samsung-worn-out'))

    assert COLOUR.search(printed(80, arguments))
    assert not COLOUR.search(printed(80, arguments, NO_COLOR='1'))


def test_the_drive_id_of_a_controller_is_told_and_not_as_a_bay(fake):
    """Which drive to pull."""
    fake.answers(
        read_arguments('/dev/bus/0', 'megaraid,2'), drive('seagate-exos-failing')
    )
    arguments = ('-p', fake.path, '--nosudo', '-d', 'megaraid,2@/dev/bus/0')

    where = "controller's drive ID 2, slot unknown"
    table, _, work = run('triage', *arguments).text.partition('to do:')
    assert ('drive ID' in table, f'bus_0_megaraid_2 ({where}): ' in work) == (
        False,
        True,
    )
    assert f'where       {where}' in run('explain', *arguments).text


# --- forms of the document ------------------------------------------------------------------------

FORMS = [option for option in described.options('triage') if option.dest == 'formats']


@pytest.mark.parametrize('form', FORMS, ids=lambda form: form.names[0])
@pytest.mark.parametrize(
    'hidden',
    [
        [],  # whole
        ['--hide-serial'],  # hide serial
    ],
)
def test_each_form_has_all_drives_and_no_serial_number_where_none_is_wanted(
    form, hidden, tmp_path
):
    """Also a form that was added since: they are the options of triage for the document."""
    file = tmp_path / 'drives'
    reports = [
        '--report',
        drive_path('intel-worn'),
        '--report',
        drive_path('micron-5200-healthy'),
    ]
    words = [form.names[0], str(file)] if form.value else [form.names[0]]
    text = run('triage', *reports, *hidden, *words).text
    if form.value:
        assert text == f'written: {file}\n'
        text = file.read_text()

    for name in ('intel_worn', 'micron_5200_healthy', 'INTEL SSDSC2BB150G7'):
        assert name in text
    assert ('EXAMPLE0003' in text) == (not hidden)


def test_several_forms_are_written_by_one_call(tmp_path):
    """The last file of a form counts; JSON on standard output stays JSON."""
    first, last = str(tmp_path / 'a.html'), str(tmp_path / 'b.html')
    done = run(
        'triage',
        '--report',
        drive_path('intel-worn'),
        '--html',
        first,
        '--json',
        '--html',
        last,
    )

    assert len(json.loads(done.text)['drives']) == 1
    assert [path.name for path in tmp_path.iterdir()] == ['b.html']


# --- words ----------------------------------------------------------------------------------------
