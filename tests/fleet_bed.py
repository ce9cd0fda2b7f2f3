"""An Icinga 2 that knows many hosts, each with the plugin's own words about two dozen drives."""

from __future__ import annotations

import base64
import http.client
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from conftest import ROOT, run
from daemons import Ground, Icinga

USER, PASSWORD = 'fleet', 'of example hosts'
DRIVES = 24
HEALTHY = (
    'intel-s3500-healthy',
    'micron-5200-healthy',
    'samsung-pm983-healthy',
    'seagate-sas-healthy',
    'wd-gold-healthy',
)
SICK = (
    'hgst-failed',
    'intel-worn',
    'samsung-worn-out',
    'seagate-exos-failing',
    'nvme-worn',
    'no-name-ssd',
)
CONFIGURATION = """
object ApiUser "{user}" {{
	password = "{password}"
	permissions = [ "objects/query/Service" ]
}}
object ApiUser "of-hosts" {{
	password = "{password}"
	permissions = [ "objects/query/Service", "objects/query/Host" ]
}}
object ApiUser "stranger" {{
	password = "{password}"
	permissions = [ "status/query" ]
}}
object CheckCommand "nrpe-smart" {{
	command = [ "/bin/false" ]
}}
"""
HOST = """
object Host "{name}" {{
	check_command = "dummy"
	enable_active_checks = false
}}
"""
SERVICE = """
object Service "{name}" {{
	host_name = "{host}"
	check_command = "{command}"
	enable_active_checks = {active}
	check_interval = 5m
	retry_interval = 5m
	max_check_attempts = 1
}}
"""


class Output(NamedTuple):
    """What a check printed, as a daemon keeps it."""

    state: int
    text: str
    values: tuple[str, ...]


def checked(reports: Sequence[str], *arguments: str) -> Output:
    """Return what the plugin says of recorded drives that are called sda, sdb, ..."""
    with tempfile.TemporaryDirectory(prefix='csa-fleet-') as folder:
        for number, name in enumerate(reports):
            [report] = (ROOT / 'tests/reports').glob(f'{name}.*')
            letters = chr(97 + number // 26 - 1) * (number >= 26) + chr(
                97 + number % 26
            )
            text = report.read_text()
            for serial in set(re.findall(r'EXAMPLE\d{4}', text)):
                text = text.replace(serial, f'EXAMPLE{number:02}00000')
            (Path(folder) / f'sd{letters}{report.suffix}').write_text(text)
        done = run('--report', folder, *arguments)
    text, _, values = done.text.partition('\n| ')
    return Output(done.code, text, tuple(values.split()))


def outputs() -> list[Output]:
    """Return what hosts say: most are well, each tenth has drives that are not."""
    well = [HEALTHY[number % len(HEALTHY)] for number in range(DRIVES)]
    sick = [*well[:-3], *SICK]
    return [checked(well)] * 9 + [checked(sick[-DRIVES:])]


def of_host(output: Output, number: int) -> Output:
    """Return the same with serial numbers and numbers of its own."""
    values = tuple(
        re.sub(r'=(\d{6,})', lambda found: f'={int(found[1]) + 3600 * number}', value)
        for value in output.values
    )
    return Output(
        output.state,
        re.sub(r'EXAMPLE(\d\d)00000', rf'EXAMPLE\g<1>{number:05}', output.text),
        values,
    )


def host(number: int) -> str:
    return f'db{number:05}.example.org'


def configuration(hosts: int) -> str:
    return CONFIGURATION.format(user=USER, password=PASSWORD) + ''.join(
        HOST.format(name=host(number)) + service(host(number))
        for number in range(hosts)
    )


def service(
    of: str,
    name: str = 'smart',
    command: str = 'check-smart-attributes',
    active: str = 'false',
) -> str:
    return SERVICE.format(name=name, host=of, command=command, active=active)


class Bed:
    """The daemon with its hosts."""

    def __init__(self, hosts: int, more: str = '') -> None:
        self.ground, self.hosts = Ground(), hosts
        try:
            self.icinga = Icinga(
                self.ground,
                {
                    'check.conf': (
                        ROOT / 'contrib/icinga2/check-smart-attributes.conf'
                    ).read_text(),
                    'fleet.conf': configuration(hosts) + more,
                },
            )
            self.icinga.start()
        except BaseException:
            self.ground.close()
            raise
        # the daemon's belongs to the daemon
        self.folder = Path(tempfile.mkdtemp(prefix='csa-fleet-'))
        self.password = self.secret('fleet.password', PASSWORD)

    def secret(self, name: str, text: str, mode: int = 0o600) -> Path:
        path = self.folder / name
        path.write_text(f'{text}\n')
        path.chmod(mode)
        return path

    def fill(self) -> None:
        """Give each host's service its result."""
        kinds = outputs()
        self.submit(
            (host(number), 'smart', of_host(kinds[number % len(kinds)], number))
            for number in range(self.hosts)
        )

    def submit(self, results: Any, ended: float | None = None) -> None:
        """Send results of checks, over one connection."""
        trust = self.icinga._trust
        connection = http.client.HTTPSConnection(
            '127.0.0.1', self.icinga.port, context=trust, timeout=60
        )
        login = base64.b64encode(f'root:{self.icinga.password}'.encode()).decode()
        for name, of, output in results:
            body: dict[str, Any] = {
                'type': 'Service',
                'service': f'{name}!{of}',
                'exit_status': output.state,
                'plugin_output': output.text,
                'performance_data': list(output.values),
            }
            if ended is not None:
                body.update(execution_start=ended - 1, execution_end=ended)
            connection.request(
                'POST',
                '/v1/actions/process-check-result',
                json.dumps(body),
                {'Accept': 'application/json', 'Authorization': f'Basic {login}'},
            )
            answer = connection.getresponse()
            said = answer.read()
            assert answer.status == 200, said
        connection.close()

    @property
    def arguments(self) -> list[str]:
        """Return the options that lead to it."""
        return [
            '--icinga',
            f'https://127.0.0.1:{self.icinga.port}',
            '--icinga-name',
            'bed',
            '--user',
            USER,
            '--password-file',
            str(self.password),
            '--ca',
            str(self.ground.folder / 'data/ca/ca.crt'),
        ]

    def close(self) -> None:
        shutil.rmtree(self.folder)
        self.ground.close()


class Cost(NamedTuple):
    """What a run took."""

    code: int
    text: str
    seconds: float
    megabytes: float  # of history at most
    cpu: float  # seconds of its own, whatever else the machine does


def measured(*arguments: str) -> Cost:
    """Run `fleet` as a user does, and measure it."""
    code = (
        'import os, resource, sys\n'
        'status = os.waitpid(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)[1]\n'
        'used = resource.getrusage(resource.RUSAGE_CHILDREN)\n'
        'print(f"\\n{os.waitstatus_to_exitcode(status)} {used.ru_maxrss} {used.ru_utime + '
        'used.ru_stime}")'
    )
    began = time.monotonic()
    done = subprocess.run(
        [
            sys.executable,
            '-ISc',
            code,
            sys.executable,
            '-I',
            str(ROOT / 'check_smart_attributes'),
            'fleet',
            *arguments,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
    )
    took = time.monotonic() - began
    text, _, last = done.stdout.decode().rstrip().rpartition('\n')
    status, kilobytes, cpu = last.split()
    return Cost(int(status), text, took, int(kilobytes) / 1000, float(cpu))
