"""A real node_exporter takes the metrics, a real Prometheus scrapes them and alerts, its promtool
finds no fault.

`make test-metrics` installs what is missing first; `make test` runs this where it is there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import abilities
import pytest
from conftest import NOBODY, ROOT, drive, run
from daemons import PATH, free_port, until
from fake_smartctl import FakeSmartctl
from test_metrics import Scraped, everything

from smart_attributes.output import metrics
from smart_attributes.reading.smartctl_calls import read_arguments

REPORTS = str(ROOT / 'tests/reports')
DASHBOARD = json.loads(
    (ROOT / 'contrib/grafana/check-smart-attributes.json').read_text()
)
QUERIES = [
    target['expr'] for panel in DASHBOARD['panels'] for target in panel['targets']
]
RULES = ROOT / 'contrib/prometheus/check-smart-attributes.rules.yml'
UNIT = ROOT / 'contrib/systemd/check-smart-attributes-metrics.service'
SCRAPING = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
scrape_configs: [{{job_name: node, static_configs: [{{targets: ["127.0.0.1:{port}"]}}]}}]
"""


def needs(program: str) -> str:
    """Return the path of a program."""
    path = abilities.path_of(program)
    if path is None:
        pytest.skip(f'{program} is not installed; "make test-metrics" installs it')
    return path


def checked(text: str) -> list[str]:
    """Return what promtool finds wrong with metrics."""
    done = subprocess.run(
        [needs('promtool'), 'check', 'metrics'],
        input=text,
        capture_output=True,
        text=True,
    )
    return (done.stdout + done.stderr).splitlines()


# --- promtool ------------------------------------------------------------------------------------


def test_promtool_finds_no_fault_with_the_metrics_of_any_metric():
    """Names, units and help are as Prometheus wants them; a metric without help is a fault."""
    text = metrics.text(list(everything().values()))

    assert checked(text) == []
    assert checked(text.replace('# HELP smart_pending ', '# ')) == [
        'smart_pending no help text'
    ]


@pytest.mark.long
def test_each_alert_comes_when_it_should_and_in_these_words():
    """tests/prometheus/alerts.yml; a healthy drive is silent for ten hours."""
    done = subprocess.run(
        [needs('promtool'), 'test', 'rules', str(ROOT / 'tests/prometheus/alerts.yml')],
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout + done.stderr


# --- the dashboard -------------------------------------------------------------------------------


def test_the_queries_of_the_dashboard_ask_for_what_there_is():
    """Metrics of the command and records of the rules."""
    recorded = set(re.findall(r'- record: (\S+)', RULES.read_text()))
    asked = set(re.findall(r'\b(?:\w+:)*smart_[\w:]+', ' '.join(QUERIES)))

    assert len(recorded) == 5 and asked - recorded - set(everything()) == set()


# --- the daemons ---------------------------------------------------------------------------------


class Bed(NamedTuple):
    """The daemons and where the metrics go."""

    file: Path
    exporter: str
    prometheus: str

    def scraped(self) -> Scraped:
        with urllib.request.urlopen(f'{self.exporter}/metrics', timeout=5) as answer:
            return Scraped(answer.read().decode())

    def asked(self, question: str) -> Any:
        with urllib.request.urlopen(
            f'{self.prometheus}/api/v1/{question}', timeout=5
        ) as answer:
            return json.load(answer)['data']


def is_up(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=1).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope='module')
def open_folder() -> Iterator[Path]:
    """A folder of which another user can read one half and write the other."""
    folder = Path(tempfile.mkdtemp(prefix='check-smart-attributes-'))
    folder.chmod(0o755)
    for name in ('textfile', 'data'):
        (folder / name).mkdir()
    if abilities.IS_ROOT:
        shutil.chown(folder / 'data', NOBODY)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope='module')
def bed(loopback, open_folder: Path) -> Iterator[Bed]:
    """Both on the loopback interface, as nobody where we are root."""
    exporter, prometheus = free_port(), free_port()
    (open_folder / 'scraping.yml').write_text(
        SCRAPING.format(rules=RULES, port=exporter)
    )
    commands = [
        [
            needs('prometheus-node-exporter'),
            '--collector.disable-defaults',
            '--collector.textfile',
            f'--collector.textfile.directory={open_folder}/textfile',
            f'--web.listen-address=127.0.0.1:{exporter}',
        ],
        [
            needs('prometheus'),
            f'--config.file={open_folder}/scraping.yml',
            f'--storage.tsdb.path={open_folder}/data',
            f'--web.listen-address=127.0.0.1:{prometheus}',
        ],
    ]
    as_nobody = (
        ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
        if abilities.IS_ROOT
        else []
    )
    running = [
        subprocess.Popen(
            [*as_nobody, *command],
            cwd=open_folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for command in commands
    ]
    try:
        made = Bed(
            open_folder / 'textfile/smart.prom',
            f'http://127.0.0.1:{exporter}',
            f'http://127.0.0.1:{prometheus}',
        )
        for address in (f'{made.exporter}/metrics', f'{made.prometheus}/-/ready'):
            until(lambda address=address: is_up(address), 30, address)
        yield made
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(timeout=20)


def test_node_exporter_takes_the_file_and_prometheus_alerts(bed):
    """From the drive to the alert with its words, through all that stands between."""
    assert run('metrics', '--report', REPORTS, '--output', str(bed.file)).code == 0
    ours, theirs = Scraped(bed.file.read_text()), bed.scraped()
    firing = until(
        lambda: [
            alert
            for alert in bed.asked('alerts')['alerts']
            if alert['state'] == 'firing'
        ],
        30,
        'alert',
    )

    assert theirs.of('node_textfile_scrape_error') == 0
    assert {key: theirs.get(key) for key in ours} == ours
    assert {alert['labels']['device'] for alert in firing} == {
        dict(labels)['device']
        for (name, labels), value in ours.items()
        if (name, value) == ('smart_drive_state', 2)
    }
    for query in QUERIES:  # the dashboard's, as Grafana asks them
        assert (
            bed.asked(
                f'query?{urlencode({"query": query.replace("$instance", ".*")})}'
            )['resultType']
            == 'vector'
        )
    told = next(
        alert['annotations']
        for alert in firing
        if alert['labels']['device'] == 'samsung_worn_out'
    )
    assert 'CRITICAL in endurance_used' in told['summary']
    assert 'serial EXAMPLE0004' in told['description']


# --- the service ---------------------------------------------------------------------------------


def test_systemd_understands_the_service_and_its_timer(tmp_path):
    """But for the program itself, which is not where the package puts it."""
    analyze = needs('systemd-analyze')
    units = [shutil.copy(path, tmp_path) for path in UNIT.parent.iterdir()]
    (tmp_path / UNIT.name).write_text(
        UNIT.read_text()
        .replace('/usr/sbin/check_smart_attributes', '/bin/true')
        .replace('Documentation=', '#')
    )
    done = subprocess.run([analyze, 'verify', *units], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, '')


def setting(name: str) -> str:
    return re.search(f'^{name}=(.*)$', UNIT.read_text(), re.MULTILINE)[1]


@pytest.mark.skipif(
    not abilities.IS_ROOT, reason='the rights of the service are tried as root only'
)
def test_the_rights_that_the_service_keeps_are_enough(open_place):
    """Root without the others reads drives, remembers as the user of the checks, and writes the
    file.
    """
    fake, state = FakeSmartctl(open_place / 'fake'), open_place / 'state'
    fake.answers(read_arguments('/dev/sda'), drive('intel-worn'))
    state.mkdir(mode=0o750)
    shutil.chown(state, NOBODY, NOBODY)
    kept = ','.join(
        f'+{name[4:].lower()}' for name in setting('CapabilityBoundingSet').split()
    )
    done = subprocess.run(
        [
            'setpriv',
            f'--bounding-set=-all,{kept}',
            '--inh-caps=-all',
            '--no-new-privs',
            sys.executable,
            '-I',
            str(ROOT / 'check_smart_attributes'),
            'metrics',
            '-d',
            '/dev/sda',
            '-p',
            fake.path,
            '--state-dir',
            str(state),
            '--output',
            str(open_place / 'smart.prom'),
        ],
        capture_output=True,
        text=True,
        env={'PATH': PATH, 'XDG_STATE_HOME': os.environ['XDG_STATE_HOME']},
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
    assert {path.owner() for path in state.rglob('*')} == {'nobody'}
    assert [path for path in state.rglob('*') if path.is_file()] != []


def test_the_service_runs_the_command_as_the_parser_knows_it():
    """A mistyped option would be found by the first admin who enables it."""
    from smart_attributes.commands import table

    words = (
        setting('ExecStart')
        .replace('$OPTIONS', setting('Environment').partition('=')[2])
        .split()
    )
    options = table.understood(words[1:])[1]

    assert (words[1], options.which.scan) == ('metrics', True)
    assert os.path.dirname(str(options.own.output)) == setting('AssertPathIsDirectory')
    assert setting('ReadWritePaths').split()[0] == os.path.dirname(
        str(options.own.output)
    )
    assert float(setting('TimeoutStartSec')) > options.how_read.timeout


def rules() -> dict[str, str]:
    """Return alert -> expression, on one line."""
    text = re.sub(r'\s+', ' ', RULES.read_text())
    return dict(
        re.findall(r'- alert: (\w+) expr: (?:>- )?(.*?) (?:for:|labels: \{s)', text)
    )


def test_the_rules_ask_for_metrics_that_there_are():
    """A name that nobody writes never alerts."""
    # not the recorded model:smart_drives:count
    asked = set(re.findall(r'(?<![:\w])smart_\w+', RULES.read_text()))

    assert len(rules()) == RULES.read_text().count('- alert:') == 9
    assert asked - set(everything()) == set()
    assert {'smart_drive_state', 'smart_run_timestamp_seconds'} <= asked


def test_the_rules_and_the_program_agree_on_what_is_soon():
    """What triage calls "order a replacement now"; and what is stale has missed more than one
    run.
    """
    from smart_attributes.work.dates import LEAD_TIME

    timer = UNIT.with_suffix('.timer').read_text()
    minutes = int(re.search(r'OnCalendar=\*:0/(\d+)', timer)[1])

    assert f'< {LEAD_TIME // 86400} * 86400' in rules()['SmartDriveToOrder']
    assert int(rules()['SmartMetricsStale'].rpartition('> ')[2]) >= 3 * 60 * minutes
