"""Every beginning of a sentence about a drive that cannot be read, taken from the source."""
from __future__ import annotations

import ast
import re
from typing import Iterator, Set

from conftest import ROOT

from smart_attributes import errors
from smart_attributes.reading import failure_reasons

ERRORS = {name for name, value in vars(errors).items() if isinstance(value, type)
          and issubclass(value, errors.DriveError)}
MODULES = (*sorted(f'reading/{path.stem}' for path in (ROOT / 'smart_attributes' / 'reading').glob('*.py')),
           'check/survey', 'check/verdicts')


def key(sentence: str) -> str:
    """Return what a sentence begins with: up to what changes, or to the next step."""
    return re.split(r'\{|;| \(|, or ', sentence)[0].rstrip(' ":')


def keys() -> Set[str]:
    """Return the beginnings of all sentences."""
    found = {key(rule.sentence) for rule in failure_reasons._RULES}
    for module in MODULES:
        for node in ast.walk(ast.parse((ROOT / f'smart_attributes/{module}.py').read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS and node.args:
                found.update(key(text) for text in _leading(node.args[0]))
    return found


def _leading(node: ast.expr) -> Iterator[str]:
    """Yield the constant text that a string expression begins with."""
    if isinstance(node, ast.Constant):
        yield node.value
    elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        yield node.values[0].value + '{'
    elif isinstance(node, ast.BinOp):
        yield from _leading(node.left)
    elif isinstance(node, ast.Name) and node.id.startswith('_'):
        yield getattr(failure_reasons, node.id)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        for text in _leading(node.func.value):
            for filled in _leading(node.args[0]):
                yield text.replace('{}', filled)
