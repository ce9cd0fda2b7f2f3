"""Provide nagiosplugin's class Range without importing the rest of the library.

The package loads logging and tempfile, for a runtime and cookies that are not used here: 17 ms of CPU, a quarter of a
check. The range needs none of that, so its file is run alone; a later import of nagiosplugin loads all of it.
"""
from __future__ import annotations

from importlib.machinery import PathFinder
from types import ModuleType

from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

NAME = 'nagiosplugin'


def _alone() -> Any:
    package = PathFinder.find_spec(NAME)
    folders = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec(f'{NAME}.range', folders)
    if spec is None or spec.loader is None:
        raise ImportError(NAME)
    module = ModuleType(f'{NAME}.range')
    spec.loader.exec_module(module)
    return module.Range


try:
    Range = _alone()
except Exception:  # another version with another layout: slower, but correct
    from nagiosplugin import Range  # type: ignore[no-redef]

__all__ = ['Range']
