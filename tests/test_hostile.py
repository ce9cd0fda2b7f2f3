"""Reports with wrong numbers, wrong types and hostile strings anywhere: a verdict, and one Nagios result."""
from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from conftest import ROOT, perfdata

from smart_attributes import judge
from smart_attributes.errors import DriveError
from smart_attributes.faces import plugin, triage
from smart_attributes.knowledge import specs, thresholds
from smart_attributes.model import Device
from smart_attributes.reading import json_report

WRONG = [None, 0, -1, 1, 255, 256, 65535, 2**48 - 1, 2**64, 1e300, float('inf'), float('nan'), '', 'x', '0x10',
         "|'=\n\x1b[2J", '\u202eKO', [], {},
         True, False, '9' * 50]
ROUNDS = 40


def spoil(document: Any, chance: random.Random) -> None:
    """Replace or remove about every thirtieth thing in a document."""
    places = list(document) if isinstance(document, dict) else range(len(document))
    for place in places:
        if chance.random() < 0.03:
            document[place] = chance.choice(WRONG)
        elif isinstance(document, dict) and chance.random() < 0.01:
            del document[place]
        elif isinstance(document[place], (dict, list)):
            spoil(document[place], chance)


@pytest.mark.parametrize('name', sorted(path.stem for path in (ROOT / 'tests/reports').glob('*.json')))
def test_a_spoiled_report_gives_one_nagios_result(name):
    """A drive's firmware, a bridge or a bug may put anything anywhere; the daemon must still understand."""
    database = specs.SpecDatabase(json.loads((ROOT / 'attributes.json').read_text()))
    limits = thresholds.Thresholds(json.loads((ROOT / 'thresholds/default.json').read_text()))
    whole = json.loads((ROOT / f'tests/reports/{name}.json').read_text())
    chance = random.Random(name)
    judged = 0
    for _ in range(ROUNDS):
        document = copy.deepcopy(whole)
        spoil(document, chance)
        try:
            report = json_report.from_json(document)
        except DriveError:
            continue
        verdict = judge.judge(Device('/dev/sda', name='sda'), report, database, limits, judge.Rules())
        text = plugin.render([verdict], database.roles, plugin.Face(verbose=2, all_perfdata=True)).text
        perfdata(text)
        json.loads(triage.as_json([verdict], [], False))
        assert not any(ord(character) < 32 for character in text.replace('\n', ''))
        judged += 1

    assert judged > ROUNDS / 2
