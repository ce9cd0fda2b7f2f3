"""Imports between modules: the drawing in doc/contributing/architecture.md, as mermaid text."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / 'smart_attributes'
MODULES = sorted(
    str(path.relative_to(PACKAGE))[:-3]
    for path in PACKAGE.rglob('*.py')
    if path.stem != '__init__'
)
# needs data that no user has: not of the package
MEASURING = sorted((PACKAGE.parent / 'tools/measure').glob('*.py'))
# What every module may import.
BASE = {
    'model',
    'constants',
    'errors',
    'failures',
    'words',
    'wording',
    'shown',
    'trust',
    'alarm',
    'state_directory',
    'files',
    'child',
    'typed',
}

Arrows = Mapping[tuple[str, str], int]  # (importing, imported) -> how many imports


@lru_cache(maxsize=None)
def tree(module: str) -> ast.Module:
    """Return the syntax tree of a module of the package."""
    return ast.parse((PACKAGE / f'{module}.py').read_text())


@lru_cache(maxsize=None)
def imports(module: str) -> tuple[tuple[str, bool], ...]:
    """Return (name, is one of ours) for every import of a module, at its top or inside a function.

    The name is that of a module, such as "reading/addresses", or of a foreign package; the package
    itself is left out.
    """
    return tuple(_imports(module))


def _imports(module: str) -> Iterator[tuple[str, bool]]:
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = '/'.join(
                [
                    *module.split('/')[:-1][: module.count('/') + 1 - node.level],
                    *filter(None, (node.module or '').split('.')),
                ]
            )
            for alias in node.names:
                whole = f'{base}/{alias.name}'.lstrip('/')
                if whole in MODULES or base:
                    yield (whole if whole in MODULES else base), True
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or '').split('.')[0], False
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.split('.')[0], False


def imports_from_outside(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a file outside of the package imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            package, _, base = node.module.partition('.')
            names = (
                [f'{base}/{alias.name}'.lstrip('/') for alias in node.names]
                if package == PACKAGE.name
                else []
            )
            yield from (
                whole if whole in MODULES else base.replace('.', '/')
                for whole in (name.replace('.', '/') for name in names)
            )


def subpackage(module: str) -> str:
    """Return the subpackage of a module, or the module itself where it is in none."""
    return module.partition('/')[0]


def arrows() -> Arrows:
    """Return how many modules of a subpackage import a module of another subpackage; the base is
    left out.
    """
    pairs = {
        (module, name)
        for module in MODULES
        for name, is_ours in imports(module)
        if is_ours
    }
    between = ((subpackage(module), subpackage(name)) for module, name in sorted(pairs))
    return Counter(
        pair for pair in between if pair[0] != pair[1] and not BASE.intersection(pair)
    )


def circles() -> list[str]:
    """Return the modules that import each other in a circle, at their top or inside a function,
    and those between.
    """
    pairs = {
        (module, name)
        for module in MODULES
        for name, is_ours in imports(module)
        if is_ours and name in MODULES
    }
    while True:
        importing, imported = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
        rest = {
            (upper, lower)
            for upper, lower in pairs
            if lower in importing and upper in imported
        }
        if rest == pairs:
            return sorted(importing)
        pairs = rest


def heights(between: Arrows) -> dict[str, int]:
    """Return the height of each subpackage in the drawing: 0 for one that imports no other.

    Raises SystemExit if subpackages import each other in a circle.
    """
    below: dict[str, list[str]] = {
        subpackage(module): [] for module in MODULES if subpackage(module) not in BASE
    }
    for importing, imported in between:
        below[importing].append(imported)
    height: dict[str, int] = {}
    while len(height) < len(below):
        ready = [
            name
            for name in below
            if name not in height and all(other in height for other in below[name])
        ]
        if not ready:
            circle = ', '.join(sorted(set(below) - set(height)))
            raise SystemExit(
                f'smart_attributes: {circle} import each other in a circle'
            )
        height.update(
            {
                name: 1 + max((height[other] for other in below[name]), default=-1)
                for name in ready
            }
        )
    return height


def drawing() -> list[str]:
    """Return the lines of the drawing, the highest subpackage first."""
    between = arrows()
    height = heights(between)
    order = sorted(height, key=lambda name: (-height[name], name))
    lines = [
        f'  {importing} --> {imported}'
        for importing in order
        for imported in order
        if (importing, imported) in between
    ]
    return ['```mermaid', 'flowchart TD', *lines, '```']
