"""Arrays on a real Linux kernel, in QEMU: what `triage` says about replacing drives is tried by
pulling the drives.

`make test-kernel` runs this. The guest has six arrays on SATA disks. For each state of these
arrays, its memory and all disks are saved, so that each trial starts with a fresh copy of that
state. QEMU's disks are healthy; a disk counts as failing if a limit of the site, for its serial
number, makes it CRITICAL.
"""

import json
import os
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import abilities
import pytest
from chroots import PLUGIN, removed
from hardware import shelf
from qemu import PATIENCE, QEMU, Machine
from test_evidence import unexplained

if 'TEST_KERNEL' not in os.environ:
    pytest.skip(
        'arrays are tried on a real kernel by "make test-kernel" only: it takes minutes',
        allow_module_level=True,
    )
if not abilities.path_of(QEMU) or not abilities.IS_ROOT:
    pytest.fail(
        f'{QEMU} is not installed, or we are not root; "make test-kernel" sees to both',
        pytrace=False,
    )
from guests import guest

# Array -> number of its disks. The disks of raid5 have the serial numbers raid5-0 to raid5-2.
ARRAYS = {'raid1': 2, 'raid5': 3, 'raid6': 4, 'raid10': 4, 'lvm': 2, 'btrfs': 2}
SPARE = 'spare-0'
SERIALS = [
    *(
        f'{array}-{number}'
        for array, count in ARRAYS.items()
        for number in range(count)
    ),
    SPARE,
]
PULL = 'echo 1 >/sys/block/$(basename $(disk {}))/device/delete'
NEXT, LAST, WAIT = 'next', 'last good copy', 'wait'
# The disk that triage counts as a possible last copy: /sys does not say which device is the target
# of a replacement.
NOT_TOLD = {'rebuilding': {SPARE}}
# Errors of btrfs raise a doubt about all its devices. It is told as soon as one of them is to be
# replaced.
IN_DOUBT = {'failed': {'btrfs-0'}}
TRIAGE = ('triage', '--dmsetup', '--json', '-t', '600', '--drive-timeout', '300')
SITE = '/etc/check-smart-attributes/thresholds.d/failing.json'

# --- what happens in the guest --------------------------------------------------------------------
# The kernel's name of a disk is looked up by its serial number.
TOOLS = """
disk() { readlink -e /dev/disk/by-id/ata-QEMU-SATA_$1; }
each_md() { for n in 1 5 6 10; do "$@" md$n raid$n; done; }
state_of() { echo $2 >/sys/block/$(basename $(disk $1))/device/state; }
"""
FIND = (
    f'until [ $(ls /dev/disk/by-id 2>/dev/null | grep -c ata-QEMU-SATA_) = '
    f'{len(SERIALS)} ]; do sleep 0.2; done'
)
MAKE = """
mdraid() {
    count=$(ls /dev/disk/by-id/ata-QEMU-SATA_$2-* | wc -l)
    mdadm --quiet --create /dev/$1 --run --level=${2#raid} --size=16M --metadata=1.2 --bitmap=none \
        --raid-devices=$count $(for n in $(seq 0 $((count - 1))); do disk $2-$n; done)
    mdadm --quiet --wait /dev/$1 || :
    echo 20 >/sys/block/$1/md/sync_speed_max; echo 1 >/sys/block/$1/md/sync_speed_min  # KiB/s, for later
}
mounted() { mkdir -p /srv/$1; mount $2 /srv/$1; cp /run/data /srv/$1/data; }
head -c 4M /dev/urandom >/run/data
modprobe -a raid1 raid10 raid456 dm_raid btrfs
each_md mdraid
pvcreate -q $(disk lvm-0) $(disk lvm-1); vgcreate -q vg $(disk lvm-0) $(disk lvm-1)
lvcreate -q -y --type raid1 -m1 -L 16M -n lvm vg
mkfs.btrfs -q -d raid1 -m raid1 $(disk btrfs-0) $(disk btrfs-1)
ext4() { mkfs.ext4 -q -F -O ^has_journal $1; mounted $2 $1; }
md_ext4() { ext4 /dev/$1 $2; }
each_md md_ext4; ext4 /dev/vg/lvm lvm; mounted btrfs $(disk btrfs-0); sync
"""
# The file "later" is on good members only.
WRITE_LATER = 'touch /run/later; for array in /srv/*; do cp /run/data $array/later || :; done; sync'
FAIL = f"""
fail() {{ mdadm --quiet /dev/$1 --fail $(disk $2-1); }}
each_md fail
for each in lvm-1 btrfs-1; do state_of $each offline; done
{WRITE_LATER}
for each in lvm-1 btrfs-1; do state_of $each running; done
"""
PULLED = '\n'.join(
    [*(PULL.format(f'{array}-1') for array in ARRAYS), 'udevadm settle; sleep 2']
)
REBUILD = f"""
rebuild() {{
    mdadm --quiet /dev/$1 --fail $(disk $2-1)
    until mdadm --quiet /dev/$1 --remove $(disk $2-1); do sleep 0.2; done
    mdadm --zero-superblock $(disk $2-1); mdadm --quiet /dev/$1 --add $(disk $2-1)
}}
each_md rebuild
lvchange -q -y --minrecoveryrate 1k --maxrecoveryrate 1k vg/lvm; lvchange -q -y --rebuild $(disk lvm-1) vg/lvm
for n in 1 2 3 4 5 6 7 8; do cp /run/data /srv/btrfs/more$n; done; sync  # for minutes: btrfs copies 64 KiB/s
{PULL.format('btrfs-1')}; udevadm settle
for file in /sys/fs/btrfs/*-*/devinfo/*/scrub_speed_max; do echo 8192 >$file; done
btrfs replace start -f 2 $(disk {SPARE}) /srv/btrfs
sleep 1
"""
# State of the arrays -> the script that leads to it from healthy ones.
STATES = {'healthy': '', 'failed': FAIL, 'pulled': PULLED, 'rebuilding': REBUILD}
# Each array that can be read, apart from the cache.
READ = """
echo 3 >/proc/sys/vm/drop_caches
for array in /srv/*; do
    for file in data later; do
        [ $file = later ] && [ ! -e /run/later ] || timeout 60 cmp -s /run/data $array/$file || continue 2
    done
    basename $array
done
"""


class Case(NamedTuple):
    """A state of the arrays, and how many disks of each array are CRITICAL: none, disk 0, or
    disks 0 and 1.
    """

    state: str
    failing: int


# Each case -> the arrays of which one drive is "next". test_redundancy has all other states of
# arrays, and the labels of their members, without a kernel.
CASES = {
    Case('healthy', 1): 'raid1 raid5 raid6 raid10 lvm btrfs',
    Case('healthy', 2): 'raid6',
    Case('failed', 0): 'raid1 raid5 raid6 raid10 lvm',
    Case('failed', 1): 'raid6',
    Case('pulled', 1): 'raid6',
    Case('rebuilding', 1): '',
}
Order = tuple[tuple[str, str], ...]  # serial number and label of each step


class Server:
    """Debian 13 with six arrays.

    Each of their states is made once and saved; each trial begins with a copy of it.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        machine.shell(FIND + TOOLS + MAKE)
        machine.saves('healthy')
        names = machine.does(
            'lsblk', '--nodeps', '--noheadings', '--output', 'NAME,SERIAL'
        ).splitlines()
        # Kernel name of each disk, such as "sda" -> its serial number.
        self.serials: dict[str, str] = dict(
            line.split() for line in names if len(line.split()) == 2
        )
        self.saved = {'healthy'}
        self.orders: dict[Case, Order] = {}
        self.lost: dict[str, set[str]] = {}

    def enters(self, state: str) -> None:
        """Continue with a fresh copy of a state."""
        if state not in self.saved:
            self.machine.restores('healthy')
            self.machine.shell(TOOLS + STATES[state])
            self.machine.saves(state)
            self.saved.add(state)
        self.machine.restores(state)

    def order(self, case: Case) -> Order:
        """Return the order of replacement in one case."""
        if case not in self.orders:
            self.enters(case.state)
            self.machine.shell(
                f"cat >{SITE} <<'END'\n{json.dumps(limits(case.failing))}\nEND"
            )
            document = json.loads(
                self.machine.runs(PLUGIN, *TRIAGE, seconds=PATIENCE).text
            )
            assert {drive['state'] for drive in document['drives']} <= {
                'OK',
                'CRITICAL',
            }
            self.orders[case] = tuple(
                (self.serials[step['disks'][0]], step['label'])
                for step in document['replace_order']
            )
        return self.orders[case]

    def readable(self, pulled: Sequence[str]) -> set[str]:
        """Pull these disks; return the arrays whose data can still be read, all of it."""
        self.machine.shell(
            '\n'.join([TOOLS, *map(PULL.format, pulled), 'udevadm settle; sleep 1'])
        )
        return set(self.machine.shell(READ).split())

    def needed(self, state: str) -> set[str]:
        """Return the disks that take data with them when each of them alone is pulled."""
        if state not in self.lost:
            self.lost[state] = set().union(
                *(self._needed(state, each) for each in range(max(ARRAYS.values())))
            )
        return self.lost[state]

    def _needed(self, state: str, number: int) -> set[str]:
        """Return the same for the disks of this number, one of each array, which are pulled
        together.
        """
        self.enters(state)
        there = self.machine.shell(
            'cd /dev/disk/by-id; ls | sed -n "s/^ata-QEMU-SATA_//p"'
        ).split()
        pulled = [
            serial
            for serial in there
            if serial.endswith(f'-{number}') and serial != SPARE
        ]
        left = self.readable(pulled)
        return {serial for serial in pulled if array_of(serial) not in left}


def limits(failing: int) -> dict[str, Any]:
    """Return limits that make disks CRITICAL: they have run for an hour."""
    return {
        'overrides': [
            {
                'for': {'serial': f'{array}-{number}'},
                'why': 'This disk stands for one that fails.',
                'metrics': {'power_on_time': {'critical': '1'}},
            }
            for array in ARRAYS
            for number in range(failing)
        ]
    }


def array_of(serial: str) -> str:
    return serial.partition('-')[0]


def labelled(steps: Order, *labels: str) -> set[str]:
    """Return the disks with one of these labels."""
    return {serial for serial, label in steps if label in labels}


@pytest.fixture(scope='module')
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp('arrays')
    machine = Machine(guest('trixie', folder), shelf(SERIALS, folder), folder)
    try:
        yield Server(machine)
        print(f'{machine.cpu_seconds():.0f} s of CPU')
    finally:
        machine.ends()
        removed(folder)


# --- what triage says -----------------------------------------------------------------------------


@pytest.mark.parametrize('case', CASES, ids=lambda case: f'{case.state}-{case.failing}')
def test_the_data_survives_when_all_drives_that_come_next_are_pulled(server, case):
    """All at once, so one of each array; whatever could be read before can be read afterwards."""
    first = [
        serial
        for serial, label in takewhile(lambda step: step[1] == NEXT, server.order(case))
    ]
    server.enters(case.state)

    assert sorted(map(array_of, first)) == sorted(CASES[case].split())
    assert server.readable(first) == set(ARRAYS)


@pytest.mark.parametrize('state', STATES)
def test_the_data_is_lost_with_each_last_good_copy_and_with_no_other_drive(
    server, state
):
    """While an array is rebuilt, its only other copies are labelled "wait"."""
    kept = labelled(server.order(Case(state, 0)), LAST, WAIT)

    assert kept - NOT_TOLD.get(state, set()) == server.needed(state) - IN_DOUBT.get(
        state, set()
    )


# --- before the next rebuild ----------------------------------------------------------------------


FILES = """
cd /sys/block; find md*/md/ -type f -o -type l | sed -E 's#^md[0-9]+/md/#md/#; s#/dev-[a-z0-9]+#/dev-NAME#'
cd /sys/fs/btrfs; find *-*/ -type f -o -type l | sed -E 's#^[^/]*/#btrfs/#'
"""


def test_each_file_of_this_kernel_is_read_or_irrelevant_for_a_reason(server):
    """As tests/kernel has them of one version; a new one is decided on in group_sources.json."""
    server.enters('healthy')
    paths = set(server.machine.shell(FILES).split())

    assert len(paths) > 100 and unexplained(paths) == set()
