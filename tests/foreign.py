"""The readers of foreign data, each with what must hold whatever it is given; `make fuzz` and
test_foreign call them.

A reader takes bytes and returns nothing. It may raise SmartError, which is a sentence; whatever
else it raises is a fault. So is a second of CPU, 200 MB of memory, an OK that nothing in the bytes
supports, and a number that they do not hold.
"""

from __future__ import annotations

import atexit
import json
import re
import resource
import shutil
import tempfile
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable
from zlib import crc32

import sas
from conftest import ROOT
from shipped import ATTRIBUTES, DATABASE, DEFAULTS, LIMITS
from test_fleet_answers import service, told
from test_history_store import DRIVE, START, check

from smart_attributes import alarm
from smart_attributes.check import judging
from smart_attributes.constants import DAY, LOG_PAGE, MOST_RESULTS
from smart_attributes.devtools import sources
from smart_attributes.errors import SmartError
from smart_attributes.fleet import icinga, services, summary, table, triage_documents
from smart_attributes.fleet.drives import FleetDrive
from smart_attributes.fleet.table import Kept, in_page
from smart_attributes.knowledge import (
    drive_database,
    site_file,
    thresholds,
    vendor_logs,
)
from smart_attributes.model import Device, LogPage, Read, Report, State, Verdict
from smart_attributes.output.page_drives import is_urgent
from smart_attributes.reading import (
    addresses,
    farm,
    json_report,
    nvme_log,
    scans,
    text_report,
)
from smart_attributes.reading.content import integer_of, json_start
from smart_attributes.v1_6 import files, migrate

Reader = Callable[[bytes], object]
SECONDS, MEGABYTES = 1.0, 200
_TOO_LONG = f'more than {SECONDS} s of CPU'
DEVICE = Device('/dev/sda', name='sda')
# Numbers of a SAS disk that are not copied: a fraction, and what is counted.
COUNTED = (
    'gigabytes_processed',
    'background_pending',
    'background_recovered',
    'background_unknown',
)


@lru_cache(maxsize=None)
def folder() -> Path:
    """Return a folder for what is read as a file."""
    path = tempfile.mkdtemp(prefix='check-smart-foreign-')
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def bounded(reader: Reader) -> Reader:
    """Return a reader that fails above a second of CPU, or 200 MB more memory, and takes a
    sentence for an answer.
    """
    rung: list[float] = []  # whatever the program makes of an alarm

    def ring(*_: object) -> None:
        rung.append(time.process_time())
        raise AssertionError(_TOO_LONG)

    def read(data: bytes) -> None:
        rung.clear()
        alarm._Granted.share = SECONDS
        alarm._signal.signal(alarm._signal.SIGVTALRM, ring)
        began = time.process_time()
        with _little_history():
            try:
                alarm.limited(reader, data)
            except SmartError as error:
                assert str(error), 'an error is a sentence'
            finally:
                alarm._Granted.share = 0.0
        # that of the kernel counts, too
        assert not rung and time.process_time() - began <= SECONDS, _TOO_LONG

    return read


@contextmanager
def _little_history() -> Iterator[None]:
    size = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + (MEGABYTES << 20), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


# --- reports ---------------------------------------------------------------------------


def read_json(data: bytes) -> None:
    """smartctl's JSON."""
    text = data.decode('utf-8', 'replace')
    report = json_report.parse(text)
    held = set(_numbers(json.JSONDecoder().raw_decode(text, json_start(text))[0]))
    assert _told(report) <= held, f'made up: {sorted(_told(report) - held)[:5]}'
    _judged(report, text)


def read_background(data: bytes) -> None:
    """A page of the background scan, beside the other pages of a healthy SAS disk."""
    whole = json.dumps(sas.document(scsi_background_scan='HERE')).replace(
        '"HERE"', data.decode('utf-8', 'replace')
    )
    report = json_report.parse(whole)
    verdict = judging.judge(DEVICE, report, DATABASE, LIMITS, judging.Rules())
    page = (
        json.JSONDecoder()
        .raw_decode(whole, json_start(whole))[0]
        .get('scsi_background_scan')
    )
    results = (
        [each for key, each in page.items() if key.startswith('result_')]
        if isinstance(page, dict)
        else []
    )
    assert sum(
        value for key, value in report.scsi.items() if key in COUNTED[1:]
    ) <= len(results), 'too many results'
    if verdict.state is State.OK and len(results) <= MOST_RESULTS:
        blocks = [_block_of(each) for each in results]
        well = {
            block
            for block, each in zip(blocks, results)
            if _status_of(each) in (2, 5, 6, 7)
        }
        assert well.issuperset(blocks), 'OK with a block that no result calls well'


def _block_of(result: Any) -> int | None:
    return integer_of(result, 'lba') if isinstance(result, dict) else None


def _status_of(result: Any) -> Any:
    status = result.get('reassign_status') if isinstance(result, dict) else None
    return integer_of(status, 'value') if isinstance(status, dict) else None


def read_farm(data: bytes) -> None:
    """What smartctl -l farm printed, as JSON or text."""
    text = data.decode('utf-8', 'replace')
    logged = farm.cut(text)[1]
    found = logged or farm.answered(data)
    held = (
        set()
        if logged
        else set(_numbers(json.JSONDecoder().raw_decode(text, json_start(text))[0]))
    )
    made_up = {
        number
        for number in (
            found.hours,
            *(each for head in found.heads for each in head[1:]),
        )
        if number and number not in held and not (logged and str(number) in text)
    }
    assert not made_up and all(head.number in range(24) for head in found.heads), (
        f'made up: {made_up}'
    )
    judged = judging.judge(
        DEVICE,
        _seagate()._replace(farm=farm.marked_if_foreign(found, 'ZL2ABCDE')),
        DATABASE,
        LIMITS,
        judging.Rules(),
    )
    assert judged.state is State.OK, 'the log changes no state'


@lru_cache(maxsize=None)
def _seagate() -> Report:
    """Return the report of a healthy disk."""
    return text_report.parse_report(
        (ROOT / 'tests/farm/sata.json').read_bytes()
    )._replace(farm=None)


def read_text(data: bytes) -> None:
    """smartctl's text."""
    text = data.decode('utf-8', 'replace')
    report = text_report.parse_text(text)
    # Other scripts' digits are numbers, too; those of each line stand together, whatever parts
    # their groups.
    western = re.sub(
        r'[^\x00-\x7f]', lambda sign: str(unicodedata.decimal(sign[0], sign[0])), text
    )
    digits = re.sub(r'[^0-9\n]', '', western)
    made_up = [
        number
        for number in _told(report)
        if str(abs(number)) not in digits and f'0x{number:02x}' not in text
    ]
    assert not made_up, f'made up: {made_up[:5]}'
    _judged(report, text)


def _told(report: Report) -> set[int]:
    """Return the whole numbers of a report that are copied, not concluded."""
    rows = [
        number
        for row in report.attributes
        for number in (row.id, row.value, row.worst, row.threshold, row.raw_number)
    ]
    counts = [
        statistic.number
        for place, statistic in report.statistics.items()
        if place != (1, 0x040)
    ]
    logs = [number for key, number in report.nvme.items() if key != 'critical_warning']
    pages = [
        int(number) for key, number in report.scsi.items() if not key.endswith(COUNTED)
    ]
    return {
        number
        for number in (*rows, *counts, *logs, *pages, report.error_count or None)
        if number is not None
    }


def _numbers(data: Any) -> Iterator[int]:
    """Yield the whole numbers that a document holds, also those in texts."""
    if isinstance(data, (dict, list)):
        for each in data.values() if isinstance(data, dict) else data:
            yield from _numbers(each)
    elif isinstance(data, str):
        yield from (
            [int(data)]
            if data.isascii() and data.isdigit() and len(data) < 4000
            else []
        )
    elif type(data) in (int, float) and abs(data) < 2**128 and data % 1 == 0:
        yield int(data)


def _judged(report: Report, text: str) -> None:
    verdict = judging.judge(DEVICE, report, DATABASE, LIMITS, judging.Rules())
    said = (
        report.attributes,
        report.statistics,
        report.nvme,
        report.scsi,
        report.self_tests,
        report.derived,
    )
    is_supported = (
        report.smart_status is True or any(said) or report.error_count is not None
    )
    assert verdict.state is not State.OK or is_supported, 'OK from nothing'
    is_supported = report.smart_status is not True or re.search('PASSED|OK|true', text)
    assert is_supported, 'nobody said that it passed'
    assert (
        verdict.state is not State.OK
        or report.smart_status is not False
        or verdict.notes
    ), 'FAILED became OK'


def read_log(data: bytes) -> None:
    """The dump of a vendor's log page."""
    page = nvme_log.parse(data, '0xC0')
    if isinstance(page, bytes):
        assert len(page) == LOG_PAGE
        letters = data.decode('utf-8', 'replace').lower()
        assert all(
            f'{page[at : at + 8].hex(" ")}  {page[at + 8 : at + 16].hex(" ")}'
            in letters
            for at in range(0, len(page), 16)
        ), 'made up'
        read_page(page)


def read_page(data: bytes) -> None:
    """A vendor's log page, read by each layout."""
    page, metrics = (
        data[:LOG_PAGE].ljust(LOG_PAGE, b'\0'),
        DATABASE.metrics,
    )
    for name, layout in ATTRIBUTES['layouts'].items():
        result = vendor_logs.decoded(layout, page)
        report = _verdicts()[-1][0]._replace(vendor_log=LogPage('0xC0', page))
        page_told = vendor_logs.of_drive(report, ('0xC0', name), layout, metrics, {})
        numbers = [
            reading.number
            for reading in page_told.readings
            if reading.metric != vendor_logs.STATUS and reading.number is not None
        ]
        assert all(
            count.to_bytes(field['length'], 'little') in page
            for field, count in result.numbers
            if not {'minus', 'share_of'} & set(field)
        ), 'made up'
        assert len(numbers) <= len(result.numbers), 'made up'
        assert result.status == vendor_logs.READ or (not numbers and page_told.notes), (
            'a page that is not read'
        )


# --- files of a site ---------------------------------------------------------------------


def read_entries(data: bytes) -> None:
    """A file of entries."""
    shipped_ones = _concerned()
    file = site_file.understood(
        data.decode('utf-8', 'replace'), 'attributes', 'x.json', 'x.json'
    )
    [file] = site_file.faultless_entries(shipped_ones, [file])
    if not any(file.data.values()):
        return  # nothing of it is left that could speak of a drive
    database = drive_database.SpecDatabase(shipped_ones, [(file.name, file.data)])
    for report, _ in _verdicts():
        judging.judge(DEVICE, report, database, LIMITS, judging.Rules())


@lru_cache(maxsize=None)
def _concerned() -> Any:
    """Return the shipped entries without those that can claim none of the reports: the others
    cost time only.
    """
    return {
        **ATTRIBUTES,
        'entries': [
            entry
            for entry in ATTRIBUTES['entries']
            if any(
                drive_database.names_model(entry, report.identity.plain_model)
                for report, _ in _verdicts()
            )
        ],
    }


def read_limits(data: bytes) -> None:
    """A file of limits, or acknowledged.json."""
    file = site_file.understood(
        data.decode('utf-8', 'replace'),
        'thresholds',
        'acknowledged.json',
        'acknowledged.json',
    )
    [file] = site_file.faultless_limits([file], DATABASE.metrics, ())
    for override in file.data.get('overrides', ()):
        list(thresholds.from_override(override))
    if not any(file.data.values()):
        return  # nothing of it is left that could speak of a drive
    limits = thresholds.Thresholds(
        DEFAULTS, [(file.name, file.data)], today='2026-11-22'
    )
    for report, _ in _verdicts():
        judging.judge(DEVICE, report, DATABASE, limits, judging.Rules())


@lru_cache(maxsize=None)
def _verdicts() -> Sequence[tuple[Report, Verdict]]:
    """Return reports, each with what is said of it without any file of a site."""
    reports = [
        text_report.parse_report((ROOT / f'tests/reports/{name}.json').read_bytes())
        for name in ('intel-worn', 'wd-gold-healthy', 'nvme-worn')
    ]
    return [
        (
            report,
            judging.judge(DEVICE, report, DATABASE, LIMITS, judging.Rules()),
        )
        for report in reports
    ]


def read_1_6(data: bytes) -> None:
    """A file of version 1.6, as a check and `migrate` read it."""
    path = _written('1.6.json', data)
    given = files.site_files(path, None)
    if not given.of_1_6:
        return
    drives = [Read(DEVICE, report) for report, _ in _verdicts()]
    old = [migrate.old_file(path)]
    result = migrate.Migration(old, DATABASE, drives)
    limits = site_file.understood(result.text, 'thresholds', '1.6.json', '1.6.json')
    assert not limits.mistakes and given.warnings(limits.data['migrated'], '') == [], (
        'it is migrated'
    )


def _written(name: str, data: bytes) -> str:
    path = folder() / name
    path.write_bytes(data)
    return str(path)


# --- history and logs -----------------------------------------------------------------------


@lru_cache(maxsize=None)
def _remembered() -> tuple[Path, bytes]:
    """Return the file of a history that knows a drive, and what it holds."""
    place = folder() / 'history'
    place.mkdir()
    for number in range(3):
        check(place, number, START + number * DAY)
    [path] = place.rglob('*.drive')
    return path, path.read_bytes()


def read_history(data: bytes) -> None:
    """A file of the history, of which each four bytes change one byte at a place; every other
    one with its checksum.
    """
    path, content = _remembered()
    damaged = bytearray(content.partition(b'\n')[2].strip())
    for at in range(0, len(data) - 3, 4):
        damaged[int.from_bytes(data[at : at + 3], 'big') % len(damaged)] = data[at + 3]
    sum_ = crc32(damaged, 1) if len(data) % 2 == 0 else 0
    for left in path.parent.iterdir():
        left.unlink()
    path.write_bytes(b'check_smart_attributes history 1 %08x\n%s\n' % (sum_, damaged))
    place = path.parent.parent
    opened = check(place, 3, START + 5 * DAY)
    for number in opened.drives:
        opened.all_of(number)
    again = check(place, 4, START + 6 * DAY)
    match = again.recall([DRIVE])[0]
    assert match.record or match.note, 'what was just kept is known'
    assert not again.not_written and not again.damage, (
        'what was written once can be written again'
    )


# --- words and answers -----------------------------------------------------------------------


def read_scan(data: bytes) -> None:
    """What smartctl --scan printed."""
    for device in scans.from_scan(data.decode('utf-8', 'replace'), ()).devices:
        assert (
            '..' not in device.path.split('/')
            and device.path.isascii()
            and device.path.isprintable()
        )


def read_address(data: bytes) -> None:
    """An address."""
    text = data.decode('utf-8', 'replace')
    found = addresses.parse(text)
    assert 0 < len(found) <= addresses.MOST_SLOTS
    assert all(' ' not in device.path and device.path in text for device in found)


def _told_of_fleet(drives: Iterable[FleetDrive]) -> None:
    """Let a fleet be told."""
    counted, kept = summary.Summary(START), Kept(99, in_page, is_urgent)
    for drive in drives:
        assert drive.facts['state'] in State.__members__
        if counted.add(drive):
            kept.add(drive)
    table.rows(kept.drives(), START)
    list(table.heading(counted))
    json.loads(kept.taken(START))


def read_triage(data: bytes) -> None:
    """A document of triage --json."""
    document = triage_documents.read(_written('triage.json', data))
    if document:
        _told_of_fleet(triage_documents.drives(document, DATABASE.metrics, START))


def read_icinga(data: bytes) -> None:
    """An answer of Icinga's API."""
    metrics = DATABASE.metrics
    for row in icinga._objects(bytearray(data)):
        _told_of_fleet(services.drives_of(services.service(row), metrics, START)[0])


def _dumped(offset: int, data: bytes) -> str:
    """Return a line of a dump. Source: smartmontools, utility.cpp, dStrHex()."""
    letters = ''.join(chr(byte) if 0x20 <= byte < 0x7F else '.' for byte in data)
    return f'{f" {offset:02x}":8}{data[:8].hex(" ")}  {data[8:].hex(" ")}    {letters}'


def dump(page: bytes, number: str = '0xc0') -> bytes:
    """Return a page as smartctl 7.3 prints it with --json=cu."""
    lines = [
        f'NVMe Log {number} (0x0200 bytes)',
        *(_dumped(at, page[at : at + 16]) for at in range(0, len(page), 16)),
    ]
    return json.dumps(
        {
            'smartctl': {'version': [7, 3], 'exit_status': 0},
            **{f'smartctl_{place:04}_u': line for place, line in enumerate(lines, 4)},
        }
    ).encode()


READERS: Mapping[str, Reader] = {
    name[5:]: bounded(function)
    for name, function in list(globals().items())
    if name.startswith('read_')
}
MAIN = ('json', 'text')  # the readers of reports, which everything rests on


def _farm_logs() -> list[bytes]:
    """Return the log of a SATA disk without its zeros, of a SAS drive in text, and as it is
    remembered.
    """
    whole = json.loads((ROOT / 'tests/farm/sata.json').read_bytes())
    log = {
        key: {
            name: value
            for name, value in page.items()
            if value and (not isinstance(value, dict) or any(value.values()))
        }
        if isinstance(page, dict)
        else page
        for key, page in whole['seagate_farm_log'].items()
    }
    answer = {
        'asked': START,
        'serial': 'A',
        'hours': 9,
        'heads': [[0, 1, 2, 3]],
        'unread': False,
    }
    return [
        json.dumps({'smartctl': {'exit_status': 0}, 'seagate_farm_log': log}).encode(),
        (ROOT / 'tests/farm/sas.json').read_bytes(),
        json.dumps({'A': answer}).encode(),
    ]


def seeds() -> dict[str, list[bytes]]:
    """Return what each reader is given to begin with."""
    reports = [path.read_bytes() for path in sorted((ROOT / 'tests/reports').iterdir())]
    triage: dict[str, Any] = {
        'version': 2,
        'host': 'a',
        'made': START,
        'state': 'OK',
        'drives': [
            {
                'device': '/dev/sda',
                'model': 'M',
                'serial': 'S',
                'state': 'OK',
                'action': '',
                'last_seen': {'model': 'M', 'serial': 'T'},
                'findings': [{'code': 'growth', 'text': 'y', 'grown': 3, 'age': 9}],
                'forecasts': {'endurance_used': {'left': 9, 'estimate': True}},
                'past': {'endurance_used': [[1, 2]]},
                'readings': [
                    {
                        'metric': 'endurance_used',
                        'value': 9,
                        'unit': '%',
                        'judged': True,
                        'state': 'OK',
                    }
                ],
            }
        ],
        'notes': [{'code': 'drive-missing', 'text': 'x', 'serial': 'S'}],
    }
    scan = {
        'smartctl': {'argv': ['smartctl', '--scan'], 'exit_status': 0},
        'devices': [{'name': '/dev/sda', 'type': 'sat'}],
    }
    limits = {
        'overrides': [
            {
                'for': {'serial': 'S1'},
                'why': 'stable since 2024',
                'until': '2027-01-31',
                'metrics': {'pending': {'warning': '3', 'critical': '@1:5'}},
            }
        ]
    }
    entries = [
        *({'entries': [each]} for each in _concerned()['entries']),
        *(
            {'entries': [], key: dict(list(ATTRIBUTES[key].items())[:2])}
            for key in ('metrics', 'sets')
        ),
        {'entries': [], 'advisories': ATTRIBUTES['advisories'][:2]},
    ]
    old = {
        'Devices': {
            'X': {
                'Device': ['INTEL'],
                'ID#': {'5': {'value': 'RAW_VALUE'}},
                'Threshs': {'5': ['3', '9', 'r8']},
                'Perfs': ['5'],
            }
        }
    }
    users = {'Devices': {'/dev/sda': {'Threshs': {'5': ['3', '9']}, 'Perfs': ['5']}}}
    pages = [
        sources._page(each) or b''
        for each in json.loads((ROOT / 'tests/samples/nvme.json').read_text())
        if 'page' in each
    ]
    return {
        'log': [dump(page) for page in pages[:2]],
        'page': pages,
        'json': [each for each in reports if each.startswith(b'{')],
        'text': [each for each in reports if not each.startswith(b'{')],
        'farm': _farm_logs(),
        'background': [
            json.dumps(each).encode()
            for each in (
                {},
                sas.scan(status=3),
                sas.scan((1, 7, 900)),
                sas.scan((2, 7, 901), (1, 7, 900), (4, 8, 99999)),
            )
        ],
        'scan': [
            json.dumps(scan).encode(),
            b'/dev/sda -d sat # /dev/sda, ATA device\n# /dev/sdb -d scsi # x, open failed: y\n',
        ],
        'entries': [json.dumps(each).encode() for each in entries],
        '1_6': [json.dumps(each).encode() for each in (old, users)],
        'limits': [
            json.dumps(limits).encode(),
            (ROOT / 'thresholds/example-site.json').read_bytes(),
        ],
        'history': [b'\0\0\x10\xff', b''],
        'triage': [json.dumps(triage).encode()],
        'icinga': [told(service('X'))],
        'address': [
            b'/dev/sda',
            b'sat+megaraid,[0-7,16]@/dev/bus/0',
            b'megaraid6,/dev/sda',
            b'areca,1/1@/dev/sg2',
        ],
    }
