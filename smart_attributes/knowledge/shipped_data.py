"""Find and load the shipped data files. A check without site files reads no other data files.

The shipped files are validated before a release (see the command `validate`), so a check does not
validate them.
"""

import json
import os

from .. import files
from ..constants import LARGEST_FILE
from ..errors import DataError
from ..typed import Any

PACKAGE = files.PROGRAM


def path(name: str) -> str:
    """Return the path of the shipped file or folder *name*. Raises DataError if it is missing, but
    not in the single-file program.

    In a wheel and the single-file program, the data is inside the package; elsewhere, it is next to
    the package.
    """
    # In the single-file program, the package is not a folder, and paths inside it cannot be tested.
    if not os.path.isdir(PACKAGE):
        return os.path.join(PACKAGE, name)
    for folder in (PACKAGE, os.path.dirname(PACKAGE)):
        place = os.path.join(folder, name)
        if os.path.exists(place):
            return place
    raise DataError(
        f'{name} is neither in {PACKAGE} nor beside it; install check_smart_attributes again'
    )


def load(file: str) -> Any:
    """Return the data of a shipped file without validation.

    Raises DataError if it cannot be read.
    """
    try:
        return json.loads(files.content(file, LARGEST_FILE))
    except (OSError, ValueError) as error:
        raise DataError(
            f'{file}: {reason(error)}; install check_smart_attributes again'
        ) from None


def content(name: str) -> Any:
    """Return the data of the shipped file *name*, such as "attributes.json". Raises DataError."""
    return load(path(name))


def reason(error: Exception) -> str:
    """Return why a file cannot be read, for an error message."""
    return f'cannot be read: {getattr(error, "strerror", None) or error}'
