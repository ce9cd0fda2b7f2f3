"""Of mistyped words, what is suggested is what was meant."""

import json
import random
import re
import string

import pytest
from conftest import ROOT

from smart_attributes.command_line import values
from smart_attributes.command_line.values import STATE_WORDS
from smart_attributes.commands import table
from smart_attributes.errors import UsageError
from smart_attributes.knowledge.data_errors import nearest_metric

CHECK = table.commands()[0]
OPTIONS = [
    spelling
    for action in table.parser(CHECK)._actions
    for spelling in action.option_strings
    if spelling.startswith('--') and '_' not in spelling
]
METRICS = sorted(json.loads((ROOT / 'attributes.json').read_text())['metrics'])


def mistyped(word: str, dice: random.Random) -> str:
    """Return a word with one or two slips: a letter left out, doubled, changed, or two of them
    exchanged.
    """
    start = len(word) - len(word.lstrip('-'))
    letters = list(word[start:])
    for _ in range(1 if len(letters) < 6 else dice.randint(1, 2)):
        at = dice.randrange(len(letters) - 1)
        slip = dice.randrange(4)
        letters[at : at + 2] = [
            [letters[at + 1]],
            [letters[at], *letters[at : at + 2]],
            [dice.choice(string.ascii_lowercase), letters[at + 1]],
            letters[at : at + 2][::-1],
        ][slip]
    return word[:start] + ''.join(letters)


def answer(kind: str, word: str) -> str:
    """Return what the program says of a word."""
    if kind == 'metric':
        return nearest_metric(word)
    with pytest.raises((UsageError, values.argparse.ArgumentTypeError)) as error:
        if kind == 'state':
            values.state(word)
        else:
            table.understood([word])
    return str(error.value)


def test_at_least_95_of_100_slips_are_understood():
    """100 words with one or two slips; words that are right by chance are no slips."""
    dice = random.Random(46)
    words = {
        'command': [each.name for each in table.commands()[1:]],
        'option': OPTIONS,
        'metric': METRICS,
        'state': [*STATE_WORDS],
    }
    wrong, number = [], 0
    while number < 100:
        kind = dice.choice(list(words))
        meant = dice.choice(words[kind])
        typed = mistyped(meant, dice)
        if any(
            each == typed or (kind == 'option' and each.startswith(typed))
            for each in words[kind]
        ):
            continue
        number += 1
        found = re.search(r'did you mean (.+?)\?', answer(kind, typed))
        wrong += (
            [] if found and found[1] == meant else [(meant, typed, found and found[1])]
        )

    assert len(wrong) <= 0.05 * number, wrong


@pytest.mark.parametrize('word', ['--qqqqqqq', '--sort', '--color', '--skip'])
def test_nothing_is_suggested_where_nothing_is_like_it(word):
    """That both begin with dashes makes no two options alike."""
    with pytest.raises(UsageError) as error:
        table.understood([word])

    assert 'did you mean' not in str(error.value)


@pytest.mark.parametrize(
    'words',
    [['/dev/sda'], ['megaraid,6@/dev/bus/0'], ['-d', '/dev/sda', '/dev/sdb']],
    ids=str,
)
def test_a_drive_without_its_option_is_answered_with_the_option(words):
    """People type the path of a drive as for smartctl."""
    with pytest.raises(UsageError) as error:
        table.understood(words)

    assert f'; write -d {words[-1]}; ' in str(error.value)
