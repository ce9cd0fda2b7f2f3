"""Sentences for unexpected exceptions and for missing packages.

This module is loaded only after such an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from . import alarm
from .errors import DriveError, SmartError

# Exceptions that a missing, damaged or unreadable file of this program causes.
DAMAGE = (ImportError, SyntaxError, EOFError)


def explained(
    error: BaseException, cannot_start: Callable[[BaseException], str]
) -> tuple[str, str]:
    """Return the code and the sentence for an error that ended a command.

    cannot_start: returns the sentence for a damaged installation.
    """
    if isinstance(error, SmartError):
        return error.code, str(error)
    if isinstance(error, KeyboardInterrupt):
        return 'interrupted', 'interrupted; run it again'
    if isinstance(error, alarm.TimeIsOver):
        advice = '; increase -t' if error.is_late else ''
        return 'time-over', f'{error}; there is no result{advice}'
    module = error.name if isinstance(error, ModuleNotFoundError) else None
    if module and not module.startswith(__package__):
        return 'python-package-missing', not_installed(module)
    if isinstance(error, DAMAGE) or _is_of_installation(error):
        return 'plugin-damaged', cannot_start(error)
    return 'internal-error', (
        f'{type(error).__name__} inside check_smart_attributes: {error}; please report this '
        f'with the command line'
    )


def _is_of_installation(error: BaseException) -> bool:
    """Return whether an error is caused by missing, damaged or unreadable files of this program."""
    # The program can be a single file, a compressed archive. If this is damaged, importing a module
    # raises zlib.error.
    if type(error).__module__ == 'zlib':
        return True
    file = str(error.filename) if isinstance(error, OSError) else ''
    return file.startswith(os.path.dirname(__file__)) or file == sys.argv[0]


def inside(
    error: BaseException, what: str, evidence: str = 'smartctl --json -x'
) -> DriveError:
    """Return the error to report for one drive after an unexpected exception.

    what: the failure in words, such as "cannot be parsed". Other drives are not affected.
    evidence: the command whose output a bug report needs.
    """
    if isinstance(error, ModuleNotFoundError) and error.name:
        return DriveError(
            f'{what}: {not_installed(error.name)}', 'python-package-missing'
        )
    if isinstance(error, DAMAGE):
        return DriveError(
            f'{what}: {type(error).__name__} in a file of check_smart_attributes',
            'plugin-damaged',
            step='reinstall it',
        )
    return DriveError(
        f'{what}: {type(error).__name__} inside check_smart_attributes',
        'internal-error',
        step=f'please report this with the output of: {evidence}',
    )


def not_installed(module: str) -> str:
    """Return the sentence for a missing module, which may belong to Python, to this program or
    to a third party.
    """
    package = module.partition('.')[0]
    if package == __package__:
        return (
            f'the module {module} of this program cannot be loaded; reinstall the program so that '
            'every user can read it'
        )
    # Python 3.9 has no list of its packages: only those that are part of the interpreter are known.
    if package in getattr(sys, 'stdlib_module_names', sys.builtin_module_names):
        return (
            f"the module {package} of Python's standard library cannot be loaded from "
            f'{os.path.dirname(os.__file__)}; reinstall '
            f'this Python completely, so that every user can read it'
        )
    return f'the Python package {package} is not installed; {installing(package)}'


def missing(purpose: str, package: str) -> SmartError:
    """Return the error for a package that is not installed. purpose: such as "the page requires"."""
    return SmartError(
        f'{purpose} {package}, which is not installed; {installing(package)}'
    )


def installing(package: str) -> str:
    """Return the command that installs a package for this Python."""
    by_pip = f'{sys.executable} -m pip install {package}'
    if sys.prefix != sys.base_prefix:
        return by_pip  # packages from apt are not visible in a virtual environment
    return f'apt install python3-{package.lower().replace("_", "-")}, or {by_pip}'
