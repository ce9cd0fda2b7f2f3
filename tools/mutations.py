"""One small mistake after the other in a module: how it reads, and how it takes the place of
what is right.
"""

from __future__ import annotations
import __future__

import ast
import difflib
import hashlib
import importlib
import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    import libcst

# mutmut leaves decorated functions alone. What stands behind one of these is a function like
# others.
DECORATED = re.compile(
    r'^ *@(?:lru_cache\(.*\)|cache|property|cached_property|contextmanager)$',
    re.MULTILINE,
)
_Place = tuple[str, str]  # (class or '', function)


class Mutant(NamedTuple):
    """One change to one function, as it is printed."""

    function: str  # "_hours", "SpecDatabase.claims"
    # the statements that it takes out, and those that it puts in, a line each
    before: tuple[str, ...]
    after: tuple[str, ...]

    def __str__(self) -> str:
        """As lines of a patch."""
        return '\n'.join(
            [
                *(f'- {line}' for line in self.before),
                *(f'+ {line}' for line in self.after),
            ]
        )


def mutant(function: str, was: str, is_now: str) -> Mutant:
    """Return a mutant by its function before and after.

    What differs is told in statements: where a line is wrapped changes with what stands before it.
    """
    before, after = (
        ast.unparse(ast.parse(code)).splitlines() for code in (was, is_now)
    )
    told = [
        line
        for line in difflib.unified_diff(before, after, n=0)
        if not line.startswith(('---', '+++'))
    ]
    return Mutant(
        function,
        *(tuple(line[1:].strip() for line in told if line[0] == sign) for sign in '-+'),
    )


class Change(NamedTuple):
    """A mutant that can be tried."""

    mutant: Mutant
    module: str  # "knowledge/drive_database"
    place: _Place
    code: str  # the whole function, within its class where it has one
    lines: range  # of the module: a test that runs none of them cannot notice
    identity: str = ''

    def make(self) -> None:
        """Let the function do what the mutant does, wherever somebody has imported it already."""
        module = importlib.import_module(
            f'smart_attributes.{self.module.replace("/", ".")}'
        )
        names = dict(vars(module))
        exec(  # noqa: S102
            compile(
                self.code,
                str(module.__file__),
                'exec',
                __future__.annotations.compiler_flag,
                True,
            ),
            names,
        )
        right, wrong = (_function(space, self.place) for space in (vars(module), names))
        right.__code__, right.__defaults__, right.__kwdefaults__ = (
            wrong.__code__,
            wrong.__defaults__,
            wrong.__kwdefaults__,
        )


def _function(names: Any, place: _Place) -> FunctionType:
    """Return a function by its place, without what decorates it."""
    holder, name = place
    found = vars(names[holder])[name] if holder else names[name]
    if isinstance(found, (property, cached_property)):
        found = found.fget if isinstance(found, property) else found.func
    found = getattr(found, '__func__', found)
    return cast(FunctionType, getattr(found, '__wrapped__', found))


class Draft(NamedTuple):
    """A mutant that is known by name only: many are counted, and few are made."""

    identity: str  # hexadecimal, the same as long as the changed code is
    function: str


def drafts(module: str, source: Path) -> list[Draft]:
    """Return all small mistakes that mutmut can think of in the functions of a module."""
    return [mistake.draft for mistake in _mistakes(module, source)]


def changes(module: str, source: Path, drawn: Container[str]) -> list[Change]:
    """Return the mutants of a module that have one of the identities *drawn*, in its order.

    Those are left out that do the same as the code.
    """
    statements = Statements(ast.parse(DECORATED.sub('', source.read_text())))
    made = [
        _change(module, mistake, statements)
        for mistake in _mistakes(module, source)
        if mistake.draft.identity in drawn
    ]
    return [change for change in made if change.mutant.before != change.mutant.after]


class _Mistake(NamedTuple):
    draft: Draft
    place: _Place
    function: libcst.FunctionDef
    mutation: Any


def _mistakes(module: str, source: Path) -> Iterator[_Mistake]:
    import libcst
    from libcst.metadata import MetadataWrapper
    from mutmut.mutation.file_mutation import MutationVisitor, group_by_top_level_node
    from mutmut.mutation.mutators import mutation_operators
    from mutmut.mutation.pragma_handling import IgnoredCode

    visitor = MutationVisitor(mutation_operators, IgnoredCode(set(), set(), set()))
    text = DECORATED.sub('', source.read_text())
    tree = MetadataWrapper(libcst.parse_module(text)).visit(visitor)
    places = _places(tree)
    count: Counter[tuple[str, ...]] = Counter()
    for function, mutations in group_by_top_level_node(visitor.mutations).items():
        for mutation in mutations:
            if id(function) not in places:
                continue
            place = places[id(function)]
            texts = (
                tree.code_for_node(node)
                for node in (mutation.original_node, mutation.mutated_node)
            )
            key = (module, *place, *texts)
            count[key] += 1
            identity = hashlib.sha256(repr((key, count[key])).encode()).hexdigest()[:16]
            draft = Draft(identity, '.'.join(filter(None, place)))
            yield _Mistake(draft, place, cast(libcst.FunctionDef, function), mutation)


def _places(tree: libcst.Module) -> dict[int, _Place]:
    """Return where each function stands, by its identity."""
    import libcst

    found = {}
    for statement in tree.body:
        holder = statement.name.value if isinstance(statement, libcst.ClassDef) else ''
        for inner in (
            statement.body.body
            if isinstance(statement, libcst.ClassDef)
            else (statement,)
        ):
            if isinstance(inner, libcst.FunctionDef):
                found[id(inner)] = holder, inner.name.value
    return found


def _change(module: str, mistake: _Mistake, statements: Statements) -> Change:
    """Return one mutation of one function."""
    import libcst
    from mutmut.mutation.file_mutation import deep_replace

    mutation = mistake.mutation
    wrong = cast(
        libcst.FunctionDef,
        deep_replace(mistake.function, mutation.original_node, mutation.mutated_node),
    )
    before, after = (
        libcst.Module([each.with_changes(decorators=[], leading_lines=[])]).code
        for each in (mistake.function, wrong)
    )
    return Change(
        mutant(mistake.draft.function, before, after),
        module,
        mistake.place,
        _within_class(mistake.place[0], wrong),
        statements.around(mistake.place, changed(before, after)),
        mistake.draft.identity,
    )


def _within_class(holder: str, function: libcst.FunctionDef) -> str:
    """Return a program that defines a function, decorated by what says how it is called."""
    import libcst

    statement: Any = function
    if holder:
        statement = libcst.ClassDef(
            libcst.Name(holder), libcst.IndentedBlock([function])
        )
    return str(libcst.Module([statement]).code)


def changed(before: str, after: str) -> range:
    """Return which lines of a text another one has in other words, from the first to the last;
    counted from 0.
    """
    was, is_now = before.splitlines(), after.splitlines()
    first = _equal(was, is_now)
    return range(
        first,
        max(len(was) - _equal(was[first:][::-1], is_now[first:][::-1]), first + 1),
    )


def _equal(some: Sequence[str], others: Sequence[str]) -> int:
    """Return how many of the first lines are equal."""
    return next(
        (
            number
            for number, (one, other) in enumerate(zip(some, others))
            if one != other
        ),
        min(len(some), len(others)),
    )


class Statements:
    """Those of the functions of a module, by their lines."""

    def __init__(self, tree: ast.Module) -> None:
        self.functions: dict[_Place, ast.FunctionDef] = {}
        for statement in tree.body:
            holder = statement.name if isinstance(statement, ast.ClassDef) else ''
            for inner in (
                statement.body if isinstance(statement, ast.ClassDef) else (statement,)
            ):
                if isinstance(inner, ast.FunctionDef):
                    self.functions[holder, inner.name] = inner

    def around(self, place: _Place, within: range) -> range:
        """Return the lines of the smallest statement around some lines of a function: all, where
        its head differs.

        within: counted from the function's first line.
        """
        function = self.functions[place]
        asked = range(function.lineno + within[0], function.lineno + within[-1] + 1)
        spans = [
            span
            for node in ast.walk(function)
            if node is not function
            for span in _spans(node)
        ]
        whole = range(function.lineno, (function.end_lineno or 0) + 1)
        if asked[0] < function.body[0].lineno:
            return whole
        return min(
            (span for span in spans if asked[0] in span and asked[-1] in span),
            key=len,
            default=whole,
        )


def _spans(node: ast.AST) -> Iterator[range]:
    """Yield the lines of a statement; and those of its head alone, where it holds others."""
    if isinstance(node, (ast.stmt, ast.ExceptHandler)):
        yield range(node.lineno, (node.end_lineno or 0) + 1)
        body: list[ast.stmt] | None = getattr(node, 'body', None)
        if body:
            yield range(node.lineno, max(body[0].lineno, node.lineno + 1))
