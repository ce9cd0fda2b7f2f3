"""The one main(): start what is sure, understand the command line, run the job."""
from __future__ import annotations

import gc
import os
import sys

from .reading import processes
from .reading.head_start import sure_commands

UNKNOWN = 3


def main() -> None:
    """Run the job that sys.argv asks for and leave with its exit status."""
    # Nothing is worth waiting for at the end: an abandoned smartctl under
    # sudo is root's, and taking Python down properly takes 5 ms.
    code = run(sys.argv[1:])
    os._exit(code if _is_printed() else UNKNOWN)


def _is_printed() -> bool:
    """Tell whether the answer has gone out; not where the reader is gone, the disk full or standard output closed."""
    try:
        sys.stdout.flush()
    except (OSError, AttributeError):
        return False
    return True


def run(argv: list[str]) -> int:
    """Return the exit status of a job: 3 with a sentence for everything that goes wrong."""
    gc.disable()  # nothing here makes cycles worth the search for them; 3 ms of a check
    runner = processes.Runner()
    try:
        for command in sure_commands(argv):
            runner.start(command)
        from .jobs import do
        return do(argv, runner)
    except SystemExit as error:  # argparse after --help with 0, rich with 1 where nobody reads any more
        return 0 if error.code == 0 else UNKNOWN
    except BrokenPipeError:
        return UNKNOWN
    except BaseException as error:
        return _explained(error)
    finally:
        runner.close()


def _explained(error: BaseException) -> int:
    """Print why there is no verdict, as a plugin does."""
    from .errors import SmartError
    from .words import sentence
    if isinstance(error, SmartError):
        words = str(error)
    elif isinstance(error, KeyboardInterrupt):
        words = 'interrupted'
    else:
        words = f'{type(error).__name__} inside check_smart_attributes: {error}; please report it with the command line'
    print(f'SMART UNKNOWN - {sentence(words, 2000)}')
    return UNKNOWN
