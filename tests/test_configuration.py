"""Every configuration block of the documents loads in its program, beside the definitions of the
package.
"""

import atexit
import getpass
import grp
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import abilities
import pages
import pytest
from conftest import ROOT
from daemons import NAGIOS, NRPE, OBJECTS, PATH
from pages import Block

from smart_attributes.commands import table
from smart_attributes.constants import TIMEOUT
from smart_attributes.doctor import drives
from smart_attributes.errors import SmartError
from smart_attributes.knowledge import schema_errors

PROGRAM = 'check_smart_attributes'
# systemd-analyze makes folders there
HOME = tempfile.mkdtemp(prefix='check-smart-attributes-home-')
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
UNITS = ROOT / 'contrib/systemd'
# daemons become nobody else
USER, GROUP = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name
ICINGA = """\
const NodeName = "storage1"
const PluginDir = "/usr/lib/nagios/plugins"
const PluginContribDir = PluginDir
const ManubulonPluginDir = PluginDir
include <itl>
include <plugins>
object Endpoint NodeName {}
object Zone NodeName { endpoints = [ NodeName ] }
template Host "generic-host" { check_command = "dummy" }
include_zones "etc", "FOLDER/zones.d"
"""
# Hosts on which each of our rules makes a service: a rule that matches nowhere is not tried by
# Icinga.
AGENT = """
object Host "agent" {
	import "generic-host"
	vars.agent_endpoint = NodeName
	vars.smart = true
}
"""
ENDPOINT = 'object Endpoint "{0}" {{}}\nobject Zone "{0}" {{ endpoints = [ "{0}" ]; parent = NodeName }}\n'
EACH = 'vars.smart_drives = [ "/dev/nvme0" ]'
HOST = """
object Host "other" {{
	import "generic-host"
	{}
}}
"""
# What Nagios' own package defines, and what an admin has defined before.
TEMPLATE = """
define service {
	name	generic-service
	max_check_attempts	3
	check_interval	5
	retry_interval	1
	check_period	always
	notification_period	always
	contacts	nobody
	register	0
}
"""
VOLUME_AND_DRIVE = re.compile(r'/dev/sd[a-z]\b.*megaraid,|megaraid,.*/dev/sd[a-z]\b')


def program(name: str) -> str:
    """Return the path of a program."""
    path = abilities.path_of(name)
    if path is None:
        pytest.skip(
            f'{name} is not installed; "make test-icinga" and "make test-metrics" install it'
        )
    return path


def ran(*command: str) -> str:
    """Return what a command that must succeed prints."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        env={
            'PATH': PATH,
            'LC_ALL': 'C',
            'HOME': HOME,
            'ICINGA2_USER': USER,
            'ICINGA2_GROUP': GROUP,
        },
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


# --- the loaders: each takes a text and fails where its program does ------------------------------


def icinga2(text: str, folder: Path) -> None:
    """Load it with our CheckCommand; lines that belong into a host are put into one."""
    is_whole = re.match(r'(/\*|object\b|apply\b|template\b)', text)
    hosts = AGENT + (HOST.format(EACH) if 'smart_drives)' in text else '')
    printed, _ = icinga_validates(
        folder, hosts + (text if is_whole else HOST.format(text))
    )
    assert 'does not match anywhere' not in printed


def icinga_validates(folder: Path, zone: str, local: str = '') -> tuple[str, list[str]]:
    """Validate a configuration with our CheckCommand; return what Icinga prints, and the services
    as HOST!NAME.

    zone: the objects of the master zone; local: those of conf.d.
    """
    command = (ROOT / 'contrib/icinga2/check-smart-attributes.conf').read_text()
    config, of_zone = folder / 'icinga2.conf', folder / 'zones.d/storage1'
    of_zone.mkdir(parents=True)
    agents = re.findall(r'object Host "([^"]+)" \{[^}]*agent_endpoint = name', zone)
    endpoints = ''.join(ENDPOINT.format(name) for name in agents if name != 'storage1')
    config.write_text(
        ICINGA.replace('FOLDER', str(folder)) + command + endpoints + local
    )
    (of_zone / 'shown.conf').write_text(zone)
    folders = [
        f'-D{name}Dir={folder}'
        for name in ('Config', 'Data', 'Log', 'Cache', 'Spool', 'InitRun')
    ]
    printed = ran(program('icinga2'), 'daemon', '-C', '-c', str(config), *folders)
    listed = ran(program('icinga2'), 'object', 'list', '--type', 'Service', *folders)
    return printed, sorted(re.findall(r"^Object '([^']+)'", listed, re.MULTILINE))


def nagios(text: str, folder: Path) -> None:
    """Load it with our commands, on the host that the documents name."""
    ours = ROOT.glob('contrib/nagios/*.cfg')
    (folder / 'commands.cfg').write_text(''.join(path.read_text() for path in ours))
    (folder / 'objects.cfg').write_text(
        OBJECTS.replace('host_name	bed', 'host_name	storage1') + TEMPLATE + text
    )
    (folder / 'results').mkdir()
    (folder / 'nagios.cfg').write_text(
        NAGIOS.format(folder=folder) + f'nagios_user={USER}\nnagios_group={GROUP}\n'
    )
    assert 'Total Warnings: 0' in ran(
        program('nagios4'), '-v', str(folder / 'nagios.cfg')
    )


def nrpe(text: str, folder: Path) -> None:
    """Load it in NRPE, which checks its file when it starts, and see that each command is one of
    ours that exists.
    """
    (folder / 'commands.cfg').write_text(text)
    (folder / 'nrpe.cfg').write_text(
        NRPE.format(port=1, folder=folder, user=USER, group=GROUP)
    )
    done = subprocess.run(
        [program('nrpe'), '-c', str(folder / 'nrpe.cfg'), '--inetd'],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
    )
    log = (folder / 'nrpe.log').read_text() if (folder / 'nrpe.log').exists() else ''
    assert 'CONF' not in log + done.stderr and 'rror' not in log.replace(
        'Error: Network', ''
    ), log + done.stderr
    for line in re.findall(r'^[^#\n].*$', text, re.MULTILINE):
        name, _, command = line.partition('=')
        # NRPE only logs a key that it does not know
        assert re.fullmatch(r'command\[\w+\]', name), line
        parsed(command)


def systemd(text: str, folder: Path) -> None:
    """Load it as a drop-in of our unit."""
    for unit in UNITS.iterdir():
        executable = unit.read_text().replace(
            f'/usr/sbin/{PROGRAM}', str(ROOT / PROGRAM)
        )
        (folder / unit.name).write_text(executable)
    service = next(folder.glob('*.service'))
    (folder / f'{service.name}.d').mkdir()
    (folder / f'{service.name}.d/override.conf').write_text(text)
    printed = ran(
        program('systemd-analyze'),
        'verify',
        '--man=no',
        '--recursive-errors=no',
        str(service),
    )
    assert str(folder) not in printed, printed
    for value in re.findall(r'^Environment="?OPTIONS=(.*?)"?$', text, re.MULTILINE):
        parsed(f'{PROGRAM} metrics {value}')


def prometheus(text: str, folder: Path) -> None:
    """Load it as an expression of a rule, unless it is a file of rules."""
    rules = (
        text
        if text.startswith(('groups:', '#'))
        else json.dumps(
            {
                'groups': [
                    {
                        'name': 'shown',
                        'rules': [{'record': 'shown', 'expr': text.strip()}],
                    }
                ]
            }
        )
    )
    (folder / 'rules.yml').write_text(rules)
    ran(program('promtool'), 'check', 'rules', str(folder / 'rules.yml'))


def sudoers(text: str, folder: Path) -> None:
    """Load it with visudo, which is strict here: an alias that is not used is a mistake."""
    (folder / 'rule').write_text(text)
    ran(program('visudo'), '--check', '--strict', '--file', str(folder / 'rule'))


def site_file(text: str, folder: Path) -> None:
    """Load it as a file of limits or entries; a part of one is put where it belongs."""
    whole = text if text.startswith('{') else f'{{{text}}}'
    data: dict[str, Any] = json.loads(whole)
    if 'drive' in data:
        data = {'temperature': {'warning': data}}
    if all(key.isdigit() for key in data):
        entry = {
            'family': 'ACME X1',
            'models': ['ACME X1'],
            'source': 'acme-x1-manual',
            'attributes': data,
        }
        schema_errors.checked(
            json.dumps({'entries': [entry]}), 'attributes', 'shown.json'
        )
        return
    if 'entries' in data:
        schema_errors.checked(text, 'attributes', 'shown.json')
        return
    if 'overrides' not in data and 'metrics' not in data:
        data = {'metrics': data}
    schema_errors.checked(json.dumps(data), 'thresholds', 'shown.json')


def shell(text: str, folder: Path) -> None:
    """Read it with sh, and see that our own command lines are understood."""
    (folder / 'script').write_text(text)
    ran('sh', '-n', str(folder / 'script'))
    joined = text.replace('\\\n', ' ')
    for command in re.findall(
        rf'(?:^|[|(;] ?)(?:\S*/)?({PROGRAM} [^|>;&#\n]*)', joined, re.MULTILINE
    ):
        parsed(command)


def console(text: str, folder: Path) -> None:
    """Read the lines behind a prompt."""
    for command in re.findall(r'^[$#] (.*)$', text, re.MULTILINE):
        shell(command + '\n', folder)


def cron(text: str, folder: Path) -> None:
    """Read five fields, a user and a command on one line."""
    assert text.count('\n') == 1
    assert re.match(r'(?:[0-9*/,-]+ ){5}root ', text)
    shell(text.split(' ', 6)[6], folder)


def parsed(command: str) -> None:
    """See that our program takes this command line."""
    words = shlex.split(re.sub(r'\$\(.*?\)', 'NAME', command))[1:]
    try:
        table.understood(words)[1]
    except SmartError as error:
        pytest.fail(f'{command}: {error}')


LOADERS: dict[str, Callable[[str, Path], None]] = {
    'icinga2': icinga2,
    'nagios': nagios,
    'nrpe': nrpe,
    'systemd': systemd,
    'promql': prometheus,
    'sudoers': sudoers,
    'json': site_file,
    'sh': shell,
    'console': console,
    'cron': cron,
}
NOTHING_TO_LOAD = {'text', 'mermaid'}
# The files that the package ships are loaded alike; the commented examples in them are switched on.
SHIPPED = {
    'contrib/icinga2/services.conf': 'icinga2',
    'contrib/nrpe/check-smart-attributes.cfg': 'nrpe',
    'contrib/sudoers/check-smart-attributes': 'sudoers',
    'contrib/prometheus/check-smart-attributes.rules.yml': 'promql',
}


def named(blocks: list[Block]) -> Iterator[Any]:
    for block in blocks:
        yield pytest.param(block, id=f'{block.language}-{block.place}')


# --- the tests ------------------------------------------------------------------------------------


@pytest.mark.parametrize('page', pages.PAGES)
def test_every_block_is_fenced_and_names_a_language(page):
    """A block without a language is loaded by nothing."""
    assert pages.unfenced(page) == []
    assert [
        block.place
        for block in pages.blocks(page)
        if block.language not in {*LOADERS, *NOTHING_TO_LOAD}
    ] == []


@pytest.mark.parametrize('block', list(named(pages.in_language(*LOADERS))))
def test_every_block_loads(block, tmp_path):
    """With the real program; README's example for Icinga once named a command that nothing
    defines.
    """
    LOADERS[block.language](block.text, tmp_path)


@pytest.mark.parametrize('name', SHIPPED)
def test_every_shipped_file_loads(name, tmp_path):
    """With its commented examples."""
    text = re.sub('^#command', 'command', (ROOT / name).read_text(), flags=re.MULTILINE)
    LOADERS[SHIPPED[name]](text, tmp_path)


def test_one_rule_makes_the_services_of_all_kinds_of_hosts(tmp_path):
    """The hosts of README and of the page on Icinga, the lines that doctor prints, hosts with
    and without an agent or drives, and the rule twice: in one configuration.
    """
    rule = (ROOT / 'contrib/icinga2/services.conf').read_text()
    shown = [
        block.text
        for page in ('README', 'doc/how-to/icinga.md')
        for block in pages.blocks(page)
        if block.language == 'icinga2' and re.match('(object|template) ', block.text)
    ]
    paste = next(
        paste.text
        for paste in drives.pastes(
            ['/dev/sda', '/dev/sdb'], PROGRAM, TIMEOUT, [], False
        )
        if paste.daemon == 'icinga'
    )
    hosts = {
        'doctor': paste,
        'each': EACH,
        'each-of-many': f'vars.smart = true\n{EACH}',
        'virtual': 'vars.agent_endpoint = NodeName',
        'no-drives': 'import "smart-host"',
    }
    made = ''.join(
        HOST.replace('other', name).format(line) for name, line in hosts.items()
    )
    printed, services = icinga_validates(
        tmp_path, rule + ''.join(shown) + made, local=rule
    )

    assert not re.search('warning|critical', printed)
    assert services == [
        'doctor!smart',
        'each!smart nvme0',
        'each-of-many!smart nvme0',
        'no-drives!smart',
        'storage1!smart',
        'storage2!smart',
    ]


def test_the_director_selects_hosts_by_the_same_variables():
    """Its filter says the same as the rule, in its own language."""
    rule = (ROOT / 'contrib/icinga2/services.conf').read_text()
    basket = json.loads(
        (ROOT / 'contrib/icinga-director/check-smart-attributes.json').read_text()
    )
    sets = basket['ServiceSet']
    filters = [each['assign_filter'].replace('=true', '') for each in sets.values()]

    assert filters[0].replace('&', ' && ') == re.search('assign where (.*)', rule)[1]
    assert filters[1] == re.search(r'Service for \(address in (\S+)\)', rule)[1]


def test_no_text_of_configuration_is_called_plain_text():
    """Such a block would be loaded by nothing."""
    begins = re.compile(
        r'^(object |apply |define |command\[|vars\.|\[Service\]|Cmnd_Alias)',
        re.MULTILINE,
    )

    assert [
        block.place for block in pages.in_language('text') if begins.search(block.text)
    ] == []


def test_no_example_names_a_volume_beside_the_drives_behind_it():
    """The volume of a controller, often /dev/sda, is not a drive: it would be UNKNOWN for ever."""
    shipped = [
        path
        for path in sorted((ROOT / 'contrib').rglob('*'))
        if path.is_file() and path.suffix != '.json'
    ]
    shown = [
        *((block.place, block.text) for block in pages.in_language(*LOADERS)),
        *((path.name, path.read_text()) for path in shipped),
        *((each.name, table.parser(each).format_help()) for each in table.commands()),
    ]

    assert {
        place
        for place, text in shown
        for line in text.splitlines()
        if VOLUME_AND_DRIVE.search(line) and 'TYPE@PATH' not in line
    } == set()
