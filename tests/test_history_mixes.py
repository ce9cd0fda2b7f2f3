"""Real drives in random mixes have a history that lasts, whatever each of them reports or leaves
out.
"""

import os
import random
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
from damage import recorded
from measure import collection
from shipped import DATABASE
from test_history_store import START, STEP, history

from smart_attributes.errors import SmartError
from smart_attributes.history.drive_records import Scope
from smart_attributes.history.past import observations
from smart_attributes.history.store import Sighting
from smart_attributes.knowledge import readings
from smart_attributes.model import Report
from smart_attributes.reading import text_report

DRIVES = 12


def reports(shared: Path, dice: random.Random) -> Iterator[Report]:
    """Yield the recorded reports and the drives of the collection, in random order."""
    for content in dice.sample(sorted(recorded().values()), len(recorded())):
        with suppress(SmartError):
            yield text_report.parse_report(content)
    yield from (
        drive.report
        for drive in collection.read(str(shared / 'drives/drives.jsonl.gz'))
    )


def sighting(number: int, report: Report) -> Sighting:
    spec = DATABASE.identify(report.identity, [row.id for row in report.attributes])
    return Sighting(
        f'/dev/sd{chr(97 + number)}',
        report.identity,
        observations(readings.readings(report, spec, DATABASE.metrics), None),
    )


@pytest.mark.long
def test_no_mix_of_real_drives_damages_a_history(shared, tmp_path):
    """MIXES=3400 is the whole run: each report three times, by three checks of a mix of 12."""
    all_reports = reports(shared, random.Random(7))
    mixes = 0
    for _ in range(int(os.environ.get('MIXES', '60'))):
        mix: list[Sighting] = [
            sighting(number, report)
            for number, report in enumerate(islice(all_reports, DRIVES))
        ]
        mixes += bool(mix)
        (tmp_path / 'state').mkdir()
        for check in range(3):
            opened = history(tmp_path / 'state', START + check * STEP)
            opened.recall([each.identity for each in mix if each.identity])
            opened.keep(mix, Scope(is_scan=True))
            messages = [*opened.damage, opened.not_written, opened.slowness]
            assert not any(messages), [messages, *(each.identity for each in mix)]
        shutil.rmtree(tmp_path / 'state')

    assert mixes > 40
