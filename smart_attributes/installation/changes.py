"""The changes that an installation makes: each item of its plan is compared with this host. Pure."""
from __future__ import annotations

import hashlib
import json

from .. import files
from ..errors import SmartError
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

FILE, DIRECTORY, LINK, TREE, OTHER = 'file', 'directory', 'link', 'program directory', 'other'
ROOT = 'root'
# The list of what this command has installed on this host, by which a later run knows files that nobody changed.
LIST = f'{files.CONFIG}/installed.json'
_COMMENT = 'Written by check_smart_attributes install: the files that it wrote, each with its SHA-256.'


class Item(NamedTuple):
    """A file, a directory, a link, or a directory with all files of the program."""

    path: str
    kind: str
    mode: int = 0o644            # permission bits; a link has none
    owner: str = ROOT
    content: str = ''            # of a file; the target of a link
    test: tuple[str, ...] = ()   # a command that has to accept the new file or tree, which becomes its last argument
    files: Mapping[str, bytes] = {}   # of a tree: content by path


class Found(NamedTuple):
    """The file, directory or link that is at the path of an item."""

    kind: str
    mode: int = 0
    owner: str = ROOT
    digest: str = ''             # of a file or a link; '' if only root can read it
    is_empty: bool = True        # of a directory
    time: float = 0.0            # seconds since 1970; of the last change of a tree


class Change(NamedTuple):
    """A change of this host, or with action "keep" the reason to change nothing."""

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
    """Return the digest by which a file that nobody changed is known."""
    return hashlib.sha256(content).hexdigest()


def own_digest(item: Item) -> str:
    """Return the digest of the content of a file or a tree, or of the target of a link."""
    return tree_digest(item.files) if item.kind == TREE else digest(item.content.encode())


def tree_digest(files: Mapping[str, bytes]) -> str:
    """Return the digest of a tree with these files, by path."""
    return digest('\n'.join(f'{path} {digest(files[path])}' for path in sorted(files)).encode())


def additions(items: Iterable[Item], found: Mapping[str, Found], written: Mapping[str, str]) -> list[Change]:
    """Return the changes that give this host the items, in their order.

    found: by path. written: the digest of each file and link that an earlier installation wrote, by path.
    """
    changes = (_addition(item, found.get(item.path), written.get(item.path, '')) for item in items)
    return [change for change in changes if change]


def _addition(item: Item, found: Found | None, written: str) -> Change | None:
    if found is None:
        return Change('create', item)
    if found.kind != item.kind:
        return _kept(item, found)
    if item.kind == DIRECTORY and found.owner != item.owner and not found.is_empty:
        return Change('keep', item, f'it holds files and belongs to {found.owner}; to give it to {item.owner}, run: '
                                    f'chown -R {item.owner}: {item.path}')
    is_same = item.kind == DIRECTORY or found.digest == own_digest(item)
    is_owned = found.owner == item.owner and (item.kind != FILE or found.mode == item.mode)
    if item.kind == TREE:   # damaged, or somebody else could change it
        return None if is_same and is_owned else Change('replace', item)
    if not is_same:
        return Change('replace', item) if written and found.digest == written else _kept(item, found)
    return None if is_owned or item.kind == LINK else Change('own', item)


def removals(paths: Iterable[str], found: Mapping[str, Found], written: Mapping[str, str]) -> list[Change]:
    """Return the changes that remove these paths, as far as nobody changed them."""
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
    """Return the digests of what is installed after these changes, which were made for these items."""
    kept = {change.item.path for change in changes if change.action == 'keep'}
    gone = {change.item.path for change in changes if change.action in ('remove', 'forget')}
    made = {item.path: own_digest(item) for item in items if item.kind != DIRECTORY and item.path not in kept}
    return {path: own for path, own in {**written, **made}.items() if path not in gone}


def outdated(written: Mapping[str, str], items: Iterable[Item], found: Mapping[str, Found]) -> list[str]:
    """Return the paths of earlier versions, except for the newest tree: checks that run now still import from it.

    Files below /etc stay. found: what is at the paths of *written*.
    """
    gone = sorted(set(written) - {item.path for item in items})
    trees = sorted((path for path in gone if path in found and found[path].kind == TREE),
                   key=lambda path: found[path].time)
    return [path for path in gone if path not in trees[-1:] and not path.startswith('/etc/')]


def count(changes: Iterable[Change]) -> int:
    """Return how many of these change anything."""
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
    raise SmartError(f'{LIST} is damaged; delete it: files that this program installed then count as changed',
                     'install-refused')


def list_document(written: Mapping[str, str]) -> str:
    """Return the text of the list."""
    return json.dumps({'comment': _COMMENT, 'written': dict(sorted(written.items()))}, indent=1) + '\n'
