"""A bed for plans: random machines in a guest, whose admin types what `triage --plan` prints while drives die.

The disks are SCSI disks of QEMU, 32 MB each (132 MB for btrfs), so that the program sees /sys as on any server. A disk
that dies answers each command with an error, as under dm-error. The program judges a copy of the guest's /sys from
outside. Known blocks of 4 KiB lie in each data set. A block is readable if the data set returns it past all caches, or
if it lies on a living disk as it is, whatever the layers above think of that disk. A block is lost if it was readable
before a command and is not afterwards, unless the only disks that had it died meanwhile.
"""
from __future__ import annotations

import hashlib
import itertools
import os
import random
import re
import shutil
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import plan_machines
from conftest import ROOT
from guests import Guest
from plan_machines import BLOCKS, Data
from qemu import BOOT_SECONDS, Line
from qemu import Machine as Emulated

from smart_attributes.errors import Coded
from smart_attributes.model import Device, Identity, Judgement, Place, Reading, Source, State, Verdict
from smart_attributes.model import Risk as Measured
from smart_attributes.reading.system import System
from smart_attributes.redundancy import block_devices, dependence
from smart_attributes.redundancy import replacement as order
from smart_attributes.redundancy.surroundings import surroundings
from smart_attributes.work import plan as plans
from smart_attributes.work.plan_steps import PlanStep, Task
from smart_attributes.work.work_list import drives, in_order, with_items

SMALL, LARGE, NEW_SMALL, NEW_LARGE = 12, 6, 6, 4
SIZES = [32] * SMALL + [132] * LARGE + [36] * NEW_SMALL + [136] * NEW_LARGE + [1000]   # MB; the last one is for copies
MAGIC, BLOCK = b'\xb3BED', 4096
ROUNDS = 14          # times that the admin asks for a plan
SAME = 3             # times that a task may come again
# Commands of ours, which the bed calls itself, and those for which the guest has no firmware, boot sector or LED.
LEFT_OUT = re.compile('check_smart_attributes |efibootmgr |grub-install |ledctl ')
HEALTH = Source('health')
CLEAN = """
cd /
left() { ls /sys/block | grep -E '^(md|dm)' | tr '\\n' ' '; }
undo() {
    umount -R /srv/* 2>/dev/null
    swapoff -a
    for round in 1 2 3 4 5; do
        [ "$(left)" ] || break
        for name in /dev/mapper/crypt-*; do [ -e $name ] && cryptsetup close ${name##*/}; done
        vgchange -q -an --force 2>/dev/null
        for array in /sys/block/md*; do [ -e $array ] && timeout 20 mdadm --quiet --stop /dev/${array##*/}; done
        [ $round -lt 3 ] || dmsetup remove_all --force 2>/dev/null
    done
}
undo
for state in /sys/block/sd*/device/state; do echo running >$state; done
echo '- - -' | tee /sys/class/scsi_host/host*/scan >/dev/null
udevadm settle
undo   # what udev has made of disks that are back
btrfs device scan --forget
rm -rf /srv/* /run/bed/* /copy/*
echo "left: $(left)"
"""
WIPE = 'for disk in {}; do blkdiscard -qf /dev/$disk; done; udevadm settle; for disk in {}; do ' \
       'blockdev --rereadpt /dev/$disk; done; udevadm settle'
Block = tuple[str, int]              # key of a data set, number


class Lost(NamedTuple):
    """Blocks that a command lost."""

    task: str
    command: str
    data: str
    blocks: int


class Record(NamedTuple):
    """What became of one machine."""

    number: int
    what: str
    failed: str = ''                 # why it was not made, or could not be judged to the end
    lost: tuple[Lost, ...] = ()
    taken: int = 0                   # blocks that died with the disks
    restored: Mapping[str, str] = {}   # data set that could be redundant again -> '' if it is, else why not
    replaced: int = 0                # drives to replace that are out
    kept: int = 0                    # drives to replace that are still in
    log: tuple[str, ...] = ()
    seconds: float = 0
    cpu_seconds: float = 0           # of QEMU; 0 after a new start of the guest
    met: tuple[str, ...] = ()        # what went wrong before the admin asked, and the steps that worked

    @property
    def wrong(self) -> str:
        """Return what is wrong with it; '' if nothing is."""
        return '; '.join((*[self.failed] * bool(self.failed),
                          *(f'{each.blocks} blocks of {each.data} lost by {each.command}' for each in self.lost),
                          *(f'{name} is not redundant: {why}' for name, why in self.restored.items() if why)))


@lru_cache(maxsize=4096)
def block(key: str, number: int) -> bytes:
    """Return a known block, as tests/guest/plans writes it."""
    head = bytes.fromhex(key) + number.to_bytes(4, 'big')
    return head + hashlib.shake_128(head).digest(BLOCK - len(head))


class Bed:
    """A guest with disks, and the words in which the bed talks to it."""

    def __init__(self, guest: Guest, folder: Path) -> None:
        self.guest, self.folder = guest, folder
        self.emulated: Emulated | None = None
        try:
            self.boots()
        except BaseException:
            self.ends()
            raise

    def boots(self) -> None:
        """Start the guest, again if a machine cannot be undone."""
        self.ends()
        devices = ['-chardev', f'socket,id=bed,path={self.folder}/bed,server=on,wait=off',
                   '-device', 'virtserialport,chardev=bed,name=bed', '-device', 'virtio-scsi-pci,id=scsi']
        for number, size in enumerate(SIZES):
            with self.file(number).open('wb') as file:
                file.truncate(size << 20)
            devices += ['-drive', f'if=none,id=disk{number},file={self.file(number)},format=raw,cache=unsafe,'
                                  'discard=unmap,detect-zeroes=unmap,file.locking=off',
                        '-device', f'scsi-hd,bus=scsi.0,scsi-id={number},drive=disk{number},id=scsi{number},'
                                   f'wwn={wwn(number):#x},vendor=SEAGATE,product=ST600MM0006,ver=0004']
        self.emulated = Emulated(self.guest, devices, self.folder)
        script = (ROOT / 'tests/guest/plans').read_text()
        self.emulated.shell(f"cat >/run/plans <<'END OF PLANS'\n{script}\nEND OF PLANS\n")
        self.emulated.starts('exec python3 -I /run/plans')
        self.line = Line(self.folder / 'bed')
        self.numbers: dict[str, int] = {}
        self.used: set[int] = set()   # disks that are not empty
        self.shell('udevadm settle; echo 20000 >/proc/sys/dev/raid/speed_limit_max; '
                   'sed -i "s/# *monitoring = 1/monitoring = 0/; s/# *polling_interval = 15/polling_interval = 1/" '
                   '/etc/lvm/lvm.conf', BOOT_SECONDS)
        self.names()
        copies = self.path(len(SIZES) - 1)
        self.shell(f'mkfs.ext4 -q -F -O ^has_journal {copies}; mkdir -p /copy; mount -o discard {copies} /copy')

    def ends(self) -> None:
        if self.emulated:
            self.emulated.ends()

    def cpu_seconds(self) -> float:
        return self.emulated.cpu_seconds() if self.emulated else 0

    def file(self, number: int) -> Path:
        return self.folder / f'disk{number}'

    @staticmethod
    def path(number: int) -> str:
        """Return the stable name of a disk."""
        return f'/dev/disk/by-id/scsi-3{wwn(number):x}'

    def asks(self, what: str, limit: float = 120, **words: Any) -> Any:
        begin = time.monotonic()
        answer = self.line.asks({'do': what, **words}, limit)
        if 'BED_TIMES' in os.environ:
            print(f'{time.monotonic() - begin:7.2f} {what} {str(words)[:90]!r}', file=sys.stderr)
        assert not isinstance(answer, dict) or 'failed' not in answer, f'{what} {words}: {answer}'
        return answer

    def runs(self, script: str, seconds: float = 120, **words: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.asks('run', seconds + 60, script=script, seconds=seconds, **words)
        return answer

    def shell(self, script: str, seconds: float = 120) -> str:
        answer = self.runs(script, seconds)
        assert answer['code'] == 0, f'{script}: {answer}'
        return str(answer['text'])

    def names(self) -> dict[str, int]:
        """Return the number of each disk that the guest has now, by its kernel name."""
        of = {f'naa.{wwn(number):x}': number for number in range(len(SIZES))}
        found = self.asks('disks')
        self.numbers = {name: of[wwid] for wwid, name in found.items() if wwid in of}
        return self.numbers

    def cleans(self) -> None:
        """Undo a machine; boot the guest again if something of it stays."""
        try:
            answer = self.runs(CLEAN, 120)
            if answer['text'].endswith('left: \n'):
                names = ' '.join(name for name, number in self.names().items() if number in self.used)
                if len(self.numbers) == len(SIZES):
                    if names:
                        self.shell(WIPE.format(names, names))
                    self.used = set()
                    return
            print(f'the guest is booted again: {answer} {len(self.numbers)}', file=sys.stderr)
        except (OSError, AssertionError) as error:
            print(f'the guest is booted again: {error!r}', file=sys.stderr)
        self.boots()


def wwn(number: int) -> int:
    return 0x5000c500aa000000 + number


# --- what can be read ------------------------------------------------------------------------------

class Books:
    """Which known blocks can be read, and where."""

    def __init__(self, bed: Bed, seed: str) -> None:
        self.bed, self.sets = bed, {}
        self.seed = seed
        self.scanned: dict[int, tuple[int, dict[Block, list[int]]]] = {}
        self.sums: dict[Block, int] = {}

    def write(self, sets: tuple[Data, ...]) -> None:
        """Write the blocks of all data sets."""
        for number, data in enumerate(sets):
            key = (MAGIC + hashlib.sha256(f'{self.seed} {number}'.encode()).digest()[:8]).hex()
            if data.is_folder:
                places = [(f'{data.path}/f{each // 8}', each % 8 * BLOCK) for each in range(BLOCKS)]
                if 'efi' in data.name:
                    places = places[:32]
            elif data.name.startswith('unmounted'):
                size = int(self.bed.shell(f'blockdev --getsize64 {data.path}'))
                places = [(data.path, size // 2 + each * BLOCK) for each in range(32)]   # behind the FAT
            else:
                size = int(self.bed.shell(f'blockdev --getsize64 {data.path}'))
                places = [(data.path, size // BLOCK * each // BLOCKS * BLOCK) for each in range(BLOCKS)]
            self.sets[key] = (data, places)
            self.sums.update({(key, each): zlib.crc32(block(key, each)) for each in range(len(places))})
        self.bed.asks('write', sets=[(key, places) for key, (_, places) in self.sets.items()])

    def through(self) -> set[Block]:
        """Return the blocks that the data sets return."""
        asked = [(key, places) for key, (_, places) in self.sets.items()]
        answers = self.bed.asks('read', 200, sets=asked, seconds=60)
        return {(key, number) for (key, places), sums in zip(asked, answers) if sums
                for number in range(len(places)) if sums[number] == self.sums[key, number]}

    def raw(self, living: set[int]) -> set[Block]:
        """Return the blocks that lie on any of these disks."""
        return {each for number in living for each in self.on(number)}

    def on(self, number: int) -> dict[Block, list[int]]:
        """Return the blocks on a disk with their places on it."""
        file = self.bed.file(number)
        changed = file.stat().st_mtime_ns
        if number not in self.scanned or self.scanned[number][0] != changed:
            found: dict[Block, list[int]] = {}
            for place, content in pieces(file):
                at = content.find(MAGIC)
                while at >= 0:
                    each = content[at:at + 12].hex(), int.from_bytes(content[at + 12:at + 16], 'big')
                    if each in self.sums and content[at:at + BLOCK] == block(*each):
                        found.setdefault(each, []).append(place + at)
                    at = content.find(MAGIC, at + 1)
            self.scanned[number] = changed, found
        return self.scanned[number][1]


def pieces(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the parts of a sparse file that were written, with their places."""
    with file.open('rb') as opened:
        size, end = os.fstat(opened.fileno()).st_size, 0
        while end < size:
            try:
                start = os.lseek(opened.fileno(), end, os.SEEK_DATA)
            except OSError:   # no more data
                return
            end = os.lseek(opened.fileno(), start, os.SEEK_HOLE)
            opened.seek(start)
            yield start, opened.read(end - start)


# --- one machine -----------------------------------------------------------------------------------

class World:
    """A machine in the guest: its disks, what is known of them, and the books on its data."""

    def __init__(self, bed: Bed, seed: str, kind: str = '') -> None:
        self.bed, self.chance = bed, random.Random(seed)
        names = {number: name for name, number in bed.names().items()}
        self.drawn = plan_machines.drawn(self.chance, [names[each] for each in range(SMALL)],
                                         [names[each] for each in range(SMALL, SMALL + LARGE)], kind)
        self.connected = {bed.numbers[name] for name in self.drawn.disks}
        bed.used |= self.connected
        self.fresh = list(range(SMALL + LARGE, len(SIZES) - 1))
        self.dead: set[int] = set()
        self.ailing: dict[int, str] = {}         # disk -> "critical", "order" or "unread"
        self.lost: list[Lost] = []
        self.log: list[str] = []
        self.books = Books(bed, seed)
        self.taken: set[Block] = set()
        self.met: list[str] = []
        self.slowed = 0.0

    @property
    def living(self) -> set[int]:
        """The disks that hold data now, and the one for copies."""
        return {*self.connected, len(SIZES) - 1} - self.dead

    def says(self, line: str) -> None:
        self.log.append(line)
        if 'BED_TIMES' in os.environ:
            print(line, file=sys.stderr)

    def makes(self) -> None:
        """Make the machine, fill it and let it ail."""
        self.bed.shell(self.drawn.script, 180)
        self.books.write(self.drawn.sets)
        self.readable = self.books.through() | self.books.raw(self.living)
        absent = len(self.books.sums) - len(self.books.through())
        assert not absent, f'{absent} blocks cannot be read at the start'
        self.says(self.drawn.what)

    def ails(self) -> None:
        """Let things go wrong, before the admin asks for the first time."""
        Ailments(self).strike()
        self.readable = self.now()

    def now(self) -> set[Block]:
        """Return all blocks that can be read now."""
        return self.books.through() | self.books.raw(self.living)

    def name(self, number: int) -> str:
        return next((name for name, each in self.bed.numbers.items() if each == number), f'disk{number}')

    def dies(self, number: int) -> None:
        """Let a disk answer nothing any more; what only it had is taken, and not lost by a command."""
        name = self.name(number)
        self.bed.asks('die', disk=name)
        self.is_dead(number)
        after = self.now()
        self.taken |= self.readable - after
        self.says(f'  {name} dies, and takes {len(self.readable - after)} blocks')
        self.readable = after

    def is_dead(self, number: int) -> None:
        self.dead.add(number)
        self.ailing[number] = self.chance.choice(('unread', 'critical'))

    def data_on(self, name: str) -> list[Data]:
        return [data for data in self.drawn.sets if any(disk_of(each) == name for each in data.members)]

    def victims(self) -> list[int]:
        """Return the disks that may die next: those that ail more often."""
        living = sorted(self.connected - self.dead)
        return [*living, *(each for each in living if each in self.ailing)] * bool(living)

    # --- the program -----------------------------------------------------------------------------------

    def tasks(self) -> tuple[Task, ...]:
        """Return the plan for this machine as it is now."""
        self.connected &= set(self.bed.names().values())   # what was pulled is gone
        folder = self.bed.folder / 'tree'
        shutil.rmtree(folder, ignore_errors=True)
        out = [name for name, number in self.bed.numbers.items() if number not in self.connected]
        described = self.bed.asks('tree', 120, left_out=out, seconds=60)
        assert described, '/sys cannot be read'
        grown(folder, described)
        system = System(f'{folder}/sys', f'{folder}/proc', f'{folder}/run/udev/data')
        known = dependence.groups(None, system)
        known, _ = block_devices.completed(known, lambda: (described['/status'], Coded('', '')), system)
        now = time.time()
        verdicts = [verdict(self.name(number), self.ailing.get(number, '')) for number in sorted(self.connected)]
        found = order.machine(known, drives(verdicts, now))
        verdicts = with_items(order.with_replacements(verdicts, found), now)
        made = plans.plan(found, in_order(verdicts, found, now), surroundings(known, system))
        return tuple(at_home(task, str(folder)) for task in made)


def disk_of(device: str) -> str:
    """Return the disk of a device: "sda" of "sda3"."""
    return device.rstrip('0123456789') if device.startswith('sd') else device


def at_home(task: Task, folder: str) -> Task:
    """Return a task with the paths of the guest instead of those of the copy."""
    return task._replace(steps=tuple(PlanStep(*(
        tuple(each.replace(folder, '') for each in field) if isinstance(field, tuple) else field.replace(folder, '')
        for field in step)) for step in task.steps))


def grown(folder: Path, described: Mapping[str, Any]) -> None:
    """Write the tree that tests/guest/plans described."""
    for path, content in described.items():
        place = Path(f'{folder}{path}')
        if path.endswith('/'):
            place.mkdir(parents=True, exist_ok=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            if not os.path.lexists(place):
                place.symlink_to(content[0])
        else:
            place.write_text(content)


def verdict(name: str, ailment: str) -> Verdict:
    """Return what a check found: nothing, a drive that fails, one to order a replacement for, or no answer."""
    made = Verdict(Device(f'/dev/{name}', name=name), Identity('SCSI', 'SEAGATE ST600MM0006'), State.OK,
                   place=Place(disks=(name,)))
    if ailment == 'unread':
        return made._replace(state=State.UNKNOWN, problem='it does not answer', code='timeout')
    if ailment:
        state = State.CRITICAL if ailment == 'critical' else State.WARNING
        reading = Reading('reallocated', 900, '', HEALTH)
        risk = Measured('reallocated', 'disks of all vendors', 0.3, 0.6, 0.5, 0.7, 100, 60)
        return made._replace(state=state, judgements=(Judgement(reading, state, concern='data'),), risk=risk)
    return made


class Ailments:
    """What is wrong with a machine before its admin asks."""

    def __init__(self, world: World) -> None:
        self.world, self.chance, self.bed = world, world.chance, world.bed
        self.areas: dict[str, tuple[int, int]] = {}

    def strike(self) -> None:
        """Choose what is wrong."""
        world, chance = self.world, self.chance
        redundant = [data for data in world.drawn.sets if data.tolerates]
        used = sorted(world.connected - {self.bed.numbers[name] for name in world.drawn.idle})
        for number in chance.sample(used, min(len(used), chance.choice((1, 1, 1, 2, 2, 3)))):
            world.ailing[number] = chance.choice(('critical', 'critical', 'order'))
        kinds = {'md': ('spoiled', 'bad blocks', 'resync'), 'lvm': ('spoiled',), 'btrfs': ('spoiled',), 'nested': ()}
        for data in redundant:
            possible = kinds[data.kind]
            if possible and chance.random() < 0.4:
                self.ail(data, chance.choice(possible))
            if chance.random() < 0.35:
                self.misses(data)
        world.says('  to replace: ' + ', '.join(f'{world.name(each)} ({why})' for each, why in world.ailing.items()))

    def misses(self, data: Data) -> None:
        """Let a member be dead, or gone, before anybody looks; in a group that tolerates it."""
        world, chance = self.world, self.chance
        disk = disk_of(chance.choice(data.members))
        if disk not in self.bed.numbers:
            return
        number = self.bed.numbers[disk]
        how = chance.choice(('dead', 'dead', 'gone'))
        self.bed.asks('die', disk=disk)
        world.is_dead(number)
        world.books.through()      # so the layers notice
        self.bed.runs(f'touch {data.path}/later; sync' if data.is_folder else 'true')
        if how == 'gone':
            self.bed.runs(f'echo 1 >/sys/block/{disk}/device/delete; udevadm settle')
            world.connected.discard(number)
            world.ailing.pop(number, None)
        world.met.append(f'a {how} member of {data.kind} {data.level}')
        world.says(f'  {disk} of {data.array} is {how}')

    def ail(self, data: Data, how: str) -> None:
        """Let the copies on one member differ, with what the layer knows of that."""
        chance = self.chance
        if how == 'resync' and (data.is_folder or 'journal' in self.world.drawn.what):
            how = 'spoiled'
        member = chance.choice(data.members)
        self.bed.shell('sync')
        # Before a crash, data was written and parity was not. Data itself differs only where a disk returns nonsense.
        has_parity = data.kind == 'md' and data.level in ('raid5', 'raid6')
        is_parity = how == 'resync' or (has_parity and chance.random() < 0.5)
        places = self.parity(data, member) if is_parity else self.places(member)
        places = chance.sample(places, len(places) // 3)
        if not places and how != 'resync':
            return
        self.spoil(data, member, places, how, is_parity)

    def spoil(self, data: Data, member: str, places: list[int], how: str, is_parity: bool = False) -> None:
        """Overwrite these places of a member, and let the layer know of it."""
        # md compares stripes in its cache, if there are some; the second check reads all of them from the disks.
        md_check = f'mdadm --action=check /dev/{data.array}; mdadm --wait /dev/{data.array}; true\n'
        script = {('spoiled', 'md'): md_check * 2,
                  ('spoiled', 'lvm'): f'lvchange --syncaction check {data.array}; sleep 1; while lvs --noheadings -o '
                                      f'raid_sync_action {data.array} | grep -q check; do sleep 0.5; done\n' * 2,
                  ('resync', 'md'): self._resync(data)}.get((how, data.kind), 'true')
        if how == 'bad blocks':
            start = self.area(member)[0]
            script = '\n'.join(f'echo {(place - start) // 512} 8 >/sys/block/{data.array}/md/dev-{member}/bad_blocks'
                               for place in places)
        self.bed.asks('spoil', disk=disk_of(member), places=places)
        answer = self.bed.runs(script)
        self.world.books.through()
        self.world.met.append(f'{how} in {data.kind} {data.level}')
        self.world.says(f'  {how}: {len(places)} blocks{" (parity)" * is_parity} of {data.array} on {member} '
                        f'{answer["text"].strip()[-200:]}')

    def places(self, member: str) -> list[int]:
        """Return the places of known blocks on a member, counted from the start of its disk."""
        start, size = self.area(member)
        return sorted(place for each in self.world.books.on(self.bed.numbers[disk_of(member)]).values()
                      for place in each if start <= place < start + size)

    def parity(self, data: Data, member: str) -> list[int]:
        """Return places on a member beside known blocks on the others, where it has none itself."""
        start, own = self.area(member)[0], set(self.places(member))
        beside = {place - self.area(other)[0] + start for other in data.members if other != member
                  for place in self.places(other)}
        return sorted(beside - own)

    def area(self, member: str) -> tuple[int, int]:
        """Return where a member begins on its disk, and its size, in bytes."""
        if member not in self.areas:
            start, size = self.bed.shell(f'cd /sys/class/block/{member}; cat start 2>/dev/null || echo 0; '
                                         'cat size').split()
            self.areas[member] = int(start) * 512, int(size) * 512
        return self.areas[member]

    def _resync(self, data: Data) -> str:
        """Return what leaves a resync pending, as after a crash."""
        name, devices = data.array, ' '.join(f'/dev/{each}' for each in data.members)
        return (f'echo 1 >/sys/module/md_mod/parameters/start_ro; mdadm --quiet --stop /dev/{name} && '
                f'mdadm --quiet --assemble /dev/{name} --update=resync {devices}; '
                'echo 0 >/sys/module/md_mod/parameters/start_ro')


# --- the admin -------------------------------------------------------------------------------------

class Admin:
    """Types exactly the printed commands, looks before and after, and asks again when something is not as it should."""

    def __init__(self, world: World, deaths: int) -> None:
        self.world, self.bed, self.chance = world, world.bed, world.chance
        self.deaths = deaths      # that are still to come
        self.done: dict[tuple[str, str], int] = {}
        self.variables: dict[str, str] = {}
        self.copies = 0

    def works(self) -> None:
        for _ in range(ROUNDS):
            tasks = self.world.tasks()
            left = [task for task in tasks if self.done.get((task.code, task.title), 0) < SAME]
            if not left and 'unread' in self.world.ailing.values():   # the admin has found out why
                self.world.says('what does not answer is broken')
                self.world.ailing = {each: 'critical' if why == 'unread' else why
                                     for each, why in self.world.ailing.items()}
                continue
            if not left:
                self.world.says('no more tasks' if not tasks else 'only tasks that do not help: '
                                + '; '.join(task.title for task in tasks))
                return
            task = left[0]
            self.done[task.code, task.title] = self.done.get((task.code, task.title), 0) + 1
            self.world.says(f'TASK {task.code}: {task.title}')
            deaths = self.deaths
            if not self.carries_out(task) and self.deaths == deaths:   # else it may work with another new disk
                self.done[task.code, task.title] += 1
        self.world.says('too many rounds')

    def carries_out(self, task: Task) -> bool:
        """Return whether all steps worked."""
        self.copies += 1
        self.variables = {'COPY': f'/copy/{self.copies}', 'LOADER': r'\EFI\debian\shimx64.efi'}
        self.bed.shell(f'mkdir -p /copy/{self.copies} /run/bed/{self.copies}')
        return all(self.takes(step, task) for step in task.steps)

    def takes(self, step: PlanStep, task: Task) -> bool:
        world = self.world
        self.maybe_dies(0.12)
        if step.code == 'new-disk':
            return self.connects(step)
        if step.see and not self.holds(step.see):
            world.says(f'  {step.code}: not true: {step.see}')
            return False
        for command in step.run:
            if not LEFT_OUT.match(command):
                self.maybe_dies(0.06)
                if not self.types(command, task):
                    return False
        if step.until and not self.types(step.until, task, 240):
            return False
        if step.check and not self.holds(step.check):
            world.says(f'  {step.code}: has not worked: {step.check}')
            return False
        world.met.append(step.code)
        return True

    def holds(self, command: str) -> bool:
        return bool(self.bed.runs(self.here(command), 60, variables=self.variables)['code'] == 0)

    def here(self, command: str) -> str:
        """Return a command as it is typed in the directory of this task."""
        return f'cd /run/bed/{self.copies}; {command}'

    def connects(self, step: PlanStep) -> bool:
        """Set NEW to a disk that nothing uses: one that is there, or a fresh one."""
        world = self.world
        idle = [self.bed.numbers[name] for name in world.drawn.idle if name in self.bed.numbers]
        for number in (*(each for each in idle if each in world.connected and each not in world.ailing), *world.fresh):
            self.variables['NEW'] = self.bed.path(number)
            if not step.see or self.holds(step.see):
                world.connected.add(number)
                world.bed.used.add(number)
                world.fresh = [each for each in world.fresh if each != number]
                world.says(f'  NEW is {world.name(number)}')
                return True
        world.says(f'  no new disk: {step.see}')
        return False

    def types(self, command: str, task: Task, seconds: float = 120) -> bool:
        """Type a command; return whether it worked. Count what it loses."""
        world, before = self.world, self.world.readable
        death = self.meanwhile()
        kept = before
        if death is not None:
            kept = before & self.without(death)
        answer = self.bed.runs(self.here(command), seconds, variables=self.variables,
                               death=[world.name(death), 0.2 + self.chance.random()] if death is not None else None)
        self.bed.names()
        world.connected &= set(self.bed.numbers.values())
        died = ''
        if answer['died'] and death is not None:
            world.is_dead(death)
            self.deaths -= 1
            died = f' ({world.name(death)} dies meanwhile)'
        else:
            kept = before
        world.says(f'  $ {command}{died}' + (f'\n    exit status {answer["code"]}: {answer["text"].strip()[-600:]}'
                                             if answer['code'] else ''))
        after = world.now()
        for key, (data, _) in world.books.sets.items():
            gone = {each for each in kept - after if each[0] == key}
            if gone and self.is_unmounted(data):   # they count when it is mounted again, and at the end
                after |= gone
            elif gone:
                world.lost.append(Lost(task.title, command, data.name, len(gone)))
                world.says(f'  LOST {len(gone)} blocks of {data.name}')
        world.taken |= before - kept - after
        world.readable = after
        return bool(answer['code'] == 0)

    def is_unmounted(self, data: Data) -> bool:
        return data.is_folder and bool(self.bed.runs(f'mountpoint -q {data.path}')['code'])

    def ends(self) -> None:
        """Count the blocks of file systems that were unmounted and cannot be mounted again."""
        for data in self.world.drawn.sets:
            if self.is_unmounted(data) and self.bed.runs(f'mount /dev/{data.array} {data.path}')['code']:
                self.world.says(f'  {data.name} cannot be mounted again')
        for key, (data, _) in self.world.books.sets.items():
            count = sum(each[0] == key for each in self.world.readable - self.world.now())
            if count:
                self.world.lost.append(Lost('', 'the end', data.name, count))

    def without(self, number: int) -> set[Block]:
        """Return the blocks that must stay if this disk dies: copies elsewhere, and those of groups in full order."""
        world = self.world
        kept = world.books.raw(world.living - {number})
        is_doubtful = any(line.startswith(('  spoiled', '  bad', '  resync')) for line in world.log)
        for key, (data, places) in world.books.sets.items():
            if data.tolerates and not is_doubtful and self.holds(data.healthy):
                kept |= {(key, each) for each in range(len(places))}
        return kept

    def meanwhile(self) -> int | None:
        """Return a disk that dies while the next command runs."""
        victims = self.world.victims()
        return self.chance.choice(victims) if self.deaths and victims and self.chance.random() < 0.12 else None

    def maybe_dies(self, share: float) -> None:
        victims = self.world.victims()
        if self.deaths and victims and self.chance.random() < share:
            self.deaths -= 1
            self.world.dies(self.chance.choice(victims))


def crossed(bed: Bed) -> Record:
    """Let the admin work on a mirror of which the first half differs, and the second half is to be replaced."""
    bed.cleans()
    world = World(bed, 'crossed', 'mirror')
    try:
        world.makes()
        data, = world.drawn.sets
        ailments = Ailments(world)
        ailments.spoil(data, data.members[0], ailments.places(data.members[0])[::2], 'spoiled')
        world.ailing = {bed.numbers[data.members[1]]: 'critical'}
        world.readable = world.now()
    except (AssertionError, OSError) as error:
        return Record(0, world.drawn.what, f'{error}'[-1500:], log=tuple(world.log))
    Admin(world, 0).works()
    return Record(0, world.drawn.what, '', tuple(world.lost), len(world.taken), restored(world), log=tuple(world.log))


def tried(bed: Bed, number: int, seed: int, kind: str = '') -> Record:
    """Make a machine, let the admin work on it, and return what became of it."""
    begin, cpu = time.monotonic(), bed.cpu_seconds()
    bed.cleans()
    world = World(bed, f'{seed} {number}', kind)
    made = Record(number, world.drawn.what)
    try:
        world.makes()
        world.ails()
        to_replace = {each for each in world.ailing if each in world.connected}
        admin = Admin(world, world.chance.choice((0, 0, 1, 1, 2)))
        admin.works()
        admin.ends()
        made = made._replace(restored=restored(world), replaced=len(to_replace - world.connected),
                             kept=len(to_replace & world.connected))
    except (AssertionError, OSError) as error:
        made = made._replace(failed=f'{error!r}'[-1500:])
    return made._replace(lost=tuple(world.lost), taken=len(world.taken), log=tuple(world.log), met=tuple(world.met),
                         seconds=time.monotonic() - begin, cpu_seconds=max(bed.cpu_seconds() - cpu, 0))


def restored(world: World) -> dict[str, str]:
    """Return for each redundant data set whether all its members are there again.

    No step can make a data set redundant if it is complete only in the copies that the admin made, or if its array has
    lost more members than it tolerates: these are omitted.
    """
    here = world.books.through() | world.books.raw(world.connected - world.dead)
    found = {}
    for key, (data, places) in world.books.sets.items():
        if data.tolerates and all((key, each) in here for each in range(len(places))) and not has_failed(world, data):
            answer = world.bed.runs(data.healthy, 60)
            used = world.bed.shell('ls /sys/fs/btrfs/*/devices 2>/dev/null || true').split()   # it drops no dead device
            dead = [world.name(each) for each in world.dead & world.connected if world.name(each) in used]
            found[data.name] = '' if answer['code'] == 0 and not dead else (
                f'{data.healthy}: {answer["text"].strip()[-300:]}; dead members {dead}')
    return found


def has_failed(world: World, data: Data) -> bool:
    """Return whether an array of md has lost more members than it tolerates."""
    if data.kind != 'md':
        return False
    lost = int(world.bed.shell(f'cat /sys/block/{data.array}/md/degraded 2>/dev/null || echo 0'))
    return lost > (len(data.members) // 2 if data.level == 'raid10' else data.tolerates)


def told(records: list[Record]) -> str:
    """Return a summary of all machines."""
    made = [each for each in records if not each.failed]
    sets = [why for each in made for why in each.restored.values()]
    blocks = sum(lost.blocks for each in made for lost in each.lost)
    return (f'{len(records)} machines, {len(records) - len(made)} not made; {blocks * BLOCK} bytes lost by commands, '
            f'{sum(each.taken for each in made) * BLOCK} bytes taken by drives that died; '
            f'{sets.count("")} of {len(sets)} complete data sets redundant again; '
            f'{sum(each.replaced for each in made)} drives replaced, {sum(each.kept for each in made)} still in; '
            f'{sum(each.seconds for each in made):.0f} s, {sum(each.cpu_seconds for each in made):.0f} s of CPU\n'
            + '\n'.join(f'{count:5} {what}' for what, count in sorted(Counter(
                each for record in made for each in (*record.what.split(', '), *record.met)).items())))


def all_of(beds: Sequence[Bed], machines: int, seed: int, kinds: tuple[str, ...] = ()) -> list[Record]:
    """Return what became of all machines. Guest K of N takes the machines K, K + N, K + 2N, and so on."""
    def share(first: int) -> list[Record]:
        found = []
        for number in range(first, machines, len(beds)):
            record = tried(beds[first], number, seed, kinds[number % len(kinds)] if kinds else '')
            print(f'{number}: {record.what}; {record.seconds:.0f} s, {record.cpu_seconds:.0f} s of CPU', flush=True)
            if record.wrong:
                print('\n'.join((f'--- {number}: {record.wrong}', *record.log)), flush=True)
            found.append(record)
        return found
    with ThreadPoolExecutor(len(beds)) as pool:
        return sorted(itertools.chain(*pool.map(share, range(len(beds)))), key=lambda record: record.number)


def beds_of(guest: Guest, folder: Path, count: int) -> list[Bed]:
    """Return beds that run at the same time, each with a guest of its own."""
    def bed(number: int) -> Bed:
        own = folder / f'bed{number}'
        own.mkdir()
        return Bed(guest, own)
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(bed, range(count)))
