"""doctor: diagnose the installation as the monitoring user sees it."""

from ..check.survey import Survey
from ..command_line.options import OK, PARTLY, CheckOptions, Options
from ..doctor.examination import Examiner
from ..output import doctor_findings
from ..reading.processes import Runner
from . import check, person
from .cases import without_groups
from .records.doctor import DoctorOptions


def run(options: Options, runner: Runner) -> int:
    """Diagnose the installation as the user who runs the checks; return 0 without a problem,
    else 1.
    """
    own: DoctorOptions = options.own

    def output(survey: Survey) -> str:
        overview = without_groups(survey, options)
        return check.rendered(overview.cases, overview, options, CheckOptions()).text

    examination = Examiner(
        options,
        runner,
        output,
        lambda survey: person.addresses(survey.verdicts, options),
    ).examine()
    as_words = doctor_findings.as_json if own.as_json else doctor_findings.as_text
    print(as_words(examination))
    return OK if examination.is_good else PARTLY
