"""Damage to smartctl's reports, as tickets, bridges, full disks and firmware do it: seeded, so that each case can be had
again.

Each kind takes a report and dice and returns another report. What comes out is broken, not forged: a number never
becomes another plausible one, since no reader could tell that.
"""
from __future__ import annotations

import copy
import json
import random
import re
from typing import Any, Callable, List, Mapping, Tuple

Dice = random.Random
# What a drive is called may hold any number: with another one it is another drive.
NO_NAME = r'^(?!\s*(?:Device Model|Model|Firmware|Vendor|Product|Revision|Serial))'
Place = Tuple[Any, Any]           # a container, and the key or index in it
HUGE = (2 ** 64, -2 ** 63, 10 ** 30, 1e300, float('inf'), float('nan'))
WRONG = (None, True, 'x', [], {}, 0.5, -1, '', ['x'], {'x': 1}, 'PASSED', 10 ** 30)


def damaged(content: bytes, dice: Dice) -> Tuple[str, bytes]:
    """Return how a report was damaged, and what became of it."""
    text = content.decode('utf-8', 'replace')
    is_json = text.lstrip().startswith('{')
    kinds: Mapping[str, Callable[[str, Dice], str]] = {**(OF_JSON if is_json else OF_TEXT), 'cut': cut}
    kind = dice.choice(sorted(kinds))
    return kind, kinds[kind](text, dice).encode()


def cut(text: str, dice: Dice) -> str:
    """Return the beginning of a report: a disk was full, a mail too long."""
    return text[:dice.randrange(len(text))]


# --- JSON ------------------------------------------------------------------------------

def places(data: Any, of: Tuple[type, ...] = (object,)) -> List[Place]:
    """Return where values of certain types stand in a document, at any depth."""
    items = list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    found = [(data, key) for key, value in items if isinstance(value, of)]
    return found + [place for _, value in items for place in places(value, of)]


def _in_document(change: Callable[[Any, Dice], None]) -> Callable[[str, Dice], str]:
    def changed(text: str, dice: Dice) -> str:
        document = json.loads(text)
        for _ in range(dice.choice((1, 1, 2, 5))):
            change(document, dice)
        return json.dumps(document)
    return changed


def _without_key(document: Any, dice: Dice) -> None:
    keys = [(container, key) for container, key in places(document) if isinstance(container, dict)]
    container, key = dice.choice(keys)
    del container[key]


def _of_wrong_type(document: Any, dice: Dice) -> None:
    container, key = dice.choice(places(document))
    container[key] = copy.deepcopy(dice.choice([value for value in WRONG if type(value) is not type(container[key])]))


def _huge(document: Any, dice: Dice) -> None:
    numbers = [(container, key) for container, key in places(document, (int,)) if type(container[key]) is int]
    container, key = dice.choice(numbers)
    container[key] = dice.choice(HUGE)


def _swapped(document: Any, dice: Dice) -> None:
    first = dice.choice(places(document))
    others = [place for place in places(document) if type(place[0][place[1]]) is not type(first[0][first[1]])]
    second = dice.choice(others)
    values = [copy.deepcopy(container[key]) for container, key in (first, second)]
    (first[0][first[1]], second[0][second[1]]) = values[1], values[0]


OF_JSON: Mapping[str, Callable[[str, Dice], str]] = {
    'missing key': _in_document(_without_key), 'wrong type': _in_document(_of_wrong_type),
    'huge number': _in_document(_huge), 'swapped': _in_document(_swapped)}


# --- text ------------------------------------------------------------------------------

def _in_lines(change: Callable[[List[str], Dice], None]) -> Callable[[str, Dice], str]:
    def changed(text: str, dice: Dice) -> str:
        lines = text.split('\n')
        for _ in range(dice.choice((1, 1, 2, 5))):
            change(lines, dice)
        return '\n'.join(lines)
    return changed


def _with(pattern: str, lines: List[str], dice: Dice) -> int:
    """Return the place of a line that a pattern is found in; of any line where it is found in none."""
    return dice.choice([place for place, line in enumerate(lines) if re.search(pattern, line)] or range(len(lines)))


def _without_line(lines: List[str], dice: Dice) -> None:
    del lines[_with(r'^[A-Z][^:]*:', lines, dice)]


def _word_of_wrong_type(lines: List[str], dice: Dice) -> None:
    place = _with(r'\S', lines, dice)
    words = re.split(r'(\S+)', lines[place])
    at = dice.randrange(1, len(words), 2) if len(words) > 1 else 0
    words[at] = 'x' if re.search(r'\d', words[at]) else dice.choice(['', '-', '[]'])
    lines[place] = ''.join(words)


def _huge_number(lines: List[str], dice: Dice) -> None:
    place = _with(NO_NAME + r'.*\d', lines, dice)
    numbers = list(re.finditer(r'\d+', lines[place])) if re.match(NO_NAME, lines[place]) else []
    if numbers:
        number = dice.choice(numbers)
        lines[place] = lines[place][:number.start()] + dice.choice(['9' * 30, '1e300']) + lines[place][number.end():]


def _lines_swapped(lines: List[str], dice: Dice) -> None:
    first, second = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]


OF_TEXT: Mapping[str, Callable[[str, Dice], str]] = {
    'missing key': _in_lines(_without_line), 'wrong type': _in_lines(_word_of_wrong_type),
    'huge number': _in_lines(_huge_number), 'swapped': _in_lines(_lines_swapped)}
