"""What holds of all outputs of a machine; `make storm KIND=lines` tries more machines."""

import first_lines
import pytest
import simulator
from conftest import Result
from first_lines import Outputs, Tally

simulated = pytest.mark.skipif(bool(simulator.why_not()), reason=simulator.why_not())
DRIVE = {
    'name': 'sda',
    'serial': 'S1',
    'state': 'CRITICAL',
    'action': 'copy',
    'to_do': 'copy it',
}
LINE = 'SMART CRITICAL - sda has FAILED; [copy] copy it; 1 drive: 1 critical'
PAGE = '<strong>Copy it</strong>'
METRICS = """smart_drive_state{device="sda"} 2.0
smart_drive_action{action="copy",device="sda",to_do="copy it"} 1.0
"""
CHECK, TRIAGE = (
    f'{LINE}\nCRITICAL  sda  X  has FAILED; [copy] copy it  S1',
    'CRITICAL  sda  X\n  sda: copy it',
)


@pytest.mark.parametrize(
    'field, old, new, wrong',
    [
        ('check', 'sda', 'sda', []),
        ('check', '\nCRITICAL', '\nWARNING', ['state of check']),
        ('check', '[copy] copy it  S1', '[copy] pull it  S1', ['action of check']),
        ('triage', 'CRITICAL', 'WARNING', ['state of triage']),
        ('triage', 'copy it', 'pull it', ['action of triage']),
        ('metrics', '2.0', '1.0', ['state of metrics']),
        ('metrics', '"copy"', '"replace"', ['action of metrics']),
        ('page', 'Copy', 'Pull', ['action of page']),
    ],
)
def test_two_outputs_that_disagree_are_found(field, old, new, wrong):
    texts = {'check': CHECK, 'triage': TRIAGE, 'metrics': METRICS, 'page': PAGE}
    texts[field] = texts[field].replace(old, new)
    outputs = Outputs(
        Result(2, texts['check']),
        Result(2, texts['triage']),
        {'drives': [DRIVE]},
        texts['metrics'],
        texts['page'],
    )

    found = [
        fault.detail.partition(':')[0] for fault in first_lines.disagreements(outputs)
    ]
    assert found == wrong


class Answers:
    """A scene in which each command prints the same."""

    def __init__(self, text: str) -> None:
        self.text = text

    def run(self, *words: str) -> Result:
        return Result(3, self.text)


@pytest.mark.parametrize(
    'advice, answer, kinds',
    [
        ('as root, run triage --controllers', 'no tool', []),
        (
            'as root, run triage --controllers',
            'run triage --controllers',
            ['command is a circle'],
        ),
        (
            'run: check_smart_attributes explain -d sdx',
            '[usage-error] no',
            ['command refused'],
        ),
        ('run: check_smart_attributes explain SERIAL', '[usage-error] no', []),
        ('check_smart_attributes history --remove S1', 'removed', ['deletes evidence']),
        ('check_smart_attributes acknowledge --missing S1', '[usage-error] no', []),
    ],
)
def test_a_command_that_leads_nowhere_or_deletes_evidence_is_found(
    advice, answer, kinds
):
    outputs = Outputs(
        Result(2, f'SMART CRITICAL - sda; {advice}; x'), Result(2, ''), {'drives': []}
    )

    found = first_lines.of_commands(Answers(answer), ('--scan',), outputs)
    assert [fault.kind for fault in found] == kinds


@pytest.mark.parametrize(
    'answer, count', [('CRITICAL  sda', 0), ('"sda" matches no drive', 1)]
)
def test_a_name_that_is_refused_is_found(answer, count):
    outputs = Outputs(Result(2, CHECK), Result(2, ''), {'drives': []})

    assert len(first_lines.of_names(Answers(answer), outputs)) == count


@simulated
@pytest.mark.long
@pytest.mark.timeout(3600)
def test_random_machines_have_one_answer_and_commands_that_can_be_typed(tmp_path):
    bed = first_lines.Lines(tmp_path, 2026)

    assert [fault for number in range(12) for fault in bed.turn(number)] == []
    assert bed.tally.lines >= 6


@simulated
@pytest.mark.long
@pytest.mark.timeout(3600)
def test_what_recorded_reports_print_can_be_typed_and_keeps_the_evidence(
    tmp_path, shared
):
    tally = Tally()
    first_lines.of_reports(tmp_path / 'scene', tally, first_lines.reports()[::4])

    assert tally.lines > 20
    assert [kind for kind in first_lines.HELD if tally.counted[kind]] == []
