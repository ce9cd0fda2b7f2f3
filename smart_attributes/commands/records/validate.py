"""The record of the command `validate`: its help, options and values."""

from ...command_line import option_groups as groups
from ...command_line.options import Command, flag, positional
from ...typed import NamedTuple


class ValidateOptions(NamedTuple):
    """The files to validate."""

    files: tuple[str, ...]
    format: bool


COMMAND = Command(
    name='validate',
    summary='Find errors in attributes.json and in site configuration files.',
    usage='[FILE ...] [options]',
    epilog="""\
example:
  check_smart_attributes validate
  check_smart_attributes validate my-entry.json
  check_smart_attributes validate /etc/check-smart-attributes/thresholds.d/*.json""",
    groups=(groups.COMMON,),
    options=(
        positional(
            'files',
            'FILE',
            'file to validate: database entries (validated together with the shipped ones) or limits '
            '(default: attributes.json)',
        ),
        flag('--format', 'rewrite the files in the standard layout'),
    ),
    values=ValidateOptions,
    history='',
    has_time_limit=False,
    run='contribution.validate',
)
