"""Read the local configuration as a check reads it, and validate it."""
from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from ..check.rulebook import files_of, judge_of, site_of
from ..command_line.options import PROGRAM, Options
from ..devtools import validate
from ..files import is_there
from ..output.doctor_findings import Finding, halves
from ..wording import plural

SUBJECT = 'site files'
SHOWN = 3   # mistakes that get a finding each; the rest share one


def examine(options: Options) -> list[Finding]:
    """Return the findings for the files in the configuration folder and on the command line."""
    attributes, limits = files_of(options.data, [])
    files = [path for path, _ in (*attributes, *limits)]
    mistakes = judge_of(options, site_of(options.data, None)).mistakes
    usable = [path for path in files if not any(os.path.basename(path) in mistake for mistake in mistakes)]
    return findings(files, [*mistakes, *(validate.problems(usable) if usable else ())], options.data.config)


def findings(files: Sequence[str], mistakes: Sequence[str], config: str) -> list[Finding]:
    """Return a single finding if all files are valid, else one for each mistake. config: configuration folder."""
    if not files and not mistakes:
        return [Finding(SUBJECT, True, f'none in {config}; the shipped limits apply')]
    if not mistakes:
        them = 'it' if len(files) == 1 else 'them'
        return [Finding(SUBJECT, True, f'{plural(len(files), "local configuration file")}, no error in {them}')]
    more = len(mistakes) - SHOWN
    rest = [Finding(SUBJECT, False, plural(more, 'more error'), 'list them all',
                    f'{PROGRAM} validate {" ".join(files)}')] if more > 0 else []
    return [_mistake(sentence, files) for sentence in mistakes[:SHOWN]] + rest


def _mistake(sentence: str, files: Sequence[str]) -> Finding:
    words, advice = halves(sentence)
    file = next((path for path in files if os.path.basename(path) in words), '')
    if not file:
        return Finding(SUBJECT, False, words, advice)
    if is_there(file) and not os.access(file, os.R_OK):
        return Finding(SUBJECT, False, words, 'let every user read it', f'chmod a+r {shlex.quote(file)}')
    ending = ' Correct it, then validate it' if advice.endswith('?') else ', then validate it'
    return Finding(SUBJECT, False, words, (advice or 'correct it') + ending,
                   f'${{EDITOR:-vi}} {shlex.quote(file)} && {PROGRAM} validate {shlex.quote(file)}')
