"""The plan of an installation: a table of its parts, and the changes that bring the parts to this host. Pure."""
from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence

from .. import VERSION
from ..command_line.options import PROGRAM, USER
from ..errors import SmartError
from ..files import CONFIG
from ..state_directory import NAME
from ..state_directory import PACKAGE as STATE
from ..typed import NamedTuple
from ..words import visible

# FreeBSD's ports keep everything below /usr/local.
RULE = f'{"/usr/local" if sys.platform.startswith("freebsd") else ""}/etc/sudoers.d/{NAME}'
README = f'{CONFIG}/README'
TREES = f'/usr/local/lib/{NAME}'           # a directory of modules for each version, and the launcher
INSTALLER = f'{TREES}/installer/{PROGRAM}.pyz'   # the single file that was installed, kept for repairs
DOCUMENTS = f'/usr/local/share/doc/{NAME}'
OF_PACKAGE = f'/usr/share/{NAME}'          # modules of the Debian package and of the RPM
# Folders in which monitoring daemons look for plugins: Debian and SUSE; RHEL; Arch Linux; FreeBSD; a build from source.
PLUGIN_FOLDERS = ('/usr/lib/nagios/plugins', '/usr/lib64/nagios/plugins', '/usr/lib/monitoring-plugins',
                  '/usr/local/libexec/nagios', '/usr/local/nagios/libexec')
NO_PLUGIN_FOLDER = '/usr/local/lib/nagios/plugins'   # created if none of these exists
ICINGA = '/etc/icinga2'
ICINGA_FOLDERS = ('/usr/share/icinga2/include/plugins-contrib.d', '/usr/local/share/icinga2/include/plugins-contrib.d',
                  f'{ICINGA}/conf.d')
CHECK_COMMAND = 'check-smart-attributes.conf'
# Data files, which a checkout has beside the package and a wheel inside it: path there -> path on a host.
COPIES = {
    'doc/check_smart_attributes.8': '/usr/local/share/man/man8/check_smart_attributes.8',
    'contrib/bash-completion/check_smart_attributes': '/usr/local/share/bash-completion/completions/'
                                                      'check_smart_attributes',
    'contrib/nrpe/check-smart-attributes.cfg': f'{DOCUMENTS}/nrpe.cfg',
    'contrib/nagios/smart_attributes.cfg': f'{DOCUMENTS}/nagios.cfg',
    'thresholds/example-site.json': f'{DOCUMENTS}/example-site.json'}
OF_ICINGA = f'contrib/icinga2/{CHECK_COMMAND}'
SHARED = ('attributes.json', 'thresholds/default.json', 'thresholds/risk.json', OF_ICINGA, *COPIES)
# The users that run checks; the first that exists gets the history. In order: Icinga 2 on Red Hat and SUSE; NRPE;
# Naemon; Nagios, whose user Debian also gives to Icinga 2 and NRPE.
USERS = ('icinga', 'nrpe', 'naemon', USER)
FILE, DIRECTORY, LINK, TREE, OTHER = 'file', 'directory', 'link', 'program directory', 'other'
ROOT = 'root'
# The list of what this command has installed on this host. A later run compares it with the files to find changed ones.
LIST = f'{CONFIG}/installed.json'
_COMMENT = 'Written by check_smart_attributes install: the files that it wrote, each with its SHA-256.'


class Item(NamedTuple):
    """A file, a directory, a link, or a directory with all files of the program."""
    path: str
    kind: str
    mode: int = 0o644            # permission bits; a link has none
    owner: str = ROOT
    content: str = ''            # content of a file; the target of a link
    test: tuple[str, ...] = ()   # a command that must accept the new file or tree, given as its last argument
    files: Mapping[str, bytes] = {}   # files of a tree: content by path


class Facts(NamedTuple):
    """The facts that determine the parts of an installation."""
    users: Sequence[str] = ()    # monitoring users that exist, in the order of USERS or of the command line
    rule: str = ''               # text of the sudo rule; '' if it cannot be written
    why_no_rule: str = ''
    state_owner: str = ''        # user that owns the state directory now, or ''
    readme: str = ''
    again: str = ''              # command that repeats the installation
    python: str = ''             # path of the interpreter
    python_version: str = ''     # "3.11"
    plugin_folder: str = ''
    icinga_folder: str = ''      # for the CheckCommand; '' on a host without Icinga 2
    launcher: str = ''           # template
    modules: Mapping[str, bytes] = {}
    single_file: bytes = b''     # the file that contains the modules; b'' if they are not in one file
    shared: Mapping[str, str] = {}   # the files of SHARED to copy: their content


class Parts(NamedTuple):
    """The items of an installation, and notes for the admin about missing items."""
    items: Sequence[Item]
    remarks: Sequence[str] = ()


def of_program(facts: Facts) -> list[Item]:
    """Return the parts that a package also installs: the program, for daemons and for admins."""
    name = digest(f'{tree_digest(facts.modules)} {facts.python} {facts.python_version}'.encode())[:12]
    tree, launcher = f'{TREES}/{VERSION}-{name}', f'{TREES}/{PROGRAM}'
    plugin = f'{facts.plugin_folder}/{PROGRAM}'
    copies = {COPIES[each]: text for each, text in facts.shared.items() if each in COPIES}
    if facts.icinga_folder:
        copies[f'{facts.icinga_folder}/{CHECK_COMMAND}'] = facts.shared[OF_ICINGA]
    folder, _, name = INSTALLER.rpartition('/')
    kept = [Item(folder, TREE, 0o755, files={name: facts.single_file})] if facts.single_file else []
    again = f'; as root, run: {facts.python} {INSTALLER} install --yes' if kept else ''
    return [*kept, Item(tree, TREE, 0o755, test=(facts.python, '-IS', '-m', 'compileall', '-q'), files=facts.modules),
            Item(launcher, FILE, 0o755, content=facts.launcher.format(python=facts.python, folder=tree, again=again)),
            Item(plugin, LINK, content=launcher), Item(f'/usr/local/sbin/{PROGRAM}', LINK, content=launcher),
            *(Item(path, FILE, content=text.replace(f'{PLUGIN_FOLDERS[0]}/{PROGRAM}', plugin))
              for path, text in copies.items())]


def of_host(facts: Facts) -> Parts:
    """Return the parts that depend on the host: sudo rule, state directory, site configuration."""
    items = [*([Item(RULE, FILE, 0o440, content=facts.rule, test=('visudo', '-cqf'))] if facts.rule else []),
             *([Item(STATE, DIRECTORY, 0o750, owner=owner(facts))] if facts.users else []),
             *(Item(path, DIRECTORY, 0o755) for path in (CONFIG, f'{CONFIG}/attributes.d', f'{CONFIG}/thresholds.d')),
             Item(README, FILE, content=facts.readme)]
    return Parts(items, list(_remarks(facts)))


def owner(facts: Facts) -> str:
    """Return the user that gets the history: its owner if the owner runs checks, else the first monitoring user."""
    return facts.state_owner if facts.state_owner in facts.users else facts.users[0]


def _remarks(facts: Facts) -> list[str]:
    if not facts.users:
        return [f'no monitoring user was found ({", ".join(USERS)}), so the sudo rule and the history are missing; '
                f'install the monitoring agent, then run: {facts.again}; or name the user with --user']
    others = [user for user in facts.users if user != owner(facts)]
    return [*([f'the sudo rule is missing: {facts.why_no_rule}; then run: {facts.again}'] * bool(facts.why_no_rule)),
            *([f'the history belongs to {owner(facts)}; checks run by {", ".join(others)} have none'] * bool(others))]


def remarks_on_removal(is_packaged: bool, has_package: bool) -> list[str]:
    """Return the line about the files that a removal keeps. The arguments are the same as for to_remove()."""
    if has_package and not is_packaged:
        return ['a package has also installed the program here, and needs the sudo rule and the configuration; they '
                'stay until you remove the package']
    return [] if is_packaged else [f'site configuration and history stay; to delete them, run: rm -r {CONFIG} {STATE}']


def to_remove(written: Iterable[str], is_packaged: bool, has_package: bool) -> list[str]:
    """Return which of the installed paths to remove. The running program comes last.

    is_packaged: a package is being removed, and itself removes all but the rule. has_package: a package is installed.
    """
    paths = sorted(written, key=lambda path: (path.startswith(f'{TREES}/'), path))
    if is_packaged:
        return [path for path in paths if path == RULE]
    return [path for path in paths if not has_package or path not in (RULE, README)]


class Found(NamedTuple):
    """The file, directory or link that is at the path of an item."""
    kind: str
    mode: int = 0
    owner: str = ROOT
    digest: str = ''             # digest of a file or a link; '' if only root can read it
    is_empty: bool = True        # of a directory
    time: float = 0.0            # last change of a tree, seconds since 1970


class Change(NamedTuple):
    """A change to this host or, if the action is "keep", the reason to change nothing."""
    action: str                  # a verb: create, replace, own, remove, keep, forget
    item: Item
    why: str = ''

    def __str__(self) -> str:
        """Return the line that reports this change."""
        path, item = visible(self.item.path), self.item
        if self.action in ('remove', 'keep'):
            return f'{self.action} {path}{self.why and ": "}{self.why}'
        verb = {'own': 'set owner and mode of'}.get(self.action, self.action)
        if item.kind == LINK:
            return f'{verb} link {path} to {visible(item.content)}'
        kind = f'{item.kind}, ' if item.kind != FILE else ''
        return f'{verb} {path} ({kind}owner {item.owner}, mode {item.mode:04o})'


def digest(content: bytes) -> str:
    """Return the digest that shows whether a file was changed."""
    return hashlib.sha256(content).hexdigest()


def own_digest(item: Item) -> str:
    """Return the digest of the content of a file or a tree, or of the target of a link."""
    return tree_digest(item.files) if item.kind == TREE else digest(item.content.encode())


def tree_digest(files: Mapping[str, bytes]) -> str:
    """Return the digest of a tree. files: the content of each file, by path."""
    return digest('\n'.join(f'{path} {digest(files[path])}' for path in sorted(files)).encode())


def additions(items: Iterable[Item], found: Mapping[str, Found], written: Mapping[str, str]) -> list[Change]:
    """Return the changes that bring the items to this host, in the order of the items.

    found: what exists, by path. written: the digest of each file and link that an earlier installation wrote, by path.
    """
    changes = (_addition(item, found.get(item.path), written.get(item.path, '')) for item in items)
    return [change for change in changes if change]


def _addition(item: Item, found: Found | None, written: str) -> Change | None:
    if found is None:
        return Change('create', item)
    if found.kind != item.kind:
        return _kept(item, found)
    if item.kind == DIRECTORY and found.owner != item.owner and not found.is_empty:
        return Change('keep', item, f'the directory has files of {found.owner}; to give it to {item.owner}, run: '
                                    f'chown -R {item.owner}: {item.path}')
    is_same = item.kind == DIRECTORY or found.digest == own_digest(item)
    is_owned = found.owner == item.owner and (item.kind != FILE or found.mode == item.mode)
    if item.kind == TREE:   # it is damaged, or a user other than root could change it
        return None if is_same and is_owned else Change('replace', item)
    if not is_same:
        return Change('replace', item) if written and found.digest == written else _kept(item, found)
    return None if is_owned or item.kind == LINK else Change('own', item)


def removals(paths: Iterable[str], found: Mapping[str, Found], written: Mapping[str, str]) -> list[Change]:
    """Return the changes that remove these paths, except for paths that somebody changed."""
    return [_removal(path, found.get(path), written.get(path, '')) for path in paths]


def _removal(path: str, found: Found | None, written: str) -> Change:
    item = Item(path, found.kind if found else OTHER)
    if found is None:
        return Change('forget', item)
    return Change('remove', item) if found.digest == written else _kept(item, found)


def _kept(item: Item, found: Found) -> Change:
    is_unread = found.kind == FILE and not found.digest
    return Change('keep', item, 'only root can read it' if is_unread else
                  'it was made or changed on this host; if you do not need it, delete it and run this command again')


def recorded(written: Mapping[str, str], items: Iterable[Item], changes: Collection[Change]) -> dict[str, str]:
    """Return the digest of each path that is installed after these changes to these items."""
    kept = {change.item.path for change in changes if change.action == 'keep'}
    gone = {change.item.path for change in changes if change.action in ('remove', 'forget')}
    made = {item.path: own_digest(item) for item in items if item.kind != DIRECTORY and item.path not in kept}
    return {path: own for path, own in {**written, **made}.items() if path not in gone}


def outdated(written: Mapping[str, str], items: Iterable[Item], found: Mapping[str, Found]) -> list[str]:
    """Return the paths of earlier versions, except the newest tree, because running checks still import from it.

    Files below /etc stay. found: the files at the paths of *written*.
    """
    gone = sorted(set(written) - {item.path for item in items})
    trees = sorted((path for path in gone if path in found and found[path].kind == TREE),
                   key=lambda path: found[path].time)
    return [path for path in gone if path not in trees[-1:] and not path.startswith('/etc/')]


def count(changes: Iterable[Change]) -> int:
    """Return how many of these changes have an effect."""
    return sum(change.action not in ('keep', 'forget') for change in changes)


# --- the list of installed files -------------------------------------------------------------------

def parse_list(text: str) -> dict[str, str]:
    """Return the digest of each path that was installed. Raises SmartError if the list is damaged."""
    try:
        written = json.loads(text)['written']
        if all(isinstance(word, str) for pair in written.items() for word in pair):
            return dict(written)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise SmartError(f'{LIST} is damaged; delete it. Installed files then count as files that you changed',
                     'install-refused')


def list_document(written: Mapping[str, str]) -> str:
    """Return the text of the list of installed paths."""
    return json.dumps({'comment': _COMMENT, 'written': dict(sorted(written.items()))}, indent=1) + '\n'
