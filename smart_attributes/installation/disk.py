"""Look at the items of an installation on this host, and change them; each file changes atomically."""
from __future__ import annotations

import os
import pwd
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from .. import files, trust
from ..constants import LARGEST_SMALL_FILE
from ..errors import SmartError
from ..reading import system
from ..state_directory import NAME
from ..words import clean, visible
from . import plan
from .plan import DIRECTORY, FILE, LINK, OTHER, ROOT, TREE, TREES, Change, Found, Item, digest, tree_digest

Modules = dict[str, bytes]   # content of each file, by its path below the folder of modules

CACHE = '__pycache__'              # folders of what Python compiled
_KINDS = {stat.S_IFREG: FILE, stat.S_IFDIR: DIRECTORY, stat.S_IFLNK: LINK}
_COMPILED = f'{CACHE}/digest'   # in a tree: of what was compiled there
_COMPILING = 300.0      # seconds; a slow machine takes 30


class Disk:
    """The file system of this host. root: the folder that is taken for /."""

    def __init__(self, root: str = '/') -> None:
        self._root = root.rstrip('/')

    def at(self, path: str) -> str:
        """Return where a path of this host is."""
        return self._root + path

    def look(self, paths: Iterable[str]) -> dict[str, Found]:
        """Return what is at each path that exists. Raises SmartError if others than root could change one of them."""
        found = {}
        for path in paths:
            self._require_trust(path)
            if os.path.lexists(self.at(path)):
                found[path] = self._found(path)
        return found

    def _found(self, path: str) -> Found:
        at = self.at(path)
        status = os.lstat(at)
        kind, is_empty, own = _KINDS.get(stat.S_IFMT(status.st_mode), OTHER), True, ''
        if kind == FILE:
            own = self._digest(at)
        elif kind == LINK:
            own = digest(os.readlink(at).encode('utf-8', 'surrogateescape'))
        elif kind == DIRECTORY and os.path.dirname(path) == TREES:
            kind, own = TREE, _tree_digest(at)
        elif kind == DIRECTORY:
            is_empty = self._is_empty(at)
        return Found(kind, stat.S_IMODE(status.st_mode), self._owner(status.st_uid), own, is_empty, status.st_mtime)

    def _is_empty(self, at: str) -> bool:
        try:
            return not os.listdir(at)
        except PermissionError:
            return False

    def _owner(self, number: int) -> str:
        """Return the name of a user, or the number of a user without a name. Below another root, this user is root."""
        if self._root and number == os.geteuid():
            return ROOT
        try:
            return pwd.getpwuid(number).pw_name
        except KeyError:
            return str(number)

    def _digest(self, at: str) -> str:
        try:
            return digest(files.content(at, LARGEST_SMALL_FILE))
        except PermissionError:
            return ''
        except OSError as error:   # larger than any file of ours
            return str(error)

    def _require_trust(self, path: str) -> None:
        """Raise SmartError if others than root can change what is at a path: they could plant a link there."""
        folder = os.path.dirname(self.at(path))
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        fault = trust.fault(folder, os.geteuid())
        if fault:
            raise SmartError(f'{visible(path)} is not installed there: {visible(fault)}; let only root write there: '
                             'chown root, chmod go-w or setfacl -b', 'install-refused')

    def written(self) -> dict[str, str]:
        """Return what earlier runs installed. Raises SmartError if that cannot be known."""
        self._require_trust(plan.LIST)
        try:
            return plan.parse_list(files.content(self.at(plan.LIST), LARGEST_SMALL_FILE).decode('utf-8', 'replace'))
        except FileNotFoundError:
            return {}

    def record(self, written: Mapping[str, str]) -> None:
        """Write down what is installed now. Raises SmartError."""
        path = self.at(plan.LIST)
        with _reporting(plan.LIST):
            if written:
                os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
                files.replace(plan.list_document(written), path)
            elif os.path.lexists(path):
                os.unlink(path)

    def do(self, change: Change) -> None:
        """Make a change. Raises SmartError."""
        item, at = change.item, self.at(change.item.path)
        with _reporting(item.path):
            if change.action == 'remove':
                _remove(at)
            elif change.action in ('create', 'replace'):
                os.makedirs(os.path.dirname(at), 0o755, exist_ok=True)
                _MAKERS[item.kind](item, at)
            if change.action in ('create', 'own') and item.kind in (FILE, DIRECTORY):
                _own(item, at)


@contextmanager
def _reporting(path: str) -> Iterator[None]:
    """Raise SmartError for a path that the system refuses to change."""
    try:
        yield
    except OSError as error:
        raise SmartError(f'{visible(path)}: {error.strerror}; correct this, then run the command again',
                         'install-refused') from None


def _link(item: Item, at: str) -> None:
    temporary = f'{at}.new'
    _clear(temporary)
    os.symlink(item.content, temporary)
    os.replace(temporary, at)


def _tree(item: Item, at: str) -> None:
    """Write a tree beside its place and compile it there, so that it is complete in its place."""
    temporary = f'{at}.new'
    _clear(temporary)
    os.mkdir(temporary, item.mode)   # fails for a link that is there by now: nothing is written through it
    for name, content in item.files.items():
        path = os.path.join(temporary, name)
        os.makedirs(os.path.dirname(path), item.mode, exist_ok=True)
        with open(path, 'xb') as file:
            file.write(content)
    _accept(item, temporary, _COMPILING)
    compiled = below(temporary, is_compiled=True)
    if compiled:
        os.makedirs(os.path.join(temporary, CACHE), item.mode, exist_ok=True)
        files.replace(tree_digest(compiled), os.path.join(temporary, _COMPILED))
    _clear(at)
    os.rename(temporary, at)


def _tree_digest(at: str) -> str:
    """Return the digest of a tree; of a tree that was compiled otherwise than now, one that no tree has."""
    compiled = below(at, is_compiled=True)
    written = files.text(os.path.join(at, _COMPILED), LARGEST_SMALL_FILE)
    is_as_compiled = written == (tree_digest(compiled) if compiled else '')
    return tree_digest(below(at)) if is_as_compiled else 'compiled files changed'


def _clear(at: str) -> None:
    """Remove what is at a path, if anything; of a link, the link itself."""
    if os.path.isdir(at) and not os.path.islink(at):
        shutil.rmtree(at)
    elif os.path.lexists(at):
        os.unlink(at)


_MAKERS: Mapping[str, Callable[[Item, str], object]] = {
    FILE: lambda item, at: files.replace(item.content, at, item.mode, lambda temporary: _accept(item, temporary)),
    LINK: _link, TREE: _tree,
    # the list of installed files may have been written there
    DIRECTORY: lambda item, at: os.makedirs(at, 0o700, exist_ok=True)}


def _remove(at: str) -> None:
    """Remove a file, a link or a tree, and then its folder if that is the program's own and empty."""
    _clear(at)
    folder = os.path.dirname(at)
    if os.path.basename(folder) == NAME and not os.listdir(folder):
        os.rmdir(folder)


def _own(item: Item, at: str) -> None:
    """Set owner, group and mode; the folder is root's, so nobody can put a link in place of the item."""
    if os.geteuid() == 0:
        entry = pwd.getpwnam(item.owner)
        os.chown(at, entry.pw_uid, entry.pw_gid, follow_symlinks=False)
    os.chmod(at, item.mode)


def _accept(item: Item, path: str, seconds: float = system.TIME_LIMIT) -> None:
    """Raise SmartError if the test of an item refuses it."""
    _, why = system.output((*item.test, path), time_limit=seconds) if item.test else ('', '')
    if why:
        raise SmartError(f'{visible(item.path)} is not written: {clean(why, 300)}', 'install-refused')


def below(folder: str, is_compiled: bool = False) -> Modules:
    """Return the files below a folder: all but those that Python compiled, or only these."""
    found = {}
    for here, _, names in os.walk(folder):
        is_cache = os.path.basename(here) == CACHE
        for name in names:
            if is_cache is is_compiled and (not is_cache or name.endswith('.pyc')):
                path = os.path.join(here, name)
                with open(path, 'rb') as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return found
