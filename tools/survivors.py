"""Mutants that no test notices, and why that does no harm: tests/mutants/survivors.txt."""
from __future__ import annotations

import ast
import difflib
import re
from pathlib import Path
from typing import NamedTuple

SURVIVORS = Path(__file__).resolve().parent.parent / 'tests/mutants/survivors.txt'
REASON = re.compile(r'equal|words only|(?:accepted|left out) because .+')


class Mutant(NamedTuple):
    """One change to one function, as the file of survivors has it.

    It has no module: a reason follows its function when that moves. A function that is left out has no statements.
    """

    function: str           # "_hours", "SpecDatabase.claims"
    before: tuple[str, ...]  # the statements that it takes out, and those that it puts in, a line each
    after: tuple[str, ...]

    def __str__(self) -> str:
        """As in the file of survivors."""
        return '\n'.join([*(f'- {line}' for line in self.before), *(f'+ {line}' for line in self.after)])


def mutant(function: str, was: str, is_now: str) -> Mutant:
    """Return a mutant by its function before and after.

    What differs is told in statements: where a line is wrapped changes with what stands before it.
    """
    before, after = (ast.unparse(ast.parse(code)).splitlines() for code in (was, is_now))
    told = [line for line in difflib.unified_diff(before, after, n=0) if not line.startswith(('---', '+++'))]
    return Mutant(function, *(tuple(line[1:].strip() for line in told if line[0] == sign) for sign in '-+'))


def accepted() -> dict[Mutant, str]:
    """Return the survivors that somebody looked at, with their reasons."""
    found = {}
    for block in SURVIVORS.read_text().strip().split('\n\n') if SURVIVORS.exists() else ():
        head, *lines = block.splitlines()
        function, _, reason = head.partition(': ')
        if not REASON.fullmatch(reason):
            raise SystemExit(f'{SURVIVORS}: "{head}" gives no reason: write equal, words only or accepted because ...')
        found[Mutant(function, *(tuple(line[2:] for line in lines if line[0] == sign) for sign in '-+'))] = reason
    return found
