"""validate: the mistakes in entries, limits and files of version 1.6."""
from __future__ import annotations

from ..command_line.options import Options, ValidateOptions
from ..devtools import validate
from ..reading.processes import Runner
from ..v1_6 import validation
from ..words import visible

_OLD = (validate.FileKind(validation.DATABASE, validation.is_database, validation.examine),
        validate.FileKind(validation.USERS, validation.is_users, validation.examine))


def run(options: Options, runner: Runner) -> int:
    """Print the mistakes in data files; 0 when there are none, 1 otherwise."""
    own: ValidateOptions = options.own
    return validate.main(own.files, own.samples, own.models, own.format, lambda line: print(visible(line)),
                         more_kinds=_OLD)
