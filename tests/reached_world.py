"""What the command lines of tests/reached.txt find around them: one machine of its own for each block."""
from __future__ import annotations

import codecs
import gc
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import mock

import block_tree
import days
import picture
import smartctl_output
import sys_tree as tree
from conftest import ROOT, SHARED
from fake_smartctl import FakeSmartctl
from simulator import Machine

from smart_attributes import alarm, main
from smart_attributes.history import directory, smartd_log
from smart_attributes.reading import smartctl_calls
from smart_attributes.reading import system as linux
from smart_attributes.reading.smartctl_calls import SCAN, farm_arguments, read_arguments
from smart_attributes.redundancy import controllers

SUDO = """#!/bin/sh
case "$*" in
    "-n -ll"*) cat {tmp}/listed;;
    "-n -l"*) cat {tmp}/said >&2; exit $(cat {tmp}/refuses);;
    --version) echo "Sudo version 1.9.13p3";;
    *) cat {tmp}/said >&2; [ $(cat {tmp}/refuses) = 0 ] || exit 1; shift; exec "$@";;
esac
"""
for _, _name, _ in pkgutil.walk_packages([str(ROOT / 'smart_attributes')], 'smart_attributes.'):
    importlib.import_module(_name)    # all are loaded once for all blocks
for _name in ('ascii', 'idna', 'latin-1', 'unicode_escape'):
    codecs.lookup(_name)    # which another user may not be able to load
LIMIT = 60    # seconds for a command line
STARTED = '{python} -I {root}/check_smart_attributes'


class World:
    """A block's folder, machine and clock. Its lines use what stands here by name.

    A line is a command line of the program; with "! " in front, one for the shell; with "@ ", Python, to build the
    machine. {name} is replaced by a value of *values*.
    """

    def __init__(self, folder: Path) -> None:
        self.tmp = folder
        for name in ('state', 'etc', 'ack'):
            (folder / name).mkdir()
        self.values = {'tmp': str(folder), 'root': str(ROOT), 'tests': str(ROOT / 'tests'), 'python': sys.executable,
                       'reports': str(ROOT / 'tests/reports'), 'corpus': str(SHARED / 'corpus'),
                       'plugin': STARTED.format(python=sys.executable, root=ROOT)}
        self._offset, self._real = 0.0, time.time
        self.is_apart = False     # install changes a folder of its own
        sys.argv[0] = str(ROOT / 'check_smart_attributes')    # doctor starts it
        os.environ['XDG_STATE_HOME'] = str(folder / 'home')

    # --- what a line may build ---------------------------------------------------------

    def do(self, line: str) -> None:
        """Do what a line says."""
        for name, value in self.values.items():
            line = line.replace('{' + name + '}', value)
        kind, rest = line[:2], line[2:]
        if kind == '@ ':
            names = {name: getattr(self, name) for name in re.findall(r'[a-z_]+', rest) if hasattr(type(self), name)}
            exec(rest, {**globals(), **names, 'world': self, 'tmp': self.tmp})
        elif kind == '! ':
            self.shell(rest)
        else:
            words = shlex.split(line)
            if '>' in words:
                self.file(os.path.relpath(words.pop(), self.tmp), self.run(*words[:-1]))
            else:
                self.run(*words)

    def run(self, *words: str) -> str:
        """Run the program in this process; return what it prints."""
        printed, later = io.StringIO(), []  # type: io.StringIO, list[Callable[[], object]]
        if words[:1] == ('install',) and not self.is_apart:
            raise RuntimeError('this would change the host that runs the line')
        with mock.patch.object(sys, 'stdout', printed), mock.patch.object(sys, 'stderr', printed), \
                mock.patch.dict(os.environ, {**days.environment(), 'LC_ALL': 'C.UTF-8',
                                             'PATH': smartctl_calls.ENVIRONMENT['PATH']}):
            code = main.run(list(words), later)
            for work in later:
                work()
        alarm.disarm()
        gc.enable()
        self.printed(words, code, printed.getvalue())
        return printed.getvalue()

    def shell(self, line: str) -> None:
        """Run a line of the shell; a program that it starts is watched, too."""
        done = subprocess.run(['sh', '-c', line], cwd=self.tmp, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT, check=False)
        self.printed([line], done.returncode, done.stdout.decode(errors='replace'))

    @staticmethod
    def printed(words: Any, code: int, text: str) -> None:
        """Show what a line did, to who writes one."""
        if 'REACHED_SHOW' in os.environ:
            print('$', *words, f'-> {code}\n{text}', file=sys.__stdout__, flush=True)

    def later(self, **how: float) -> None:
        """Move the clock: days=3, hours=1."""
        self._offset += how.get('days', 0) * 86400 + how.get('hours', 0) * 3600
        time.time = lambda: self._real() + self._offset  # type: ignore[assignment]

    def file(self, name: str, content: Any) -> str:
        """Write a file of the block's folder: a text, or a document."""
        path = self.tmp / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def forked(self, *words: str) -> None:
        """Run the program in a process of its own, which may become another user."""
        if os.fork() == 0:
            try:
                self.run(*words)
            finally:
                os._exit(0)
        os.wait()

    def terminal(self, columns: int, *words: str) -> None:
        """Run triage on a terminal."""
        self.printed(words, 0, picture.printed(columns, words, COVERAGE_PROCESS_START=os.environ.get(
            'COVERAGE_PROCESS_START', '')))

    @cached_property
    def blocks(self) -> block_tree.Machine:
        """A tree of /sys and /proc that the program takes for this machine's."""
        made = block_tree.Machine(self.tmp / 'linux')
        (made.sys / 'class').mkdir(exist_ok=True)
        (made.sys / 'class/block').symlink_to(made.sys / 'block')
        linux.ROOT = str(self.tmp / 'linux')
        self.use(made.system)
        return made

    @staticmethod
    def use(system: linux.System) -> None:
        """Let the program look there for /sys, /proc and udev."""
        old = linux.LINUX
        for module in [each for name, each in sys.modules.items() if name.startswith('smart_attributes.')]:
            for _, function in inspect.getmembers(module, inspect.isfunction):
                function.__defaults__ = tuple(system if value is old else value
                                              for value in function.__defaults__ or ()) or None
            if getattr(module, 'LINUX', None) is old:
                module.LINUX = system  # type: ignore[attr-defined]

    @cached_property
    def machine(self) -> Machine:
        """A machine of simulated drives, for the real smartctl."""
        made = Machine(self.tmp / 'machine')
        self.values['smartctl'] = made.smartctl
        return made

    @cached_property
    def fake(self) -> FakeSmartctl:
        """A stand-in for smartctl."""
        made = FakeSmartctl(self.tmp / 'fake')
        self.values['fake'] = made.path
        self.told: dict[tuple[str, ...], Any] = {('--version',): {
            'output': 'smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n'}}
        return made

    def answers(self, arguments: Sequence[str], **how: Any) -> None:
        """Let the stand-in answer so, whatever it answered before."""
        stand_in = self.fake
        self.told[tuple(arguments)] = how
        stand_in._cases.clear()
        for words, each in self.told.items():
            stand_in.answers(words, **each)

    def holds(self, **drives: Any) -> None:
        """Let the stand-in answer for drives: sda=a report's name, a document, or days.disk(a5=3)."""
        for name, told in drives.items():
            if isinstance(told, str):
                told = json.loads((ROOT / f'tests/reports/{told}.json').read_bytes())
            self.answers(read_arguments(f'/dev/{name}'), output=json.dumps(told),
                         status=told.get('smartctl', {}).get('exit_status', 0))

    def scans(self, *names: str) -> None:
        """Let the stand-in find drives."""
        self.answers(SCAN, output=json.dumps({
            'json_format_version': [1, 0],
            'smartctl': {'version': [7, 3], 'argv': ['smartctl', '--json=c', '--scan'], 'exit_status': 0},
            'devices': [{'name': f'/dev/{name}', 'info_name': name, 'type': 'nvme' if 'nvme' in name else 'scsi',
                         'protocol': 'NVMe' if 'nvme' in name else 'SCSI'} for name in names]}))

    @cached_property
    def smartd(self) -> days.Machine:
        """A machine with smartd's logs."""
        (self.tmp / 'days').mkdir()
        return days.Machine(self.tmp / 'days')

    @staticmethod
    def worn(used: int) -> Any:
        """Return the report of an SSD that is worn by so many percent."""
        report = json.loads((ROOT / 'tests/reports/intel-worn.json').read_text())
        for row in report['ata_smart_attributes']['table']:
            if row['id'] == 233:
                row['value'] = 100 - used
        report.pop('ata_device_statistics', None)
        return report

    @staticmethod
    def pool(name: str) -> str:
        """Return a recorded output of zpool status, without its source."""
        text = (ROOT / f'tests/pools/{name}.txt').read_text()
        return ''.join(line for line in text.splitlines(keepends=True) if not line.startswith('#'))

    def packed_logs(self) -> None:
        """Pack smartd's logs as logrotate does, ."""
        import gzip
        for path in sorted(self.smartd.logs.glob('*.csv')):
            path.with_name(f'{path.name}.1').write_bytes(gzip.compress(path.read_bytes()))

    def controllers(self) -> list[tuple[str, str]]:
        """Return the tool and the name of each recorded output of a RAID controller."""
        index = json.loads((ROOT / 'tests/controllers/index.json').read_text())
        return [('storcli64' if each['tool'] == 'storcli' else each['tool'], name) for name, each in index.items()]

    def programs(self) -> None:
        """Let zpool, dmsetup and the tools of controllers be those of the folder bin."""
        for path in (self.tmp / 'bin').iterdir():
            path.chmod(0o755)
        linux.output.__defaults__ = str(self.tmp / 'bin'), 5.0
        controllers.FOLDERS = str(self.tmp / 'bin')

    def taken(self, root: Path) -> None:
        """Let the program take a folder for /."""
        linux.ROOT = str(root)
        self.use(linux.System(*(str(root / name) for name in ('sys', 'proc', 'udev'))))

    wrong_limits = ('{}', '[]', '{"metrics": {"pending": {"warning": "x"}}}', '{"metrics": {"nonsense": {}}}',
                    '{"overrides": [{"for": {"serial": "X"}, "metrics": {"pending": {"critical": "5"}}}]}',
                    '{"overrides": [{"for": {"serial": "X"}, "why": "y", "until": "2001-01-01", "metrics": {}}]}',
                    '{"overrides": [{"for": {"nonsense": "X"}, "why": "y"}]}', '{"metrics": {}, "metrics": {}}',
                    '{"metrics": {"pending": {"warning": NaN}}}', '{"metrics": {"pending": {"warnign": "5"}}}',
                    '{"metrics": 5}', '{"metrics": {"pending": {"warning": {"drive": "x"}}}}')
    wrong_entries = ('{}', '[]', '{"entries": [{"family": "A"}]}', json.dumps({'entries': [
        {'family': 'A', 'models': ['ABCD['], 'source': 'x', 'attributes': {}}]}), json.dumps({'entries': [
            {'family': 'A', 'models': ['.*'], 'source': 'x', 'attributes': {'5': {'name': 'X', 'readings': {
                'endurance_used': {'from': '100 - normalised'}}}}}]}), json.dumps({'entries': [
                    {'family': 'A', 'models': ['ACME [X9].*'], 'sourec': 'x', 'attributes': {
                        '5': {'name': 'X', 'readings': {'endurance_usde': {'from': '100-value'}}}}}]}))

    def version_1_6(self) -> None:
        """Write a database and a user configuration of version 1.6, and three drives."""
        from test_v1_6_files import database, entry, users
        self.holds(sda='intel-s3500-healthy', sdb='intel-worn')
        for slot in range(7):
            self.fake.answers(read_arguments('/dev/sda', f'sat+megaraid,{slot}'),
                              (ROOT / 'tests/reports/intel-worn.json').read_bytes())
        database(self.tmp / 'old.json', Mine=entry({'233': ['20:', '10:'], '5': ['3', '10'], '1024': ['0', '10'],
                                                    '175': ['100:', '100:'], '12': ['1', 'x']}),
                 Other=entry({'230': ['85', '95', 'r8']}, models=['ACME X9 240GB'], items={230: 'RAW_VALUE'}))
        users(self.tmp / 'user.json', {'/dev/sda': {'Threshs': {'233': ['35:', '30:'], '241': ['1', '2']}},
                                       '/dev/megaraid6': {'Threshs': {'5': ['1', '2']}}})

    def icinga(self) -> None:
        """Start an API that answers as Icinga 2 does."""
        from test_fleet_answers import Fake, service, told
        self.api = Fake(self.tmp)
        self.values['icinga'] = ' '.join(self.api.arguments)
        self.api.answer = lambda question: (200, told(service('db1'), service('db2', last_check_result=None),
                                                      service('db3', check_interval='x')))

    def icinga_answers(self) -> None:
        """Ask it for a fleet while it answers in other ways."""
        for answer in ((200, b'<html>'), (200, b'{"results": {}}'), (401, b''), (403, b'{}'), (404, b'{}'),
                       (500, b'{"status": "x"}'), (302, b''), None, (200, b'[' * 100000)):
            self.api.answer = lambda question, answer=answer: answer
            self.run('fleet', *self.api.arguments)

    @staticmethod
    def without(*names: str) -> None:
        """Take away Python packages."""
        for name in [*sys.modules]:
            if name.partition('.')[0] in names:
                del sys.modules[name]
        sys.modules.update(dict.fromkeys(names))  # type: ignore[arg-type]

    def vendor_log(self, **numbers: tuple[int, int]) -> None:
        """Let an NVMe drive of a model whose log is known answer with a page."""
        from simulator import read
        from test_vendor_logs import HEALTHY, MODEL, page
        if not (self.tmp / 'machine').exists():
            self.drive = self.machine.add('/dev/nvme0', read('nvme-samsung-healthy')._replace(model=MODEL))
        (self.drive / 'log-c0').write_bytes(page(**{**HEALTHY, **numbers}))

    def farm(self) -> None:
        """Let a disk of Seagate tell its log."""
        document = json.loads((ROOT / 'tests/farm/sata.json').read_text())
        self.answers(farm_arguments('/dev/sda'), output=json.dumps(
            {key: document[key] for key in ('seagate_farm_log', 'smartctl', 'device')}))
        self.holds(sda={key: value for key, value in document.items() if key != 'seagate_farm_log'})
        self.holds(sdb='seagate-exos-failing')

    def monitored(self) -> None:
        """Put sudo, sudoers files and the configuration of daemons where doctor looks for them."""
        from test_doctor import DAEMONS, LISTED, SERVICE

        from smart_attributes.doctor import daemons, sudo_reports
        for name, (configured, _) in DAEMONS.items():
            for path, text in configured.items():
                self.file(f'hosts/{name}/{path}', text)
        self.hosts = sorted((self.tmp / 'hosts').iterdir())
        self.file('bin/sudo', SUDO.format(tmp=self.tmp))
        self.file('bin/visudo', '#!/bin/sh\ncat "$(dirname $0)/../checked"; exit $(cat "$(dirname $0)/../invalid")\n')
        for path in (self.tmp / 'bin').iterdir():
            path.chmod(0o755)
        for path in (self.tmp, self.tmp.parent, self.tmp.parent.parent):
            path.chmod(0o755)
        for name, text in {'listed': LISTED, 'refuses': '0', 'said': '', 'checked': 'parsed OK',
                           'invalid': '0'}.items():
            self.file(name, text)
        smartctl_calls.ENVIRONMENT['PATH'] = f'{self.tmp}/bin:/usr/bin:/bin'
        self.file('etc/sudoers', '@includedir ' + str(self.tmp / 'etc/sudoers.d'))
        set_all(sudo_reports, VISUDO=(f'{self.tmp}/bin/visudo',), SUDOERS=f'{self.tmp}/etc/sudoers',
                FOLDER=f'{self.tmp}/etc/sudoers.d')
        self.file('etc/sudoers.d/x', f'nobody ALL=(root) NOPASSWD: {self.fake.path} ^--json=c --scan$')
        self.daemons, self.root = daemons, '/'
        self.file('host/etc/nagios/nrpe.cfg', 'command_timeout=30\n' + ''.join(
            f'command[smart{number}]={line}\n' for number, line in enumerate((
                f'{ROOT}/check_smart_attributes -d /dev/sda', '/absent/check_smart_attributes -d /dev/sdb -t 90',
                f'sudo {ROOT}/check_smart_attributes $ARG1$', f'{ROOT}/check_smart_attributes --nonsense',
                f'{ROOT}/check_smart_attributes "', f'{ROOT}/check_smart_attributes --scan | cat'))))
        self.file('host/etc/icinga2/conf.d/s.conf', SERVICE.format('check_timeout = 30s'))
        self.file('host/etc/nagios4/nagios.cfg', 'service_check_timeout=40\n')
        self.on(self.tmp / 'host')

    def on(self, root: Path) -> None:
        """Let doctor read the configuration of daemons below a folder."""
        for _, function in inspect.getmembers(self.daemons, inspect.isfunction):
            function.__defaults__ = tuple(
                str(root) if value in ('/', self.root) else value for value in function.__defaults__ or ()) or None
        self.root = str(root)

    def sudo(self, said: str, refuses: int = 1) -> None:
        """Let sudo refuse, and say why."""
        self.file('said', said)
        self.file('refuses', str(refuses))

    def diagnoses(self, *words: str) -> None:
        """Run doctor for the user nobody."""
        self.forked('doctor', '--user', 'nobody', '-p', self.fake.path, '--state-dir', str(self.tmp / 'state'), *words)

    def fleet_of_outputs(self) -> None:
        """Let the API tell what checks printed: each file of the folder outputs is one."""
        from test_fleet_answers import service, told
        found = []
        for path in sorted((self.tmp / 'outputs').iterdir()):
            text, _, values = path.read_text().rpartition('| ')
            found.append(service(path.name, last_check_result={
                'state': 2, 'output': text, 'performance_data': values.split(), 'execution_end': time.time()}))
        self.api.answer = lambda question: (200, told(*found))

    def installs(self) -> None:
        """Let the program install itself below a folder."""
        from smart_attributes.doctor import installed
        from smart_attributes.installation import disk, host
        root = self.tmp / 'host'
        for name in ('etc/sudoers.d', 'etc/icinga2', 'etc/nagios', 'usr/lib/nagios/plugins', 'var/lib',
                     'usr/local/bin'):
            (root / name).mkdir(parents=True)
        assert disk.Disk.__init__.__defaults__ == ('/',)
        disk.Disk.__init__.__defaults__ = (str(root),)
        self.is_apart = disk.Disk()._root == str(root)
        installed.ROOT = str(root)
        host.USERS = ('nobody', 'games')


def set_all(module: Any, **values: Any) -> None:
    """Replace values of a module."""
    for name, value in values.items():
        getattr(module, name)
        setattr(module, name, value)


__all__ = ['Path', 'directory', 'signal', 'smartctl_output', 'smartd_log', 'tree']
