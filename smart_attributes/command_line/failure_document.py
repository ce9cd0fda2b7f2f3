"""Print one JSON document for every command with --json, even if the command fails or reaches
its time limit.
"""

from __future__ import annotations

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

    work: prints to sys.stdout, and returns the exit status. An exception drops this output, except
    SystemExit with status 0: then the output is a help text, and is printed unchanged. failure:
    returns the document for an error message: the output, if it is plain text and the exit status
    is UNKNOWN.
    """
    with tempfile.SpooledTemporaryFile(
        ROOM, 'w+', encoding='utf-8', errors='replace'
    ) as spool:
        try:
            with contextlib.redirect_stdout(spool):
                code = work()
        except SystemExit as end:
            if end.code == 0:  # after a help text
                spool.seek(0)
                shutil.copyfileobj(spool, sys.stdout)
            raise
        alarm.disarm()  # only printing is left to do
        _print(spool, code, failure)
        return code


def _print(spool: IO[str], code: int, failure: Callable[[str], str]) -> None:
    """Print the output of a command that has ended with the exit status *code*: a document
    unchanged; plain lines, such as those of `history --remove`, as a document. failure: see run().
    """
    spool.seek(0)
    is_document = spool.read(1) == '{'
    spool.seek(0)
    if is_document:
        shutil.copyfileobj(spool, sys.stdout)
        return
    lines = spool.read().splitlines()
    if code == UNKNOWN:
        print(failure('; '.join(lines)))
        return
    document = {'version': DOCUMENTS['messages'], 'state': 'OK', 'messages': lines}
    print(json.dumps(document, indent=1))
