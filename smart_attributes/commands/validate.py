"""validate: print the mistakes in entries, limits and files of version 1.6."""
from __future__ import annotations

from ..command_line.command_options import ValidateOptions
from ..command_line.options import Options
from ..devtools import validate
from ..reading.processes import Runner
from ..v1_6 import files as old_files
from ..words import visible

_OLD = (validate.FileKind('database of version 1.6', lambda _, data: old_files.is_of_1_6(data)
                      and not old_files.is_by_path(data), old_files.examine),
        validate.FileKind('user configuration of version 1.6', lambda _, data: old_files.is_of_1_6(data)
                      and old_files.is_by_path(data), old_files.examine))


def run(options: Options, runner: Runner) -> int:
    """Print the mistakes in data files; return 0 without mistakes, else 1."""
    own: ValidateOptions = options.own
    return validate.main(own.files, own.samples, own.models, own.format, lambda line: print(visible(line)),
                         more_kinds=_OLD)
