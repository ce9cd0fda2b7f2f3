"""What a check costs elsewhere: through sudo; bench.py calls it."""
from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Callable

import abilities
from bench_program import plugin
from fake_smartctl import FakeSmartctl

from smart_attributes.reading import smartctl_calls

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / 'tests/reports/intel-s3500-healthy.json'
# Those of bench.py: what, figure, wanted; and medians of (wall, cpu) of two commands with the ratio of their
# walls.
Line = Callable[[str, str, str], None]
Paired = Callable[..., tuple[Sequence[float], Sequence[float], float]]


def bench_others(folder: Path, line: Line, paired: Paired) -> None:
    """Print a row for each way of running a check."""
    folder.chmod(0o755)  # the user of the check has to get in
    fake = FakeSmartctl(folder / 'others')
    fake.answers(smartctl_calls.read_arguments('/dev/sda'), REPORT.read_bytes(), before='sleep 0.1')
    bench_sudo(fake, line, paired)


def bench_sudo(fake: FakeSmartctl, line: Line, paired: Paired) -> None:
    """The same check by root and by a user whom the shipped rule admits."""
    missing = [name for name in ('sudo', 'setpriv', 'useradd', 'userdel') if not abilities.path_of(name)]
    if not abilities.IS_ROOT or missing:
        line('through sudo', f'skipped: needs root{" and ".join(["", *missing])}', '')
        return
    with user_with_rule(fake.path) as as_user:
        call = [fake.path, *smartctl_calls.read_arguments('/dev/sda')]
        through, plain, _ = paired([*as_user, 'sudo', '-n', *call], [*as_user, *call])
        line('sudo, one call of smartctl',
             f'{through[0] - plain[0]:+.0f} ms wall, {through[1] - plain[1]:+.0f} ms CPU', '')
        check = [plugin(), '-p', fake.path, '-d', '/dev/sda', '--no-history']
        nagios, root, _ = paired([*as_user, *check], check)
        line('one drive that takes 100 ms, through sudo', f'{nagios[0]:.0f} ms wall; as root {root[0]:.0f} ms', '')


@contextmanager
def user_with_rule(smartctl: str) -> Iterator[list[str]]:
    """Let a user run this smartctl by the rule that we ship; yield what makes a command his."""
    user = f'csa-bench-{os.getpid()}'
    rule = subprocess.run([plugin(), 'sudoers', '--user', user, '-p', smartctl], check=True, capture_output=True,
                          text=True)
    subprocess.run(['useradd', '--system', '--no-create-home', '--shell', '/bin/sh', user], check=True)
    file = Path('/etc/sudoers.d') / user
    try:
        file.touch(0o440)
        file.write_text(rule.stdout)
        yield ['/usr/bin/setpriv', f'--reuid={user}', '--regid=nogroup', '--clear-groups']
    finally:
        file.unlink()
        subprocess.run(['userdel', user], check=True)
