"""The text for a vendor's return form: the drive, the findings, and smartctl's lines about the drive. Pure."""
from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any

from ..constants import HOUR
from ..model import State, Verdict
from ..words import clean, sentence
from ..work.statements import finding, problem

LINES, LONG = 40, 600      # lines of smartctl, and characters of each
# Parts of smartctl's JSON, and lines of its text, that show the state of a drive.
PARTS = ('smart_status', 'nvme_smart_health_information_log', 'scsi_grown_defect_list', 'scsi_error_counter_log',
         'power_on_time', 'ata_smart_error_log', 'ata_smart_self_test_log', 'nvme_self_test_log')
TEXT = re.compile(r'smartctl \d|.*(?:self-assessment|Health Status|FAILING_NOW|grown defect|Error Count|ATA Error|'
                  r'Critical Warning|Available Spare|Percentage Used|Media and Data|Power.On|power on)|# ?\d')
COUNTERS = frozenset(('5', '9', '187', '197', '198'))   # attributes that are shown even without an alert


def lines(verdict: Verdict, said: str, day: str, hide_serial: bool) -> list[str]:
    """Return the lines of the text. said: smartctl's output, or ''. day: today, such as "2027-01-31"."""
    identity = verdict.identity
    alerts = [judgement for judgement in verdict.judgements if judgement.state is not State.OK]
    found = [sentence(finding(each), 300) for each in alerts] or [
        sentence(problem(verdict), 300) if verdict.problem else f'no alert: the state of this drive is {State.OK.name}']
    numbers = {str(each.reading.source.attribute) for each in alerts}
    facts = {'Model': clean(identity.model), 'Serial number': '' if hide_serial else clean(identity.serial),
             'Firmware': clean(identity.firmware), 'WWN': '' if hide_serial else clean(identity.wwn),
             'Power-on time': _hours(verdict), 'State': verdict.state.name, 'Date': day}
    quoted = [sentence(line, LONG) for line in islice(_quoted(said, COUNTERS | numbers), LINES)]
    return [*(f'{f"{name}:":15}{words or "-"}' for name, words in facts.items()), '', 'Findings:',
            *(f'  {words}' for words in found), '', 'smartctl reports:',
            *(f'  {line}' for line in quoted or ['nothing about this drive'])]


def _hours(verdict: Verdict) -> str:
    known = [each.reading.number for each in verdict.judgements
             if each.reading.metric == 'power_on_time' and each.reading.number is not None]
    return f'{known[0] / HOUR:.0f} h' if known else ''


def _quoted(said: str, attributes: AbstractSet[str]) -> Iterator[str]:
    """Yield the lines of smartctl's output that show the state of the drive. attributes: the rows to quote."""
    document = _document(said)
    if document is None:
        row = re.compile(rf'\s*(?:{"|".join(sorted(attributes))})\s+\w')
        yield from (line for line in said.splitlines() if TEXT.match(line) or row.match(line))
        return
    table = document.get('ata_smart_attributes')
    rows = table.get('table') if isinstance(table, dict) else None
    yield from _parts(document, ('smartctl', 'smart_status'))
    yield from (json.dumps(row) for row in (rows if isinstance(rows, list) else ())
                if isinstance(row, dict) and str(row.get('id')) in attributes)
    yield from _parts(document, PARTS[1:])


def _parts(document: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    yield from (f'"{name}": {json.dumps(document[name])}' for name in names if name in document)


def _document(said: str) -> Mapping[str, Any] | None:
    """Return the JSON that follows smartctl's command line; None if smartctl printed text."""
    start = re.search(r'^\{', said, re.MULTILINE)
    try:
        found: Mapping[str, Any] | None = json.loads(said[start.start():]) if start else None
    except (ValueError, RecursionError):
        return None
    return found
