"""The documents say what the program does: they are compared, not trusted."""

import html
import json
import re

import abilities
import described
import example
import picture
import pytest
import tables
from conftest import ROOT

from smart_attributes.model import State


@pytest.mark.parametrize('document', tables.TABLES)
def test_the_tables_of_a_document_are_up_to_date(document):
    """Run `.venv/bin/python tools/tables.py` after a change of options, metrics, limits or
    modules.
    """
    assert tables.filled(document) == (ROOT / document).read_text()


def test_every_state_has_its_conditions_in_the_document_on_states():
    """The man page prints them from there."""
    assert [
        (name, int(code)) for name, code, conditions in described.states() if conditions
    ] == [(state.name, int(state)) for state in State]


def test_every_default_limit_has_a_reason():
    """A limit without a reason cannot be defended at three in the morning."""
    for name, metric in json.loads((ROOT / 'thresholds/default.json').read_text())[
        'metrics'
    ].items():
        for limit in (
            metric,
            *(metric[kind] for kind in tables.KINDS if kind in metric),
        ):
            has_limit = (
                limit.get('warning') is not None or limit.get('critical') is not None
            )
            assert limit.get('why') or not has_limit, name


@pytest.mark.parametrize('document', example.DOCUMENTS)
def test_the_output_in_a_document_is_what_the_program_prints(document):
    """A made-up example would be believed. Run `make generate` after a change of the output."""
    assert example.filled(document) == (ROOT / document).read_text()


@abilities.terminal
def test_the_picture_shows_what_the_program_prints():
    """`make generate` draws it anew; rich's versions differ in everything but the words.

    A forecast is as old as its picture.
    """
    words = re.sub(r'<[^>]+>', ' ', picture.PICTURE.read_text()).replace('&#160;', ' ')
    missing = set(picture.plain(picture.printed()).split()) - set(
        html.unescape(words).replace('\xa0', ' ').split()
    )

    assert {
        word
        for word in missing
        if not re.fullmatch('~?20[0-9]{2}-[0-9]{2}(-[0-9]{2})?', word)
    } == set()


def test_the_readme_is_shown_formatted_by_hosts():
    """They look at the name's end."""
    assert (ROOT / 'README.md').resolve() == ROOT / 'README'
