"""list: print the address and the identity of each drive."""
from __future__ import annotations

from ..check.survey import Survey, survey
from ..command_line.command_options import ListOptions
from ..command_line.options import Options
from ..reading.processes import Runner
from . import person
from .check import shown


def run(options: Options, runner: Runner) -> int:
    """Print the address and the identity of each drive; return 0 if at least one drive answers, else 3."""
    own: ListOptions = options.own
    result = survey(options, runner)
    from ..output import drive_list

    def show(found: Survey) -> str:
        asked = found.verdicts, person.addresses(found, options), options.naming.hide_serial
        return drive_list.as_json(*asked, person.nobody(found)) if own.as_json else drive_list.as_text(*asked)
    text, result = shown(result, show)
    print(text)
    return person.status(result)
