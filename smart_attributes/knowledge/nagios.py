"""nagiosplugin: the parts of it that a check needs, and no more.

Its package loads logging and tempfile, for a runtime and for cookies that nobody here uses: 17 ms of CPU, a
quarter of a check. The parts below need none of that, so the package is entered without its own __init__.
"""

import sys
from importlib.machinery import PathFinder
from types import ModuleType


def _enter(name: str) -> None:
    """Put a package among the loaded ones, empty; its modules are found below its folder from then on."""
    spec = PathFinder.find_spec(name)
    if name not in sys.modules and spec and spec.submodule_search_locations:
        package = ModuleType(name)
        package.__path__, package.__file__ = list(spec.submodule_search_locations), spec.origin
        sys.modules[name] = package


_enter('nagiosplugin')

from nagiosplugin.performance import Performance  # noqa: E402
from nagiosplugin.range import Range  # noqa: E402
from nagiosplugin.summary import Summary  # noqa: E402

__all__ = ['Performance', 'Range', 'Summary']
