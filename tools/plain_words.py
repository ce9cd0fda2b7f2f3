#!/usr/bin/env python3
"""Count private words and inverted sentences in documents, help texts, messages and docstrings.

Usage: tools/plain_words.py [-l | --draw N [--seed S]] [FILE...]

Prints, for each of the five groups, how many sentences there are and how many hold a word of tools/private_words.json
or begin like a question without being one. Exit status 1 if more than 1 % of a group do (docstrings and comments: 3
%).
-l lists them, with the plain word. --draw prints N random sentences of each group instead, for people to judge. FILE:
only what is found in these files. The list is only ever extended.
"""
from __future__ import annotations

import argparse
import ast
import io
import json
import random
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / 'tools/private_words.json'
LIMITS = {'documents': 1.0, 'help': 1.0, 'messages': 1.0, 'docstrings': 3.0, 'comments': 3.0}
# The help of the commands.
RECORDS = ('smart_attributes/commands/records.json', 'smart_attributes/command_line/option_groups.json')
# What other programs printed or wrote; and what is a copy of a text that is counted elsewhere.
LEFT_OUT = ('LICENSE', 'doc/check_smart_attributes.8', 'contrib/bash-completion')
SHORTEST = 3  # words: a string of fewer is a name, not a sentence
SQL = re.compile(r'(?:ALTER|CREATE|DELETE|DROP|INSERT|PRAGMA|SELECT|UPDATE|WITH) ')  # a statement, not a sentence
TO_DO = re.compile(r'[\W_]*What to do:')  # a heading


class Sentence(NamedTuple):
    """A sentence of a group, and where it is."""

    group: str
    place: str
    text: str


class Rules(NamedTuple):
    """Private words as regular expressions with the plain word, and the words that invert a sentence."""

    words: Sequence[tuple[re.Pattern[str], str]]
    openers: re.Pattern[str]

    def breach(self, text: str) -> str | None:
        """Return what is wrong with a sentence, or None."""
        for pattern, plain in self.words:
            match = pattern.search(text)
            if match:
                return f'"{match[0]}" ({plain})'
        opener = None if TO_DO.match(text) else self.openers.match(text)
        return f'begins with "{opener[1]}"' if opener and not text.rstrip(' "\')').endswith('?') else None


def rules() -> Rules:
    """Return the rules of LIST. Raises ValueError where a pattern is no regular expression."""
    data = json.loads(LIST.read_text())
    return Rules([(re.compile(rf'\b(?:{word})\b', re.IGNORECASE), plain) for word, plain in data['words'].items()],
                 re.compile(rf'[\W_]*({"|".join(data["openers"])})\b'))


def split(text: str) -> list[str]:
    """Return the sentences of a paragraph, without code in backquotes, links and placeholders."""
    text = re.sub(r'\]\([^)]*\)', ']', re.sub(r'``?[^`]*``?', 'CODE', text))
    parts = re.split(r'(?<=[.!?])[")*_]*\s+(?=["(*_]*[A-Z0-9])', ' '.join(text.split()))
    return [part for part in parts if len(re.findall(r"[A-Za-z][a-z']+", part)) >= SHORTEST]


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs, list items and table cells of a document with their line; code blocks are left out."""
    is_code, block, start = False, [], 0  # type: bool, list[str], int
    for number, line in enumerate([*text.splitlines(), ''], 1):
        is_fence = line.lstrip().startswith('```')
        starts = is_fence or is_code or not line.strip() or re.match(r'\s*([-*+]|\d+\.|#+|\||>|<!--)\s?', line)
        if starts and block:
            yield start, ' '.join(block)
            block = []
        is_code ^= is_fence
        if is_code or is_fence or not line.strip() or line.startswith(('    ', '\t', '<!--')):
            continue
        if line.lstrip().startswith('|'):
            yield from ((number, cell) for cell in line.strip().strip('|').split('|'))
            continue
        start = start if block else number
        block.append(re.sub(r'^\s*([-*+]|\d+\.|#+|>)\s+', '', line))


def of_document(name: str) -> Iterator[Sentence]:
    """Yield the sentences of a document."""
    for line, paragraph in paragraphs((ROOT / name).read_text()):
        yield from (Sentence('documents', f'{name}:{line}', text) for text in split(paragraph))


def of_data(name: str) -> Iterator[Sentence]:
    """Yield the sentences of a data file: each "why", meaning and comment."""
    def walk(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for key, inner in value.items():
                is_sentence = key in {'why', 'meaning', 'remedy', 'comment', 'action', 'what', 'need', 'says'}
                yield from [inner] if is_sentence and isinstance(inner, str) else walk(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner)

    for text in walk(json.loads((ROOT / name).read_text())):
        yield from (Sentence('messages', name, sentence) for sentence in split(text))


def of_records(name: str) -> Iterator[Sentence]:
    """Yield the sentences of the help of the commands."""
    data = json.loads((ROOT / name).read_text())
    for each in data.values() if isinstance(data, dict) else data:
        yield from _sentences('help', name, each.get('summary', ''))
        yield from _sentences('help', name, '\n'.join(each.get('epilog', ())))
        for arguments in each['options'].values():
            yield from _sentences('help', name, arguments['help'])


def of_python(name: str) -> Iterator[Sentence]:
    """Yield the sentences of docstrings, comments, help texts and messages of a Python file."""
    source = (ROOT / name).read_text()
    tree = ast.parse(source)
    docstrings = {id(node.body[0].value): node for node in ast.walk(tree)
                  if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node)
                  and isinstance(node.body[0], ast.Expr)}
    is_help = name.startswith(('smart_attributes/command_line/command_options',
                               'smart_attributes/command_line/option_groups', 'smart_attributes/commands/table'))
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            is_doc = id(node) in docstrings
            group = 'docstrings' if is_doc else 'help' if is_help else 'messages'
            yield from _sentences(group, f'{name}:{node.lineno}', node.value)
        elif isinstance(node, ast.JoinedStr):
            text = ''.join(str(part.value) if isinstance(part, ast.Constant) else 'X' for part in node.values)
            yield from _sentences('help' if is_help else 'messages', f'{name}:{node.lineno}', text)
    yield from comments(name, source)


def _sentences(group: str, place: str, text: str) -> Iterator[Sentence]:
    if ' ' in text.strip() and not SQL.match(text):
        for paragraph in re.split(r'\n\s*\n', text):
            yield from (Sentence(group, place, sentence) for sentence in split(paragraph))


def comments(name: str, source: str) -> Iterator[Sentence]:
    """Yield the sentences of comments; lines without code that follow each other are one comment."""
    block, last, start = [], -1, 0  # type: list[str], int, int
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or re.match(r'#\s*(noqa|type:|!|-\*-|---)', token.string):
            continue
        is_alone = token.line.lstrip().startswith('#')
        if block and not (is_alone and token.start[0] == last + 1):
            yield from (Sentence('comments', f'{name}:{start}', text) for text in split(' '.join(block)))
            block = []
        start = start if block else token.start[0]
        block.append(token.string.lstrip('# '))
        last = token.start[0] if is_alone else -1
    yield from (Sentence('comments', f'{name}:{start}', text) for text in split(' '.join(block)))


def sentences(files: Sequence[str]) -> Iterator[Sentence]:
    """Yield the sentences of files of the project by what kind of file each is."""
    for name in files:
        if name.startswith(LEFT_OUT) or not (ROOT / name).is_file() or (ROOT / name).is_symlink():
            continue
        if name.endswith('.md') or name in {'README', 'CHANGELOG'}:
            yield from of_document(name)
        elif name in RECORDS:
            yield from of_records(name)
        elif re.fullmatch(r'attributes\.json|smart_attributes/(?:\w+/)?\w+\.json|thresholds/[^/]*\.json', name):
            yield from of_data(name)
        elif re.match(r'smart_attributes/.*\.py$', name):
            yield from of_python(name)


def project() -> list[str]:
    """Return the files of the project."""
    return subprocess.run(['git', 'ls-files'], cwd=ROOT, stdout=subprocess.PIPE, text=True,  # noqa: S607
                          check=True).stdout.split('\n')[:-1]


def drawn(found: Sequence[Sentence], count: int, seed: int) -> Iterator[str]:
    """Yield *count* different sentences of each group, numbered, with their places; the same for the same seed."""
    for group in LIMITS:
        of_group = sorted({each.text: each for each in found if each.group == group}.values())
        chosen = random.Random(seed).sample(of_group, min(count, len(of_group)))  # noqa: S311
        yield from (f'{group[:4]}{number} {each.place}: {each.text}' for number, each in enumerate(chosen, 1))


def main(arguments: Sequence[str]) -> int:
    """Count, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('-l', '--list', action='store_true', help='list each sentence with what is wrong')
    parser.add_argument('--draw', type=int, metavar='N', help='print N random sentences of each group')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('files', nargs='*')
    options = parser.parse_args(arguments)
    known, status, found = rules(), 0, list(sentences(options.files or project()))
    if options.draw:
        print('\n'.join(drawn(found, options.draw, options.seed)))
        return 0
    checked = [(sentence, known.breach(sentence.text)) for sentence in found]
    for sentence, breach in checked if options.list else ():
        if breach:
            print(f'{sentence.place}: {breach}: {sentence.text[:160]}')
    for group, limit in LIMITS.items():
        of_group = [breach for sentence, breach in checked if sentence.group == group]
        bad = len([breach for breach in of_group if breach])
        share = 100 * bad / len(of_group) if of_group else 0
        status |= share > limit
        print(f'{group}: {bad} of {len(of_group)} sentences, {share:.1f} % (at most {limit:g} %)')
    return int(status)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
