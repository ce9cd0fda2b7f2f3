"""What the values do that pass from stage to stage: the order of states, the name of a source."""

from smart_attributes.model import Source, State, worst

MOST_URGENT_FIRST = (State.CRITICAL, State.UNKNOWN, State.WARNING, State.OK)


def test_no_two_states_are_equally_urgent():
    """Lists that are sorted by urgency have one order."""
    assert sorted(State, key=lambda state: -state.urgency) == list(MOST_URGENT_FIRST)
    assert len({state.urgency for state in State}) == len(State)


def test_without_any_state_all_is_well():
    assert worst(()) is State.OK


def test_a_source_is_named_by_its_attribute_or_its_log():
    sources = [Source(attribute=0), Source('SMART log'), Source('SMART log', 5)]

    assert [str(source) for source in sources] == [
        'attribute 0',
        'SMART log',
        'attribute 5',
    ]
