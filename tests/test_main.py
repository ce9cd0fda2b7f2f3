"""How the plugin leaves: an answer in any locale, and not before it has been read."""
from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time

import pytest
from conftest import ROOT, drive

# -X utf8=0 and no coercion: a Python that believes its locale, as version 3.9 under ISO-8859-1 does.
LOCALES = {
    'ascii': {'LC_ALL': 'C', 'PYTHONCOERCECLOCALE': '0', 'PYTHONUTF8': '0'},
    'latin-1': {'PYTHONIOENCODING': 'latin-1'},
    'strict-ascii': {'PYTHONIOENCODING': 'ascii:strict'},
}
PLUGIN = [sys.executable, str(ROOT / 'check_smart_attributes')]


def in_locale(locale: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*PLUGIN, *arguments], capture_output=True, timeout=60,
                          env={'PATH': '/usr/bin:/bin', 'XDG_STATE_HOME': os.environ['XDG_STATE_HOME'],
                               **LOCALES[locale]})


@pytest.fixture
def foreign(tmp_path) -> str:
    """A failed drive whose model is written in letters that Latin-1 has not."""
    report = json.loads(drive('hgst-failed'))
    report['model_name'] = '硬盘 “X1”'
    path = tmp_path / 'foreign.json'
    path.write_text(json.dumps(report))
    return str(path)


@pytest.mark.parametrize('locale', LOCALES)
@pytest.mark.parametrize(('job', 'code'),
                         [((), 2), (('-v',), 2), (('triage',), 0), (('explain',), 0), (('list',), 0), (('draft',), 0)],
                         ids=lambda job: '-'.join(job) if isinstance(job, tuple) else None)
def test_a_model_that_the_locale_cannot_write_costs_no_verdict(foreign, locale, job, code):
    """A FAILED drive was UNKNOWN, with words about codecs, because its model was Chinese."""
    done = in_locale(locale, *job, '--report', foreign)

    assert done.returncode == code
    assert b'UnicodeEncodeError' not in done.stdout + done.stderr
    assert done.stdout


@pytest.mark.parametrize('locale', LOCALES)
def test_a_mistake_that_the_locale_cannot_write_is_still_told(locale, tmp_path):
    """The sentence itself may hold what a locale lacks; a traceback ends with 1, which means WARNING."""
    limits = tmp_path / 'limits.json'
    limits.write_text('{"roles": {"temperature": {"warning": "%s"}}}' % ('9' * 300))

    done = in_locale(locale, '--report', 'x', '--thresholds', str(limits))

    assert done.returncode == 3
    assert done.stdout.startswith(b'SMART UNKNOWN - limits.json: ')


def leaving(seconds: float) -> subprocess.Popen[bytes]:
    """Return the plugin, started, *seconds* after it has answered."""
    plugin = subprocess.Popen([*PLUGIN, '-V'], stdout=subprocess.PIPE)
    assert plugin.stdout and select.select([plugin.stdout], [], [], 60)[0]
    time.sleep(seconds)
    return plugin


def test_the_plugin_stays_until_its_answer_has_been_read():
    """Nagios 4.4 drops what it has not read of a plugin that has gone, beyond 4 to 8 kB, at random."""
    with leaving(0.06) as plugin:
        assert plugin.poll() is None, 'left before its answer was read'
        assert plugin.stdout.read().startswith(b'check_smart_attributes ')


def test_the_plugin_does_not_wait_for_ever_for_a_reader():
    """A daemon that never reads must not keep processes."""
    with leaving(0) as plugin:
        assert plugin.wait(timeout=20) == 0


@pytest.mark.parametrize('work', ['1 / 0', 'time.sleep(5)', 'os.kill(os.getpid(), 15)', 'sys.exit(2)'])
def test_what_is_done_after_the_answer_neither_changes_nor_delays_it(work):
    """Memory is written when the result is out: whatever becomes of that, the daemon has its answer in time."""
    code = ('import os, sys, time\nfrom smart_attributes import main\n'
            'def run(argv, later):\n    main.alarm.obey(); later.append(lambda: eval(sys.argv[1]))\n    '
            'print("answer"); return 1\n'
            'main.run = run\nmain.main()')
    before = time.monotonic()
    done = subprocess.run([sys.executable, '-c', code, work], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (1, 'answer\n')
    assert time.monotonic() - before < 3
