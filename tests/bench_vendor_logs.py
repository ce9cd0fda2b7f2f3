"""What vendors' logs cost a check of 24 NVMe drives: when all are due, and when none is."""

from __future__ import annotations

import json
from pathlib import Path

import performance
from bench_bed import Line, Paired, together
from bench_program import plugin
from fake_smartctl import FakeSmartctl
from foreign import dump

from smart_attributes.reading import smartctl_calls

REPORT = Path(__file__).parent / 'reports/nvme-worn.json'
MODEL = 'Dell Ent NVMe P5520 RI U.2 1.92TB'  # its entry names a log
PAGE = (
    bytes(128) + b'\xa3' + bytes(365) + b'\3\0' + bytes.fromhex('C5AF1028EABFF2A49C4F6F7CC914D5AF')
)
PAUSE = 'sleep 0.1'


def bench_vendor_logs(folder: Path, line: Line, paired: Paired) -> None:
    """24 drives that take 100 ms for each call, against the same calls by hand: all reports,
    then all logs.
    """
    fake, names = FakeSmartctl(folder / 'logs'), [f'/dev/nvme{number}' for number in range(24)]
    calls = []
    for number, name in enumerate(names):
        report = {
            **json.loads(REPORT.read_bytes()),
            'model_name': MODEL,
            'serial_number': f'EXAMPLE{number:04}',
        }
        calls.append(
            [
                fake.answers(smartctl_calls.read_arguments(name), json.dumps(report), before=PAUSE),
                fake.answers(smartctl_calls.page_arguments('0xC0', name), dump(PAGE), before=PAUSE),
            ]
        )
    reports, logs = (together(command)[2] for command in zip(*calls))
    by_hand = ['/bin/sh', '-c', f'{reports}; {logs}']
    state = folder / 'state-of-logs'
    state.mkdir()
    check = [plugin(), '-p', fake.path, *(word for name in names for word in ('-d', name))]
    due, hand, ratio = paired([*check, '--no-history', '--vendor-logs', 'always'], by_hand)
    line(
        '24 NVMe drives, vendor logs due, wall',
        f'{due.wall:.0f} ms, by hand {hand.wall:.0f} ms, ratio {ratio:.2f}; '
        f'own CPU {due.cpu - hand.cpu:.0f} ms',
        performance.aim('at most 1.2 x by hand', ratio, most=1.2, digits=2),
    )
    fresh, without, ratio = paired(
        [*check, '--state-dir', str(state)],
        [*check, '--state-dir', str(state), '--vendor-logs', 'never'],
    )
    line(
        '24 NVMe drives, no vendor log due',
        f'{fresh.wall:.0f} ms, with --vendor-logs never {without.wall:.0f} ms, '
        f'ratio {ratio:.2f}; CPU {fresh.cpu:.0f} and {without.cpu:.0f} ms',
        performance.aim('at most 1.1 x', ratio, most=1.1, digits=2),
    )
