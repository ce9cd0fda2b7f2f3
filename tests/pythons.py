"""Run the tests with each Python as Debian builds it; `make test-pythons` calls this.

Usage: tests/pythons.py VERSIONS [ARGUMENTS OF PYTEST]        '' for all versions; for example '3.9 3.14' -m 'not long'

Each Debian is a folder that is removed afterwards; it gets the last commit of this clone. A Python
that no Debian has
runs on this machine: from PATH, or from pyenv.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from chroots import Chroot, kept, removed, unpacked
from conftest import ROOT, SHARED

# Debian testing has changing versions, so each package has its version in its name. '' where no
# Debian has one.
SUITES: Mapping[str, str] = {
    '3.9': 'bullseye',
    '3.10': '',
    '3.11': 'bookworm',
    '3.12': '',
    '3.13': 'trixie',
    '3.14': 'testing',
}
PROGRAMS = (
    'acl',
    'binutils',
    'ca-certificates',
    'gcc',
    'git',
    'libc6-dev',
    'make',
    'man-db',
    'nvme-cli',
    'openssl',
    'passwd',
    'procps',
    'smartmontools',
    'sudo',
    'util-linux',
    'valgrind',
)
# The simulated drives need glibc 2.33, and the sudo rule of most tests sudo 1.9.10: their tests are
# skipped there.
LEFT_OUT = {'bullseye': ('gcc', 'libc6-dev', 'sudo')}
LIBRARIES = (
    'nagiosplugin',
    'jsonschema',
    'rich',
    'jinja2',
    'prometheus-client',
    'chardet',
    'humanfriendly',
    'hypothesis',
    'pytest',
    'pytest-timeout',
)
PROJECT = '/opt/project'
# its name; authorities of its network
OF_THIS_MACHINE = ('/etc/hosts', '/etc/ssl/certs/ca-certificates.crt')
OF_DEBIAN = 'of-debian'
# The namespace ends processes that a test leaves behind, and the shell stays, to reap orphans. Not
# chroot: tests enter namespaces of which this is the root.
INSIDE = (
    'unshare',
    '--mount',
    '--propagation',
    'private',
    '--pid',
    '--fork',
    '--kill-child',
    'sh',
    '-ec',
    """
    mount --bind "$0" "$0"
    mount -t proc proc "$0/proc"
    mount --rbind /sys "$0/sys"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts"
    mount -t tmpfs tmpfs "$0/dev/shm"
    if [ -d "$1" ]; then mkdir -p "$0/opt/shared"; mount --bind -o ro "$1" "$0/opt/shared"; fi
    shift
    cd "$0"; pivot_root . .; umount -l .
    cd /opt/project; "$@"; exit """,
)


class Run(NamedTuple):
    """One call of pytest: with which libraries, and its result."""

    version: str
    libraries: str
    status: int
    last_line: str


def packages(version: str) -> list[str]:
    """Return what is installed in the Debian with this Python."""
    programs = [
        name for name in PROGRAMS if name not in LEFT_OUT.get(SUITES[version], ())
    ]
    libraries = [f'python3-{name}' for name in LIBRARIES]
    return [
        *programs,
        f'python{version}',
        f'python{version}-venv',
        'python3',
        *libraries,
    ]


def archive(version: str) -> str:
    """Return the name under which that Debian is kept; other packages make it another one."""
    return f'python{version}-{hashlib.sha256(repr(packages(version)).encode()).hexdigest()[:12]}'


def prepared(version: str, folder: Path) -> Chroot:
    """Return a Debian that has this Python and the programs of the tests; it is made once and
    kept.
    """

    def make() -> None:
        chroot = unpacked(SUITES[version], folder)
        chroot.installs(*packages(version))
        chroot.does('apt-get', 'clean')

    return kept(archive(version), folder, make)


@contextmanager
def debian(version: str) -> Iterator[Chroot]:
    """Yield a Debian with this Python and a clone of the project, and remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix='check-smart-attributes-python-'))
    try:
        chroot = prepared(version, folder)
        subprocess.run(
            ['git', 'clone', '--quiet', str(ROOT), f'{folder}{PROJECT}'], check=True
        )
        for path in OF_THIS_MACHINE:
            shutil.copy(path, f'{folder}{path}')
        yield chroot
    finally:
        removed(folder)


def inside(chroot: Chroot, *command: str) -> list[str]:
    """Return the command line that runs a command in the project inside, with /sys of this
    machine.
    """
    return [*INSIDE, str(chroot.root), str(SHARED), *command]


def host_python(version: str) -> str:
    """Return the path of a Python of this machine, '' if it has none of this version."""
    of_pyenv = map(
        str, Path.home().glob(f'.pyenv/versions/{version}.*/bin/python{version}')
    )
    return next(
        (
            path
            for path in (f'/usr/bin/python{version}', *of_pyenv)
            if os.path.exists(path)
        ),
        '',
    )


def tested(version: str, arguments: Sequence[str]) -> Iterator[Run]:
    """Run pytest with the libraries of PyPI, and the tests of behavior with those of Debian."""
    if not SUITES[version]:
        yield tested_here(version, arguments)
        return
    with debian(version) as chroot:
        python = f'/usr/bin/python{version}'
        done(inside(chroot, 'make', f'PYTHON={python}', '.venv/.tools'))
        yield run(
            version,
            'PyPI',
            inside(chroot, '.venv/bin/python', '-m', 'pytest', *arguments),
        )
        done(inside(chroot, python, '-m', 'venv', OF_DEBIAN, '--system-site-packages'))
        pip = [f'{OF_DEBIAN}/bin/pip', 'install', '--quiet']
        done(inside(chroot, *pip, 'pip>=21.3', 'pytest>=7.2,<9.2'))
        # no Debian has pySMART
        done(inside(chroot, *pip, '--no-deps', '--editable', '.', 'pySMART'))
        command = (
            f'{OF_DEBIAN}/bin/python',
            '-m',
            'pytest',
            '-m',
            'libraries',
            *behavior_tests(),
        )
        yield run(version, SUITES[version], inside(chroot, *command))


def behavior_tests() -> list[str]:
    """Return the files that have tests for all versions of the libraries."""
    return [
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.glob('tests/test_*.py'))
        if 'mark.libraries' in path.read_text()
    ]


def tested_here(version: str, arguments: Sequence[str]) -> Run:
    """Run pytest with a Python of this machine and the libraries of PyPI."""
    python, folder = host_python(version), f'build/pythons/{version}'
    if not python:
        return Run(
            version,
            'PyPI',
            1,
            'not run: no Debian has this Python, and neither has this machine',
        )
    if not (ROOT / folder / 'bin/pytest').exists():
        done([python, '-m', 'venv', folder])
        done([f'{folder}/bin/pip', 'install', '--quiet', '--editable', '.[test]'])
    return run(version, 'PyPI', [f'{folder}/bin/python', '-m', 'pytest', *arguments])


def done(command: Sequence[str]) -> None:
    """Run a command that must succeed."""
    subprocess.run(command, cwd=ROOT, env=environment(), check=True)


def run(version: str, libraries: str, command: Sequence[str]) -> Run:
    """Run pytest, show its output and return the last line."""
    print(f'Python {version}, libraries of {libraries}', flush=True)
    last = ''
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(), text=True, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        for last in process.stdout:
            print(last, end='', flush=True)
    return Run(version, libraries, process.returncode, last.strip())


def environment() -> Mapping[str, str]:
    """Return our environment without what is about the Python of this process."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(('PYTHON', 'VIRTUAL_ENV', 'MAKE'))
    }
    return {
        **ours,
        'PATH': '/usr/sbin:/usr/bin:/sbin:/bin',
        'LC_ALL': 'C.UTF-8',
        'DEBIAN_FRONTEND': 'noninteractive',
        'HOME': '/root',
    }


def main() -> int:
    """Test each version in turn; return 1 if a test failed."""
    versions, *arguments = sys.argv[1:]
    runs = [
        each
        for version in versions.split() or SUITES
        for each in tested(version, arguments)
    ]
    for each in runs:
        print(
            f'Python {each.version:<5} libraries of {each.libraries:<9} {each.last_line}'
        )
    return int(any(each.status for each in runs))


if __name__ == '__main__':
    sys.exit(main())
