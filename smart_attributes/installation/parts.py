"""The parts of an installation: a table of its files, directories and links, from facts about this host. Pure."""
from __future__ import annotations

from ..files import CONFIG
from ..state_directory import PACKAGE as STATE
from ..typed import TYPE_CHECKING, NamedTuple
from .changes import DIRECTORY, FILE, Item

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RULE = '/etc/sudoers.d/check-smart-attributes'
# The users that run checks, in the order in which one of them gets the history: Icinga 2 as Red Hat and SUSE name its
# user; NRPE; Naemon; Nagios, whose user Debian gives to Icinga 2 and NRPE, too.
USERS = ('icinga', 'nrpe', 'naemon', 'nagios')


class Facts(NamedTuple):
    """The facts that the parts of an installation depend on."""

    users: Sequence[str] = ()    # monitoring users that exist, in the order of USERS or of the command line
    rule: str = ''               # text of the sudo rule; '' if it cannot be written
    why_no_rule: str = ''
    state_owner: str = ''        # user that owns the state directory now, or ''
    readme: str = ''
    again: str = ''              # command that repeats the installation


class Parts(NamedTuple):
    """The items of an installation, and what an admin should know about those that are missing."""

    items: Sequence[Item]
    remarks: Sequence[str] = ()


def of_host(facts: Facts) -> Parts:
    """Return the parts that depend on the host: sudo rule, state directory, site configuration."""
    items = [*([Item(RULE, FILE, 0o440, content=facts.rule, test=('visudo', '-cqf'))] if facts.rule else []),
             *([Item(STATE, DIRECTORY, 0o750, owner=owner(facts))] if facts.users else []),
             *(Item(path, DIRECTORY, 0o755) for path in (CONFIG, f'{CONFIG}/attributes.d', f'{CONFIG}/thresholds.d')),
             Item(f'{CONFIG}/README', FILE, content=facts.readme)]
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


def to_remove(written: Iterable[str], is_packaged: bool) -> list[str]:
    """Return the paths to remove, of those that were installed: the rule alone if a package removes the rest."""
    return [path for path in sorted(written, reverse=True) if not is_packaged or path == RULE]
