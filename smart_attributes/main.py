"""The entry point: start reading the drives that are already known, parse the command line, run
the command.
"""

from __future__ import annotations

import gc
import os
import stat
import sys
import time

from . import alarm
from .reading import fast_path, processes

# see typed, which would load collections before the first process starts
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

UNKNOWN = 3
READER_TIME, PAUSE = 0.2, 0.001  # seconds
# Seconds for writing the history after the output. A busy disk needs a second to sync the history.
# A dying disk may need minutes, but its output must not be late: some daemons wait until the plugin
# exits, for at most a minute.
WRITING_TIME = 3.0
# The keys of the JSON document of a command that fails, if it has other keys than "drives".
EMPTY = {'doctor': {'good': False, 'host': '', 'user': '', 'findings': [], 'paste': []}}


def main() -> None:
    """Run the command given in sys.argv and exit with its status."""
    code = UNKNOWN
    runner = processes.Runner()
    runner.conclude = _conclude
    try:
        for stream in (sys.stdout, sys.stderr):
            # not closed by the caller; characters that the locale cannot print become "?"
            if stream is not None:
                stream.reconfigure(errors='replace')  # type: ignore[union-attr]
        code = run(sys.argv[1:], runner)
        if not _flush():
            code = UNKNOWN
        end = time.monotonic() + READER_TIME
        _do_later(runner.later)
        _wait_for_reader(end)
    finally:
        # The program ends here, even if an alarm has raised an exception while the output blocked.
        # A normal exit would wait for a smartctl that still runs under sudo and belongs to root, so
        # os._exit() is used.
        os._exit(code)


def _conclude(text: str, status: int) -> None:
    """See alarm.conclude(). If the module alarm is damaged, run() must report it."""
    alarm.conclude(text, status)


def _flush() -> bool:
    """Flush standard output; return whether all of it is written: False if the reader is gone, the
    disk is full, or the program was started with standard output closed.
    """
    try:
        sys.stdout.flush()
    # AttributeError: sys.stdout is None, because standard output was closed at the start.
    except (OSError, AttributeError):
        return False
    return True


def _do_later(later: list[Callable[[], object]]) -> None:
    """Run the work that remains after the output, for at most WRITING_TIME; ignore errors in
    this work, and from then on all signals.
    """
    try:
        alarm.arm(WRITING_TIME)
        for work in later:
            work()
    except BaseException:  # TimeIsOver, too
        return
    finally:
        alarm.ignore()


def _wait_for_reader(end: float) -> None:
    """Wait until a pipe is empty, at most until *end*, because Nagios 4.4 loses unread output when
    the writer exits.

    Output beyond 4 to 8 kB is lost at random: on a busy machine in 8 of 25 checks. Return at once
    if standard output is not a pipe.
    """
    try:
        if stat.S_ISFIFO(os.fstat(1).st_mode):
            from fcntl import ioctl
            from termios import FIONREAD

            # the bytes that ioctl() returns are the number of unread bytes
            while any(ioctl(1, FIONREAD, bytes(4))) and time.monotonic() < end:
                time.sleep(PAUSE)
    except (OSError, ImportError):
        return


def run(argv: list[str], runner: processes.Runner | None = None) -> int:
    """Run a command and return its exit status.

    For every error, print a sentence to standard output and return 3.

    runner: a command adds the work for after the output to *runner.later*; the caller does it.
    None: this work is not done.
    """
    gc.disable()  # saves 3 ms; a check creates few reference cycles
    runner = runner or processes.Runner()
    try:
        alarm.obey()
        fast_path.start(argv, runner)
        return _do(argv, runner)
    except SystemExit as error:
        # argparse after --help with 0, rich with 1 if the reader is gone
        return 0 if error.code == 0 else UNKNOWN
    except BrokenPipeError:
        return UNKNOWN
    except BaseException as error:
        print(failure(argv, explained(error)))
        _flush()  # already here: if the module alarm is damaged, disarm() fails below
        return UNKNOWN
    finally:
        alarm.disarm()
        # print before waiting for processes: the caller may not wait that long
        _flush()
        runner.close()


def wants_json(argv: list[str]) -> bool:
    """Return whether a command line asks for JSON, even if another option is invalid."""
    return any(word.partition('=')[0] == '--json' for word in argv)


def _do(argv: list[str], runner: processes.Runner) -> int:
    """Run the command; with --json, turn all that it prints into one JSON document."""
    from .commands.table import do

    if not wants_json(argv):
        return do(argv, runner)
    from .command_line import failure_document

    return failure_document.run(
        lambda: do(argv, runner), lambda sentence: failure(argv, sentence)
    )


def failure(argv: list[str], sentence: str) -> str:
    """Return the output of a command that failed: plugin output or JSON.

    sentence: what happened, why, and the next step; a Coded one is printed with its code.
    """
    code = getattr(sentence, 'code', '')
    words = f'[{code}] {sentence}' if code else sentence
    if not wants_json(argv):
        is_check = not argv or argv[0][:1] == '-'
        return f'SMART UNKNOWN - {words}' if is_check else f'error: {words}'
    import json

    from .constants import DOCUMENTS

    return json.dumps(
        {
            'version': DOCUMENTS.get(argv[0], DOCUMENTS['messages']),
            'state': 'UNKNOWN',
            'code': code or None,
            'error': sentence,
            **EMPTY.get(argv[0], {'drives': []}),
        },
        indent=1,
    )


def explained(error: BaseException) -> str:
    """Return the sentence, with its code, for an error that ended a command: what happened, why,
    and the next step.
    """
    try:
        from .errors import Coded
        from .failures import explained as words_of
        from .words import sentence

        code, words = words_of(error, _cannot_start)
        return Coded(code, sentence(words, 2000))
    except BaseException:  # the modules that create the sentence are damaged, too
        return '[plugin-damaged] ' + ' '.join(
            _cannot_start(error).replace('|', '/').split()
        )


def _cannot_start(error: BaseException) -> str:
    """Return the sentence for a damaged installation."""
    return (
        f'check_smart_attributes cannot start: {type(error).__name__}: {error}; reinstall it '
        'completely, or make it readable for every user: as root, run: chmod -R a+rX '
        f'{os.path.dirname(__file__)}'
    )
