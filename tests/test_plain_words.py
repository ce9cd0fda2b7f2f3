"""The rules of tools/plain_words.py, the rejected words of the glossary, and the share of bad sentences."""
from __future__ import annotations

import json
import re

import plain_words
import pytest
from conftest import ROOT

RULES = plain_words.rules()
LIST = json.loads(plain_words.LIST.read_text())
GLOSSARY = (ROOT / 'doc/contributing/words.md').read_text()

# Percent of the sentences of each group that break a rule, rounded to a tenth. Never raise one.
MOST: dict[str, float] = {'documents': 0.0, 'help': 0.0, 'messages': 0.0, 'docstrings': 0.0, 'comments': 0.0}


def rejected() -> list[tuple[str, str]]:
    """Return each rejected word of the glossary with the term to write."""
    rows = re.findall(r'^\| (`.*`) \| (.*) \|$', GLOSSARY.partition('## Rejected words')[2], re.MULTILINE)
    return [(word, plain) for words, plain in rows for word in re.findall('`([^`]+)`', words)]


# --- one sentence ----------------------------------------------------------------------------

@pytest.mark.parametrize('text, breach', [
    pytest.param('The drive told its serial number.', '"told" (report, show, know)', id='word'),
    pytest.param('Told drives are listed.', '"Told" (report, show, know)', id='capital'),
    pytest.param('The controller is an intolderant one.', None, id='part-of-a-word'),
    pytest.param('The file is no report.', '"is no" (is not a ..., not one of these)', id='negation'),
    pytest.param('The drive is no longer there.', None, id='no-longer'),
    pytest.param('What the drive reports is printed.', 'begins with "What"', id='opener'),
    pytest.param('"Who runs the checks reads it."', 'begins with "Who"', id='opener-in-quotes'),
    pytest.param('What does the drive report?', None, id='question'),
    pytest.param('What to do: replace the drive.', None, id='heading'),
    pytest.param('What to do with the drive is printed.', 'begins with "What"', id='no-heading'),
    pytest.param('Return 0 if the age is None.', None, id='None-of-Python'),
    pytest.param('Return 0 if there are none.', '"are none" (is not a ..., not one of these)', id='none'),
    pytest.param('Whatsoever begins differently.', None, id='longer-opener'),
    pytest.param('Print what the drive reports.', None, id='what-inside')])
def test_a_sentence_that_breaks_a_rule_is_named_with_the_plain_word(text, breach):
    assert RULES.breach(text) == breach


@pytest.mark.parametrize('text, sentences', [
    ('One drive failed. Replace it now.', ['One drive failed.', 'Replace it now.']),
    ('The version is 1.6 of the plugin.', ['The version is 1.6 of the plugin.']),
    ('Run `what is told` as the root user.', ['Run CODE as the root user.']),
    ('See [the whole list](doc/told.md) for all.', ['See [the whole list] for all.']), ('too short', [])])
def test_text_is_split_into_sentences_without_code_and_links(text, sentences):
    assert plain_words.split(text) == sentences


def test_a_document_has_paragraphs_items_and_cells_and_no_code():
    text = ('# Head\n\nOne line\nand the next.\n\n- an item\n\n| a | b |\n\n```\ncode\n```\n    more code\n'
            '<!-- remark -->\n')

    assert list(plain_words.paragraphs(text)) == [
        (1, 'Head'), (3, 'One line and the next.'), (6, 'an item'), (8, ' a '), (8, ' b ')]


@pytest.mark.parametrize('source, texts', [
    ("run('SELECT role FROM series')", []), ("run('ALTER TABLE series RENAME COLUMN role TO metric')", []),
    ("run('Select the role of it')", ['Select the role of it'])])
def test_statements_of_sql_are_not_sentences(tmp_path, monkeypatch, source, texts):
    monkeypatch.setattr(plain_words, 'ROOT', tmp_path)
    (tmp_path / 'a.py').write_text(source)

    assert [each.text for each in plain_words.of_python('a.py')] == texts


def test_comments_on_lines_that_follow_each_other_are_one():
    source = ('# The first line\n# and the second.\nx = 1  # noqa: E501\n\n# Another comment here.\n'
              'y = 2   # number of the drives\nz = 3   # age of the drives\n')

    assert [(each.place, each.text) for each in plain_words.comments('a.py', source)] == [
        ('a.py:1', 'The first line and the second.'), ('a.py:5', 'Another comment here.'),
        ('a.py:6', 'number of the drives'), ('a.py:7', 'age of the drives')]


# --- the glossary ----------------------------------------------------------------------------

def test_every_rejected_word_of_the_glossary_is_found_with_its_plain_word():
    assert [(word, plain) for word, plain in rejected()
            if not any(other == plain and pattern.search(word) for pattern, other in RULES.words)] == []


def test_every_private_word_is_in_the_glossary():
    words = [word for word, _ in rejected()]

    assert [pattern for pattern in LIST['words']
            if not any(re.search(rf'\b(?:{pattern})\b', word) for word in words)] == []
    assert [opener for opener in LIST['openers'] if f'`{opener}`' not in GLOSSARY] == []


# --- the project -----------------------------------------------------------------------------

def test_the_share_of_bad_sentences_only_falls():
    """Run tools/plain_words.py -l FILE to see them."""
    shares = {}
    found = list(plain_words.sentences(plain_words.project()))
    for group in plain_words.LIMITS:
        texts = [each.text for each in found if each.group == group]
        shares[group] = 100 * sum(RULES.breach(text) is not None for text in texts) / len(texts)

    assert set(MOST) == set(plain_words.LIMITS)
    assert {group: round(share, 1) for group, share in shares.items() if round(share, 1) > MOST[group]} == {}
