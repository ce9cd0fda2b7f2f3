"""Icinga 2, NRPE and Nagios 4 of this machine, each started in a folder of its own on the loopback
interface.

They run as nobody (as ourselves where we are not root) and run the plugin as
they would in earnest: its files in a folder like the Debian package's, Debian's
Python and libraries, a stand-in for smartctl. Whatever is started is stopped.
"""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable

import abilities
from conftest import ROOT, SOCKETS, drive
from fake_smartctl import FakeSmartctl

from smart_attributes.reading.smartctl_calls import SCAN, read_arguments

PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
LIBRARIES = ('nagiosplugin', 'jsonschema', 'rich')
# Drive -> the report it answers with; the last one is not there.
DRIVES = {
    'sda': 'intel-s3500-healthy',
    'sdb': 'intel-worn',
    'sdc': 'hgst-failed',
    'nvme0': 'nvme-worn',
    'sdd': '',
}
ABSENT = (
    '{"json_format_version":[1,0],"smartctl":{"version":[7,4],"exit_status":2,"messages":[{"string":'
    '"Smartctl open device: /dev/sdd failed: No such device","severity":"error"}]}}'
)


def missing(*programs: str) -> str:
    """Return what this machine lacks to run daemons with the plugin, '' where nothing."""
    absent = [program for program in programs if not abilities.path_of(program)]
    for library in LIBRARIES:
        if subprocess.run(
            ['/usr/bin/python3', '-I', '-c', f'import {library}'], capture_output=True
        ).returncode:
            absent.append(f'python3-{library}')
    return ', '.join(absent)


def ports_of_worker() -> Iterator[int]:
    """Yield ports below those of outgoing connections, which no other worker of this test run
    takes.
    """
    worker = int(os.environ.get('PYTEST_XDIST_WORKER', 'gw0')[2:]) % 100
    yield from random.SystemRandom().sample(range(20_000 + worker, 32_000, 100), 120)


PORTS = ports_of_worker()


def free_port() -> int:
    """Return a port that nobody uses; never the same twice."""
    for port in PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(('127.0.0.1', port))
            return port
    raise AssertionError('no port is free from 20000 to 32000')


def until(met: Callable[[], Any], seconds: float, what: str) -> Any:
    """Return the first true answer; AssertionError when there is none in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = met()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError(f'{what}: not within {seconds} s')


class Ground:
    """A folder for a daemon: its user may write there, and the plugin is installed there."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix='csa-daemon-', dir=SOCKETS))
        self.folder.chmod(0o755)
        self.user = 'nobody' if abilities.IS_ROOT else ''
        self.plugins = self.folder / 'plugins'
        self.state = self.folder / 'state'
        self.own('state')
        self.processes: list[subprocess.Popen[bytes]] = []
        self.elsewhere: list[str] = []  # further folders to remove
        self._install()
        self.fake = self._smartctl()

    @property
    def plugin(self) -> str:
        """The program, as a daemon runs it."""
        return str(self.plugins / 'check_smart_attributes')

    def _install(self) -> None:
        home = self.folder / 'share'
        for name in ('smart_attributes', 'thresholds'):
            shutil.copytree(
                ROOT / name, home / name, ignore=shutil.ignore_patterns('__pycache__')
            )
        shutil.copy(ROOT / 'attributes.json', home)
        self.plugins.mkdir()
        launcher = home / 'launcher'
        shipped = (ROOT / 'check_smart_attributes').read_text()
        launcher.write_text(f'#!/usr/bin/python3 -I{shipped[shipped.index(chr(10)) :]}')
        launcher.chmod(0o755)

    def _smartctl(self) -> FakeSmartctl:
        """Make the stand-in, and the plugin a script that uses it without sudo; all other arguments
        are the daemon's.
        """
        fake = FakeSmartctl(self.folder / 'fake')
        for name, report in DRIVES.items():
            arguments = read_arguments(f'/dev/{name}')
            fake.answers(
                arguments, drive(report) if report else ABSENT, 0 if report else 2
            )
        fake.answers(
            SCAN,
            json.dumps(
                {
                    'smartctl': {'argv': ['smartctl', *SCAN], 'exit_status': 0},
                    'devices': [
                        {
                            'name': f'/dev/{name}',
                            'type': 'nvme' if 'nvme' in name else 'scsi',
                        }
                        for name in DRIVES
                        if DRIVES[name]
                    ],
                }
            ),
        )
        (fake.folder / 'calls').touch()
        (fake.folder / 'calls').chmod(0o666)
        plugin = Path(self.plugin)
        # What a daemon hands on of the environment differs: history goes here, not home to whoever
        # runs the tests.
        plugin.write_text(
            f'#!/bin/sh\nexport XDG_STATE_HOME={self.state}\n'
            f'exec {self.folder}/share/launcher "$@" -p {fake.path} --nosudo\n'
        )
        plugin.chmod(0o755)
        return fake

    def place(self, name: str, text: str) -> Path:
        """Write a file that the daemon may read."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def own(self, *names: str) -> None:
        """Make folders that the daemon may write to."""
        for name in names:
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        if self.user:
            shutil.chown(self.folder, self.user)
            for path in self.folder.rglob('*'):
                shutil.chown(path, self.user)

    def as_user(self, *command: str) -> list[str]:
        """Return the command line under which the daemon's user runs it."""
        return (
            [
                'setpriv',
                f'--reuid={self.user}',
                '--regid=nogroup',
                '--clear-groups',
                *command,
            ]
            if self.user
            else list(command)
        )

    def runs(
        self, *command: str, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.as_user(*command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=90,
            cwd=self.folder,
            env={'PATH': PATH, 'LC_ALL': 'C', **environment},
        )

    def starts(self, *command: str, **environment: str) -> None:
        with open(self.folder / 'daemon.log', 'ab') as log:
            self.processes.append(
                subprocess.Popen(
                    self.as_user(*command),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    start_new_session=True,
                    env={'PATH': PATH, 'LC_ALL': 'C', **environment},
                )
            )

    def log(self) -> str:
        return (self.folder / 'daemon.log').read_text(errors='replace')

    def close(self) -> None:
        """Stop all, see that nothing is left, and remove the folder."""
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        try:
            until(lambda: not self.left(), 10, f'{self.left()} still run')
        finally:
            for folder in (self.folder, *self.elsewhere):
                shutil.rmtree(folder)

    def left(self) -> list[str]:
        """Return the command lines of processes that belong to this folder."""
        found = []
        for process in Path('/proc').glob('[0-9]*'):
            try:
                words = (
                    (process / 'cmdline')
                    .read_bytes()
                    .decode(errors='replace')
                    .replace('\0', ' ')
                )
                if str(self.folder) in words or str(self.folder) in os.readlink(
                    process / 'cwd'
                ):
                    found.append(words)
            except OSError:
                continue
        return found


# --- Icinga 2 ----------------------------------------------------------------------------------

ICINGA = """\
const NodeName = "bed"
const ZoneName = NodeName
const PluginDir = "{plugins}"
const PluginContribDir = PluginDir
const ManubulonPluginDir = PluginDir
include <itl>
include <plugins>
include <plugins-contrib>
object Endpoint NodeName {{
	host = "127.0.0.1"
	port = {port}
}}
object Zone ZoneName {{ endpoints = [ NodeName ] }}
object Zone "director-global" {{ global = true }}
object CheckerComponent "checker" {{ }}
object ApiListener "api" {{
	bind_host = "127.0.0.1"
	bind_port = {port}
}}
object ApiUser "root" {{
	password = "{password}"
	permissions = [ "*" ]
}}
include "conf.d/*.conf"
include_zones "etc", "{zones}"
"""


class Icinga:
    """One Icinga 2 with the configuration files given."""

    def __init__(self, ground: Ground, configuration: Mapping[str, str]) -> None:
        self.ground = ground
        self.port = free_port()
        self.password = base64.b16encode(os.urandom(8)).decode()
        folders = {
            'ConfigDir': 'etc',
            'DataDir': 'data',
            'LogDir': 'log',
            'CacheDir': 'cache',
            'SpoolDir': 'spool',
            'InitRunDir': 'run',
        }
        self._define = [
            f'-D{name}={ground.folder / folder}' for name, folder in folders.items()
        ]
        ground.place(
            'etc/icinga2.conf',
            ICINGA.format(
                plugins=ground.plugins,
                port=self.port,
                password=self.password,
                zones=ground.folder / 'etc/zones.d',
            ),
        )
        (ground.folder / 'etc/zones.d').mkdir()
        for name, text in configuration.items():
            ground.place(f'etc/{name}' if '/' in name else f'etc/conf.d/{name}', text)
        ground.own('data/certs', 'data/ca', 'log', 'cache', 'spool', 'run')
        self._certificates()

    @property
    def _environment(self) -> dict[str, str]:
        import grp
        import pwd

        user = self.ground.user or pwd.getpwuid(os.getuid()).pw_name
        group = 'nogroup' if self.ground.user else grp.getgrgid(os.getgid()).gr_name
        return {
            'ICINGA2_USER': user,
            'ICINGA2_GROUP': group,
            'HOME': str(self.ground.folder),
        }

    def _icinga2(self, *arguments: str) -> str:
        done = self.ground.runs(
            'icinga2', *arguments, *self._define, **self._environment
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def _certificates(self) -> None:
        certs = self.ground.folder / 'data/certs'
        self._icinga2('pki', 'new-ca')
        self._icinga2(
            'pki',
            'new-cert',
            '--cn',
            'bed',
            '--key',
            f'{certs}/bed.key',
            '--csr',
            f'{certs}/bed.csr',
        )
        self._icinga2(
            'pki', 'sign-csr', '--csr', f'{certs}/bed.csr', '--cert', f'{certs}/bed.crt'
        )
        authority = self.ground.folder / 'data/ca/ca.crt'
        shutil.copy(authority, certs)
        self._trust = ssl.create_default_context(cafile=str(authority))
        self._trust.check_hostname = False
        # default since Python 3.13; Icinga's authority has no key usage
        self._trust.verify_flags &= ~ssl.VERIFY_X509_STRICT

    def validate(self) -> str:
        return self._icinga2(
            'daemon', '-C', '-c', f'{self.ground.folder}/etc/icinga2.conf'
        )

    def start(self) -> None:
        self.validate()
        self.ground.starts(
            'icinga2',
            'daemon',
            '-c',
            f'{self.ground.folder}/etc/icinga2.conf',
            *self._define,
            **self._environment,
        )
        until(self._is_up, 30, 'the API of Icinga')

    def _is_up(self) -> bool:
        try:
            return bool(self.asks('/v1/status/IcingaApplication'))
        except OSError:
            return False

    def asks(
        self, path: str, data: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Return the results of a call of the API; GET without data, POST with."""
        request = urllib.request.Request(
            f'https://127.0.0.1:{self.port}{path}',
            None if data is None else json.dumps(data).encode(),
            {
                'Accept': 'application/json',
                'Authorization': 'Basic '
                + base64.b64encode(f'root:{self.password}'.encode()).decode(),
            },
        )
        with urllib.request.urlopen(request, timeout=30, context=self._trust) as answer:
            results: list[dict[str, Any]] = json.load(answer)['results']
            return results

    def services(self, host: str = 'bed') -> list[str]:
        found = [
            service['attrs']
            for service in self.asks('/v1/objects/services?attrs=name&attrs=host_name')
        ]
        return sorted(
            service['name'] for service in found if service['host_name'] == host
        )

    def result(self, service: str, host: str = 'bed') -> dict[str, Any]:
        """Have a service of the host checked now, and return what Icinga made of it."""
        began = time.time()
        path = f'/v1/objects/services/{host}!' + urllib.request.quote(service, safe='')
        self.asks(
            '/v1/actions/reschedule-check',
            {
                'type': 'Service',
                'filter': f'service.name=="{service}" && host.name=="{host}"',
                'force': True,
            },
        )

        def fresh() -> dict[str, Any] | None:
            found = self.asks(f'{path}?attrs=last_check_result')
            result: dict[str, Any] | None = found[0]['attrs']['last_check_result']
            return result if result and result['schedule_end'] >= began else None

        answer: dict[str, Any] = until(fresh, 60, f'the check of {service}')
        return answer

    def stands(self, service: str) -> tuple[str, int]:
        """Return whether a service's state is "soft" or "hard" yet, and at which attempt it is."""
        path = f'/v1/objects/services/bed!{service}'
        found = self.asks(f'{path}?attrs=state_type&attrs=check_attempt')[0]['attrs']
        return ('soft', 'hard')[int(found['state_type'])], int(found['check_attempt'])

    def evaluates(self, expression: str) -> Any:
        """Return what Icinga's own language makes of an expression."""
        return self.asks('/v1/console/execute-script', {'command': expression})[0][
            'result'
        ]


# --- NRPE and Nagios ------------------------------------------------------------------------------

NRPE = """\
server_address=127.0.0.1
server_port={port}
allowed_hosts=127.0.0.1
dont_blame_nrpe=0
command_timeout=60
connection_timeout=60
nrpe_user={user}
nrpe_group={group}
pid_file={folder}/nrpe.pid
log_file={folder}/nrpe.log
disable_syslog=1
include={folder}/commands.cfg
"""

NAGIOS = """\
log_file={folder}/nagios.log
cfg_file={folder}/commands.cfg
cfg_file={folder}/objects.cfg
object_cache_file={folder}/objects.cache
precached_object_file={folder}/objects.precache
status_file={folder}/status.dat
state_retention_file={folder}/retention.dat
status_update_interval=1
check_external_commands=1
command_file={folder}/nagios.cmd
query_socket={folder}/nagios.qh
lock_file={folder}/nagios.lock
temp_file={folder}/nagios.tmp
temp_path={folder}
check_result_path={folder}/results
service_check_timeout=60
enable_notifications=0
execute_host_checks=0
illegal_macro_output_chars=`~$&|'"<>
"""

OBJECTS = """\
define timeperiod {
	timeperiod_name	always
	alias	always
	monday	00:00-24:00
}
define command {
	command_name	alive
	command_line	/bin/true
}
define contact {
	contact_name	nobody
	service_notification_commands	alive
	host_notification_commands	alive
	service_notification_period	always
	host_notification_period	always
}
define host {
	host_name	bed
	contacts	nobody
	address	127.0.0.1
	check_command	alive
	max_check_attempts	1
	check_period	always
	notification_period	always
}
"""

SERVICE = """\
define service {{
	host_name	bed
	service_description	{name}
	contacts	nobody
	check_command	{command}
	max_check_attempts	1
	check_interval	60
	retry_interval	60
	check_period	always
	notification_period	always
	active_checks_enabled	0
}}
"""


class Nrpe:
    """One NRPE with our commands."""

    def __init__(self, ground: Ground, commands: str) -> None:
        self.ground = ground
        self.port = free_port()
        user, group = (
            (ground.user, 'nogroup')
            if ground.user
            else (str(os.getuid()), str(os.getgid()))
        )
        ground.place(
            'commands.cfg',
            commands.replace('/usr/lib/nagios/plugins', str(ground.plugins)),
        )
        ground.place(
            'nrpe.cfg',
            NRPE.format(port=self.port, folder=ground.folder, user=user, group=group),
        )
        ground.own()

    def start(self) -> None:
        self.ground.starts('nrpe', '-c', f'{self.ground.folder}/nrpe.cfg', '-f')
        until(self._answers, 20, 'NRPE')

    def _answers(self) -> bool:
        return self.asks().returncode == 0

    def asks(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                '/usr/lib/nagios/plugins/check_nrpe',
                '-H',
                '127.0.0.1',
                '-p',
                str(self.port),
                *arguments,
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
        )


class Nagios:
    """One Nagios 4 with our commands and the services given: name -> check_command."""

    def __init__(
        self, ground: Ground, commands: str, services: Mapping[str, str]
    ) -> None:
        self.ground = ground
        folder = ground.folder
        ground.place(
            'commands.cfg',
            commands.replace(
                '/usr/lib/nagios/plugins/check_smart', f'{ground.plugins}/check_smart'
            ),
        )
        ground.place(
            'objects.cfg',
            OBJECTS
            + ''.join(
                SERVICE.format(name=name, command=command)
                for name, command in services.items()
            ),
        )
        ground.place('nagios.cfg', NAGIOS.format(folder=folder))
        ground.own('results')

    def start(self) -> None:
        checked = self.ground.runs('nagios4', '-v', f'{self.ground.folder}/nagios.cfg')
        assert checked.returncode == 0, checked.stdout
        self.ground.starts('nagios4', f'{self.ground.folder}/nagios.cfg')
        until((self.ground.folder / 'nagios.cmd').exists, 20, 'Nagios')

    def result(self, service: str) -> dict[str, str]:
        """Have a service checked now, and return its block of status.dat."""
        return self.results([service])[0]

    def results(self, services: Sequence[str]) -> list[dict[str, str]]:
        """Have services checked now, all at once, and return their blocks of status.dat."""
        # Nagios tells the time of a check in whole seconds
        time.sleep(1.01 - time.time() % 1)
        began = int(time.time())
        with open(self.ground.folder / 'nagios.cmd', 'w') as commands:
            commands.writelines(
                f'[{began}] SCHEDULE_FORCED_SVC_CHECK;bed;{service};{began}\n'
                for service in services
            )
        return [
            until(
                lambda service=service: self._fresh(service, began),
                60,
                f'the check of {service}',
            )
            for service in services
        ]

    def _fresh(self, service: str, began: int) -> dict[str, str] | None:
        status = self.ground.folder / 'status.dat'
        for block in (status.read_text() if status.exists() else '').split(
            'servicestatus {'
        )[1:]:
            fields = dict(
                line.strip().split('=', 1)
                for line in block.partition('\t}')[0].splitlines()
                if '=' in line
            )
            if (
                fields.get('service_description') == service
                and int(fields.get('last_check', 0)) >= began
            ):
                return fields
        return None


def closing(things: Sequence[Any]) -> None:
    """Close all, the last one first, even if one of them fails."""
    try:
        if things:
            things[-1].close()
    finally:
        if things:
            closing(things[:-1])
