"""What Prometheus scrapes: read back by the library's own parser, which shares nothing with what
writes it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from cases import case, cases
from conftest import ROOT, Result, drive, run
from days import HOUR, START, Machine, asleep, disk
from prometheus_client import parser
from shipped import DATABASE

from smart_attributes.errors import SmartError
from smart_attributes.knowledge.drive_database import Metric
from smart_attributes.model import (
    Device,
    Forecast,
    Group,
    Identity,
    Judgement,
    Member,
    Reading,
    Source,
    State,
    Verdict,
)
from smart_attributes.output import metrics
from smart_attributes.reading.smartctl_calls import read_arguments
from smart_attributes.redundancy.replacement import Membership

REPORTS = str(ROOT / 'tests/reports')
METRICS = DATABASE.metrics
Labels = frozenset[tuple[str, str]]


class Scraped(dict[tuple[str, Labels], float]):
    """The samples of a text by name and labels."""

    def __init__(self, text: str) -> None:
        self.help: dict[str, str] = {}
        for family in parser.text_string_to_metric_families(text):
            self.help[family.name] = family.documentation
            for sample in family.samples:
                key = sample.name, frozenset(sample.labels.items())
                assert key not in self, f'{key} stands twice'
                self[key] = sample.value

    def of(self, name: str, **labels: str) -> float:
        return self[name, frozenset(labels.items())]

    def who(self, device: str) -> dict[str, str]:
        """Return the labels that tell who a drive is."""
        return next(
            dict(labels)
            for name, labels in self
            if name == 'smart_drive_info' and ('device', device) in labels
        )


@pytest.fixture(scope='module')
def sample() -> Scraped:
    """The sample drives, healthy and not."""
    return Scraped(run('metrics', '--report', REPORTS).text)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def at(machine: Machine, now: float, *options: str) -> tuple[Result, Scraped]:
    """Return what the command says at a time, and what it writes."""
    file = machine.folder / 'smart.prom'
    done = machine.run(now, 'metrics', '--output', str(file), *options)
    return done, Scraped(file.read_text())


# --- names and numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    'metric, name',
    [
        ('endurance_used', 'smart_endurance_used_ratio'),
        ('power_on_time', 'smart_power_on_seconds'),
        ('host_written', 'smart_host_written_bytes'),
        ('temperature', 'smart_temperature_celsius'),
        ('endurance_time_left', 'smart_endurance_left_seconds'),
        ('smart_status', 'smart_status'),
        ('pending', 'smart_pending'),
        ('error_log_count', 'smart_error_log_events'),
    ],
)
def test_a_name_follows_from_metric_and_unit(metric, name):
    """Base units at the end; what Prometheus keeps for other kinds of metrics is avoided."""
    assert metrics.name(metric, METRICS[metric].unit) == name


def everything() -> dict[str, metrics.Family]:
    """Return a metric for every metric there is, graphed or not, and the others."""
    device = Device('/dev/sda', name='sda')
    others = metrics.metrics(
        cases([Verdict(device, Identity(), State.OK)]), METRICS, State.OK, 0
    )
    named = [
        metrics.Family(
            metrics.name(metric.name, metric.unit),
            metrics.said(metric),
            ('device',),
            [(('sda',), 1)],
        )
        for metric in METRICS.values()
    ]
    found = {metric.name: metric for metric in (*others, *named)}
    assert len(found) == len(others) + len(named), 'two metrics of one name'
    return found


def test_every_metric_has_a_name_of_its_own_that_prometheus_takes():
    """A site may have any of them graphed."""
    assert [
        name
        for name in everything()
        if not re.fullmatch('smart(_[a-z][a-z0-9]*)+', name)
        or name.endswith(('_total', '_count', '_sum', '_bucket'))
    ] == []


@pytest.mark.parametrize(
    'nasty',
    [
        '"} 1\nsmart_drive_state{device="sda"} 0',
        '\\',
        '\\"',
        'a\u2028b\x1b[2J',
        '\udc80',
        'x' * 5000,
    ],
)
def test_what_a_drive_calls_itself_stays_in_its_label(nasty):
    """A line more would be a forged metric; one that cannot be read would take all others with
    it.
    """
    identity = Identity('ATA', model=nasty, firmware=nasty, serial=nasty)
    verdict = Verdict(Device(nasty, name='sda'), identity, State.CRITICAL)
    text = metrics.text(
        metrics.metrics(cases([verdict], START), METRICS, State.OK, START)
    )

    assert Scraped(text).of('smart_drive_state', device='sda') == State.CRITICAL
    assert len([line for line in text.splitlines() if not line.startswith('#')]) == 6
    assert max(map(len, text.splitlines())) < 600


# --- what went wrong -----------------------------------------------------------------------------


def test_a_drive_that_was_not_read_is_told(fake, tmp_path):
    """Beside one that was; the reason goes where a journal keeps it."""
    fake.answers(read_arguments('/dev/sda'), drive('intel-worn'))
    file = tmp_path / 'smart.prom'
    done = run(
        'metrics',
        '-p',
        fake.path,
        '--nosudo',
        '-d',
        '/dev/sda',
        '-d',
        '/dev/sdb',
        '--output',
        str(file),
    )
    found = Scraped(file.read_text())

    assert (done.code, found.of('smart_run_state')) == (0, State.OK)
    assert [
        found.of('smart_drive_read_ok', device=name) for name in ('sda', 'sdb')
    ] == [1, 0]
    assert [found.of('smart_drive_state', device=name) for name in ('sda', 'sdb')] == [
        State.WARNING,
        State.UNKNOWN,
    ]
    assert done.text.startswith('sdb [smartctl-failed] ')


def test_a_sleeping_drive_is_no_fault(machine):
    """It answered, and keeps the name by which it is remembered."""
    machine.holds(sda=disk())
    at(machine, START)
    machine.holds(sda=asleep())
    done, found = at(machine, START + HOUR)

    assert done.code == 0
    assert found.of('smart_drive_read_ok', device='sda') == 0
    assert found.of('smart_drive_state', device='sda') == State.OK
    assert found.who('sda')['serial'] == 'SERIAL01'


def test_a_machine_without_drives_is_unknown(machine):
    """A scan that finds nothing is what a broken controller looks like."""
    done, found = at(machine, START, '--scan')

    assert (done.code, found.of('smart_run_state')) == (3, State.UNKNOWN)
    assert 'smart_drive_state' not in found.help


def test_a_mistake_of_the_site_is_told(machine):
    """The sound rest is used; the sentence stands on standard error."""
    (machine.config / 'thresholds.d').mkdir()
    (machine.config / 'thresholds.d/site.json').write_text(
        '{"metrics": {"temperature": {"warning": "x"}}}'
    )
    machine.holds(sda=disk())
    done, found = at(machine, START, '-d', '/dev/sda')

    assert (done.code, found.of('smart_run_state')) == (0, State.UNKNOWN)
    assert 'site.json' in done.text


def test_metrics_remember_as_a_check_does(machine):
    """Where Prometheus is all there is, growth would never be noticed otherwise."""
    machine.holds(sda=disk(a199=212))
    at(machine, START, '-d', '/dev/sda')
    machine.holds(sda=disk(a199=226))
    _, found = at(machine, START + HOUR, '-d', '/dev/sda')

    assert (
        found.of('smart_reading_state', device='sda', metric='crc_errors')
        == State.WARNING
    )
    assert found.of('smart_run_timestamp_seconds') == START + HOUR


def test_a_metric_of_a_site_is_a_metric_too():
    """Its verdict says how it is to be read."""
    metric = Metric('fan_state', 'Whether the fan turns', '', 'low', (0, 1), True, 0, 1)

    assert (metrics.name(metric.name, metric.unit), metrics.said(metric)) == (
        'smart_fan_state',
        'Whether the fan turns; 1 good, 0.5 in between, 0 bad',
    )


# --- every family, from values --------------------------------------------------------------------


def reading(metric: str, number: Any = 1, unit: str = '', **more: Any) -> Reading:
    return Reading(metric, number, unit, Source('log'), **more)


OF_SDA = (
    Judgement(
        reading('endurance_used', 86, '%'), State.WARNING, '85', '95', graphed=True
    ),
    Judgement(reading('endurance_used', 3, '%'), State.OK, '85', graphed=True),
    Judgement(reading('temperature', 31, 'C'), State.OK, warning='55', graphed=False),
    Judgement(reading('pending', 0), State.OK, critical='8'),
    Judgement(reading('smart_status', 1, state=State.OK), State.OK),
    Judgement(reading('self_test', 1, state=State.OK, judged=False), State.OK),
    Judgement(reading('power_cycles', 7), State.OK),
)
SDA = Verdict(
    Device('/dev/sda', name='sda'),
    Identity('ATA', 'ACME X1', 'FW1', 'SERIAL1', rotation=0),
    State.WARNING,
    OF_SDA,
)
LASTS = {
    'endurance_used': Forecast(9.6, 5.2, 20.4, is_estimate=True),
    'endurance_left': Forecast(1, 2, 3, is_estimate=False),
}
SDB = Verdict(
    Device('/dev/sdb', name='sdb'),
    Identity(),
    State.UNKNOWN,
    problem='cannot be opened',
)


MD0 = Membership(
    Group(
        'md0',
        'md0',
        'md',
        'raid1',
        2,
        members=(
            Member('sda1', 'in_sync', 0, ('sda',)),
            Member('sdb1', 'in_sync', 1, ('sdb',)),
        ),
    ),
    0,
    (('sda',), ('sdb',)),
)
UNKNOWN = Membership(Group('zfs tank', 'tank', 'zfs', ''), None, ())


def families(hide_serial: bool = False) -> dict[str, tuple[str, tuple[str, ...], Any]]:
    drives = [
        case(SDA, 1000.6, hide_serial, forecasts=LASTS),
        case(SDB, 1000.6, hide_serial),
    ]
    found = metrics.metrics(drives, METRICS, State.WARNING, 1000.6, [MD0, UNKNOWN])
    return {
        family.name: (family.help, family.labels, list(family.samples))
        for family in found
    }


def test_every_family_has_its_help_its_labels_and_its_samples():
    states = '0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN'

    assert families() == {
        'smart_run_timestamp_seconds': ('When the drives were read', (), [((), 1001)]),
        'smart_drive_action': (
            'Recommended action, as a code and in words; the value is always 1',
            ('device', 'action', 'to_do'),
            [
                (('sda', 'watch', 'look again in a month'), 1),
                (('sdb', 'investigate', 'find out why it cannot be read'), 1),
            ],
        ),
        'smart_drive_further_action': (
            'Another recommended action, for another finding about the drive; the value is always 1',
            ('device', 'action', 'to_do'),
            [(('sda', 'order', 'order a replacement now'), 1)],
        ),
        'smart_run_state': (
            'State of the run itself (no drives, missing drives, configuration errors); '
            + states,
            (),
            [((), 1)],
        ),
        'smart_drive_info': (
            'Drive identity as labels; the value is always 1',
            ('device', 'model', 'serial', 'firmware', 'kind', 'address'),
            [
                (('sda', 'ACME X1', 'SERIAL1', 'FW1', 'ssd', '/dev/sda'), 1),
                (('sdb', '', '', '', '', '/dev/sdb'), 1),
            ],
        ),
        'smart_drive_read_ok': (
            '1 if the drive was read, 0 if not; a drive in standby also gives 0, although its state can be OK',
            ('device',),
            [(('sda',), True), (('sdb',), False)],
        ),
        'smart_drive_state': (
            f'State of the drive; {states}',
            ('device',),
            [(('sda',), 1), (('sdb',), 3)],
        ),
        'smart_reading_state': (
            f'State of one metric of the drive; {states}',
            ('device', 'metric'),
            [
                (('sda', metric), state)
                for metric, state in (
                    ('endurance_used', 1),
                    ('temperature', 0),
                    ('pending', 0),
                    ('smart_status', 0),
                )
            ],
        ),
        'smart_endurance_used_ratio': (
            METRICS['endurance_used'].meaning + '; 1 is 100 %',
            ('device',),
            [(('sda',), 0.86)],
        ),
        **{
            f'smart_forecast_{field}_seconds': (
                f'{meaning}; the label "basis" says what the forecast is based on',
                ('device', 'metric', 'basis'),
                [
                    (('sda', 'endurance_left', 'readings'), second),
                    (('sda', 'endurance_used', 'use and age'), first),
                ],
            )
            for field, meaning, first, second in (
                (
                    'left',
                    'Predicted time until the endurance or the spare capacity is used up',
                    10,
                    1,
                ),
                ('earliest', 'Earliest predicted time', 5, 2),
                ('latest', 'Latest predicted time', 20, 3),
            )
        },
        'smart_group_tolerance': (
            'How many more members an array, a volume or a file system can lose; failing members '
            'count as already lost; negative if too many are failing; not reported if unknown',
            ('group', 'name', 'kind', 'level'),
            [(('md0', 'md0', 'md', 'raid1'), 0)],
        ),
        'smart_group_members': (
            'Number of members in each state, for an array, a volume or a file system',
            ('group', 'name', 'kind', 'level', 'state'),
            [(('md0', 'md0', 'md', 'raid1', 'in_sync'), 2)],
        ),
    }


def test_a_hidden_serial_number_is_an_empty_label():
    assert [
        labels[2] for labels, _ in families(hide_serial=True)['smart_drive_info'][2]
    ] == [
        '',
        '',
    ]


def test_the_text_is_that_of_prometheus_without_empty_families():
    found = [
        metrics.Family('smart_a', 'help', ('device',), [(('sda',), 1)]),
        metrics.Family('smart_b', 'none', (), []),
    ]

    assert (
        metrics.text(found)
        == '# HELP smart_a help\n# TYPE smart_a gauge\nsmart_a{device="sda"} 1.0\n'
    )


@pytest.mark.parametrize('is_of_debian', [True, False])
def test_without_its_library_the_metrics_say_how_to_get_it(monkeypatch, is_of_debian):
    """By the name that apt knows, unless this Python is one that sees nothing of what apt
    installs.
    """
    monkeypatch.setitem(sys.modules, 'prometheus_client.core', None)
    monkeypatch.setattr(sys, 'prefix', sys.base_prefix if is_of_debian else '/srv/venv')

    with pytest.raises(SmartError) as raised:
        metrics.library()

    assert f'; {sys.executable} -m pip install prometheus_client' in str(
        raised.value
    ).replace('apt install python3-prometheus-client, or ', '')
    assert ('python3-prometheus-client' in str(raised.value)) == is_of_debian
