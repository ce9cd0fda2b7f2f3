"""The commands of README, doc/how-to and doc/tutorial, typed as printed in a fresh Debian.

Usage: documented.py SUITE [DOCUMENT...]

Each document has a Debian of its own: minbase with git, make and ca-certificates, the clone in
/root/project, the files of a release from `make packages` in /root/release, and simulated drives.
One bash types its commands, in their order. tests/typing/commands.json has what a reader must add: values
for placeholders, steps that the prose describes, exit statuses other than 0, and the few commands
that cannot be typed here, each with its reason.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pages
from described import ROOT

DOCUMENTS = (
    'README',
    *sorted(
        page
        for page in pages.PAGES
        if page.startswith(('doc/how-to/', 'doc/tutorial/'))
    ),
)
TYPING = ROOT / 'tests/typing'
TABLE = TYPING / 'commands.json'
# A span of code in a sentence is a command if it begins with one of these programs.
PROGRAMS = (
    'apt|arcconf btrfs ceph check_nrpe check_smart_attributes chmod chown cli64 cryptsetup dmesg dnf '
    'dpkg-reconfigure echo efibootmgr grep grub-install hdparm icinga2 icingacli ledctl ls lsblk '
    'lsscsi lvchange lvs make mdadm MegaCli64 openssl pip pipx pkg pvmove setfacl sgdisk sh smartctl '
    'ssacli storcli2 storcli64 sudo systemctl tw_cli zabbix_agentd zpool zypper'
).replace(' ', '|')
_PIECE = re.compile(
    r'^( *)```([a-z0-9]*)$\n(.*?)^\1```$'
    rf'|`((?:[A-Z_]+=\S+ )*(?:{PROGRAMS}) [^`\n]+)`',
    re.MULTILINE | re.DOTALL,
)
HOST = '127.0.0.1 storage1.example.org storage1'
SECONDS = 3000
_MARK = '@typed@'


class Entry(NamedTuple):
    """What tests/typing/commands.json says about one document."""

    before: tuple[str, ...] = ()  # lines of shell that are typed first
    steps: Mapping[str, str] = {}  # command -> lines of shell that are typed before it
    values: Mapping[str, str] = {}  # placeholder -> value
    status: Mapping[str, int] = {}  # command -> its exit status, if not 0
    # command, or its beginning and "*" -> why it is not typed
    listed: Mapping[str, str] = {}


class Typed(NamedTuple):
    """One command that was typed."""

    command: str
    expected: int
    status: int | None  # None: not reached
    output: str

    @property
    def is_right(self) -> bool:
        """Whether it ended as a reader expects."""
        return self.status == self.expected


def commands(text: str) -> list[str]:
    """Return the commands of a document in their order, one of a sentence only at its first
    place.
    """
    found: list[str] = []
    for match in _PIECE.finditer(text):
        if match[4]:
            found += [] if match[4] in found else [match[4]]
        elif match[2] in ('sh', 'console'):
            block = re.sub(f'^{match[1]}', '', match[3], flags=re.MULTILINE)
            found += _lines(block) if match[2] == 'sh' else _prompted(block)
    return found


def _lines(text: str) -> Iterator[str]:
    """Yield the commands of a block of shell: its lines, with continued ones joined."""
    for line in re.sub(r'\\\n *', '', text).splitlines():
        if line and not line.startswith('#'):
            yield line


def _prompted(text: str) -> Iterator[str]:
    """Yield the commands of a block that shows a terminal."""
    for line in text.splitlines():
        if line.startswith(('# ', '$ ')):
            yield line[2:]


def table(everywhere: bool = True) -> dict[str, Entry]:
    """Return the entry of each document. everywhere: with the reasons that all documents share."""
    data = json.loads(TABLE.read_text())
    shared = data['listed'] if everywhere else {}
    return {
        page: Entry(**{**words, 'listed': {**words.get('listed', {}), **shared}})
        for page, words in data['documents'].items()
    }


def reason(command: str, listed: Mapping[str, str]) -> str:
    """Return why a command is not typed, '' if it is."""
    for pattern, why in listed.items():
        is_beginning = pattern.endswith('*') and command.startswith(pattern[:-1])
        if command == pattern or is_beginning:
            return why
    return ''


def filled(command: str, values: Mapping[str, str]) -> str:
    """Return a command with the values of a reader in place of the placeholders."""
    for placeholder, value in values.items():
        command = command.replace(placeholder, value)
    return command


def script(typed: Sequence[str], entry: Entry) -> str:
    """Return what bash reads: each command between two marks, with the steps before it."""
    parts = ['. /root/typing/prelude', *entry.before]
    for number, command in enumerate(typed):
        if command in entry.steps:
            parts.append(entry.steps[command])
        parts += [
            f'echo; echo "{_MARK} {number}"',
            f'{{ {filled(command, entry.values)}\n}} </dev/null',
            f'status=$?; echo; echo "{_MARK} {number} $status"',
        ]
    return '\n'.join(parts) + '\n'


def results(typed: Sequence[str], entry: Entry, printed: str) -> list[Typed]:
    """Return how each command ended, by the marks in what was printed."""
    found = []
    for number, command in enumerate(typed):
        said = re.search(
            rf'^{_MARK} {number}\n(.*?)(?:^{_MARK} {number} (\d+)$|\Z)',
            printed,
            re.MULTILINE | re.DOTALL,
        )
        status = int(said[2]) if said and said[2] else None
        found.append(
            Typed(
                command, entry.status.get(command, 0), status, said[1] if said else ''
            )
        )
    return found


# --- the Debian ----------------------------------------------------------------------------------


def prepared(suite: str, page: str, root: Path) -> None:
    """Make the Debian in which a document is typed."""
    subprocess.run([str(ROOT / 'tools/fresh'), suite, 'root', str(root)], check=True)
    changed = [
        '/usr/bin/git',
        'ls-files',
        '--cached',
        '--others',
        '--exclude-standard',
        '-z',
    ]
    files = subprocess.run(
        changed, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for name in filter(None, files.split('\0')):  # what is not committed yet
        if (ROOT / name).exists() and not (ROOT / name).is_symlink():
            (root / 'root/project' / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / 'root/project' / name)
    shutil.copytree(TYPING, root / 'root/typing')
    shutil.copy(TYPING / 'systemctl', root / 'usr/local/bin')
    _has_release(root)
    _has_drives(root)
    blocks = root / 'root/blocks'
    blocks.mkdir()
    shown = [
        block for block in pages.blocks(page) if block.language not in ('sh', 'console')
    ]
    for number, block in enumerate(shown, 1):
        (blocks / str(number)).write_text(block.text)
    (root / 'etc/apt/apt.conf.d/answers').write_text('APT::Get::Assume-Yes "true";\n')
    with (root / 'etc/hosts').open('a') as hosts:
        hosts.write(f'{HOST}\n')


def _has_release(root: Path) -> None:
    """Put the files of `make packages` there, signed with a key of their own."""
    release, key = root / 'root/release', root / 'root/key'
    shutil.copytree(ROOT / 'dist', release)
    (release / 'SHA256SUMS.sig').unlink(missing_ok=True)
    keygen = ['ssh-keygen', '-q']
    subprocess.run([*keygen, '-t', 'ed25519', '-N', '', '-f', str(key)], check=True)
    sign = ['-Y', 'sign', '-f', str(key), '-n', 'check_smart_attributes', 'SHA256SUMS']
    subprocess.run([*keygen, *sign], cwd=release, check=True, capture_output=True)
    (root / 'root/release-signers').write_text(
        f'release {key.with_suffix(".pub").read_text()}'
    )


def _has_drives(root: Path) -> None:
    """Put the drives of the playground into /srv/drives, with a smartctl that reads them."""
    sys.path.insert(0, str(ROOT / 'tests'))
    from simulator.machine import Machine

    machine = Machine.described('typing', root / 'srv/drives')
    program = Path(machine.smartctl)
    text = program.read_text().replace(str(machine.folder), '/srv/drives')
    program.write_text(
        text.replace(' /usr/sbin/smartctl ', ' /usr/sbin/smartctl.distrib ')
    )
    subprocess.run(['/bin/chmod', '-R', 'go+rX', str(root / 'srv')], check=True)


_INSIDE = """
root=$0
hostname storage1
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/run"
exec chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \\
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -c 'apt-get update -qq; exec bash /root/script' 2>&1
"""


def typed(suite: str, page: str, entry: Entry, chosen: Sequence[str]) -> list[Typed]:
    """Type commands of a document in a fresh Debian, and return how each ended.

    What is printed goes to a file in the folder LOG of the environment, or is not kept.
    """
    root = Path(tempfile.mkdtemp(prefix='documented-'))
    log = Path(os.environ.get('LOG', root), f'{suite}-{page.replace("/", "-")}.log')
    try:
        prepared(suite, page, root)
        (root / 'root/script').write_text(script(chosen, entry))
        apart = ['unshare', '--mount', '--uts', '--pid', '--fork', '--kill-child']
        inside = [*apart, '--propagation', 'private', 'sh', '-ec', _INSIDE, str(root)]
        with log.open('w') as printed, suppress(subprocess.TimeoutExpired):
            subprocess.run(
                inside,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                timeout=SECONDS,
                check=False,
            )
        return results(chosen, entry, log.read_text(errors='replace'))
    finally:
        subprocess.run(['/bin/rm', '-rf', '--one-file-system', str(root)], check=True)


def main(suite: str, *wanted: str) -> int:
    """Type the documents, print what is wrong and the figures; return the exit status."""
    entries, wrong, total = table(), 0, Counter[str]()
    for page in wanted or DOCUMENTS:
        entry, found = entries.get(page, Entry()), commands((ROOT / page).read_text())
        reasons = [reason(command, entry.listed) for command in found]
        chosen = [command for command, why in zip(found, reasons) if not why]
        ended = typed(suite, page, entry, chosen) if chosen else []
        failed = [each for each in ended if not each.is_right]
        for each in failed:
            print(
                f'{page}: {each.command}\n    exit status {each.status}, not {each.expected}'
            )
            print(''.join(f'    {line}\n' for line in each.output.splitlines()[-15:]))
        count = Counter(map(_where, reasons))
        wrong, total = wrong + len(failed), total + count
        print(f'{page}: {_figures(count)}', flush=True)
    print(f'{suite}: {_figures(total)}; {wrong} wrong')
    return 1 if wrong else 0


def _where(why: str) -> str:
    """Return where a command is typed, by the reason why it is not typed here."""
    if not why:
        return 'here'
    return 'elsewhere' if why.startswith('typed by ') else 'nowhere'


def _figures(count: Counter[str]) -> str:
    return (
        f'{sum(count.values())} commands, {count["here"]} typed, {count["elsewhere"]} typed by other '
        f'proofs, {count["nowhere"]} listed with a reason'
    )


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
