"""A whole machine for `doctor`: this one below an overlay, in namespaces of its own, with our program installed
by "make install", real sudo, and Debian's Icinga 2, Nagios 4 and NRPE with their own configuration.

Whatever is broken or started there is gone with its process; the machine that runs the tests never sees it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import abilities
from conftest import ROOT, drive
from daemons import ABSENT
from fake_smartctl import FakeSmartctl

from smart_attributes.reading.smartctl_calls import SCAN, read_arguments

PROGRAMS = (
    'unshare',
    'nsenter',
    'ip',
    'make',
    'sudo',
    'curl',
    'jq',
    'icinga2',
    'nagios4',
    'nrpe',
)
DRIVES = {'/dev/sda': 'intel-s3500-healthy', '/dev/sdb': 'micron-5200-healthy'}
ENVIRONMENT = (
    'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    'LC_ALL=C',
    'HOME=/root',
    f'CLONE={ROOT}',
)
PLUGIN = '/usr/lib/nagios/plugins/check_smart_attributes'
# What systemd and apt do, where they are not: Debian's scripts of the services, and files of the layer below.
UNITS = {'nrpe': 'nagios-nrpe-server', 'icinga': 'icinga2', 'nagios': 'nagios4'}
# in tests/bed
TOOLS = ('systemctl', 'apt', 'nrpe-state', 'icinga-state', 'nagios-state')
# An overlay on a tmpfs; its processes see only its network and its processes.
MACHINE = """
mkdir -p "$0/work"; mount -t tmpfs tmpfs "$0/work"; mkdir "$0/work/upper" "$0/work/own" "$0/work/root"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$0/work/upper,workdir=$0/work/own" "$0/work/root"
cd "$0/work/root"; mount --rbind /dev dev; mount -t proc proc proc; mount --rbind /sys sys
mkdir -p run/icinga2 run/nagios; chown nagios: run/icinga2 run/nagios; ip link set lo up
echo $$; exec chroot . bash -c 'while :; do sleep 3600; done'
"""


def lacking() -> str:
    """Return what this machine lacks for a bed, '' if nothing."""
    if not abilities.IS_ROOT:
        return 'only root can mount an overlay'
    return abilities.without(*PROGRAMS)


class Bed:
    """One machine; *below* is the machine whose files it starts with."""

    def __init__(self, below: Bed | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix='csa-bed-', dir='/var/tmp'))
        self.folder.chmod(0o755)
        around = below.entering(is_inside=False) if below else []
        lower = f'{below.folder}/work/upper:/' if below else '/'
        self._holder = subprocess.Popen(
            [
                *around,
                *[
                    'unshare',
                    '--mount',
                    '--net',
                    '--pid',
                    '--fork',
                    '--kill-child',
                    '--propagation',
                    'private',
                ],
                *('sh', '-ec', MACHINE, str(self.folder), lower),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout and self._holder.stdout.readline() == '1\n'
        children = Path(f'/proc/{self._holder.pid}/task/{self._holder.pid}/children')
        self._pid = children.read_text().split()[0]

    def entering(self, is_inside: bool = True) -> list[str]:
        """Return the command that another command gets, to run in this machine."""
        if not is_inside:
            return ['nsenter', '--mount', f'--target={self._pid}']
        words = ['nsenter', '--mount', '--net', '--pid', f'--target={self._pid}']
        return [*words, 'chroot', f'{self.folder}/work/root']

    def run(
        self, command: str, is_checked: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of root's shell there."""
        done = subprocess.run(
            [
                *self.entering(),
                'env',
                '-i',
                *ENVIRONMENT,
                'sh',
                '-c',
                f'cd /root; {command}',
            ],
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )
        assert done.returncode == 0 or not is_checked, (command, done.stdout)
        return done

    def install(self) -> None:
        """Install everything; all is well afterwards."""
        for name in TOOLS:
            self.run(f'install -m 755 {ROOT}/tests/bed/{name} /usr/bin/{name}')
        self.has({path: drive(report) for path, report in DRIVES.items()})
        self.run(f'sh {ROOT}/tests/bed/install')

    def has(self, reports: Mapping[str, str | bytes]) -> None:
        """Give it the drives of these paths, with what smartctl says about them."""
        fake = FakeSmartctl(self.folder / 'fake')
        for path, report in reports.items():
            fake.answers(read_arguments(path), report)
        fake.answers(
            read_arguments('/dev/sdz'), ABSENT.replace('/dev/sdd', '/dev/sdz'), 2
        )
        devices = [{'name': path, 'type': 'scsi'} for path in reports]
        found = {
            'smartctl': {'argv': ['smartctl', *SCAN], 'exit_status': 0},
            'devices': devices,
        }
        fake.answers(SCAN, json.dumps(found))
        fake.answers(
            '--version',
            'smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)',
        )
        script = (
            Path(fake.path).read_text().replace(f'echo "$$ $*" >>{fake._calls}\n', '')
        )
        self.run('mkdir -p /usr/lib/fake')
        for path in fake.folder.glob('output-*'):
            self.write(f'/usr/lib/fake/{path.name}', path.read_text(), 0o644)
        self.run('rm -f /usr/sbin/smartctl')
        self.write(
            '/usr/sbin/smartctl',
            script.replace(str(fake.folder), '/usr/lib/fake'),
            0o755,
        )

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        command = ['sh', '-ec', f'umask 077; cat >"$0"; chmod {mode:o} "$0"', path]
        subprocess.run([*self.entering(), *command], input=text, text=True, check=True)

    def doctor(self, *more: str, user: str = 'nagios') -> dict[str, Any]:
        """Return the JSON document of doctor there."""
        named = ['--user', user] if user else []
        words = ' '.join(['doctor --json', *named, *more])
        # a Python that is gone: the shell says so, and an admin starts the file with another one
        other = f'python3 -IS {PLUGIN} {words}'
        command = f'cd /; check_smart_attributes {words} || [ $? -lt 126 ] || {other}'
        printed = self.run(command, is_checked=False).stdout
        printed = printed[max(printed.find('{'), 0) :]
        try:
            document: dict[str, Any] = json.loads(printed)
        except ValueError:
            raise AssertionError(printed) from None
        return document

    def restart(self, daemon: str) -> None:
        """Restart a daemon; it does not start with a configuration that it refuses."""
        self.run(f'systemctl restart {UNITS[daemon]}', is_checked=False)

    def state(self, daemon: str, service: str = '') -> tuple[int, str]:
        """Return the state and the output of the check of a daemon that runs.

        service: for Nagios, HOST;SERVICE if it is not that of tests/bed/install
        """
        if daemon != 'nrpe':
            code, _, output = self.run(f"{daemon}-state '{service}'").stdout.partition(
                ' '
            )
            return int(code or 3), output
        done = self.run('nrpe-state', is_checked=False)
        return done.returncode, done.stdout.strip()

    def close(self) -> None:
        self._holder.kill()
        self._holder.wait()
        shutil.rmtree(self.folder)
