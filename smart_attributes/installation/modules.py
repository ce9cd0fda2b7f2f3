"""The files of this program and of its libraries, wherever it runs from: what a check needs to start elsewhere."""
from __future__ import annotations

import importlib.metadata
import os
import re
import zipfile

from .. import files
from ..errors import SmartError
from ..typed import TYPE_CHECKING
from .parts import INSTALLER, SHARED, TREES

if TYPE_CHECKING:
    from collections.abc import Iterator

    Modules = dict[str, bytes]   # content of each file, by its path below the folder of modules

_PACKAGE = os.path.basename(files.PROGRAM)
_NAME = 'check-smart-attributes'   # of the distribution
_USEFUL = re.compile(r'extra == .(page|metrics)')   # optional libraries that are taken along
CACHE = '__pycache__'              # folders of what Python compiled
_ENTRY = '__main__.py'             # start of the single-file program


def modules() -> Modules:
    """Return all files. Raises SmartError if the libraries cannot be found."""
    if single_file():
        with zipfile.ZipFile(single_file()) as archive:
            return {name: archive.read(name) for name in archive.namelist() if name != _ENTRY}
    folder = os.path.dirname(files.PROGRAM)
    if os.path.dirname(folder) == TREES:
        return below(folder)
    return {**_libraries(), **_own()}


def single_file() -> str:
    """Return the path of the single file that runs, or from which this program was installed; '' without one."""
    folder = os.path.dirname(files.PROGRAM)
    if not os.path.isdir(files.PROGRAM):
        return folder
    return INSTALLER if os.path.dirname(folder) == TREES and os.path.isfile(INSTALLER) else ''


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


def _own() -> Modules:
    """Return the package with its data files, which a checkout has beside it."""
    found = {f'{_PACKAGE}/{path}': content for path, content in below(files.PROGRAM).items()}
    beside = os.path.dirname(files.PROGRAM)
    for name in SHARED:
        path = os.path.join(beside, name)
        if f'{_PACKAGE}/{name}' not in found and os.path.isfile(path):
            found[f'{_PACKAGE}/{name}'] = files.content(path, files.LARGEST)
    return found


def _libraries() -> Modules:
    """Return the files of the distributions that this program requires, and of those that they require."""
    found: Modules = {}
    for distribution in _distributions():
        for path in distribution.files or ():
            is_own = path.parts[0] == _PACKAGE or path.suffix in ('.pth', '.pyc')
            if path.parts[0] != '..' and not is_own and '__editable__' not in path.name:
                found[str(path)] = path.read_binary()
    return found


def _distributions() -> Iterator[importlib.metadata.Distribution]:
    names, seen = [_NAME], set()
    while names:
        name = names.pop()
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            if name == _NAME:
                raise SmartError('the libraries of this program cannot be found; install it from the single file '
                                 '(make zipapp) or from a virtual environment (make venv)', 'install-refused') from None
            continue   # of another system or Python, or optional
        seen.add(name)
        yield distribution
        needed = [requirement for requirement in distribution.requires or ()
                  if 'extra ==' not in requirement or (name == _NAME and _USEFUL.search(requirement))]
        names += {re.split(r'[^A-Za-z0-9._-]', each)[0] for each in needed} - seen
