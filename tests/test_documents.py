"""The pages in doc/ and the files in contrib/ say what the program does: they are compared, not
trusted.
"""

import re
import shlex
import string
import subprocess
from pathlib import Path

import abilities
import described
import generate
import icinga
import pages
import pytest
from conftest import ROOT, drive_path, run
from shipped import ATTRIBUTES

from smart_attributes.check.selection import is_wanted, patterns
from smart_attributes.commands import table
from smart_attributes.knowledge import schema_errors, thresholds
from smart_attributes.model import Identity, State
from smart_attributes.output import codes
from smart_attributes.reading import device_types, smartctl_calls, sudoers
from smart_attributes.reading.addresses import parse

PAGE = ROOT / 'doc/check_smart_attributes.8'


@pytest.mark.parametrize('name', generate.FILES)
def test_a_generated_file_is_up_to_date(name):
    """Run `make generate` after a change of options, metrics, states or of the calls of
    smartctl.
    """
    assert (ROOT / name).read_text() == generate.FILES[name]()


# --- the man page --------------------------------------------------------------------------------


def shown() -> str:
    """Return the man page as a reader sees it, each word of it on a line of its own making."""
    if not abilities.path_of('man'):
        pytest.skip('the man page is not rendered: man is not installed')
    done = subprocess.run(
        ['man', '--warnings', '--local-file', str(PAGE)],
        capture_output=True,
        text=True,
        env={'PATH': '/usr/bin:/bin', 'MANWIDTH': '500', 'LC_ALL': 'C.UTF-8'},
    )
    assert (done.returncode, done.stderr) == (0, '')
    return done.stdout


def test_every_option_metric_state_and_command_is_in_the_man_page():
    """Who is offline has this and nothing else; rendered, so a mistake in its language shows."""
    text = re.sub('\x1b\\[[0-9;]*m', '', shown())
    options = [
        each for command in described.names() for each in described.options(command)
    ]

    assert [
        name
        for option in options
        for name in option.names
        if not re.search(rf'(?<![\w-]){re.escape(name)}(?![\w-])', text)
    ] == []
    assert [
        metric
        for metric in ATTRIBUTES['metrics']
        if not re.search(rf'\b{metric} \(', text)
    ] == []
    assert [state for state in State if f'{int(state)} {state.name}' not in text] == []
    assert [
        name for name in described.names()[1:] if f'attributes {name}' not in text
    ] == []


def test_every_condition_of_a_state_is_in_the_man_page():
    """A condition on two lines once ended the list in the man page."""
    text = (ROOT / 'doc/reference/states.md').read_text()
    of_states = text.partition('## OK (')[2].partition('## Drives that were not read')[
        0
    ]
    conditions = [
        condition for _, _, listed in described.states() for condition in listed
    ]

    assert len(conditions) == of_states.count('\n- ')
    assert all(condition.endswith('.') for condition in conditions)


@pytest.mark.parametrize('name', [command.name for command in table.commands()])
def test_help_fits_one_screen(name):
    """Of 40 lines and 120 columns; that of a command has 30 lines."""
    words, most = ([], 40) if name == 'check' else ([name], 30)
    lines = run(*words, '--help').text.splitlines()

    assert len(lines) <= most
    assert max(map(len, lines)) <= 140  # examples are not wrapped


# --- the completion ------------------------------------------------------------------------------


def completed(*words: str) -> list[str]:
    """Return what bash proposes for the last word."""
    code = (
        '. contrib/bash-completion/check_smart_attributes; COMP_WORDS=("$@"); COMP_CWORD=$(($# - '
        '1)); _check_smart_attributes; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ['bash', '-uec', code, 'bash', 'check_smart_attributes', *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.stderr == ''
    return [word for word in done.stdout.split('\n') if word]


@pytest.mark.parametrize(
    'words, expected',
    [
        (['--hide'], ['--hide-serial']),
        (['tr'], ['triage']),
        (['triage', '--js'], ['--json']),
        (['list', '--warn'], []),  # an option of another command
        (['--label', 'w'], ['wwn']),
        (['--asleep', ''], ['ok', 'warning', 'critical', 'unknown']),
        (['-w', 'endurance_u'], ['endurance_used=']),
        (['--ignore-metric', 'endurance_u'], ['endurance_used']),
        (['--report', 'attributes.j'], ['attributes.json']),
        (['--expect', ''], []),  # a number
    ],
)
def test_bash_completes(words, expected):
    """In a real bash, the file as it is installed."""
    assert completed(*words) == expected


@pytest.mark.parametrize('command', ['check', 'triage'])
def test_bash_knows_every_option(command):
    """Nothing is proposed that there is not, either. The file is made for each command alike."""
    proposed = completed('-') if command == 'check' else completed(command, '-')

    assert set(proposed) == {
        name for option in described.options(command) for name in option.names
    }


# --- Icinga --------------------------------------------------------------------------------------


def test_every_option_is_an_argument_of_the_check_command():
    """What only helps a person, or reads recordings, is left out on purpose."""
    text = (ROOT / 'contrib/icinga2/check-smart-attributes.conf').read_text()
    described = icinga.options('check')

    assert [
        option.long
        for option in described
        if (f'"{option.long}" = {{' in text) != (option.dest not in icinga.LEFT_OUT)
    ] == []


def test_every_variable_in_the_page_is_one():
    """A mistyped custom variable is silently without effect."""
    page = (ROOT / 'doc/how-to/icinga.md').read_text()
    known = {icinga.variable(option) for option in icinga.arguments()} | {
        'smart_attributes_config_path'
    }

    assert set(re.findall(r'\bsmart_attributes_\w+', page)) - known == set()


def test_every_command_in_the_page_on_nagios_is_defined():
    """In the files that the package installs."""
    page, nagios, nrpe = (
        (ROOT / path).read_text()
        for path in (
            'doc/how-to/nagios.md',
            'contrib/nagios/smart_attributes.cfg',
            'contrib/nrpe/check-smart-attributes.cfg',
        )
    )
    served = re.findall(r'^command\[\w+\]=.*$', nrpe, re.MULTILINE)

    assert set(re.findall(r'check_command\s+([a-z_]+)', page)) <= set(
        re.findall(r'command_name\s+(\S+)', nagios)
    )
    assert [line for line in served if line not in page] == []


# --- pages ---------------------------------------------------------------------------------------


def test_each_section_on_trouble_has_a_code_and_every_reason_a_next_step():
    """The message has the step; a section says what does not fit there."""
    headings = re.findall(
        r'^### ([a-z0-9-]+)$',
        (ROOT / 'doc/how-to/troubleshooting.md').read_text(),
        re.MULTILINE,
    )

    assert len(set(headings)) == len(headings) > 15
    assert set(headings) <= codes.DATA['reasons'].keys()
    assert all(each['remedy'] for each in codes.DATA['reasons'].values())


def addresses(page: str) -> list[str]:
    text = (ROOT / 'doc' / page).read_text()
    return [
        word for word in re.findall(r'`([^` ]+@/dev/[^` ]+)`', text) if 'N' not in word
    ]


@pytest.mark.parametrize('address', addresses('how-to/raid.md'))
def test_every_address_in_the_page_on_raid_is_understood(address):
    """And the sudoers rule admits it; where that takes a request, the page says so."""
    on_request = {entry.name for entry in device_types.TYPES if entry.is_vendors}
    expressions = list(
        sudoers.all_expressions({re.split('[@,/]', address)[0]} & on_request)
    )
    if 'jmb39x' in address:
        pytest.skip('this one is shown as refused')

    for device in parse(address):
        assert sudoers.admits(
            expressions, smartctl_calls.read_arguments(device.path, device.type)
        )


def test_every_controller_is_in_the_page_on_raid():
    """Each type that picks a drive by number, in the spelling of our messages."""
    text = (ROOT / 'doc/how-to/raid.md').read_text()
    forms = [
        entry.form.replace('[', '`, `').split('`')[0]
        for entry in device_types.TYPES
        if entry.slots
    ]

    assert len(forms) > 6
    assert [form for form in forms if f'`{form}' not in text] == []


def test_the_rule_for_drives_that_reading_can_harm_is_valid():
    """The example is copied as it is; it must allow reading, and keep the plugin from one log."""
    (block,) = pages.blocks('doc/reference/harmful-drives.md')
    data = schema_errors.checked(block.text, 'thresholds', 'harmful.json')
    limits = thresholds.Thresholds({}, [('harmful.json', data)])
    first, second = (
        parse(override['for']['device'])[0] for override in data['overrides']
    )

    assert limits.exceptions(first, Identity(), '').is_reading_allowed
    assert limits.exceptions(second, Identity(), '').skipped_logs == {'selftest'}


@pytest.mark.parametrize('page', [*pages.PAGES, 'CHANGELOG'])
def test_links_lead_to_a_file_and_a_heading(page):
    """From one page to another, as a reader of the repository follows them; a heading that was
    reworded once left links that opened the page at its top.
    """
    wrong = []
    for path, anchor in re.findall(
        r'\]\(([^)#:]*)(?:#([^)]+))?\)', (ROOT / page).read_text()
    ):
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        # tests/test_security.py compares the names of tests
        is_test = target.suffix == '.py'
        if not target.exists() or (
            anchor
            and not is_test
            and anchor not in pages.anchors(str(target.relative_to(ROOT)))
        ):
            wrong.append((path, anchor))

    assert wrong == []


@pytest.mark.parametrize(
    'page', ['README', 'CONTRIBUTING.md', 'doc/contributing/architecture.md']
)
def test_each_path_in_code_format_is_there(page):
    """In the repository, or in the package; what is built or installed is not."""
    words = ' '.join(re.findall('`([^`\n]+)`', (ROOT / page).read_text())).split()
    paths = [
        word
        for word in words
        if re.fullmatch(r'\w[\w.-]*/[\w./-]*|[\w-]+\.(?:py|md)', word)
    ]
    places = [ROOT, ROOT / 'smart_attributes']

    assert [
        path
        for path in paths
        if path != 'dist/'
        and not any(
            (place / name).exists() for place in places for name in (path, f'{path}.py')
        )
    ] == []


def test_the_commands_of_nrpe_divide_all_drives():
    """Each of 150 drives is checked by exactly one command, and none of them checks more than
    there is room for.
    """
    [text] = (
        block.text
        for block in pages.blocks('doc/how-to/nagios.md')
        if '--ignore /dev/sd..' in block.text
    )
    letters = string.ascii_lowercase
    names = [*letters, *(first + second for first in letters for second in letters)][
        :150
    ]
    checked = []
    for line in text.splitlines():
        option, pattern = shlex.split(line)[-2:]
        chosen = [
            patterns([pattern] if option == each else [])
            for each in ('--match', '--ignore')
        ]
        checked.append(
            [
                bool(is_wanted(parse(f'/dev/sd{name}')[0], Identity(), *chosen))
                for name in names
            ]
        )

    assert [sum(commands) for commands in zip(*checked)] == [1] * 150
    assert all(0 < sum(drives) <= 50 for drives in checked)


@pytest.mark.parametrize(
    'count, there',
    [(50, {'endurance_used', 'temperature'}), (60, {'endurance_used'}), (100, set())],
)
def test_the_document_knows_how_many_drives_fit_into_the_output_of_nrpe(
    count, there, tmp_path
):
    """Graphs of an admin who adds drives stop at these numbers."""
    report = Path(drive_path('intel-s3500-healthy')).read_text()
    number = re.search('"serial_number": *"(.*?)"', report)[1]
    for each in range(count):
        (tmp_path / f'sd{each}.json').write_text(report.replace(number, f'S{each}'))
    printed = run('--report', str(tmp_path), '--max-output', '8000').text

    assert {
        metric
        for metric in ('endurance_used', 'temperature')
        if f"'sd0_{metric}'=" in printed
    } == there
