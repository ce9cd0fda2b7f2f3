"""Situations that raise an alert, each made by real runs: the real smartctl on simulated drives, a
fixed clock, a state directory of its own, and trees of /sys with what lies on the drives.

`tools/catalogue.py` writes doc/reference/alerts.md from them: the docstring of a situation is what
the document says about it.
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import block_tree
from conftest import ROOT, Result
from days import DAY, HOUR, START, run_at
from simulator import Description, Machine, read
from test_controller_slots import storcli

NOW = START + 400 * DAY
# The program is loaded before this runs, and its functions have the folders of Linux as defaults.
IN_TREE = """
import sys, types
from smart_attributes.reading import system
tree = system.System(*{folders!r})
modules = [module for name, module in sys.modules.items() if name.startswith('smart_attributes')]
for item in [item for module in modules for item in vars(module).values()]:
    for function in item, getattr(item, '__new__', None):
        defaults = function.__defaults__ or () if type(function) is types.FunctionType else ()
        if any(default is system.LINUX for default in defaults):
            function.__defaults__ = tuple(tree if default is system.LINUX else default for default in defaults)
system.LINUX = tree
"""
SUDO = "#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n"
Act = Callable[['Scene'], 'tuple[str, ...] | None']


class Situation(NamedTuple):
    """A situation, and how it comes about."""

    chapter: str
    title: str
    act: Act  # prepares a scene; returns the words of the last check, None: --scan

    @property
    def meaning(self) -> str:
        """Return what the document says about it."""
        return inspect.getdoc(self.act) or ''


class Shown(NamedTuple):
    """What the program prints in a situation."""

    check: Result
    triage: Result


ALL: list[Situation] = []


def chapter(name: str) -> Callable[[str], Callable[[Act], Act]]:
    """Return a decorator that adds a situation to a chapter of the document."""

    def titled(title: str) -> Callable[[Act], Act]:
        def added(act: Act) -> Act:
            ALL.append(Situation(name, title, act))
            return act

        return added

    return titled


def changed(
    drive: str, log: dict[str, Any] | None = None, **fields: Any
) -> Description:
    """Return a described drive with other numbers. fields: a5=40 is the raw value of attribute 5."""
    description = read(drive)
    numbers = [name for name in fields if name[1:].isdigit()]
    raws = {int(name[1:]): str(fields.pop(name)) for name in numbers}
    rows = [
        row._replace(raw=raws.get(row.id, row.raw)) for row in description.attributes
    ]
    log = {**description.log, **(log or {})}
    return description._replace(attributes=tuple(rows), log=log, **fields)


class Scene:
    """A machine and its past. Each disk carries a mounted file system, unless the tree says
    otherwise.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state, self.config, self.slots = (
            folder / name for name in ('state', 'config', 'by-path')
        )
        for each in (self.state, self.config, self.slots):
            each.mkdir(parents=True)
        self.tree = block_tree.Machine(folder / 'tree')
        self.setup = ''  # code that runs before the program
        self.path = str(folder / 'machine/smartctl')
        self.check_words: tuple[str, ...] = ()  # what only the last check takes
        self.triage_words: tuple[str, ...] = ()
        self._is_built = False
        self._drives: dict[str, tuple[Description, dict[str, Any]]] = {}

    def put(
        self, address: str, drive: str | Description, serial: str = '', **behavior: Any
    ) -> None:
        """Put a drive at an address, in place of the one that is there."""
        description = read(drive) if isinstance(drive, str) else drive
        if serial:
            number = int(serial[-4:], 36)
            description = description._replace(
                serial=serial, wwn=f'5e1ec7{number:010x}'
            )
        self._drives[address] = description, behavior
        self._is_built = False

    def pull(self, *addresses: str) -> None:
        self._is_built = False
        for address in addresses:
            del self._drives[address]
            self.tree.pull(address.rpartition('/')[2])

    def mirror(self, **states: str) -> None:
        """Make md0 of these disks, with a mounted file system: sda='in_sync', sdb='faulty'."""
        self.tree.disks(*states)
        members = {f'{name}1': state for name, state in states.items()}
        missing = sum('faulty' in state for state in states.values())
        self.tree.md('md0', 'raid1', members, degraded=str(missing))
        self.tree.mounted('/dev/md0', '/srv')

    def install_storcli(self, *drives: tuple[str, int, str]) -> None:
        """Install a made-up storcli64. drives: as for storcli()."""
        tool = self.folder / 'tools/storcli64'
        tool.parent.mkdir()
        (tool.parent / 'printed').write_text(storcli(*drives, pci=''))
        tool.write_text(f'#!/bin/sh\ncat {tool.parent}/printed\n')
        tool.chmod(0o755)
        self.setup = (
            'from smart_attributes.redundancy import controllers\n'
            f'controllers.FOLDERS = {str(tool.parent)!r}\n'
        )

    def check(self, ago: float = 0, *words: str) -> Result:
        """Run a check some seconds ago."""
        return self.run('', *(words or ('--scan',)), now=NOW - ago)

    def triage(self, *words: str) -> Result:
        return self.run('triage', *(words or ('--scan',)), *self.triage_words)

    def run(self, command: str, *words: str, now: float = NOW) -> Result:
        """Run a command, '' for a check."""
        if not self._is_built:
            self._build()
        own = (
            '-p',
            self.path,
            '--state-dir',
            str(self.state),
            '--config',
            str(self.config),
        )
        user = () if 'geteuid' in self.setup else ('--nosudo',)
        setup = IN_TREE.format(folders=tuple(self.tree.system)) + self.setup
        result = run_at(
            now,
            *command.split(),
            *own,
            *user,
            *words,
            slots=str(self.slots),
            setup=setup,
        )
        return Result(result.code, self.as_installed(result.text))

    def _build(self) -> None:
        """Make the simulated machine, and the disks that have no place in the tree."""
        self._is_built = True
        shutil.rmtree(self.folder / 'machine', ignore_errors=True)
        machine = Machine(self.folder / 'machine')
        for address, (drive, behavior) in self._drives.items():
            machine.add(address, drive, **behavior)
            name = address.rpartition('/')[2]
            if (
                re.fullmatch(r'sd[a-z]|nvme\d+n1', name)
                and name not in self.tree.numbers
            ):
                part = f'{name}p1' if name.startswith('nvme') else f'{name}1'
                self.tree.disk(name, part)
                if name.startswith('nvme'):
                    (self.tree.sys / 'class/nvme' / name[:-2] / name).mkdir(
                        parents=True
                    )
                self.tree.mounted(f'/dev/{part}', f'/srv/{name}')

    def as_installed(self, text: str) -> str:
        """Return an output with the usual folders in place of those of this test."""
        for path, usual in (
            (self.path, '/usr/sbin/smartctl'),
            (str(self.state), '/var/lib/check-smart-attributes'),
            (str(self.config), '/etc/check-smart-attributes'),
            (f'{ROOT}/', ''),
        ):
            text = text.replace(path, usual)
        return text


def shown(situation: Situation, folder: Path) -> Shown:
    """Return what the program prints in a situation."""
    scene = Scene(folder)
    words = situation.act(scene) or ('--scan',)
    return Shown(scene.check(0, *words, *scene.check_words), scene.triage(*words))


# --- the drive reports that it fails --------------------------------------------------------------

fails = chapter('The drive reports that it fails')


@fails('The SMART health status is FAILED')
def failed(scene: Scene) -> None:
    """The drive itself expects to fail soon. For such a SATA drive, `smartctl -H` prints "drive
    failure expected in less than 24 hours".
    """
    scene.put('/dev/sda', 'seagate-hdd-failing')


@fails('An attribute has reached the threshold of its vendor')
def at_threshold(scene: Scene) -> None:
    """A pre-fail attribute is CRITICAL. An old-age attribute is a WARNING."""
    scene.put('/dev/sda', changed('wd-hdd-failing', health='PASSED'))


@fails('A SAS drive predicts its failure')
def predicts(scene: Scene) -> None:
    """The text and the numbers (asc, ascq) are those of the SCSI standard."""
    scene.put('/dev/sda', 'sas-predicted-failure')


@fails('An NVMe drive reports degraded reliability')
def degraded(scene: Scene) -> None:
    """The drive sets this warning bit after many media errors or an internal error, and some drives
    set it when their rated life is used up.
    """
    scene.put('/dev/nvme0n1', 'nvme-warning-reliability')


@fails(
    'The rated life of an NVMe drive is used up, and it reports degraded reliability'
)
def worn_bit(scene: Scene) -> None:
    """The drive has lost nothing: its warning bit follows from the wear."""
    log = {'critical_warning': 4, 'percentage_used': 104}
    scene.put('/dev/nvme0n1', changed('nvme-samsung-healthy', log))


@fails('The spare blocks of an NVMe drive are below its threshold')
def spare(scene: Scene) -> None:
    """When no spare block is left, the drive can no longer replace a bad block."""
    scene.put('/dev/nvme0n1', 'nvme-warning-spare')


@fails('An NVMe drive is read-only')
def read_only(scene: Scene) -> None:
    """The data can still be read. Copy it while this lasts."""
    scene.put('/dev/nvme0n1', 'nvme-warning-read-only')


@fails('An NVMe drive refuses writes')
def refuses(scene: Scene) -> tuple[str, ...]:
    """Only the drive's error log shows this. The health status is still PASSED. smartctl 7.4 or
    newer reports it.
    """
    report = scene.folder / 'nvme0.json'
    shutil.copy(ROOT / 'tests/reports/nvme-read-only.json', report)
    return '--report', str(report)


@fails('The persistent memory of an NVMe drive is unreliable')
def persistent(scene: Scene) -> None:
    scene.put('/dev/nvme0n1', 'nvme-warning-persistent-memory')


@fails('The power-loss protection of an NVMe drive failed')
def backup(scene: Scene) -> None:
    """A power failure can now lose data that the drive has confirmed as written."""
    scene.put('/dev/nvme0n1', 'nvme-warning-volatile-backup')


@fails('The power-loss capacitors of an SSD failed their test')
def capacitor(scene: Scene) -> None:
    """As above, on a SATA SSD."""
    scene.put('/dev/sda', 'intel-capacitor-failed')


@fails('The power-loss capacitors could not be tested')
def capacitor_hot(scene: Scene) -> None:
    """The SSD was too hot for this test. It repeats the test later."""
    scene.put('/dev/sda', 'intel-capacitor-too-hot')


@fails('A self-test failed')
def self_test(scene: Scene) -> None:
    """An extended test that passes ends this alert. If the test was aborted or is still running,
    there is no alert.
    """
    scene.put('/dev/sda', 'intel-self-test-failed')


@fails('A self-test failed long ago')
def old_self_test(scene: Scene) -> None:
    """More than a year of power-on time has passed since then."""
    tests = read('intel-self-test-failed').self_tests
    old = [test._replace(hours=test.hours - 20_000) for test in tests]
    scene.put('/dev/sda', changed('intel-self-test-failed', self_tests=tuple(old)))


# --- data and errors ------------------------------------------------------------------------------

errors = chapter('Data was lost, or errors increase')


@errors('A hard disk could not return data')
def uncorrectable(scene: Scene) -> None:
    """Each uncorrectable error is data that a program could not read. Restore the data from the
    array or from a backup.
    """
    scene.put('/dev/sda', 'hgst-uncorrectable')


@errors('A hard disk could not return data, and many such disks fail')
def likely(scene: Scene) -> None:
    """Among disks of this vendor with this finding, at least 15 in 100 failed within 90 days, or 4
    in 10 within a year. `explain` has the figures.
    """
    scene.put('/dev/sda', 'seagate-hdd-uncorrectable')


@errors('A SAS drive could not return data many times')
def uncorrected(scene: Scene) -> None:
    scene.put('/dev/sda', 'sas-uncorrected-errors')


@errors('Sectors cannot be read at present')
def pending(scene: Scene) -> None:
    """Pending sectors become readable again or are replaced when something is written to them. The
    data in them may be lost. A check or scrub of the whole array rewrites them.
    """
    scene.put('/dev/sda', 'wd-hdd-pending')


@errors('Many sectors cannot be read')
def many_pending(scene: Scene) -> None:
    scene.put('/dev/sda', changed('seagate-hdd-healthy', a197=800, a198=800))


@errors('A SAS SSD has pending defects')
def sas_pending(scene: Scene) -> None:
    scene.put('/dev/sda', 'sas-pending-defects')


@errors('The background scan of a SAS disk found defects')
def scan_defects(scene: Scene) -> None:
    """The disk reads its whole surface when it is idle. It failed to repair some of these blocks."""
    scene.put('/dev/sda', 'sas-background-scan')


@errors('A hard disk has replaced many sectors')
def reallocated(scene: Scene) -> None:
    """Single replaced sectors do no harm. Many replaced sectors show that a head or a surface is
    failing.
    """
    scene.put('/dev/sda', 'hpe-hdd-many-reallocated')


@errors('A hard disk has replaced more than 1,000 sectors')
def many_reallocated(scene: Scene) -> None:
    scene.put('/dev/sda', changed('wd-hdd-healthy', a5=2048))


@errors('An NVMe drive could not return data')
def media(scene: Scene) -> None:
    scene.put('/dev/nvme0n1', 'nvme-media-errors')


@errors('An SSD could not return data many times')
def many_media(scene: Scene) -> None:
    scene.put('/dev/sda', 'apacer-failing')


@errors('Replaced sectors increase')
def growing(scene: Scene) -> None:
    """A counter that increases is a worse sign than a high one. To detect an increase, the plugin needs
    at least two checks."""
    scene.put('/dev/sda', changed('seagate-hdd-healthy', a5=16))
    scene.check(DAY)
    scene.put('/dev/sda', changed('seagate-hdd-healthy', a5=200))


@errors('New errors on the cable')
def cable(scene: Scene) -> None:
    """The drive itself is not failing. The counter never falls, so the alert ends after a week
    without new errors.
    """
    scene.put('/dev/sda', changed('seagate-hdd-healthy', a199=212))
    scene.check(DAY)
    scene.put('/dev/sda', changed('seagate-hdd-healthy', a199=226))


@errors('New uncorrectable errors, and new errors on the cable')
def lost_and_cable(scene: Scene) -> None:
    """A bad cable cannot lose data. Save the data first, then check the cable."""
    scene.put('/dev/sda', 'hgst-healthy')
    scene.check(DAY)
    same = read('hgst-healthy')
    drive = changed('hgst-uncorrectable', a199=40, serial=same.serial, wwn=same.wwn)
    scene.put('/dev/sda', drive)


# --- wear -----------------------------------------------------------------------------------------

wears = chapter('An SSD is worn')


@wears('85 % of the rated endurance is used')
def worn(scene: Scene) -> None:
    """The date is 90 days before the forecast. Without a history, it is an estimate from use and
    age.
    """
    scene.put('/dev/sda', 'hpe-ssd-worn')


@wears('The forecast leaves less than 90 days')
def worn_soon(scene: Scene) -> None:
    """If the redundancy of the drive is not known, the action has the earliest date of the forecast."""
    scene.put('/dev/sda', 'samsung-worn')


@wears('The rated endurance is used up')
def worn_out(scene: Scene) -> None:
    """The SSD can work for longer. But without power, it keeps data for a shorter time, and it may
    become read-only.
    """
    scene.put('/dev/sda', 'crucial-worn-out')


@wears('An SSD that is OK will be worn out within 90 days')
def ok_but_due(scene: Scene) -> None:
    """No limit is exceeded, but at this rate the endurance ends soon. Only `triage`, `explain` and
    the metrics show this.
    """
    for ago, used in ((120, 40), (90, 50), (60, 60), (30, 70)):
        scene.put(
            '/dev/nvme0n1', changed('nvme-samsung-healthy', {'percentage_used': used})
        )
        scene.check(ago * DAY)
    scene.put('/dev/nvme0n1', changed('nvme-samsung-healthy', {'percentage_used': 80}))


@wears('An SSD wears much faster than before')
def hasty(scene: Scene) -> None:
    """Look for a program that writes more: a log, swap space, a backup, a rebuild."""
    for ago, used in ((62, 10), (31, 10), (15, 16)):
        scene.put(
            '/dev/nvme0n1', changed('nvme-samsung-healthy', {'percentage_used': used})
        )
        scene.check(ago * DAY)
    scene.put('/dev/nvme0n1', changed('nvme-samsung-healthy', {'percentage_used': 24}))


@wears('Few spare blocks are left')
def few_spare(scene: Scene) -> None:
    scene.put('/dev/nvme0n1', changed('nvme-samsung-healthy', {'available_spare': 12}))


@wears('The spare blocks are used up')
def no_spare(scene: Scene) -> None:
    log = {'available_spare': 5, 'critical_warning': 1}
    scene.put('/dev/nvme0n1', changed('nvme-samsung-healthy', log))


# --- heat and firmware ----------------------------------------------------------------------------

outside = chapter('Temperature and firmware')


@outside('A hard disk is hot')
def hot(scene: Scene) -> None:
    """Look at the fans and the airflow. An alert ends when the drive is a little below the limit."""
    scene.put('/dev/sda', 'sas-hot')


@outside('A hard disk is too hot')
def too_hot(scene: Scene) -> None:
    scene.put('/dev/sda', changed('sas-seagate-healthy', {'temperature': 66}))


@outside('An NVMe drive reports a temperature outside its limits')
def nvme_hot(scene: Scene) -> None:
    """The drive may become slower to protect itself."""
    scene.put('/dev/nvme0n1', 'nvme-warning-temperature')


@outside('The firmware has a known defect')
def advisory(scene: Scene) -> None:
    """A vendor has published this defect. Read the notice (`explain` has the address) before you
    update."""
    scene.put(
        '/dev/nvme0n1',
        changed('nvme-intel-healthy', model='INTEL SSDPF2KX038T9', firmware='2CV1C033'),
    )


@outside('Reading the drive can lose data')
def harmful(scene: Scene) -> None:
    """The firmware of this model can lose writes while SMART is read, so the check does not read
    it. See [harmful drives](harmful-drives.md).
    """
    scene.put(
        '/dev/sda',
        changed('samsung-hdd-healthy', model='SAMSUNG HD204UI', firmware='1AQ10001'),
    )


# --- presence -------------------------------------------------------------------------------------

absent = chapter('A drive is missing, asleep or silent')
SICK, WELL = 'seagate-hdd-failing', 'seagate-hdd-healthy'


def three(scene: Scene, second: str = WELL, ago: float = HOUR, **behavior: Any) -> None:
    """Check three disks, of which the second may be a failing one."""
    for letter, drive in zip('abc', (WELL, second, WELL)):
        scene.put(f'/dev/sd{letter}', drive, f'EXAMPLE700{letter.upper()}')
    scene.check(ago)
    if behavior:
        scene.put('/dev/sdb', second, 'EXAMPLE700B', **behavior)


@absent('A drive is missing')
def gone(scene: Scene) -> None:
    """An earlier check read the drive, but it is no longer found at any address. Failing drives
    often disappear like this. Check the slot, the cable, the controller and the kernel log
    (`dmesg -T`). For the last readings, run `check_smart_attributes explain SERIAL`.

    The drive is WARNING (or the state in `--missing`), or CRITICAL [in some
    cases](states.md#critical-exit-status-2), until it is back or
    [replaced](states.md#drives-that-were-not-read). If you removed it for good, acknowledge
    that as root. Name the drive by its serial number, former name or bay, or use `--all` for
    all missing drives:

    ```sh
    check_smart_attributes acknowledge --missing SERIAL
    ```

    Afterwards, `check_smart_attributes history --remove SERIAL` removes its readings. USB
    drives, volumes of a SAN and drives that have moved raise no alert. For other drives that
    are often taken away, write `"presence": "optional"` into an
    [override](limits.md#disabling-alerts).
    """
    three(scene)
    scene.pull('/dev/sdb')


@absent('A drive that had failed is missing')
def gone_failed(scene: Scene) -> None:
    """It stays CRITICAL until it is read again, replaced or acknowledged."""
    three(scene, SICK)
    scene.pull('/dev/sdb')


@absent('A drive is missing, and an array lacks a member')
def gone_from_array(scene: Scene) -> None:
    scene.mirror(sdb='in_sync', sdc='in_sync')
    three(scene)
    scene.pull('/dev/sdb')
    scene.tree.files(
        scene.tree.sys / 'block/md0/md', {'degraded': 1, 'dev-sdb1/state': 'faulty'}
    )


@absent('Several drives are missing')
def several_gone(scene: Scene) -> None:
    """Drives that disappear together share the cause: a controller, an expander, a power cable or
    the backplane. No `acknowledge` is needed when they are back.
    """
    three(scene, SICK)
    scene.pull('/dev/sdb', '/dev/sdc')


@absent('All drives are missing')
def all_gone(scene: Scene) -> None:
    """`--no-drives ok` does not change this. A drive that `--ignore` or `--match` excludes counts as
    present while it is there.
    """
    three(scene, SICK)
    scene.pull('/dev/sda', '/dev/sdb', '/dev/sdc')


@absent('Fewer drives than --expect')
def expected(scene: Scene) -> None:
    """`--expect` states how many drives the machine has."""
    scene.put('/dev/sda', WELL)
    scene.check_words = '--expect', '2'


@absent('A drive in standby had failed')
def asleep_failed(scene: Scene) -> None:
    """A check does not wake the drive, so the state stays CRITICAL."""
    three(scene, SICK, asleep=True)


@absent('A drive has been in standby for a long time')
def asleep_long(scene: Scene) -> None:
    """Allow a longer time with `--asleep-max-age`, or wake the drive (`smartctl -i` does not wake
    it): `dd if=/dev/sdb of=/dev/null count=1 iflag=direct`
    """
    three(scene, WELL, 9 * DAY, asleep=True)


@absent('A drive that had failed can no longer be read')
def silent_failed(scene: Scene) -> None:
    three(scene, SICK, error=0)


@absent('A drive that was OK can no longer be read')
def silent(scene: Scene) -> None:
    """The drive answered before, so the drive, its cable or its controller is failing."""
    three(scene, WELL, error=0)


@absent('A drive was replaced')
def replaced(scene: Scene) -> None:
    """Another drive is in its place, which ends the alert. `triage` lists the old drive for a
    month.
    """
    three(scene, SICK)
    scene.put('/dev/sdb', WELL, 'EXAMPLE800B')


@absent('A drive has moved')
def moved(scene: Scene) -> None:
    """The drive answers at another address. Nothing alerts."""
    three(scene)
    scene.pull('/dev/sdb')
    scene.put('/dev/sdd', WELL, 'EXAMPLE700B')


# --- arrays ---------------------------------------------------------------------------------------

arrays = chapter('Arrays, pools and volumes on a drive that fails')


def failing_in(scene: Scene, *sick: str, **states: str) -> None:
    scene.mirror(**states)
    for name in states:
        serial = f'EXAMPLE700{name[-1].upper()}'
        scene.put(f'/dev/{name}', SICK if name in sick else WELL, serial)


@arrays('The array has its data on other drives')
def next_one(scene: Scene) -> None:
    """Replace one drive at a time. [Replace a drive](../how-to/replace-a-drive.md) has the steps for
    all cases in this chapter.
    """
    failing_in(scene, 'sda', sda='in_sync', sdb='in_sync')


@arrays('The drive has the last good copy')
def last_copy(scene: Scene) -> None:
    """If you remove the drive, the data is lost."""
    failing_in(scene, 'sda', sda='in_sync', sdb='faulty none')


@arrays('Both drives of a mirror fail')
def both(scene: Scene) -> None:
    failing_in(scene, 'sda', 'sdb', sda='in_sync', sdb='in_sync')


@arrays('The array is rebuilding')
def rebuilding(scene: Scene) -> None:
    """Until the rebuild ends, the other members have the only copy."""
    failing_in(scene, 'sda', sda='in_sync', sdb='in_sync', sdc='spare')
    scene.tree.files(
        scene.tree.sys / 'block/md0/md',
        {'sync_action': 'recover', 'sync_completed': '400 / 1000', 'degraded': '1'},
    )


@arrays('The array has dropped a drive')
def dropped(scene: Scene) -> None:
    """A check evaluates drives, not arrays, so it stays OK. Monitor the arrays, too. `triage`
    shows what to do.
    """
    failing_in(scene, sda='in_sync', sdb='faulty none')


@arrays('The array has dropped the drive that fails')
def dropped_failed(scene: Scene) -> None:
    failing_in(scene, 'sdb', sda='in_sync', sdb='faulty none')


@arrays('The drive has the only copy')
def only_copy(scene: Scene) -> None:
    scene.put('/dev/sda', SICK)


@arrays('The use of the drive is not known')
def use_unknown(scene: Scene) -> None:
    """No array, no mounted file system and no known signature was found on the drive, but the
    drive may still have data.
    """
    scene.tree.disk('sda')
    scene.put('/dev/sda', SICK)


@arrays('The drive has only swap space')
def swap(scene: Scene) -> None:
    scene.tree.disks('sda')
    scene.tree.swap('/dev/sda1')
    scene.put('/dev/sda', SICK)


@arrays('The drive is behind a RAID controller')
def behind(scene: Scene) -> None:
    """A check does not ask the tool of the controller. The drive ID is not the slot: before you pull
    a drive, [find its slot](../how-to/raid.md#find-the-slot-of-a-drive). If a tool fails,
    `triage --controllers` has the reason.
    """
    scene.put('megaraid,4@/dev/bus/0', SICK)
    scene.put('megaraid,5@/dev/bus/0', WELL)


@arrays('The tool of the controller knows the slot')
def slot(scene: Scene) -> None:
    """As above, but root has run `triage --controllers`."""
    behind(scene)
    scene.install_storcli(('32:9', 4, 'Onln'), ('32:4', 5, 'Onln'))
    scene.triage_words = ('--controllers',)


# --- reading --------------------------------------------------------------------------------------

unread = chapter('A drive cannot be read')


@unread('sudo does not allow smartctl')
def sudo(scene: Scene) -> tuple[str, ...]:
    scene.put('/dev/sda', WELL)
    folder = scene.folder / 'bin'
    folder.mkdir()
    (folder / 'sudo').write_text(SUDO)
    (folder / 'sudo').chmod(0o755)
    scene.setup = (
        f'import os\nos.geteuid = lambda: 1000\nos.environ["PATH"] = {str(folder)!r}\n'
    )
    return '-d', '/dev/sda', '--no-history'


@unread('smartctl is not installed')
def no_smartctl(scene: Scene) -> None:
    scene.path = '/usr/sbin/smartctl-missing'


@unread('No drives')
def no_drives(scene: Scene) -> None:
    """On machines that have no drives of their own, use `--no-drives ok`."""


@unread('The drive cannot be opened')
def denied(scene: Scene) -> tuple[str, ...]:
    scene.put('/dev/sda', WELL, denied=True)
    return '-d', '/dev/sda'


@unread('The drive does not answer in time')
def hangs(scene: Scene) -> tuple[str, ...]:
    """The drive may be failing. Check the kernel log (`dmesg -T | tail -50`). If only the controller
    is slow, increase `--drive-timeout` and `-t`.
    """
    scene.put('/dev/sda', WELL, hang=1)
    return '-d', '/dev/sda', '--drive-timeout', '0.3'


@unread('The drive does not report what it is')
def mute(scene: Scene) -> tuple[str, ...]:
    scene.put('/dev/sda', WELL, error=0)
    return '-d', '/dev/sda'


@unread('No device is at this path')
def no_device(scene: Scene) -> tuple[str, ...]:
    """Compare with `smartctl --scan` and `check_smart_attributes list`. Names such as `/dev/sdb` can
    change at a restart; names in `/dev/disk/by-id` do not change. If the drive was there before, it
    has failed or was removed.
    """
    scene.put('/dev/sda', WELL)
    return '-d', '/dev/sda', '-d', '/dev/sdb'


@unread('No drive is in this slot of the controller')
def no_slot(scene: Scene) -> tuple[str, ...]:
    scene.put('megaraid,4@/dev/bus/0', WELL)
    return '-d', 'megaraid,4@/dev/bus/0', '-d', 'megaraid,6@/dev/bus/0'


@unread('SMART is disabled')
def disabled(scene: Scene) -> tuple[str, ...]:
    """Enable SMART once with `smartctl -s on /dev/sda`; the drive keeps the setting. The plugin never
    changes a setting.
    """
    scene.put('/dev/sda', WELL, disabled=True)
    return '-d', '/dev/sda'


@unread('The device is a RAID volume')
def volume(scene: Scene) -> tuple[str, ...]:
    """Check the drives behind the volume; [RAID](../how-to/raid.md) shows how to find them. A scan
    skips volumes. So does a check that also names drives of the same controller.
    """
    scene.put('/dev/sda', 'dell-perc-volume')
    return '-d', '/dev/sda'


@unread('The report is damaged')
def damaged(scene: Scene) -> tuple[str, ...]:
    file = scene.folder / 'sda.json'
    file.write_text((ROOT / 'tests/reports/wd-gold-healthy.json').read_text()[:900])
    return '--report', str(file)


@unread('The model is not in the database')
def unknown_model(scene: Scene) -> None:
    """Only with `--unknown-model STATE`. Without an entry, the drive is evaluated by its health
    status, the standard logs and the attributes that mean the same on all drives.
    """
    scene.put('/dev/sda', changed('intel-healthy', model='ACME SSD 240'))
    scene.check_words = '--unknown-model', 'warning'


# --- the check itself -----------------------------------------------------------------------------

itself = chapter('The check itself')


@itself('The command line has an error')
def usage(scene: Scene) -> tuple[str, ...]:
    return '-w', 'endurance_usd=80'


@itself('A file of the local configuration has an error')
def mistake(scene: Scene) -> None:
    """The valid parts of the file still apply. `check_smart_attributes validate FILE` lists all
    errors. A file or directory that another user could change is not read: use `chown root`,
    `chmod go-w` or `setfacl -b` on the path in the message.
    """
    scene.put('/dev/sda', WELL)
    (scene.config / 'thresholds.d').mkdir()
    (scene.config / 'thresholds.d/site.json').write_text(
        '{"metrics": {"pendin": {"warning": "0"}}}'
    )


@itself('The history cannot be used')
def no_history(scene: Scene) -> None:
    """Increases and missing drives are not detected. Limits on values still apply. If there is no
    history yet, this is a note. `--history-required` sets another state. `doctor` prints the
    command that repairs the history; if you need none, use `--no-history`.
    """
    scene.put('/dev/sda', WELL)
    scene.check(HOUR)
    scene.state.chmod(0o777)


@itself('The history of a drive was damaged')
def damaged_history(scene: Scene) -> None:
    """Each drive has a file of its own, so the other drives are not affected. The plugin renames the
    damaged file and continues with the former version of the file, which lacks the readings of one
    check. If there is no former version, earlier increases of this drive cannot be detected. The
    check is WARNING for seven days. Check the disk that holds the state directory: a file is never
    damaged by a killed check or a power failure alone.
    """
    scene.put('/dev/sda', WELL)
    scene.check(2 * HOUR)
    scene.check(HOUR)
    for file in (scene.state / 'history').glob('*.drive'):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(bytes(data))


# --- several --------------------------------------------------------------------------------------

many = chapter('Several findings, several drives')


@many('One drive has several findings')
def findings(scene: Scene) -> None:
    """The first line shows the most urgent finding. The drive's line shows all findings."""
    drive = changed('wd-hdd-healthy', a5=2048, a197=60, a198=16, a199=4, a194=61)
    scene.put('/dev/sda', drive)


@many('Several drives have alerts')
def drives(scene: Scene) -> None:
    """The first line shows the most urgent drive and counts the others."""
    for letter, drive in zip(
        'abcdef',
        (WELL, 'intel-worn', SICK, 'wd-hdd-pending', 'sas-hot', 'crucial-worn-out'),
    ):
        scene.put(f'/dev/sd{letter}', drive)


@many('Two drives fail, and one is missing')
def failing_and_gone(scene: Scene) -> None:
    scene.put('/dev/sda', SICK)
    scene.put('/dev/sdb', WELL)
    scene.put('/dev/sdc', 'sas-predicted-failure')
    scene.check(HOUR)
    scene.pull('/dev/sdb')


@many('All drives are OK')
def fine(scene: Scene) -> None:
    """The first line shows the most important value."""
    for letter, drive in zip('abc', (WELL, 'intel-healthy', 'samsung-healthy')):
        scene.put(f'/dev/sd{letter}', drive)


@many('A known value is acknowledged')
def acknowledged(scene: Scene) -> None:
    """The alert returns when the value gets worse."""
    scene.put('/dev/sda', 'hpe-hdd-many-reallocated')
    scene.check(HOUR)
    serial = read('hpe-hdd-many-reallocated').serial
    scene.run('acknowledge', serial, '--why', 'as found', now=NOW - HOUR)
