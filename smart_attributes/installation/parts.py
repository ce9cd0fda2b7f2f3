"""The parts of an installation: a table of its files, directories and links, from facts about this host. Pure."""
from __future__ import annotations

import os
import sys

from .. import VERSION
from ..command_line.options import PROGRAM, USER
from ..files import CONFIG
from ..state_directory import NAME
from ..state_directory import PACKAGE as STATE
from ..typed import TYPE_CHECKING, NamedTuple
from .changes import DIRECTORY, FILE, LINK, TREE, Item, digest, tree_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# FreeBSD's ports keep everything below /usr/local.
RULE = f'{"/usr/local" if sys.platform.startswith("freebsd") else ""}/etc/sudoers.d/{NAME}'
README = f'{CONFIG}/README'
TREES = f'/usr/local/lib/{NAME}'           # a directory of modules for each version, and the launcher
INSTALLER = f'{TREES}/installer/{PROGRAM}.pyz'   # the single file that was installed, to repair what it installed
DOCUMENTS = f'/usr/local/share/doc/{NAME}'
OF_PACKAGE = f'/usr/share/{NAME}'          # modules of the Debian package and of the RPM
# Where monitoring daemons look for plugins: Debian and SUSE; RHEL; Arch Linux; FreeBSD; a build from source.
PLUGIN_FOLDERS = ('/usr/lib/nagios/plugins', '/usr/lib64/nagios/plugins', '/usr/lib/monitoring-plugins',
                  '/usr/local/libexec/nagios', '/usr/local/nagios/libexec')
NO_PLUGIN_FOLDER = '/usr/local/lib/nagios/plugins'   # made where none of these exists
ICINGA = '/etc/icinga2'
ICINGA_FOLDERS = ('/usr/share/icinga2/include/plugins-contrib.d', '/usr/local/share/icinga2/include/plugins-contrib.d',
                  f'{ICINGA}/conf.d')
CHECK_COMMAND = 'check-smart-attributes.conf'
# Data files that a checkout has beside the package, and a wheel in it: path there -> path on a host.
COPIES = {
    'doc/check_smart_attributes.8': '/usr/local/share/man/man8/check_smart_attributes.8',
    'contrib/bash-completion/check_smart_attributes': '/usr/local/share/bash-completion/completions/'
                                                      'check_smart_attributes',
    'contrib/nrpe/check-smart-attributes.cfg': f'{DOCUMENTS}/nrpe.cfg',
    'contrib/nagios/smart_attributes.cfg': f'{DOCUMENTS}/nagios.cfg',
    'thresholds/example-site.json': f'{DOCUMENTS}/example-site.json'}
OF_ICINGA = f'contrib/icinga2/{CHECK_COMMAND}'
SHARED = ('attributes.json', 'thresholds/default.json', OF_ICINGA, *COPIES)
# The users that run checks, in the order in which one of them gets the history: Icinga 2 as Red Hat and SUSE name its
# user; NRPE; Naemon; Nagios, whose user Debian gives to Icinga 2 and NRPE, too.
USERS = ('icinga', 'nrpe', 'naemon', USER)


class Facts(NamedTuple):
    """The facts that the parts of an installation depend on."""

    users: Sequence[str] = ()    # monitoring users that exist, in the order of USERS or of the command line
    rule: str = ''               # text of the sudo rule; '' if it cannot be written
    why_no_rule: str = ''
    state_owner: str = ''        # user that owns the state directory now, or ''
    readme: str = ''
    again: str = ''              # command that repeats the installation
    python: str = ''             # path of the interpreter
    python_version: str = ''     # "3.11"
    plugin_folder: str = ''
    icinga_folder: str = ''      # for the CheckCommand; '' without Icinga 2
    launcher: str = ''           # template
    modules: Mapping[str, bytes] = {}
    single_file: bytes = b''     # from which the modules are; b'' without one
    shared: Mapping[str, str] = {}   # content of SHARED that is copied


class Parts(NamedTuple):
    """The items of an installation, and what an admin should know about those that are missing."""

    items: Sequence[Item]
    remarks: Sequence[str] = ()


def of_program(facts: Facts) -> list[Item]:
    """Return the parts that a package has otherwise installed: the program, for daemons and for admins."""
    name = digest(f'{tree_digest(facts.modules)} {facts.python} {facts.python_version}'.encode())[:12]
    tree, launcher = f'{TREES}/{VERSION}-{name}', f'{TREES}/{PROGRAM}'
    plugin = f'{facts.plugin_folder}/{PROGRAM}'
    copies = {COPIES[each]: text for each, text in facts.shared.items() if each in COPIES}
    if facts.icinga_folder:
        copies[f'{facts.icinga_folder}/{CHECK_COMMAND}'] = facts.shared[OF_ICINGA]
    folder, name = os.path.split(INSTALLER)
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
    """Return the user that gets the history: its present owner if that is a monitoring user, else the first one."""
    return facts.state_owner if facts.state_owner in facts.users else facts.users[0]


def _remarks(facts: Facts) -> list[str]:
    if not facts.users:
        return [f'no monitoring user was found ({", ".join(USERS)}), so the sudo rule and the history are missing; '
                f'install the monitoring agent, then run: {facts.again}; or name the user with --user']
    others = [user for user in facts.users if user != owner(facts)]
    return [*([f'the sudo rule is missing: {facts.why_no_rule}; then run: {facts.again}'] * bool(facts.why_no_rule)),
            *([f'the history belongs to {owner(facts)}; checks of {", ".join(others)} run without it'] * bool(others))]


def remarks_on_removal(is_packaged: bool, has_package: bool) -> list[str]:
    """Return the line about what a removal keeps. The arguments are those of to_remove."""
    if has_package and not is_packaged:
        return ['a package has also installed the program here, and needs the sudo rule and the configuration; they '
                'stay until you remove the package']
    return [] if is_packaged else [f'site configuration and history stay; to delete them, run: rm -r {CONFIG} {STATE}']


def to_remove(written: Iterable[str], is_packaged: bool, has_package: bool) -> list[str]:
    """Return the paths to remove, of those that were installed. The running program comes last.

    is_packaged: a package is being removed, which itself removes all but the rule. has_package: one is installed.
    """
    paths = sorted(written, key=lambda path: (path.startswith(f'{TREES}/'), path))
    if is_packaged:
        return [path for path in paths if path == RULE]
    return [path for path in paths if not has_package or path not in (RULE, README)]
