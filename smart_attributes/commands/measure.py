"""measure: compare attributes.json with a data set of real drives."""
from __future__ import annotations

from ..command_line.options import MeasureOptions, Options
from ..devtools import measure
from ..reading.processes import Runner


def run(options: Options, runner: Runner) -> int:
    """Print how well the database agrees with the drives of a file; return the exit status."""
    own: MeasureOptions = options.own
    return measure.main(own.files[0], own.write)
