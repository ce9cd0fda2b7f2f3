"""Examine the items of an installation on this host, and change them; each file changes atomically."""
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

CACHE = '__pycache__'              # folders with Python's compiled files
_KINDS = {stat.S_IFREG: FILE, stat.S_IFDIR: DIRECTORY, stat.S_IFLNK: LINK}
_COMPILED = f'{CACHE}/digest'   # name, in a tree, for the digest of its compiled files
_COMPILING = 300.0      # seconds; a slow machine takes 30


class Disk:
    """The file system of this host. root: the folder to use as /."""

    def __init__(self, root: str = '/') -> None:
        self._root = root.rstrip('/')

    def at(self, path: str) -> str:
        """Return the path below this root."""
        return self._root + path

    def look(self, paths: Iterable[str]) -> dict[str, Found]:
        """Return what exists at each path. Raises SmartError if a user other than root could change any path."""
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
        """Return a user's name, else the user's number. Below another root, the user of this process counts as root."""
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
        """Raise SmartError if a user other than root could change a path, for example plant a link there."""
        folder = os.path.dirname(self.at(path))
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        fault = trust.fault(folder, os.geteuid())
        if fault:
            raise SmartError(f'{visible(path)} is not installed there: {visible(fault)}; let only root write there: '
                             'chown root, chmod go-w or setfacl -b', 'install-refused')

    def written(self) -> dict[str, str]:
        """Return what earlier runs installed. Raises SmartError if the list cannot be read."""
        self._require_trust(plan.LIST)
        try:
            return plan.parse_list(files.content(self.at(plan.LIST), LARGEST_SMALL_FILE).decode('utf-8', 'replace'))
        except FileNotFoundError:
            return {}

    def record(self, written: Mapping[str, str]) -> None:
        """Save the list of what is installed now. Raises SmartError."""
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
    """Write and compile a tree under a temporary name, then rename it, so that its final path is never incomplete."""
    temporary = f'{at}.new'
    _clear(temporary)
    os.mkdir(temporary, item.mode)   # fails if somebody has planted a link here: nothing is written through it
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
    """Return the digest of a tree; if its compiled files have changed, return a text that differs from all digests."""
    compiled = below(at, is_compiled=True)
    written = files.text(os.path.join(at, _COMPILED), LARGEST_SMALL_FILE)
    is_as_compiled = written == (tree_digest(compiled) if compiled else '')
    return tree_digest(below(at)) if is_as_compiled else 'compiled files changed'


def _clear(at: str) -> None:
    """Remove the file, link or tree at a path, if there is one; a link is not followed."""
    if os.path.isdir(at) and not os.path.islink(at):
        shutil.rmtree(at)
    elif os.path.lexists(at):
        os.unlink(at)


_MAKERS: Mapping[str, Callable[[Item, str], object]] = {
    FILE: lambda item, at: files.replace(item.content, at, item.mode, lambda temporary: _accept(item, temporary)),
    LINK: _link, TREE: _tree,
    # exist_ok: the list of installed files may already be there
    DIRECTORY: lambda item, at: os.makedirs(at, 0o700, exist_ok=True)}


def _remove(at: str) -> None:
    """Remove a file, a link or a tree, and then its folder if the folder is empty and belongs to the program."""
    _clear(at)
    folder = os.path.dirname(at)
    if os.path.basename(folder) == NAME and not os.listdir(folder):
        os.rmdir(folder)


def _own(item: Item, at: str) -> None:
    """Set an item's owner, group and mode. Its folder belongs to root, so only root can replace the item by a link."""
    if os.geteuid() == 0:
        entry = pwd.getpwnam(item.owner)
        os.chown(at, entry.pw_uid, entry.pw_gid, follow_symlinks=False)
    os.chmod(at, item.mode)


def _accept(item: Item, path: str, seconds: float = system.TIME_LIMIT) -> None:
    """Raise SmartError if the test of an item rejects the item."""
    _, why = system.output((*item.test, path), time_limit=seconds) if item.test else ('', '')
    if why:
        raise SmartError(f'{visible(item.path)} is not written: {clean(why, 300)}', 'install-refused')


def below(folder: str, is_compiled: bool = False) -> Modules:
    """Return the files below a folder. is_compiled: return only Python's compiled files, else only other files."""
    found = {}
    for here, _, names in os.walk(folder):
        is_cache = os.path.basename(here) == CACHE
        for name in names:
            if is_cache is is_compiled and (not is_cache or name.endswith('.pyc')):
                path = os.path.join(here, name)
                with open(path, 'rb') as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return found
