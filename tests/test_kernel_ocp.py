"""The OCP log of an NVMe drive on a real Linux kernel, in the QEMU of Debian 13.

That of Debian 12 has no such drive.

`make test-kernel` runs this. QEMU fills in only the amount read, the version and the GUID, so the
plugin must read the log and find no number in it. A layout of the site uses the version as a
number, to show that a real page can alert.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

import abilities
import pytest
from chroots import PLUGIN, removed
from conftest import Result, perfdata
from hardware import drive
from qemu import Machine, qemu_of
from shipped import ATTRIBUTES

from smart_attributes.knowledge import vendor_logs
from smart_attributes.reading import nvme_log, smartctl_calls

if 'TEST_KERNEL' not in os.environ:
    pytest.skip(
        'vendor logs are read on a real kernel by "make test-kernel" only: it takes minutes',
        allow_module_level=True,
    )
if not abilities.IS_ROOT:
    pytest.fail('we are not root; "make test-kernel" sees to that', pytrace=False)
from guests import guest

DRIVES = (
    *drive('log', 'nvme,serial=NVME0001,ocp=on'),
    *drive('none', 'nvme,serial=NVME0002'),
)
WITH_LOG, WITHOUT = (
    f'/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_NVME000{number}' for number in (1, 2)
)
AMOUNT = 8 * 1024 * 1024  # bytes that the test reads from the first drive
OCP = ATTRIBUTES['layouts']['ocp']
GUID = bytes.fromhex('C5AF1028EABFF2A49C4F6F7CC914D5AF')
VERSION = 5
# The number is the version of the log.
ODD = {
    'source': 'QEMU, hw/nvme/ctrl.c',
    'guid': OCP['guid'],
    'version': OCP['version'],
    'fields': [{'metric': 'capacitor_health', 'offset': 494, 'length': 2}],
}
SITE = '/etc/check-smart-attributes/attributes.d/qemu.json'


class Server:
    """Debian 13 with two NVMe drives of one model. The first one has the log."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def uses(self, layout: str, **changes: object) -> None:
        """Give the model an entry that names a layout. changes: of the layout "odd"."""
        entry = {
            'family': 'Drives of QEMU',
            'kind': 'nvme',
            'models': ['QEMU NVMe Ctrl'],
            'logs': {'0xC0': layout},
            'source': 'QEMU, hw/nvme/ctrl.c',
        }
        site = {'layouts': {'odd': {**ODD, **changes}}, 'entries': [entry]}
        self.machine.shell(f"cat >{SITE} <<'END'\n{json.dumps(site)}\nEND")

    def prints(self, page: str) -> Result:
        """Return what smartctl prints when nagios asks for a page of the first drive, as the
        plugin does.
        """
        found = self.machine.shell('grep -l NVME0001 /sys/class/nvme/nvme*/serial')
        call = smartctl_calls.page_arguments(page, f'/dev/{found.split("/")[4]}')
        return self.machine.runs(
            'sudo', '-n', '/usr/sbin/smartctl', *call, user='nagios'
        )

    def check(self, path: str) -> Result:
        """Run a check as a daemon does."""
        return self.machine.runs(
            PLUGIN, '-v', '--vendor-logs', 'always', '-d', path, user='nagios'
        )

    def triage(self, path: str) -> dict[str, Any]:
        """Return what `triage` reports about a drive."""
        done = self.machine.runs(
            PLUGIN,
            'triage',
            '--json',
            '--vendor-logs',
            'always',
            '-d',
            path,
            user='nagios',
        )
        found: dict[str, Any]
        [found] = json.loads(done.text)['drives']
        return found


@pytest.fixture(scope='module')
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp('ocp')
    machine = Machine(
        guest('trixie', folder), DRIVES, folder, qemu_of('trixie', folder)
    )
    try:
        machine.shell(f'udevadm settle; head -c {AMOUNT} {WITH_LOG} >/dev/null')
        yield Server(machine)
        print(f'{machine.cpu_seconds():.0f} s of CPU')
    finally:
        machine.ends()
        removed(folder)


def log_of(found: dict[str, Any]) -> dict[str, Any]:
    """Return what `triage` reports from a drive's vendor log, by metric."""
    return {
        reading['metric']: reading['value']
        for reading in found['readings']
        if reading['source'].startswith('NVMe log 0xC0')
    }


def codes(found: dict[str, Any]) -> list[str]:
    return [note['code'] for note in found['notes']]


def test_the_log_comes_through_the_kernel_sudo_and_smartctl_byte_by_byte(server):
    """The amount read, the version and the GUID are where the layout has them; all other bytes
    are 0.
    """
    done = server.prints('0xC0')
    page = nvme_log.parse(done.text.encode(), '0xC0')

    assert done.code == 0 and isinstance(page, bytes), done.text
    amount = int.from_bytes(page[16:32], 'little')
    assert AMOUNT <= amount < 2 * AMOUNT
    assert (
        page
        == bytes(16)
        + amount.to_bytes(16, 'little')
        + bytes(462)
        + VERSION.to_bytes(2, 'little')
        + GUID
    )


def test_a_log_that_is_not_filled_in_is_a_note_and_no_alert(server):
    """0 would mean dead capacitors and no spare block."""
    server.uses('ocp')
    result, found = server.check(WITH_LOG), server.triage(WITH_LOG)

    assert result.code == 0 and 'no content' in result.text, result.text
    # which each NVMe drive reports in its health log
    of_log = set(vendor_logs.names(OCP)) - {'endurance_used'}
    assert not [
        label for label in perfdata(result.text) if label.endswith(tuple(of_log))
    ]
    assert (found['state'], codes(found)) == ('OK', ['vendor-log-empty'])
    assert log_of(found) == {vendor_logs.STATUS: vendor_logs.EMPTY}


def test_a_drive_that_refuses_the_log_keeps_its_state(server):
    """Its entry names the log; the reason is smartctl's own."""
    server.uses('ocp')
    result, found = server.check(WITHOUT), server.triage(WITHOUT)

    assert result.code == 0 and 'Invalid Field' in result.text, result.text
    assert (found['state'], codes(found)) == (
        'OK',
        ['vendor-log-unread', 'smartctl-message'],
    )
    assert log_of(found) == {vendor_logs.STATUS: vendor_logs.UNREAD}


@pytest.mark.parametrize(
    'changes, state, numbers',
    [
        pytest.param(
            {},
            'WARNING',
            {vendor_logs.STATUS: vendor_logs.READ, 'capacitor_health': VERSION},
            id='number',
        ),
        pytest.param(
            {'version': {**OCP['version'], 'least': VERSION + 1}},
            'OK',
            {vendor_logs.STATUS: vendor_logs.FOREIGN},
            id='other-version',
        ),
        pytest.param(
            {'guid': {**OCP['guid'], 'bytes': GUID[::-1].hex().upper()}},
            'OK',
            {vendor_logs.STATUS: vendor_logs.FOREIGN},
            id='other-guid',
        ),
    ],
)
def test_a_number_of_the_log_alerts_if_version_and_guid_are_those_of_the_layout(
    server, changes, state, numbers
):
    """Without this, nobody knows whether the plugin has looked at the page at all."""
    server.uses('odd', **changes)
    found = server.triage(WITH_LOG)

    assert (found['state'], log_of(found)) == (state, numbers), found
