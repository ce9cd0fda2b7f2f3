"""Plans carried out: an admin types what `triage --plan` prints on random machines in a guest, while drives die.

`make test-plans` runs this: 30 machines, or as many as MACHINES says, drawn by SEED, in two guests at a time.
Steps for ZFS, Ceph and RAID controllers, boot entries of the firmware, boot loaders and LEDs are not carried out: the
guest has none of these.
"""
from __future__ import annotations

import os
import time
from collections.abc import Iterator

import abilities
import pytest
from chroots import removed
from qemu import QEMU

if 'TEST_PLANS' not in os.environ:
    pytest.skip('plans are carried out by "make test-plans" only: it takes 9 minutes', allow_module_level=True)
if not abilities.path_of(QEMU) or not abilities.IS_ROOT:
    pytest.fail(f'{QEMU} is not installed, or we are not root; "make test-plans" sees to both', pytrace=False)
from guests import guest
from plan_machines import KINDS
from plans_bed import Bed, Record, all_of, beds_of, crossed, told

from smart_attributes.redundancy.survival import Stack

pytestmark = pytest.mark.timeout(0)   # 300 machines take hours
MACHINES, SEED, GUESTS = (int(os.environ.get(name, default)) for name, default in (
    ('MACHINES', '30'), ('SEED', '42'), ('GUESTS', '2')))


@pytest.fixture(scope='module')
def beds(tmp_path_factory) -> Iterator[list[Bed]]:
    folder = tmp_path_factory.mktemp('plans')
    made = beds_of(guest('trixie', folder, has_ours=False), folder, GUESTS)
    yield made
    print(f'{sum(each.cpu_seconds() for each in made):.0f} s of CPU')
    for each in made:
        each.ends()
    removed(folder)


@pytest.fixture(scope='module')
def records(beds) -> list[Record]:
    begin = time.monotonic()
    found = all_of(beds, MACHINES, SEED)
    print(f'SEED={SEED}: {told(found)}\n{time.monotonic() - begin:.0f} s')
    return found


def logs(records) -> str:
    return '\n'.join('\n'.join((f'--- {record.number}: {record.failed}', *record.log)) for record in records)


def test_every_machine_is_made(records):
    assert not [record for record in records if record.failed], logs(each for each in records if each.failed)


def test_no_command_loses_a_byte(records):
    assert not [lost for record in records for lost in record.lost], logs(each for each in records if each.lost)


def test_all_data_that_is_complete_is_redundant_again(records):
    """There is always a new disk, so nothing may stay in its way."""
    assert not [why for record in records for why in record.restored.values() if why], logs(
        each for each in records if any(each.restored.values()))


def test_all_kinds_of_machines_are_drawn(records):
    words = ' '.join(record.what for record in records)

    assert MACHINES < 30 or not [kind for kind in ('md raid', 'LVM', 'btrfs', 'md on', 'single', 'EFI', 'swap', 'spare',
                                                   'journal', 'unused') if kind not in words]
    assert set(KINDS) == {'array', 'lvm', 'btrfs', 'nested', 'single'}


@pytest.mark.parametrize('is_broken', [False, True], ids=['sound', 'broken'])
def test_data_is_lost_when_the_doubts_about_the_partners_are_ignored(beds, monkeypatch, is_broken):
    """So the bed would notice it. The first half of the mirror differs from the second, which is to be replaced."""
    if is_broken:
        monkeypatch.setattr(Stack, 'doubts', lambda *_: iter(()))

    record = crossed(beds[0])

    assert not record.failed, record.failed
    assert bool(record.lost) == is_broken, '\n'.join(record.log)
