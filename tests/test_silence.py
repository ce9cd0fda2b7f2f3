"""No state gets better by silence: some sequences of tests/silence.py, and that it finds faults."""

import pytest
import silence

from smart_attributes.check import last_verdict
from smart_attributes.history import drive_records


@pytest.mark.parametrize(
    'seeds', [range(3), pytest.param(range(3, 40), marks=pytest.mark.long)]
)
def test_no_state_falls_unless_the_drive_was_read_replaced_or_accepted(seeds):
    assert [fault for seed in seeds for fault in silence.faults_of(seed)] == []


@pytest.mark.long
@pytest.mark.parametrize('rule', ['last-verdict', 'successors'])
def test_a_rule_that_is_missing_is_found(monkeypatch, rule):
    """The oracle knows neither the floor nor how a replacement is recognized."""
    if rule == 'last-verdict':
        monkeypatch.setattr(
            last_verdict, 'with_floor', lambda verdict, last, now: verdict
        )
    else:
        monkeypatch.setattr(
            drive_records, 'with_successors', lambda changes, *_: list(changes)
        )

    assert any(silence.faults_of(seed) for seed in range(40))
