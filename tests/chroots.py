"""Debian file systems in folders: downloaded once, copied, changed from inside, and with our
package.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, NamedTuple

from conftest import ROOT, drive
from daemons import ABSENT, free_port

PACKAGE = 'monitoring-plugins-check-smart-attributes'
PLUGIN = '/usr/lib/nagios/plugins/check_smart_attributes'
EXAMPLES = f'/usr/share/doc/{PACKAGE}/examples'
BUILD = ROOT / 'build/deb'
CACHE = ROOT / 'build/chroots'
# The scan of has_drives(), which a smartctl that stands in for the real one prints.
SCANNED = (
    '{"smartctl":{"argv":["smartctl","--json=c","--scan"],"exit_status":0},"devices":['
    '{"name":"/dev/sda","type":"scsi"},{"name":"/dev/sdb","type":"scsi"}]}'
)
# Starts NRPE as Debian has configured it, but for the port, and asks it once it is there.
NRPE_ANSWERS = """
    mkdir -p /run/nagios && chown nagios: /run/nagios  # systemd's work
    sed "s/^server_port=.*/server_port=$1/" /etc/nagios/nrpe.cfg >/etc/nagios/nrpe-here.cfg
    nrpe -c /etc/nagios/nrpe-here.cfg -f & daemon=$!
    cd /usr/lib/nagios/plugins
    for try in 1 2 3 4 5 6 7 8 9; do sleep 0.5; ./check_nrpe -H 127.0.0.1 -p $1 >/dev/null && break; done
    ./check_nrpe -H 127.0.0.1 -p $1 -t 60 -c check_smart_attributes; code=$?
    kill $daemon; wait $daemon; exit $code"""
# Nagios as Debian has configured it: it has read everything, and goes on to run.
NAGIOS_STARTS = """
    nagios4 -v /etc/nagios4/nagios.cfg || exit 1
    timeout 3 nagios4 /etc/nagios4/nagios.cfg; [ $? = 124 ]"""
# As dpkg and apt are run at night: no terminal, no answers, no environment that speaks for Debian's
# tools.
UNATTENDED = ('env', '-u', 'DEBIAN_FRONTEND', 'setsid', '--wait', 'apt-get', '-y')
REPOSITORY = '/srv/ours'
OUR_LIST = '/etc/apt/sources.list.d/ours.list'
# Stands in for pip in the build of an earlier package: the archive of pySMART is there already.
PIP = """#!/bin/sh
while [ $# != 0 ]; do [ "$1" != --dest ] || { mkdir -p "$2" && cp '%s' "$2/pySMART.tar.gz"; }; shift; done
"""
# What changes whoever installs whatever: logs, caches, dpkg's books, copies of the list of users.
IGNORED = re.compile(
    r'/(proc|dev|sys|run|tmp|root|var/log|var/cache|var/backups|var/lib/(apt|dpkg|systemd|ucf)'
    r'|etc/((passwd|group|shadow|gshadow|sub[ug]id)-?|\.pwd\.lock|ld\.so\.cache)$)'
)


def newest(pattern: str, folder: Path = BUILD) -> Path:
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime)


class Chroot(NamedTuple):
    """A Debian in a folder."""

    root: Path

    def runs(self, *command: str, user: str = '') -> subprocess.CompletedProcess[str]:
        """Run a command inside, with a /proc that goes away with it."""
        inside = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        as_user = ['runuser', '-u', user, '--'] if user else []
        return subprocess.run(
            [
                'unshare',
                '--mount',
                '--propagation',
                'private',
                'sh',
                '-c',
                inside,
                str(self.root),
                *as_user,
                *command,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd='/',
            timeout=600,
            env={
                **os.environ,
                'PATH': '/usr/sbin:/usr/bin:/sbin:/bin',
                'LC_ALL': 'C.UTF-8',
                'DEBIAN_FRONTEND': 'noninteractive',
                'HOME': '/root',
            },
        )

    def does(self, *command: str) -> str:
        """Run a command that must succeed; return what it prints."""
        done = self.runs(*command)
        assert done.returncode == 0, f'{command}: {done.stdout[-3000:]}'
        return done.stdout

    def installs(self, *packages: str) -> str:
        return self.does(
            'apt-get', 'install', '-y', '-q', '--no-install-recommends', *packages
        )

    def installs_ours(self, *options: str) -> str:
        deb = newest('*.deb')
        shutil.copy(deb, self.root / 'tmp')
        return self.installs(*options, f'/tmp/{deb.name}')

    def offers_ours(self) -> None:
        """Let apt find our package beside those of Debian, in a repository inside."""
        folder = Path(str(self.root) + REPOSITORY)
        folder.mkdir(parents=True)
        shutil.copy(newest('*.deb'), folder)
        index = subprocess.run(
            ['dpkg-scanpackages', '--multiversion', '.'],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        (folder / 'Packages').write_text(index)
        self.writes(OUR_LIST, f'deb [trusted=yes] file:{REPOSITORY} ./\n')
        self.does(
            'apt-get',
            'update',
            '-o',
            f'Dir::Etc::sourcelist={OUR_LIST}',
            '-o',
            'Dir::Etc::sourceparts=-',
            '-o',
            'APT::Get::List-Cleanup=0',
        )

    def starts_nagios(self) -> None:
        self.does('sh', '-c', NAGIOS_STARTS)

    def asks_nrpe(self) -> subprocess.CompletedProcess[str]:
        return self.runs('sh', '-c', NRPE_ANSWERS, '-', str(free_port()))

    def has(self, path: str) -> bool:
        return os.path.lexists(str(self.root) + path)

    def reads(self, path: str) -> str:
        return Path(str(self.root) + path).read_text()

    def writes(self, path: str, text: str) -> None:
        file = Path(str(self.root) + path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def has_drives(self) -> None:
        """Put the answers of four drives and of their scan into /opt/drives; sdd is absent."""
        folder = self.root / 'opt/drives'
        folder.mkdir(parents=True)
        for name, path in (
            ('intel-s3500-healthy', 'sda'),
            ('intel-worn', 'sdb'),
            ('hgst-failed', 'sdc'),
        ):
            (folder / path).write_bytes(drive(name))
        (folder / 'sdd').write_text(ABSENT)
        (folder / 'scan').write_text(SCANNED)

    def files(self) -> set[str]:
        """Return all that there is, but what changes whatever is installed."""
        found = self.does('find', '/', '-xdev').splitlines()
        return {path for path in found if not IGNORED.match(path)}


def unpacked(suite: str, folder: Path) -> Chroot:
    """Return a fresh Debian; the first time it is downloaded, as debootstrap does."""

    def download() -> None:
        subprocess.run(
            ['debootstrap', '--variant=minbase', suite, str(folder)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        # A mirror of testing may be weeks old.
        subprocess.run(
            [
                'chroot',
                str(folder),
                'apt-get',
                '-o',
                'Acquire::Check-Valid-Until=false',
                'update',
                '-qq',
            ],
            check=True,
        )

    return kept(suite, folder, download)


def kept(name: str, folder: Path, make: Callable[[], object]) -> Chroot:
    """Return a Debian in a folder, from an archive in CACHE.

    The first time, *make* fills the folder.
    """
    archive = CACHE / f'{name}.tar'
    folder.mkdir(exist_ok=True)
    if not archive.exists():
        make()
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ['tar', '-C', str(folder), '-cf', f'{archive}.new', '.'], check=True
        )
        os.rename(f'{archive}.new', archive)
    else:
        subprocess.run(['tar', '-C', str(folder), '-xf', str(archive)], check=True)
    folder.chmod(0o755)  # nagios has to get in, whatever the archive says
    return Chroot(folder)


@contextmanager
def overlaid(below: Path, folder: Path) -> Iterator[Chroot]:
    """Yield a copy of a file system that takes up only what is changed in it, and remove it
    afterwards.
    """
    upper, work, root = (folder / name for name in ('upper', 'work', 'root'))
    for part in (upper, work, root):
        part.mkdir()
        part.chmod(0o755)
    subprocess.run(
        [
            'mount',
            '-t',
            'overlay',
            'overlay',
            '-o',
            f'lowerdir={below},upperdir={upper},workdir={work}',
            str(root),
        ],
        check=True,
    )
    try:
        yield Chroot(root)
    finally:
        subprocess.run(['umount', '--lazy', str(root)], check=True)
        removed(folder)


def built(commit: str, version: str = '') -> Path:
    """Return the package as an earlier commit builds it; it is built once and kept.

    version: of the package; that of the commit if empty. Raises LookupError where this clone does
    not have the commit.
    """
    kept = CACHE / f'{commit}{version}.deb'
    if kept.exists():
        return kept
    if subprocess.run(
        ['git', 'cat-file', '-e', commit + '^{commit}'], cwd=ROOT, capture_output=True
    ).returncode:
        raise LookupError(
            f'this clone does not have commit {commit}; get it with: git fetch --unshallow'
        )
    with tempfile.TemporaryDirectory() as folder:
        clone, pip = Path(folder, 'clone'), Path(folder, 'pip')
        pip.write_text(PIP % (BUILD / 'pysmart.tar.gz'))
        pip.chmod(0o755)
        for words in (
            [
                'git',
                'clone',
                '--quiet',
                '--shared',
                '--no-checkout',
                str(ROOT),
                str(clone),
            ],
            ['git', '-C', str(clone), 'checkout', '--quiet', '--detach', commit],
        ):
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        if version:
            (clone / 'tools/version').write_text(f'echo {version}\n')
        subprocess.run(
            ['sh', str(clone / 'tools/deb'), str(pip)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        CACHE.mkdir(parents=True, exist_ok=True)
        shutil.copy(newest('*.deb', clone / 'dist'), kept)
    return kept


def version_1_6() -> Path:
    """Return Debian's package of version 1.6; Debian 13 is the only release that has one."""
    kept = CACHE / '1.6.deb'
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            chroot = unpacked('trixie', Path(folder))
            chroot.does('sh', '-c', f'cd /tmp && apt-get download {PACKAGE}')
            shutil.copy(newest('*.deb', chroot.root / 'tmp'), kept)
    return kept


def removed(folder: Path) -> None:
    """Remove a file system; shutil takes minutes for the ten of them."""
    subprocess.run(['rm', '-rf', '--one-file-system', str(folder)], check=True)
