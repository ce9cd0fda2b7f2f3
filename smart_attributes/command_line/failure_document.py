"""Print one JSON document for every command with --json, even if the command fails or reaches
its time limit.
"""

import contextlib
import json
import shutil
import sys
import tempfile
from typing import IO, Callable

from .. import alarm
from ..constants import DOCUMENTS

UNKNOWN = 3
# characters of a document that are kept in RAM; a larger one goes to a temporary file
ROOM = 4 << 20


def run(work: Callable[[], int], failure: Callable[[str], str]) -> int:
    """Run *work*, print its output as one JSON document, and return its exit status.

    work: a command; it prints a document or plain lines to sys.stdout, and returns the exit status.
    If it raises, its output is dropped. Only a help text, after which argparse raises
    SystemExit(0), is printed as it is. failure: returns the document for an error message.
    """
    with tempfile.SpooledTemporaryFile(
        ROOM, 'w+', encoding='utf-8', errors='replace'
    ) as spool:
        try:
            with contextlib.redirect_stdout(spool):
                code = work()
        except SystemExit as end:
            if end.code == 0:  # after a help text
                _copy(spool)
            raise
        alarm.disarm()  # only printing is left to do
        spool.seek(0)
        if spool.read(1) == '{':
            _copy(spool)
        else:
            spool.seek(0)
            lines = spool.read().splitlines()
            if code == UNKNOWN:  # the lines are an error message
                print(failure('; '.join(lines)))
            else:
                document = {
                    'version': DOCUMENTS['messages'],
                    'state': 'OK',
                    'messages': lines,
                }
                print(json.dumps(document, indent=1))
        return code


def _copy(spool: IO[str]) -> None:
    """Print the output of a command as it is."""
    spool.seek(0)
    shutil.copyfileobj(spool, sys.stdout)
