"""The one main(): start what is sure, understand the command line, run the job."""
from __future__ import annotations

import gc
import os
import stat
import sys
import time

from . import alarm
from .reading import head_start, processes

TYPE_CHECKING = False  # as type checkers read typing.TYPE_CHECKING, which would be expensive
if TYPE_CHECKING:
    from collections.abc import Callable

UNKNOWN = 3
READER_TIME, PAUSE = 0.2, 0.001  # seconds
# Seconds for writing the history after the answer. A busy disk takes a second to sync it, and a daemon that waits for
# our end allows a minute; a dying disk may take minutes, and must not keep the answer about itself back.
WRITING_TIME = 3.0


def main() -> None:
    """Run the job that sys.argv asks for and leave with its exit status."""
    # Nothing is worth waiting for at the end: an abandoned smartctl under
    # sudo is root's, and taking Python down properly takes 5 ms.
    code, later = UNKNOWN, []  # type: int, list[Callable[[], object]]
    try:
        _never_fail_by_encoding()
        code = run(sys.argv[1:], later)
        code = code if _is_printed() else UNKNOWN
        end = time.monotonic() + READER_TIME
        _do(later)
        _wait_for_reader(end)
    finally:
        os._exit(code)  # also where an alarm comes while the answer is printed to somebody who does not read


def _never_fail_by_encoding() -> None:
    """Print what a locale has no sign for as "?": a model or a file name must not cost the verdict."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # closed by who started us
            stream.reconfigure(errors='replace')  # type: ignore[union-attr]


def _is_printed() -> bool:
    """Tell whether the answer has gone out; not where the reader is gone, the disk full or standard output closed."""
    try:
        sys.stdout.flush()
    except (OSError, AttributeError):
        return False
    return True


def _do(later: list[Callable[[], object]]) -> None:
    """Do what remains, in its own time; whatever becomes of it, the answer is out."""
    try:
        alarm.arm(WRITING_TIME)
        for work in later:
            work()
        alarm.disarm()
    except BaseException:
        alarm.disarm()


def _wait_for_reader(end: float) -> None:
    """Wait until a pipe has been emptied, no longer than *end*: Nagios 4.4 loses what it has not read when the writer
    is gone.

    At random beyond 4 to 8 kB, on a busy machine in 8 checks of 25. Returns at once where standard output is no pipe.
    """
    try:
        if stat.S_ISFIFO(os.fstat(1).st_mode):
            from fcntl import ioctl
            from termios import FIONREAD
            while any(ioctl(1, FIONREAD, bytes(4))) and time.monotonic() < end:
                time.sleep(PAUSE)
    except (OSError, ImportError):
        return


def run(argv: list[str], later: list[Callable[[], object]] | None = None) -> int:
    """Return the exit status of a job: 3 with a sentence for everything that goes wrong.

    later: gets what remains to be done once the answer is out.
    """
    gc.disable()  # nothing here makes cycles worth the search for them; 3 ms of a check
    runner = processes.Runner()
    alarm.obey()
    try:
        head_start.start(argv, runner)
        from .jobs import do
        return do(argv, runner)
    except SystemExit as error:  # argparse after --help with 0, rich with 1 where nobody reads any more
        return 0 if error.code == 0 else UNKNOWN
    except BrokenPipeError:
        return UNKNOWN
    except BaseException as error:
        return _explained(error)
    finally:
        alarm.disarm()
        _is_printed()  # before processes are waited for: whoever waits for us may have no patience left
        runner.close()
        if later is not None:
            later += runner.later


def _explained(error: BaseException) -> int:
    """Print why there is no verdict, as a plugin does."""
    from .errors import SmartError, not_installed
    from .words import sentence
    if isinstance(error, SmartError):
        words = str(error)
    elif isinstance(error, KeyboardInterrupt):
        words = 'interrupted'
    elif isinstance(error, alarm.TimeIsOver):
        words = f'{error}, before there was an answer; more time is to be had with -t'
    elif isinstance(error, ModuleNotFoundError) and error.name:
        words = not_installed(error.name)
    else:
        words = f'{type(error).__name__} inside check_smart_attributes: {error}; please report it with the command line'
    print(f'SMART UNKNOWN - {sentence(words, 2000)}')
    return UNKNOWN
