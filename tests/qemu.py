"""QEMU without KVM: a machine of emulated controllers and drives, which is given commands and loses
drives.

Commands go to the agent in the guest (tests/guest/agent), drives are pulled and
plugged through QMP; both are lines of JSON through sockets.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chroots import kept, unpacked
from conftest import Result
from daemons import until
from guests import Guest

QEMU = 'qemu-system-x86_64'
BOOT_SECONDS = 1200
# Nobody attacks the guest. While many others use the processor, the kernel does not give up because
# its timer is late, nor systemd because a service is.
FAST = 'no_timer_check mitigations=off audit=0 apparmor=0 systemd.default_timeout_start_sec=1200'
ANSWER_SECONDS = 60
PATIENCE = 600  # seconds for a command that succeeds, however busy the machine is
# Runs a command in another Debian. $0: its root directory, $1: a folder to mount there at the same
# path.
ELSEWHERE = (
    'mkdir -p "$0$1" && mount --bind "$1" "$0$1" && shift && exec chroot "$0" "$@"'
)
BOOT_ID = '/proc/sys/kernel/random/boot_id'
# What the monitor wants as a number, though the command line is all text.
NUMBERS = ('wwn', 'scsi-id', 'smart_critical_warning')


class Line:
    """Requests and answers, a line of JSON each."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        until(
            lambda: self.socket.connect_ex(str(path)) == 0,
            30,
            f'QEMU listens at {path.name}',
        )
        self.file = self.socket.makefile('rw', encoding='utf-8')

    def asks(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        self.socket.settimeout(seconds)
        self.file.write(json.dumps(request) + '\n')
        self.file.flush()
        return self.reads()

    def reads(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.file.readline())
        return answer


class Machine:
    """A running guest."""

    def __init__(
        self,
        guest: Guest,
        devices: Sequence[str],
        folder: Path,
        elsewhere: Sequence[str] = (),
    ) -> None:
        """Start QEMU. elsewhere: words of qemu_of(), to start that of another Debian."""
        self.folder = folder
        self.arguments = [*elsewhere, *command(guest, folder), *devices]
        self.process = subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL)
        try:
            self.monitor = Line(folder / 'monitor')
            self.monitor.reads()
            self.controls('qmp_capabilities')
            self.agent = Line(folder / 'agent')
            self.agent.asks(request(['true'], 60), BOOT_SECONDS)
        except BaseException:
            self.ends()
            raise

    def runs(self, *argv: str, user: str = '', seconds: float = 120) -> Result:
        """Run a command in the guest; one that takes longer is ended, with the code -1."""
        as_user = ['runuser', '-u', user, '--'] if user else []
        return Result(
            **self.agent.asks(
                request([*as_user, *argv], seconds), seconds + ANSWER_SECONDS
            )
        )

    def does(self, *argv: str) -> str:
        """Run a command that must succeed; return what it prints."""
        done = self.runs(*argv, seconds=PATIENCE)
        assert done.code == 0, f'{argv}: {done.text}'
        return done.text

    def shell(self, script: str) -> str:
        """Run a script that must succeed; return what it prints."""
        return self.does('sh', '-ec', script)

    def starts(self, script: str) -> None:
        """Start a script and do not wait for it."""
        self.agent.asks(
            request(['sh', '-c', script], 0, background=True), ANSWER_SECONDS
        )

    def reboots(self) -> None:
        """Restart the guest as an admin does; its disk keeps what was written until QEMU ends."""
        boot = self.does('cat', BOOT_ID)
        self.starts('systemctl reboot')
        self.monitor.socket.settimeout(BOOT_SECONDS)
        while self.monitor.reads().get('event') != 'RESET':
            pass
        self.agent.asks(request(['true'], 60), BOOT_SECONDS)
        assert self.does('cat', BOOT_ID) != boot

    def controls(self, what: str, **arguments: object) -> object:
        """Give QEMU an order and return its answer; what it tells of itself meanwhile is passed
        over.
        """
        answer = self.monitor.asks(
            {'execute': what, 'arguments': arguments}, ANSWER_SECONDS
        )
        while 'event' in answer:
            answer = self.monitor.reads()
        assert 'return' in answer, f'{what} {arguments}: {answer}'
        return answer['return']

    def saves(self, name: str) -> None:
        """Save the memory and all disks of the running guest under a name."""
        self.snapshot(f'savevm {name}')

    def restores(self, name: str) -> None:
        """Continue from what was saved under a name."""
        self.snapshot(f'loadvm {name}')

    def snapshot(self, line: str) -> None:
        answer = self.controls('human-monitor-command', **{'command-line': line})
        assert answer == '', f'{line}: {answer}'

    def plugs(self, name: str) -> None:
        """Plug a drive in again that was pulled."""
        self.controls('device_add', **again(self.arguments, name))

    def cpu_seconds(self) -> float:
        """Return what QEMU has cost until now."""
        fields = (
            Path(f'/proc/{self.process.pid}/stat')
            .read_text()
            .rpartition(')')[2]
            .split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def ends(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def request(
    argv: Sequence[str], seconds: float, background: bool = False
) -> dict[str, Any]:
    return {'argv': list(argv), 'seconds': seconds, 'background': background}


def again(arguments: Sequence[str], name: str) -> dict[str, object]:
    """Return what QEMU was told of a device at its start, as the monitor takes it."""
    words = next(word for word in arguments if word.endswith(f',id={name}')).split(',')
    values: dict[str, object] = dict(word.split('=', 1) for word in words[1:])
    return {
        'driver': words[0],
        **{
            key: int(value, 0) if key in NUMBERS else value
            for key, value in values.items()
        },
    }


def qemu_of(suite: str, folder: Path) -> list[str]:
    """Return the words to put before a command, so that it runs in a Debian that has QEMU and sees
    *folder*.

    The file system of this Debian is made in *folder*; the first time, it is downloaded.
    """
    root = folder / 'qemu'

    def download() -> None:
        chroot = unpacked(suite, root)
        # the archive may be older than the last point release
        chroot.does('apt-get', 'update', '-qq')
        chroot.installs('qemu-system-x86')
        chroot.does('apt-get', 'clean')

    kept(f'qemu-{suite}', root, download)
    return [
        'unshare',
        '--mount',
        '--propagation',
        'private',
        'sh',
        '-c',
        ELSEWHERE,
        str(root),
        str(folder),
    ]


def command(guest: Guest, folder: Path) -> list[str]:
    """Return the machine without any drives to look at."""
    return [
        'nice',
        '-n',
        '5',
        QEMU,
        '-accel',
        'tcg',
        '-cpu',
        'qemu64',
        '-machine',
        'q35',
        '-m',
        '1024',
        '-nodefaults',
        '-no-user-config',
        '-display',
        'none',
        '-kernel',
        str(guest.kernel),
        '-initrd',
        str(guest.initrd),
        '-append',
        f'root=/dev/vda rw console=ttyS0 quiet {FAST}',
        '-serial',
        f'file:{folder}/console',
        '-qmp',
        f'unix:{folder}/monitor,server=on,wait=off',
        '-drive',
        f'if=none,id=root,file={guest.disk},format=raw,snapshot=on',
        '-device',
        'virtio-blk-pci,drive=root',
        '-device',
        'virtio-serial-pci',
        '-chardev',
        f'socket,id=agent,path={folder}/agent,server=on,wait=off',
        '-device',
        'virtserialport,chardev=agent,name=agent',
    ]
