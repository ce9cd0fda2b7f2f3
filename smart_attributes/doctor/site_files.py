"""The files of this site: read as a check reads them, and validated."""

import os
from typing import List, Sequence

from ..check.rulebook import files_of, judge_of, site_of
from ..command_line.options import PROGRAM, Options
from ..devtools import validate
from ..output.doctor_findings import Finding
from ..words import plural
from .sentences import halves

SUBJECT = 'site files'
TOLD = 3   # mistakes that are told here; validate tells all


def examined(options: Options) -> List[Finding]:
    """Return what is to be said of the files of the configuration folder and of the command line."""
    attributes, limits = files_of(options.data, [])
    files = [*attributes, *limits]
    mistakes = judge_of(options, site_of(options.data, None)).mistakes
    sound = [path for path, shown in files if not any(os.path.basename(path) in mistake for mistake in mistakes)]
    return judged([path for path, _ in files], [*mistakes, *(validate.problems(sound) if sound else ())],
                  options.data.config)


def judged(files: Sequence[str], mistakes: Sequence[str], config: str) -> List[Finding]:
    """Return the findings: one that all is well, or one for each mistake."""
    if mistakes:
        return [_mistake(sentence, files) for sentence in mistakes[:TOLD]] + _rest(len(mistakes) - TOLD, files)
    there = f'{plural(len(files), "file")} of yours, no mistake in {"it" if len(files) == 1 else "them"}'
    return [Finding(SUBJECT, True, there if files else f'none in {config}; all limits are the shipped ones')]


def _mistake(sentence: str, files: Sequence[str]) -> Finding:
    words, advice = halves(sentence)
    file = next((path for path in files if os.path.basename(path) in words), '')
    if not file:
        return Finding(SUBJECT, False, words, advice)
    ending = ' Correct it, then validate it' if advice.endswith('?') else ', then validate it'
    return Finding(SUBJECT, False, words, (advice or 'correct it') + ending, f'{PROGRAM} validate {file}')


def _rest(number: int, files: Sequence[str]) -> List[Finding]:
    return [Finding(SUBJECT, False, f'{plural(number, "more mistake")}', 'let validate tell them',
                    f'{PROGRAM} validate {" ".join(files)}')] if number > 0 else []
