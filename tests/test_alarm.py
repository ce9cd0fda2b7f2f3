"""Whatever happens, an answer in time: alarms of the kernel, signals, texts and patterns that
never end.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, drive, drive_path, run, run_in_parallel, wait_until_idle
from fake_smartctl import IGNORES_SIGTERM, FakeSmartctl

from smart_attributes import alarm
from smart_attributes.reading.smartctl_calls import read_arguments

# The alarm of a time limit would be one of those that are tested.
pytestmark = [pytest.mark.xdist_group('time'), pytest.mark.timeout(0)]

PLUGIN = (sys.executable, '-I', str(ROOT / 'check_smart_attributes'))
NEVER_ENDS = '(a+)+X'  # on a text of forty a


@pytest.fixture
def endless(tmp_path: Path) -> str:
    """A report of a drive whose model lets a careless pattern run for ever."""
    data = json.loads(drive('intel-s3500-healthy'))
    path = tmp_path / 'endless.json'
    path.write_text(json.dumps({**data, 'model_name': 'Gr' + 'a' * 40}))
    return str(path)


@pytest.mark.parametrize('option', ['--match', '--ignore'])
def test_a_pattern_that_never_ends_costs_one_drive_its_choice_and_no_drive_its_verdict(
    endless, option
):
    """Somebody's careless expression must not hide the drive that is dying beside it."""
    pattern = f'{NEVER_ENDS}|HGST|HITACHI|WDC|ST' if option == '--match' else NEVER_ENDS
    result = run(
        '--report',
        endless,
        '--report',
        drive_path('hgst-failed'),
        option,
        pattern,
        '-t',
        '10',
    )

    assert result.code == 2
    assert 'for the pattern "(a+)+X' in result.text
    assert result.line_of('endless').startswith('OK')


@pytest.mark.parametrize(
    'option, data',
    [
        # entry
        (
            '--attributes',
            {
                'entries': [
                    {
                        'family': 'Endless',
                        'models': ['Gr(a+)+X'],
                        'source': 'none',
                        'attributes': {},
                    }
                ]
            },
        ),
        # override
        (
            '--thresholds',
            {
                'overrides': [
                    {
                        'for': {'model': 'Gr(a+)+X'},
                        'why': 'for a reason',
                        'metrics': {'temperature': {'warning': '55'}},
                    }
                ]
            },
        ),
    ],
)
@pytest.mark.parametrize('other, code', [('hgst-failed', 2), ('intel-worn', 3)])
def test_a_pattern_of_a_file_that_never_ends_is_named_and_not_used(
    endless, tmp_path, option, data, other, code
):
    """A local file is somebody's Sunday afternoon; the drive itself is judged without the
    pattern.
    """
    local = tmp_path / 'local.json'
    local.write_text(json.dumps(data))
    result = run(
        '--report',
        endless,
        '--report',
        drive_path(other),
        option,
        str(local),
        '-t',
        '10',
    )

    assert result.code == code
    assert 'pattern "Gr(a+)+X" with "Graaa' in result.text
    assert 'is not used' in result.text
    assert result.line_of('endless').startswith('OK')


def test_interrupted_work_is_done_once_more_and_told_why():
    """A second alarm ends the program."""
    reasons = []

    def work(late: str) -> str:
        reasons.append(late)
        if len(reasons) < 2:
            raise alarm.TimeIsOver('9 s exceeded')
        return 'done'

    assert alarm.in_time(work) == 'done' and reasons == ['', '9 s exceeded']


def test_a_call_inside_another_leaves_the_rest_of_its_time_to_the_other(alone):
    """A pattern has its own time, while a drive is judged."""
    alarm.arm(60)

    def judge() -> tuple[float, float]:
        assert alarm.limited(
            signal.getitimer, signal.ITIMER_VIRTUAL, seconds=0.5
        ) == pytest.approx((0.5, 0.5), abs=0.1)
        return signal.getitimer(signal.ITIMER_VIRTUAL)

    assert alarm.limited(judge) == pytest.approx((6, 6), abs=0.1)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_when_even_all_drives_together_take_too_long_those_that_were_judged_are_told(
    endless, tmp_path
):
    """Each hostile drive has its share of the time; many of them use it up, and -t holds."""
    for number in range(30):
        (tmp_path / f'drive{number:02}.json').write_bytes(Path(endless).read_bytes())
    result = run(
        '--report',
        drive_path('hgst-failed'),
        '--report',
        str(tmp_path),
        '--match',
        f'{NEVER_ENDS}|H',
        '-t',
        '4',
    )

    assert result.code == 2
    assert result.line_of('hgst_failed').startswith('CRITICAL')
    assert ' of 4 s exceeded' in result.text


def test_one_file_given_twice_is_two_reports():
    """A verdict is kept by its address, and two drives under one name would be one label twice."""
    result = run(
        '--report', drive_path('intel-worn'), '--report', drive_path('intel-worn')
    )

    assert '2 drives' in result.first_line
    assert len({line.split()[1] for line in result.text.splitlines()[1:3]}) == 2


def test_slots_that_nobody_looked_at_are_counted_and_are_no_drives(tmp_path):
    """A slow machine with megaraid,[0-255] would have 200 unknown drives."""
    fake = FakeSmartctl(tmp_path / 'fake')
    answer = json.loads(drive('intel-worn'))
    for number in range(12):
        fake.answers(
            read_arguments('/dev/bus/0', f'megaraid,{number}'),
            json.dumps({**answer, 'serial_number': f'EXAMPLE{number:04}', 'wwn': {}}),
            before='sleep 1.5',
        )

    result = run_in_parallel(
        2, '-p', fake.path, '--nosudo', '-d', 'megaraid,[0-11]@/dev/bus/0', '-t', '2.5'
    )

    assert result.code == 3
    assert '8 of 12 slots' in result.first_line
    assert '4 drives, 4 not ok' in result.first_line
    assert result.line_of('bus_0_megaraid_0').startswith('WARNING')


@pytest.mark.parametrize(
    'number',
    [signal.SIGTERM, signal.SIGHUP, signal.SIGINT],
    ids=lambda number: number.name,
)
@pytest.mark.parametrize('known, code', [('intel-worn', 3), ('hgst-failed', 2)])
def test_who_ends_the_check_gets_what_is_known_and_no_process_stays(
    tmp_path, number, known, code
):
    """`timeout 40 check_smart_attributes …` around a drive that hangs must not lose the others'
    verdicts.
    """
    fake = FakeSmartctl(tmp_path / 'fake')
    fake.answers(read_arguments('/dev/sda'), drive(known))
    fake.answers(read_arguments('/dev/sdb'), before=IGNORES_SIGTERM)
    check = subprocess.Popen(
        [*PLUGIN, '-p', fake.path, '--nosudo', '-d', '/dev/sda', '-d', '/dev/sdb'],
        stdout=subprocess.PIPE,
        text=True,
    )
    _wait(lambda: len(fake.pids()) == 2)
    wait_until_idle(check.pid)  # sda has answered and is understood

    check.send_signal(number)
    text = check.communicate(timeout=10)[0]

    assert check.returncode == code
    assert f'ended by {number.name}' in text
    assert ('\nWARNING   sda' if known == 'intel-worn' else '\nCRITICAL  sda') in text
    assert [pid for pid in fake.pids() if os.path.exists(f'/proc/{pid}')] == []


def test_a_signal_that_is_ignored_stays_ignored():
    """nohup means it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        alarm.obey()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _wait(is_there):
    end = time.monotonic() + 10
    while not is_there() and time.monotonic() < end:
        time.sleep(0.02)
    assert is_there()


# --- alarms by themselves -------------------------------------------------------------------------


@pytest.fixture
def alone():
    """No alarm is left over."""
    yield
    alarm.disarm()


def recorded_timers(monkeypatch) -> list[tuple[float, ...]]:
    """Record the timers that are set, instead of setting them: a busy machine would let them end
    anywhere.
    """
    timers: list[tuple[float, ...]] = []
    monkeypatch.setattr(alarm._signal, 'setitimer', lambda *timer: timers.append(timer))
    return timers


@pytest.mark.parametrize('seconds, kept', [(5, 0.5), (20, 2), (55, 2)])
def test_a_tenth_of_the_time_is_kept_for_printing_and_no_more_than_two_seconds(
    seconds, kept
):
    assert alarm.reserve(seconds) == pytest.approx(kept)


@pytest.mark.parametrize('seconds, share', [(1, 0.5), (4, 1), (15, 1.5)])
def test_a_drive_gets_a_tenth_of_the_time_and_of_a_short_one_up_to_a_half(
    alone, seconds, share
):
    """At least a second, if half of the time is as much: the first drive pays for imports, too."""
    alarm.arm(seconds)

    assert alarm.limited(signal.getitimer, signal.ITIMER_VIRTUAL) == pytest.approx(
        (share, share), abs=0.1
    )
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_the_time_is_over_before_the_reserve_and_again_after_it(alone, monkeypatch):
    """What hangs while results are printed ends, too."""
    timers = recorded_timers(monkeypatch)
    alarm.arm(60)

    assert timers == [(signal.ITIMER_REAL, 58, 2)]
    for _ in range(2):
        with pytest.raises(
            alarm.TimeIsOver, match=r'^time limit of 60 s exceeded$'
        ) as error:
            signal.raise_signal(signal.SIGALRM)
        assert error.value.is_late


def compute(times: int) -> None:
    """Compute without end, and catch the alarm before the last one."""
    for _ in range(times - 1):
        with pytest.raises(alarm.TakesTooLong):
            compute(1)
    while True:
        pass


@pytest.mark.parametrize('times', [1, 2])
def test_one_drive_ends_after_its_share_of_cpu_time_and_again_if_that_was_caught(
    alone, times
):
    alarm.arm(0.4)
    signal.setitimer(signal.ITIMER_REAL, 100)

    with pytest.raises(alarm.TakesTooLong, match=r'^0\.2 s of CPU time$'):
        alarm.limited(compute, times)


def test_without_a_time_limit_nothing_ends(alone):
    alarm.arm(60)
    signal.setitimer(signal.ITIMER_VIRTUAL, 60)
    alarm.disarm()

    assert (
        signal.getitimer(signal.ITIMER_REAL)
        == signal.getitimer(signal.ITIMER_VIRTUAL)
        == (0, 0)
    )
    assert alarm.limited(signal.getitimer, signal.ITIMER_VIRTUAL) == (0, 0)


@pytest.mark.parametrize(
    'ending',
    [signal.SIGTERM, signal.SIGHUP, signal.SIGINT],
    ids=lambda ending: ending.name,
)
@pytest.mark.parametrize(
    'seconds',
    [  # unlimited
        0,
        # limited
        60,
    ],
)
def test_a_signal_ends_the_work_once_and_the_printing_within_its_grace(
    alone, monkeypatch, ending, seconds
):
    """A second signal is ignored; of a command without a time limit nobody waits for the rest."""
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    alarm.obey()
    if seconds:
        alarm.arm(seconds)
    timers = recorded_timers(monkeypatch)

    with pytest.raises(alarm.TimeIsOver, match=f'^ended by {ending.name}$') as error:
        os.kill(os.getpid(), ending)
        time.sleep(5)

    assert not error.value.is_late
    assert timers == ([(signal.ITIMER_REAL, 1, 1)] if seconds else [])
    assert {
        signal.getsignal(each)
        for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    } == {signal.SIG_IGN}
