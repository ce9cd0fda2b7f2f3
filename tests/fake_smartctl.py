"""A stand-in for smartctl: a program that answers by its arguments and can misbehave.

    fake = FakeSmartctl(folder)
    fake.answers('--json=c --scan', output='{…}')
    fake.answers(read_arguments('/dev/sdb'), before='sleep 5')

`fake.path` then runs as a process, given as -p to the plugin or to the Runner.
For arguments it has no answer to it says so on stderr, names them, and exits with 64.
fake.calls() lists the calls so far.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

# A POSIX shell starts in a millisecond, Python in fifteen: benchmarks run this, too.
# It prints short answers itself, since each process that it starts takes another millisecond.
_HEAD = """#!/bin/sh
echo "$$ $*" >>{calls}
case "$*" in
"""
_CASE = """{arguments})
{before}
{prints} {output}
{after}
exit {status};;
"""
_TAIL = """esac
echo "fake smartctl has no answer to: $*" >&2
exit 64
"""
_SHORT = 65_536  # bytes

# Misbehaviour, as shell words for `before` and `after`.
HANGS = 'sleep 60'
IGNORES_SIGTERM = "trap '' TERM; sleep 60"
DIES = 'kill -SEGV $$'
SHUTS_PIPES_AND_LIVES_ON = 'exec >&- 2>&-; sleep 60'
LEAVES_A_CHILD = 'sleep 3 &'
PRINTS_FOR_EVER = 'while :; do echo "a line that comes again and again"; done'


class FakeSmartctl:
    """One stand-in in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.path = str(folder / 'smartctl')
        self._calls = folder / 'calls'
        self._cases: list[str] = []
        self._write()

    def answers(
        self,
        arguments: str | Sequence[str],
        output: str | bytes = b'',
        status: int = 0,
        before: str = '',
        after: str = '',
    ) -> tuple[str, ...]:
        """Let it answer *arguments*, and return the whole command line."""
        words = (
            tuple(arguments.split()) if isinstance(arguments, str) else tuple(arguments)
        )
        file = self.folder / f'output-{len(self._cases)}'
        content = output.encode() if isinstance(output, str) else output
        is_short = len(content) <= _SHORT and b'\0' not in content
        file.write_bytes(
            b"printf %s '" + content.replace(b"'", b"'\\''") + b"'"
            if is_short
            else content
        )
        self._cases.append(
            _CASE.format(
                arguments=shlex.quote(' '.join(words)),
                output=shlex.quote(str(file)),
                prints='.' if is_short else 'cat',
                before=before or ':',
                after=after or ':',
                status=status,
            )
        )
        self._write()
        return (self.path, *words)

    def calls(self) -> list[str]:
        """Return the arguments of each call so far."""
        return [line.partition(' ')[2] for line in self._lines()]

    def pids(self) -> list[int]:
        """Return the process of each call so far."""
        return [int(line.partition(' ')[0]) for line in self._lines()]

    def _lines(self) -> list[str]:
        return self._calls.read_text().splitlines() if self._calls.exists() else []

    def _write(self) -> None:
        # a process that a killed check has left may be starting the old one
        script = self.folder / 'smartctl.new'
        script.write_text(
            _HEAD.format(calls=shlex.quote(str(self._calls)))
            + ''.join(self._cases)
            + _TAIL
        )
        script.chmod(0o755)
        script.replace(self.path)
