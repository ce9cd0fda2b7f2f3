"""The command install: its plan as a table, and its changes below a folder that is taken for /."""
from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import abilities
import pytest
import rich
from conftest import ROOT, run, run_as_nobody

from smart_attributes import VERSION, files
from smart_attributes.commands import install
from smart_attributes.constants import SMARTCTL
from smart_attributes.errors import SmartError, UsageError
from smart_attributes.installation import disk, host, plan
from smart_attributes.installation.plan import DIRECTORY, FILE, LINK, TREE, Change, Found, Item
from smart_attributes.model import HowRead
from smart_attributes.reading.processes import Runner

OLD, NEW, OTHER = (plan.digest(word) for word in (b'old', b'new', b'other'))
A_FILE = Item('/etc/a', FILE, 0o440, content='new')
A_LINK = Item('/bin/a', LINK, content='new')
A_STATE = Item('/var/a', DIRECTORY, 0o750, owner='icinga')
A_TREE = Item('/lib/a', TREE, 0o755, files={'a.py': b'new'})


@pytest.mark.parametrize('item, found, written, action', [
    (A_FILE, None, '', 'create'),
    (A_FILE, Found(FILE, 0o440, digest=NEW), '', ''),
    (A_FILE, Found(FILE, 0o440, digest=OLD), OLD, 'replace'),
    (A_FILE, Found(FILE, 0o440, digest=OTHER), OLD, 'keep'),
    (A_FILE, Found(FILE, 0o440, digest=OTHER), '', 'keep'),
    (A_FILE, Found(FILE, 0o444, digest=NEW), '', 'own'),
    (A_FILE, Found(FILE, 0o440, 'nagios', NEW), '', 'own'),
    (A_FILE, Found(FILE, 0o440), '', 'keep'),
    (A_FILE, Found(LINK, digest=NEW), NEW, 'keep'),
    (A_LINK, Found(LINK, 0o777, digest=NEW), '', ''),
    (A_LINK, Found(LINK, 0o777, digest=OLD), OLD, 'replace'),
    (A_LINK, Found(FILE, 0o755, digest=NEW), NEW, 'keep'),
    (A_STATE, None, '', 'create'),
    (A_STATE, Found(DIRECTORY, 0o700, 'icinga', is_empty=False), '', ''),
    (A_STATE, Found(DIRECTORY, 0o755, 'root'), '', 'own'),
    (A_STATE, Found(DIRECTORY, 0o755, 'root', is_empty=False), '', 'keep'),
    (A_STATE, Found(LINK, digest=OTHER), '', 'keep'),
    (A_TREE, Found(TREE, 0o755, digest=plan.own_digest(A_TREE)), '', ''),
    (A_TREE, Found(TREE, 0o755, digest=OTHER), OTHER, 'replace'),
    (A_TREE, Found(TREE, 0o755, 'games', digest=plan.own_digest(A_TREE)), '', 'replace'),
    (A_LINK, Found(LINK, 0o777, 'games', digest=NEW), '', ''),
], ids=['file-new', 'same', 'earlier-version', 'changed', 'foreign', 'mode', 'owner', 'unreadable', 'link-for-file',
        'link-same', 'link-earlier', 'file-for-link', 'state-new', 'state-there', 'state-empty-of-root',
        'state-with-files-of-another', 'state-is-a-link', 'tree-same', 'tree-damaged',
        'tree-of-another-user', 'link-of-another-user'])
def test_an_item_is_compared_with_what_is_there(item, found, written, action):
    """A file that this site changed is kept; it is known by the digest of what was last written."""
    there = {item.path: found} if found else {}
    todo = plan.additions([item], there, {item.path: written} if written else {})

    assert [(change.action, change.item) for change in todo] == ([(action, item)] if action else [])


CHANGED = 'it was made or changed on this host; if you do not need it, delete it and run this command again'


@pytest.mark.parametrize('item, found, why', [
    (A_FILE, Found(FILE, 0o440, digest=OTHER), CHANGED), (A_FILE, Found(LINK), CHANGED),
    (A_FILE, Found(FILE, 0o440), 'only root can read it'),
    (A_STATE, Found(DIRECTORY, 0o755, 'root', is_empty=False),
     'the directory has files of root; to give it to icinga, run: chown -R icinga: /var/a')],
    ids=['changed', 'link-for-file', 'unreadable', 'state-with-files-of-another'])
def test_what_is_kept_is_kept_for_a_reason(item, found, why):
    assert plan.additions([item], {item.path: found}, {}) == [Change('keep', item, why)]


def test_changes_are_counted_without_what_stays_as_it_is():
    assert plan.count([Change(action, A_FILE) for action in ('create', 'keep', 'own', 'forget', 'remove')]) == 3


@pytest.mark.parametrize('found, kind, action', [
    (None, plan.OTHER, 'forget'), (Found(FILE, digest=OLD), FILE, 'remove'),
    (Found(LINK, digest=OLD), LINK, 'remove'), (Found(FILE, digest=OTHER), FILE, 'keep'),
    (Found(TREE, digest=OTHER), TREE, 'keep')])
def test_a_file_is_removed_only_as_it_was_written(found, kind, action):
    todo = plan.removals(['/a'], {'/a': found} if found else {}, {'/a': OLD})

    assert todo == [Change(action, Item('/a', kind), CHANGED if action == 'keep' else '')]


def test_what_is_installed_is_recorded():
    """Of a kept file nothing new, of a removed one nothing."""
    items = [A_FILE, A_LINK, A_STATE, A_TREE]
    done = [Change('keep', A_FILE), Change('create', A_STATE), Change('remove', Item('/gone', FILE)),
            Change('forget', Item('/lost', FILE))]
    written = plan.recorded({'/etc/a': OLD, '/gone': OLD, '/lost': OLD, '/more': OLD}, items, done)

    assert written == {'/etc/a': OLD, '/bin/a': NEW, '/lib/a': plan.own_digest(A_TREE), '/more': OLD}


def test_an_upgrade_removes_all_but_the_last_version_and_nothing_below_etc():
    """A check that started before the upgrade still imports from the version before."""
    found = {f'/t/{time}': Found(TREE, time=time) for time in (1, 3, 2)}
    written = dict.fromkeys([*found, '/usr/old', '/etc/old', A_FILE.path], OLD)

    assert plan.outdated(written, [A_FILE], found) == ['/t/1', '/t/2', '/usr/old']


@pytest.mark.parametrize('change, line', [
    (Change('create', A_FILE), 'create /etc/a (owner root, mode 0440)'),
    (Change('replace', A_LINK), 'replace link /bin/a to new'),
    (Change('own', A_STATE), 'set owner and mode of /var/a (directory, owner icinga, mode 0750)'),
    (Change('create', A_TREE), 'create /lib/a (program directory, owner root, mode 0755)'),
    (Change('remove', Item('/a\x1b[1m\n', FILE)), 'remove /a '),
    (Change('keep', A_FILE, 'why'), 'keep /etc/a: why')])
def test_a_change_is_one_plain_line(change, line):
    assert str(change) == line


# --- the table of parts ----------------------------------------------------------------------

def test_the_parts_of_a_host_have_their_owners_and_modes():
    """sudo reads a rule only if nobody but root can write it, and a wrong one would end sudo for everybody."""
    facts = plan.Facts(['icinga'], 'rule', readme='read')

    assert plan.of_host(facts).items == [
        Item(plan.RULE, FILE, 0o440, 'root', 'rule', ('visudo', '-cqf')),
        Item('/var/lib/check-smart-attributes', DIRECTORY, 0o750, 'icinga'),
        *(Item(f'/etc/check-smart-attributes{below}', DIRECTORY, 0o755, 'root')
          for below in ('', '/attributes.d', '/thresholds.d')),
        Item('/etc/check-smart-attributes/README', FILE, 0o644, 'root', 'read')]


@pytest.mark.parametrize('users, owner, expected', [
    (['icinga', 'nrpe', 'nagios'], '', 'icinga'), (['icinga', 'nagios'], 'nagios', 'nagios'),
    (['nagios'], 'games', 'nagios')])
def test_the_history_stays_with_a_monitoring_user_that_has_it(users, owner, expected):
    facts = plan.Facts(users, 'rule', state_owner=owner, again='AGAIN')
    planned = plan.of_host(facts)
    state, = (item for item in planned.items if item.path == plan.STATE)

    assert (state.owner, state.mode) == (expected, 0o750)
    others = ', '.join(user for user in users if user != expected)
    assert planned.remarks == [
        f'the history belongs to {expected}; checks run by {others} have none'] * bool(others)


@pytest.mark.parametrize('facts, missing, words', [
    (plan.Facts([], again='AGAIN'), {plan.RULE, plan.STATE},
     'no monitoring user was found (icinga, nrpe, naemon, nagios), so the sudo rule and the history are missing; '
     'install the monitoring agent, then run: AGAIN; or name the user with --user'),
    (plan.Facts(['nrpe'], why_no_rule='no sudo', again='AGAIN'), {plan.RULE},
     'the sudo rule is missing: no sudo; then run: AGAIN')],
    ids=['no-user', 'no-rule'])
def test_a_part_that_is_missing_is_named_with_the_next_step(facts, missing, words):
    complete, planned = plan.of_host(plan.Facts(['nrpe'], 'rule')), plan.of_host(facts)

    assert {item.path for item in complete.items} - {item.path for item in planned.items} == missing
    assert planned.remarks == [words]
    assert complete.remarks == []


PROGRAM = plan.Facts(python='/usr/bin/python3', python_version='3.11', plugin_folder='/usr/lib64/nagios/plugins',
                      icinga_folder='/etc/icinga2/conf.d', launcher='#!{python} {folder}', modules={'a.py': b'1'},
                      shared=dict.fromkeys(plan.SHARED, 'x=/usr/lib/nagios/plugins/check_smart_attributes -d'))


def paths(facts: plan.Facts) -> dict[str, Item]:
    return {item.path: item for item in plan.of_program(facts)}


def test_the_program_is_where_daemons_and_admins_look():
    """Both are links to one launcher, which is what an upgrade replaces; paths in examples are those of this host."""
    items = paths(PROGRAM)
    launcher = items[f'{plan.TREES}/check_smart_attributes']
    tree, = (path for path, item in items.items() if item.kind == TREE)

    assert launcher.content == f'#!/usr/bin/python3 {tree}' and launcher.mode == 0o755
    assert re.fullmatch(rf'{plan.TREES}/{VERSION}-[0-9a-f]{{12}}', tree)
    assert items[tree] == Item(tree, TREE, 0o755, test=('/usr/bin/python3', '-IS', '-m', 'compileall', '-q'),
                               files={'a.py': b'1'})
    assert {path for path, item in items.items() if item.content == launcher.path} == {
        '/usr/lib64/nagios/plugins/check_smart_attributes', '/usr/local/sbin/check_smart_attributes'}
    assert items[f'{plan.DOCUMENTS}/nrpe.cfg'].content == 'x=/usr/lib64/nagios/plugins/check_smart_attributes -d'
    assert '/etc/icinga2/conf.d/check-smart-attributes.conf' in items
    assert not [path for path in paths(PROGRAM._replace(icinga_folder='')) if 'icinga' in path]


@pytest.mark.parametrize('change', [{'modules': {'a.py': b'2'}}, {'python': '/usr/bin/python3.12'},
                                    {'python_version': '3.12'}], ids=['modules', 'python', 'version'])
def test_other_modules_or_another_python_get_another_directory(change):
    """Files of two versions never mix, and a Python that was upgraded finds modules that it compiled."""
    trees = [next(iter(paths(facts))) for facts in (PROGRAM, PROGRAM._replace(**change))]

    assert len(set(trees)) == 2


@pytest.mark.parametrize('is_packaged, has_package, removed, remark', [
    (True, True, [plan.RULE], ''), (True, False, [plan.RULE], ''),
    (False, True, ['/z', f'{plan.TREES}/1'],
     'a package has also installed the program here, and needs the sudo rule and the configuration; they stay '
     'until you remove the package'),
    (False, False, [plan.README, plan.RULE, '/z', f'{plan.TREES}/1'],
     'site configuration and history stay; to delete them, run: rm -r /etc/check-smart-attributes '
     '/var/lib/check-smart-attributes')],
    ids=['by-the-package', 'by-a-package-that-is-gone', 'beside-a-package', 'whole'])
def test_a_removal_leaves_a_package_complete_and_the_running_program_goes_last(is_packaged, has_package, removed,
                                                                               remark):
    written = [f'{plan.TREES}/1', '/z', plan.RULE, plan.README]

    assert plan.to_remove(written, is_packaged, has_package) == removed
    assert plan.remarks_on_removal(is_packaged, has_package) == [remark] * bool(remark)


# --- this host -------------------------------------------------------------------------------

@pytest.mark.parametrize('folders, constants, expected', [
    ((), '', plan.NO_PLUGIN_FOLDER),
    (('/usr/lib64/nagios/plugins',), '', '/usr/lib64/nagios/plugins'),
    (plan.PLUGIN_FOLDERS, '', '/usr/lib/nagios/plugins'),
    (('/usr/lib/nagios/plugins', '/opt/plugins'), '/* */\nconst PluginDir = "/opt/plugins"\n', '/opt/plugins'),
    (('/usr/lib/nagios/plugins',), 'const PluginDir = "/opt/none"\n', '/usr/lib/nagios/plugins'),
    (('/usr/lib/nagios/plugins', '/opt/plugins'), '// const PluginDir = "/opt/plugins"\n', '/usr/lib/nagios/plugins'),
], ids=['none', 'red-hat', 'all', 'icinga', 'icinga-wrong', 'icinga-comment'])
def test_the_plugin_goes_where_the_daemon_looks(tmp_path, folders, constants, expected):
    for folder in (*folders, plan.ICINGA):
        (tmp_path / folder[1:]).mkdir(parents=True)
    (tmp_path / 'etc/icinga2/constants.conf').write_text(constants)

    assert host.plugin_folder(disk.Disk(str(tmp_path))) == expected


@pytest.mark.parametrize('folders, expected', [
    ((), ''), (('etc/icinga2/conf.d',), '/etc/icinga2/conf.d'),
    (('etc/icinga2/conf.d', plan.ICINGA_FOLDERS[0][1:]), plan.ICINGA_FOLDERS[0])])
def test_the_check_command_goes_where_icinga_includes_it(tmp_path, folders, expected):
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)

    assert host.icinga_folder(disk.Disk(str(tmp_path))) == expected


def test_users_that_exist_are_taken_and_those_named_must_exist(monkeypatch):
    monkeypatch.setattr(host, 'USERS', ('nobody', 'csa-missing', 'root'))

    assert host.monitoring_users() == ['nobody', 'root']
    assert host.monitoring_users(['root', 'root']) == ['root']
    with pytest.raises(UsageError, match='csa-missing does not exist'):
        host.monitoring_users(['nobody', 'csa-missing'])


def test_compiled_libraries_need_the_python_that_they_were_compiled_for():
    assert host.compiled_for(['a.py', 'a.json']) == ''
    assert host.compiled_for(['a.py', 'b.cpython.so']) == f'{sys.version_info[0]}.{sys.version_info[1]}'


def test_a_python_that_all_users_can_run_is_found():
    try:
        path, version = host.python()
    except SmartError:
        pytest.skip('the choice of Python is not tried: the system has none since 3.9')
    told = subprocess.run([path, '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], capture_output=True,
                          text=True)

    assert path.startswith('/usr/') and told.stdout.strip() == version
    with pytest.raises(SmartError, match=r'Python 3\.2 was not found'):
        host.python('3.2')


def test_a_checkout_brings_its_data_and_its_libraries_but_no_tools_of_its_tests(monkeypatch):
    """As a wheel has them: the data inside the package."""
    monkeypatch.chdir('/')
    names = host.modules()

    assert {name: names[f'smart_attributes/{name}'] for name in plan.SHARED} == {
        name: (ROOT / name).read_bytes() for name in plan.SHARED}
    assert names['rich/__init__.py'] == Path(rich.__file__).read_bytes()
    assert {'smart_attributes/main.py', 'nagiosplugin/__init__.py', 'rich/__init__.py'} <= set(names)
    assert [name for name in names if name.startswith(('pytest', 'mypy/', 'ruff')) or name.endswith('.pyc')] == []


def test_the_files_of_a_single_file_and_of_an_installation_are_all_of_them(tmp_path, monkeypatch):
    """Without the start of the single file, and without what Python compiled."""
    archive, folder = tmp_path / 'x.pyz', tmp_path / 'trees/1'
    with zipfile.ZipFile(archive, 'w') as file:
        file.writestr('smart_attributes/main.py', 'm')
        file.writestr('__main__.py', 'start')
    (folder / 'smart_attributes/__pycache__').mkdir(parents=True)
    (folder / 'smart_attributes/main.py').write_text('installed')
    (folder / 'smart_attributes/__pycache__/main.pyc').write_text('')
    monkeypatch.setattr(host, 'TREES', str(tmp_path / 'trees'))

    for place, content in ((archive, b'm'), (folder, b'installed')):
        monkeypatch.setattr(files, 'PROGRAM', str(place / 'smart_attributes'))
        assert host.modules() == {'smart_attributes/main.py': content}


class Packaged(PurePosixPath):
    """A file of a distribution."""

    def read_binary(self) -> bytes:
        return str(self).encode()


def test_libraries_come_with_their_own_libraries_but_without_what_pip_adds(monkeypatch):
    """a and b require each other. A page needs b; the tests need c."""
    needed = {host._NAME: ['a>=1', "b; extra == 'page'", "c; extra == 'test'"], 'a': ['b', "c; extra == 'page'"],
              'b': ['a<2', 'missing'], 'c': []}
    names = ('{0}/x.py', '{0}/x.pyc', '{0}.pth', '__editable__{0}.py', '../bin/{0}', 'smart_attributes/x.py')

    def distribution(name: str) -> SimpleNamespace:
        if name not in needed:
            raise importlib.metadata.PackageNotFoundError(name)
        return SimpleNamespace(requires=needed[name], files=[Packaged(each.format(name)) for each in names])
    monkeypatch.setattr(importlib.metadata, 'distribution', distribution)

    assert host._libraries() == {
        f'{name}/x.py': f'{name}/x.py'.encode() for name in (host._NAME, 'a', 'b')}


def test_a_program_without_its_libraries_cannot_be_installed(monkeypatch):
    monkeypatch.setattr(host, '_NAME', 'csa-missing')

    with pytest.raises(SmartError) as refused:
        host.modules()
    assert (str(refused.value), refused.value.code) == (
        'the libraries of this program cannot be found; install it from the single file (make zipapp) or from a '
        'virtual environment (make venv)', 'install-refused')


# --- changes below a folder ----------------------------------------------------------------------

class Site:
    """A folder that is taken for /, with a version of the program that is installed there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.disk = disk.Disk(str(root))

    def install(self, items: list[Item]) -> list[str]:
        written = self.disk.written()
        found = self.disk.look([*(item.path for item in items), *written])
        todo = [*plan.additions(items, found, written),
                *plan.removals(plan.outdated(written, items, found), found, written)]
        return self.does(todo, items, written)

    def remove(self) -> list[str]:
        written = self.disk.written()
        paths = plan.to_remove(written, False, host.has_package(self.disk))
        todo = plan.removals(paths, self.disk.look(written), written)
        return self.does(todo, [], written)

    def does(self, todo: list[Change], items: list[Item], written: dict[str, str]) -> list[str]:
        install._do(todo, self.disk, written)
        self.disk.record(plan.recorded(written, items, todo))
        return [f'{change.action} {change.item.path}' for change in todo if change.action != 'forget']

    def at(self, path: str) -> Path:
        return Path(self.disk.at(path))


@pytest.fixture
def site(tmp_path) -> Iterator[Site]:
    before = os.umask(0o022)
    yield Site(tmp_path)
    os.umask(before)


def version(number: int) -> list[Item]:
    """Return the items of a version of the program."""
    facts = PROGRAM._replace(modules={'a/b.py': f'NUMBER = {number}\n'.encode()}, python=sys.executable, readme='read')
    return [*plan.of_program(facts), *plan.of_host(facts).items]


def test_it_installs_itself_once_and_removes_what_it_installed(site):
    """A second run has nothing to do. Directories of the site stay."""
    items = version(1)

    assert site.install(items) == [f'create {item.path}' for item in items]
    assert site.install(items) == []
    tree = site.at(items[0].path)
    assert [path.name.split('.')[0] for path in tree.glob('a/__pycache__/*')] == ['b']
    assert os.readlink(site.at('/usr/local/sbin/check_smart_attributes')) == items[1].path
    assert site.at(items[1].path).stat().st_mode & 0o777 == 0o755
    files = [item for item in items if item.kind != DIRECTORY]
    assert sorted(site.remove()) == sorted(f'remove {item.path}' for item in files)
    left = {str(path.relative_to(site.root)) for path in site.root.rglob('*') if 'check-smart' in str(path)}
    assert left == {'etc/check-smart-attributes', 'etc/check-smart-attributes/attributes.d',
                    'etc/check-smart-attributes/thresholds.d'}


@pytest.mark.parametrize('damage', ['compiled', 'removed', 'source'])
def test_a_damaged_tree_is_replaced(site, damage):
    """Also where only what Python compiled is damaged, which Python runs instead of the source."""
    items = version(1)
    site.install(items)
    [compiled] = site.at(items[0].path).glob('a/__pycache__/*.pyc')
    file = site.at(f'{items[0].path}/a/b.py') if damage == 'source' else compiled
    before = file.read_bytes()
    file.unlink() if damage == 'removed' else file.write_bytes(before[:-1] + b'!')

    assert site.install(items) == [f'replace {items[0].path}']
    assert file.exists() and site.install(items) == []


def test_nothing_is_written_through_a_link_beside_a_tree(site, tmp_path):
    """The link goes; what it leads to stays as it is."""
    items, elsewhere = version(1), tmp_path / 'elsewhere'
    elsewhere.mkdir()
    new = Path(f'{site.at(items[0].path)}.new')
    new.parent.mkdir(parents=True)
    new.symlink_to(elsewhere)

    site.install(items)

    assert list(elsewhere.iterdir()) == [] and not new.is_symlink()
    assert site.at(f'{items[0].path}/a/b.py').exists()


def test_the_single_file_is_kept_to_repair_what_it_installed(site):
    """Its command stands in the launcher, which is all that starts where a module is damaged."""
    facts = PROGRAM._replace(modules={'a.py': b''}, single_file=b'PK', python=sys.executable, launcher='#{again}')
    kept, _, launcher, *_ = items = plan.of_program(facts)

    site.install(items)

    assert site.at(plan.INSTALLER).read_bytes() == b'PK' and kept.path == os.path.dirname(plan.INSTALLER)
    assert launcher.content == f'#; as root, run: {sys.executable} {plan.INSTALLER} install --yes'


def test_an_upgrade_replaces_the_launcher_and_keeps_one_earlier_version(site):
    trees = [version(number)[0].path for number in (1, 2, 3)]
    for number in (1, 2):
        site.install(version(number))
        os.utime(site.at(trees[number - 1]), (number, number))

    assert site.install(version(3)) == [f'create {trees[2]}', f'replace {plan.TREES}/check_smart_attributes',
                                        f'remove {trees[0]}']
    assert trees[2] in site.at(f'{plan.TREES}/check_smart_attributes').read_text()


def test_files_of_this_site_survive_an_upgrade_and_a_removal(site):
    """A changed file, a link in place of a file, and a file that was there before."""
    items = version(1)
    changed, before, link = f'{plan.DOCUMENTS}/nrpe.cfg', f'{plan.DOCUMENTS}/nagios.cfg', '/etc/icinga2/conf.d'
    site.at(before).parent.mkdir(parents=True)
    site.at(before).write_text('mine')
    site.install(items)
    site.at(changed).write_text('mine')
    target = site.at('/target')
    target.write_text('precious')
    linked = site.at(f'{link}/check-smart-attributes.conf')
    linked.unlink()
    linked.symlink_to(target)

    assert sorted(line for line in site.install(version(2)) if line.startswith('keep')) == sorted(
        f'keep {path}' for path in (changed, before, f'{link}/check-smart-attributes.conf'))
    site.remove()
    assert (site.at(changed).read_text(), site.at(before).read_text(), target.read_text()) == (
        'mine', 'mine', 'precious')


def test_a_damaged_program_directory_is_replaced(site):
    """Such as one whose installation was interrupted."""
    items = version(1)
    site.install(items)
    module = site.at(items[0].path) / 'a/b.py'
    module.write_text('')
    (module.parent / 'planted.py').write_text('')

    assert site.install(items) == [f'replace {items[0].path}']
    assert module.read_text() == 'NUMBER = 1\n' and not (module.parent / 'planted.py').exists()


def test_an_installation_that_failed_is_completed_by_the_next_one(site):
    """A tree that could not be compiled is not in its place, so it is not taken for complete."""
    tree, *rest = version(1)
    with pytest.raises(SmartError, match='is not written'):
        site.install([tree._replace(test=('false',)), *rest])

    assert not site.at(tree.path).exists()
    assert site.install([tree, *rest])[0] == f'create {tree.path}'
    assert list(site.at(tree.path).glob('a/__pycache__/b.*'))


@pytest.mark.parametrize('item, words', [
    (Item('/open/a', FILE, content='x'), 'open is writable by others'),
    (Item('/etc/a', FILE, content='x', test=('false',)), '/etc/a is not written: false '),
    (Item('/file/a', FILE, content='x'), '/file/a: ')], ids=['place', 'test', 'no-directory'])
def test_a_file_that_cannot_be_installed_safely_is_refused(site, item, words):
    """And nothing of it is left behind."""
    (site.root / 'open').mkdir()
    (site.root / 'open').chmod(0o777)
    (site.root / 'file').write_text('')
    before = {path for path in site.root.rglob('*') if path.name != 'etc'}

    with pytest.raises(SmartError, match=words) as error:
        site.install([item])
    assert error.value.code == 'install-refused'
    assert {path for path in site.root.rglob('*') if path.name != 'etc'} == before


@pytest.mark.parametrize('text', ['', '{', '[]', '{}', '{"written": []}', '{"written": {"/a": 1}}', '[' * 100_000])
def test_a_damaged_list_is_named(text):
    with pytest.raises(SmartError, match='is damaged; delete it') as refused:
        plan.parse_list(text)

    assert refused.value.code == 'install-refused'


# --- the command ------------------------------------------------------------------------------

def test_without_yes_it_only_shows(monkeypatch):
    """With the rule that the command sudoers prints, for each user; then the command that does it."""
    monkeypatch.setattr(host, 'USERS', ('nobody',))
    result = run('install', '--packaged')

    assert result.code == 0
    last = result.text.splitlines()[-1]
    assert last in ('nothing was changed; to make these changes, run as root: check_smart_attributes install '
                    '--packaged --yes', 'nothing to change')


def test_the_rule_is_that_of_the_command_sudoers_for_each_user():
    how = HowRead()
    rule, why = host._rule(['icinga', 'nrpe'], how, Runner(), lambda: pytest.fail('drives are not needed'))
    if why == 'sudo is not installed; install it':
        pytest.skip('the rule is not tried: sudo is missing')

    assert SMARTCTL in rule
    assert [user in rule for user in ('icinga ALL=(root)', 'nrpe ALL=(root)', 'nagios ALL')] == [True, True, False]


@abilities.other_user
def test_a_user_cannot_install():
    """These tests never call it with --yes as root: it would change the machine that they run on."""
    code = ('import contextlib, io, json\nfrom smart_attributes import main\nprinted = io.StringIO()\n'
            'with contextlib.redirect_stdout(printed):\n    code = main.run(["install", "--yes"])\n'
            'print(json.dumps([code, printed.getvalue()]))')

    assert run_as_nobody(code) == [3, 'error: [install-refused] only root can change this host; run the '
                                      'command as root, or without --yes to see the plan\n']


def test_a_package_that_owns_the_program_is_named(tmp_path):
    site = Site(tmp_path)
    site.at(plan.OF_PACKAGE).mkdir(parents=True)

    with pytest.raises(SmartError, match='a package has already installed the program here'):
        host.with_program(plan.Facts(), site.disk)


def test_the_data_files_are_in_the_wheel():
    """Else the single-file program could not install them."""
    text = (ROOT / 'pyproject.toml').read_text()

    assert [name for name in plan.SHARED if name.split('/')[0] not in ('attributes.json', 'thresholds')
            and f'"{name}" = "smart_attributes/{name}"' not in text] == []


def test_the_list_of_installed_files_has_a_line_for_each():
    assert plan.list_document({'/b': '2', '/a': '1'}) == (
        '{\n "comment": "Written by check_smart_attributes install: the files that it wrote, each with its SHA-256.",\n'
        ' "written": {\n  "/a": "1",\n  "/b": "2"\n }\n}\n')
