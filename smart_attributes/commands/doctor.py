"""doctor: this installation as a check meets it."""
from __future__ import annotations

from ..command_line.options import OK, PARTLY, CheckOptions, DoctorOptions, Options
from ..doctor import examination
from ..output import doctor_findings
from ..reading.processes import Runner
from . import check, person


def run(options: Options, runner: Runner) -> int:
    """Look at this installation as the user of its checks; 0 when all is good, 1 otherwise."""
    own: DoctorOptions = options.own
    faces = examination.Faces(lambda found: check.rendered(found, options, CheckOptions()).text,
                              lambda found: person.addresses(found, options))
    found = examination.examined(options, runner, faces)
    print((doctor_findings.as_json if own.as_json else doctor_findings.as_text)(found))
    return OK if found.is_good else PARTLY
