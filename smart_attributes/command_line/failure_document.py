"""One JSON document from every command that is given --json, also where it fails or its time is over."""
from __future__ import annotations

import contextlib
import json
import shutil
import sys
import tempfile
from typing import IO, Callable

from .. import alarm
from ..constants import DOCUMENT

UNKNOWN = 3
ROOM = 4 << 20   # characters of a document that are kept in memory; a larger one waits in a temporary file


def run(work: Callable[[], int], failure: Callable[[str], str], explained: Callable[[BaseException], str]) -> int:
    """Run *work*, print its output as one JSON document, and return its exit status; 3 where it fails.

    work: prints to sys.stdout. SystemExit of it passes, after --help with what it printed.
    failure: returns the document for a sentence; explained: the sentence for what *work* raises.
    """
    with tempfile.SpooledTemporaryFile(ROOM, 'w+', encoding='utf-8', errors='replace') as spool:
        try:
            with contextlib.redirect_stdout(spool):
                code = work()
            alarm.disarm()  # all is known: it only remains to be printed
        except SystemExit as leaving:
            if leaving.code == 0:
                _copy(spool)
            raise
        except BaseException as error:
            alarm.disarm()
            print(failure(explained(error)))
            return UNKNOWN
        _print(spool, code, failure)
        return code


def _print(spool: IO[str], code: int, failure: Callable[[str], str]) -> None:
    """Print a document as it is; the lines of a command that has none, such as history --forget, as one."""
    spool.seek(0)
    if spool.read(1) == '{':
        _copy(spool)
        return
    spool.seek(0)
    lines = spool.read().splitlines()
    print(failure('; '.join(lines)) if code == UNKNOWN else
          json.dumps({'version': DOCUMENT, 'state': 'OK', 'messages': lines}, indent=1))


def _copy(spool: IO[str]) -> None:
    spool.seek(0)
    shutil.copyfileobj(spool, sys.stdout)
