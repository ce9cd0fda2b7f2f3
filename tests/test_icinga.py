"""A real Icinga 2 runs the plugin: through our CheckCommand, through Icinga's own template, and
passes the numbers on.

`make test-icinga` installs what is missing first; `make test` runs this where it is there.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Callable

import pytest
from conftest import ROOT, Value, perfdata, run
from daemons import DRIVES, Ground, Icinga, missing
from days import disk
from fake_smartctl import FakeSmartctl
from test_budget import fleet

from smart_attributes.reading.smartctl_calls import read_arguments
from smart_attributes.state_directory import NAME

# As Icinga has defined it since 2.16; Debian's is older. The first variable is misspelt there, too.
SINCE_2_16 = """
object CheckCommand "smart-attributes-2.16" {
	command = [ PluginContribDir + "/check_smart_attributes" ]
	arguments = {
		"--path" = "$smart_attributes_smartclt_path$"
		"--device" = "$smart_attributes_device$"
		"--regex" = "$smart_attributes_device_regex$"
		"--dbjson" = {
			value = "$smart_attributes_config_path$"
			required = true
		}
		"--ucfgjson" = "$smart_attributes_user_config_path$"
		"--critical_on_unknown" = { set_if = "$smart_attributes_critical_if_not_found$" }
		"-nosudo" = { set_if = "$smart_attributes_no_sudo$" }
		"--allperfs" = { set_if = "$smart_attributes_get_allperfs$" }
		"--ssdonly" = { set_if = "$smart_attributes_ssd_only$" }
		"--options" = "$smart_attributes_options$"
	}
	vars.smart_attributes_config_path = ConfigDir + "/plugins-config/check_smartdb.json"
}
"""
FLEETS = (24, 60)  # drives
OF_FLEETS = """
object CheckCommand "recorded" {
	command = [ PluginContribDir + "/check_smart_attributes", "--no-history", "--report", "$folder$" ]
}
"""
COMMANDS = {
    'ours': 'check-smart-attributes',
    'template': 'smart-attributes',
    'template-2.16': 'smart-attributes-2.16',
}
SERVICE = """
object Service "{name}" {{
	host_name = "bed"
	check_command = "{command}"
	check_interval = 1h
	max_check_attempts = 1
	{vars}
}}
"""
HOST = """
object Host "bed" {{
	check_command = "dummy"
	enable_active_checks = false
	vars.smart = true
}}
object Host "each" {{
	check_command = "dummy"
	enable_active_checks = false
	vars.smart = true
	{drives}
}}
"""
# Drive -> state and a piece of the first line.
EXPECTED = {
    'sda': (0, 'SMART OK - '),
    'sdb': (
        1,
        'SMART WARNING - sdb: used write endurance 86 % (warning above 85)',
    ),
    'sdc': (2, 'SMART CRITICAL - sdc: '),
    'nvme0': (1, 'SMART WARNING - nvme0: used write endurance 91 %'),
    'sdd': (3, 'SMART UNKNOWN - sdd was not found'),
}


def lacking() -> None:
    absent = missing('icinga2')
    if absent:
        pytest.skip(
            f'Icinga 2 is not tried: missing {absent}; "make test-icinga" installs it'
        )


def drives_of_the_host(ground: Ground) -> str:
    """Return the custom variables that our script makes of what the plugin finds."""
    found = ground.runs(ground.plugin, 'list', '--json')
    script = [sys.executable, str(ROOT / 'contrib/icinga2/host-vars')]
    return subprocess.run(
        script, input=found.stdout, capture_output=True, text=True, check=True
    ).stdout


def services() -> str:
    wanted = {
        f'{dialect} {drive}': (
            command,
            f'vars.smart_attributes_device = "/dev/{drive}"',
        )
        for dialect, command in COMMANDS.items()
        for drive in DRIVES
    }
    wanted['five drives'] = COMMANDS['ours'], 'vars.smart_attributes_expect = 5'
    wanted['with limits'] = (
        COMMANDS['ours'],
        """
	vars.smart_attributes_device = [ "/dev/sda", "/dev/sdb" ]
	vars.smart_attributes_warning = [ "endurance_used=5", "temperature=90" ]
	vars.smart_attributes_label = "serial"
	vars.smart_attributes_hide_serial = true
	vars.smart_attributes_verbose = true""",
    )
    wanted['cable'] = (
        COMMANDS['ours'],
        """
	max_check_attempts = 3
	retry_interval = 1h
	vars.smart_attributes_device = "/dev/sde\"""",
    )
    return ''.join(
        SERVICE.format(name=name, command=command, vars=words)
        for name, (command, words) in wanted.items()
    )


def fleets(ground: Ground) -> str:
    """Write recordings of healthy, worn and failing drives; return a service for each number of
    drives.
    """
    folders = {
        drives: fleet(ground.folder / f'of{drives}', drives, Random(drives))
        for drives in FLEETS
    }
    return ''.join(
        SERVICE.format(
            name=f'{drives} drives',
            command='recorded',
            vars=f'vars.folder = "{folder}"',
        )
        for drives, folder in folders.items()
    )


@pytest.fixture(scope='module')
def bed(loopback) -> Iterator[Icinga]:
    """One Icinga for all tests of this file."""
    lacking()
    ground = Ground()
    try:
        icinga = Icinga(
            ground,
            {
                'check-smart-attributes.conf': (
                    ROOT / 'contrib/icinga2/check-smart-attributes.conf'
                ).read_text(),
                # As an agent gets it from its masters, beside what its package brings.
                'zones.d/director-global/command.conf': (
                    ROOT / 'contrib/icinga2/check-smart-attributes.conf'
                ).read_text(),
                'services.conf': (ROOT / 'contrib/icinga2/services.conf').read_text(),
                'since-2.16.conf': SINCE_2_16,
                'fleets.conf': OF_FLEETS + fleets(ground),
                'bed.conf': services(),
                'host.conf': HOST.format(drives=drives_of_the_host(ground)),
            },
        )
        icinga.start()
        yield icinga
    finally:
        ground.close()


def output(result: dict[str, Any]) -> tuple[str, str]:
    """Return the first line and the whole text as Icinga keeps it."""
    return result['output'].splitlines()[0], result['output']


@pytest.mark.parametrize(
    'dialect, drive',
    [
        *(('ours', drive) for drive in DRIVES),
        ('template', 'sdb'),
        ('template-2.16', 'sdb'),
    ],
)
def test_state_text_and_perfdata_come_back(bed, dialect, drive):
    """Healthy, worn, failing, absent; however Icinga spells the options."""
    result = bed.result(f'{dialect} {drive}')
    code, words = EXPECTED[drive]

    assert result['state'] == code, result['output']
    assert result['exit_status'] == code
    assert words in output(result)[0]
    assert (
        any(
            each.startswith(f'{drive}_') or each.startswith(f"'{drive}_")
            for each in result['performance_data']
        )
        or code == 3
    )


@pytest.mark.parametrize('drives', FLEETS)
def test_icinga_keeps_the_whole_output_of_many_drives(bed, drives):
    """Each line and each value, though 60 drives print several times as much as other plugins."""
    ground = bed.ground
    printed = ground.runs(
        ground.plugin, '--no-history', '--report', f'{ground.folder}/of{drives}'
    ).stdout
    result = bed.result(f'{drives} drives')

    text, _, values = printed.rstrip('\n').partition('\n| ')
    assert result['output'].rstrip('\n') == text and len(text.splitlines()) > drives
    # Icinga removes the quotation marks that a label does not need.
    assert (
        ' '.join(result['performance_data']) == values.replace("'", '')
        and len(values.split()) > 5 * drives
    )


def test_the_template_of_2_16_passes_what_the_facts_say(bed):
    """Required is the database only; the old default path, which does not exist, is no fault."""
    command = bed.result('template-2.16 sdb')['command']

    assert command[1:] == [
        '--dbjson',
        f'{bed.ground.folder}/etc/plugins-config/check_smartdb.json',
        '--device',
        '/dev/sdb',
    ]


def test_custom_variables_become_options(bed):
    """Arrays are repeated, true is a flag; the Director and a configuration file say it in the
    same way.
    """
    result = bed.result('with limits')

    assert result['state'] == 1
    assert 'warning above 5' in result['output'].splitlines()[0]
    assert '2 drives' in result['output'].splitlines()[0]
    assert 'EXAMPLE' not in result['output']
    assert 'entry: ' in result['output']


def test_a_drive_too_few_is_critical(bed):
    """The scan finds four; --expect belongs to the service, or each service of the host would
    expect as many.
    """
    result = bed.result('five drives')

    assert result['state'] == 2
    assert (
        '[too-few-drives] expected 5 drives, found 4 ('
        in result['output'].splitlines()[0]
    )


def test_one_service_for_all_drives(bed):
    """The apply rule that we ship."""
    result = bed.result('smart')

    assert result['state'] == 2
    assert [
        name
        for name in ('sda', 'sdb', 'sdc', 'nvme0')
        if not re.search(rf'^[A-Z]+ +{name} ', result['output'], re.MULTILINE)
    ] == []
    assert '4 drives' in result['output'].splitlines()[0]


def test_one_service_for_each_drive(bed):
    """Made by apply for from what `list --json` finds: what is absent has none; no service for all
    beside it, or each alarm came twice.
    """
    made = bed.services('each')

    assert made == ['smart nvme0', 'smart sda', 'smart sdb', 'smart sdc']
    assert {name: bed.result(name, 'each')['state'] for name in made} == {
        f'smart {drive}': code
        for drive, (code, _) in EXPECTED.items()
        if drive != 'sdd'
    }


def test_soft_states_and_manual_runs_do_not_end_an_alarm_of_growth(bed, tmp_path):
    """The counter stands still from the second check on; Icinga alarms at the third, and the
    alarm stays.
    """
    ground, grown = bed.ground, disk(a199=226)
    says = says_of(ground, '/dev/sde')
    says(disk(a199=212))
    before = bed.result('cable')
    says(grown)
    soft = [(bed.result('cable')['state'], *bed.stands('cable')) for _ in range(2)]
    by_hand = [
        ground.runs(ground.plugin, '-d', '/dev/sde').returncode,
        by_the_admin(ground, tmp_path, grown),
    ]
    result = bed.result('cable')

    assert (before['state'], by_hand) == (0, [1, 1]), before['output']
    assert [*soft, (result['state'], *bed.stands('cable'))] == [
        (1, 'soft', 1),
        (1, 'soft', 2),
        (1, 'hard', 1),
    ]
    assert 'CRC errors grew by 14 in 1 min' in output(result)[0]
    assert bed.result('cable')['state'] == 1


def by_the_admin(ground: Ground, folder: Path, said: dict[str, Any]) -> int:
    """Check the drive as who runs the tests, in the daemon's folder of state; return the state."""
    # root runs none that belongs to the daemon's user
    fake = FakeSmartctl(folder / 'fake')
    fake.answers(read_arguments('/dev/sde'), json.dumps(said))
    return run(
        '-p',
        fake.path,
        '--nosudo',
        '--state-dir',
        str(ground.state / NAME),
        '-d',
        '/dev/sde',
    ).code


def says_of(ground: Ground, address: str) -> Callable[[dict[str, Any]], object]:
    """Return what makes the drive at an address say something else from now on."""
    said = ground.place('said.json', '')
    ground.fake.answers(read_arguments(address), before=f'cat {said}')
    return lambda words: said.write_text(json.dumps(words))


def test_icinga_parses_every_value_of_every_recorded_drive(bed):
    """All vendors and kinds, all readings: what no machine of ours has."""
    reports = [
        str(ROOT / 'tests' / folder)
        for folder in ('reports', 'drives')
        if (ROOT / 'tests' / folder).exists()
    ]
    printed = run(
        '-ap', *(word for report in reports for word in ('--report', report))
    ).text
    ours = perfdata(printed)

    assert len(ours) > 200
    compare(bed, ours, re.findall(r"'[^']*'=\S+", printed.splitlines()[-1]))


def compare(icinga: Icinga, ours: dict[str, Value], tokens: list[str]) -> None:
    """See that Icinga reads the same in each token as we do."""
    parsed = icinga.evaluates(
        f'{json.dumps(tokens)}.map(token => parse_performance_data(token))'
    )
    for token, theirs, (label, value) in zip(tokens, parsed, ours.items()):
        limits = [
            float(limit) if re.fullmatch('[0-9.]+', limit) else None
            for limit in (value.warning, value.critical)
        ]
        assert (theirs['label'], theirs['value']) == (label, value.number), token
        assert (
            theirs['unit']
            == {'': '', '%': 'percent', 's': 'seconds', 'B': 'bytes'}[value.unit]
        ), token
        assert [theirs['warn'], theirs['crit']] == limits, token


def names(text: str) -> list[str]:
    return re.findall(r'object CheckCommand "([^"]+)"', text)


def test_our_command_does_not_collide_with_icingas_own(bed):
    """Both are defined at once, and Icinga has validated it."""
    assert names(
        (ROOT / 'contrib/icinga2/check-smart-attributes.conf').read_text()
    ) == ['check-smart-attributes']
    assert 'Instantiated' in bed.validate()
