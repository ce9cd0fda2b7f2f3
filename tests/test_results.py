"""Services as Icinga 2's API returns them, value by value."""

import pytest

from smart_attributes.fleet import services
from smart_attributes.fleet.services import Result, Service, service

RESULT = {
    'state': 2,
    'output': 'SMART CRITICAL',
    'performance_data': ["'sda'=1", 7, None, "'sdb'=2"],
    'execution_end': 1700.5,
    'exit_status': 2,
}
WHOLE = Result(2, 'SMART CRITICAL', ["'sda'=1", "'sdb'=2"], 1700.5)
ATTRS = {
    'last_check_result': RESULT,
    'check_interval': 300,
    'enable_active_checks': True,
    'state_type': 1,
}
FOUND = {'name': 'web1!smart', 'attrs': ATTRS, 'joins': {'host': {'downtime_depth': 0}}}


def read(**changes):
    """Return the service with other attributes."""
    return service({**FOUND, 'attrs': {**ATTRS, **changes}})


def test_every_value_of_a_service_is_read():
    assert service(FOUND) == Service('web1', 'smart', WHOLE, 300.0, True, (), True)


@pytest.mark.parametrize(
    'found',
    [{}, {'name': None, 'attrs': [], 'joins': 3}, {'attrs': {'last_check_result': 7}}],
)
def test_values_of_another_kind_count_as_missing(found):
    empty = service(found)

    assert empty == Service('-' if 'name' not in found else 'None', '', None, 0.0, True)


@pytest.mark.parametrize(
    'name, host, own',
    [
        ('web1', 'web1', ''),
        ('!smart', '-', 'smart'),
        ('a!b!c', 'a', 'b!c'),
        ('x' * 300 + '!' + 'y' * 300, 'x' * 255, 'y' * 255),
        ('a\nb!c\td', 'a b', 'c d'),
    ],
)
def test_the_name_is_that_of_the_host_and_of_the_service(name, host, own):
    found = service({**FOUND, 'name': name})

    assert (found.host, found.name) == (host, own)


@pytest.mark.parametrize('value', [False, None])
def test_only_a_plain_false_makes_a_service_passive(value):
    assert read(enable_active_checks=value).is_active is (value is None)


@pytest.mark.parametrize(
    'joins, is_shown',
    [
        ({}, False),
        ({'host': {}}, False),
        ({'host': None}, False),
        ({'host': {'acknowledgement': 0}}, True),
    ],
)
def test_the_host_is_shown_only_with_its_attributes(joins, is_shown):
    assert service({**FOUND, 'joins': joins}).is_host_shown is is_shown


@pytest.mark.parametrize(
    'own, host, handling',
    [
        ({}, {}, ()),
        ({'acknowledgement': 1}, {}, ('service acknowledged',)),
        (
            {'downtime_depth': 2},
            {'downtime_depth': 1, 'acknowledgement': 1},
            ('host in downtime', 'host acknowledged', 'service in downtime'),
        ),
    ],
)
def test_how_a_problem_is_handled_comes_from_service_and_host(own, host, handling):
    assert (
        service({**FOUND, 'attrs': {**ATTRS, **own}, 'joins': {'host': host}}).handling
        == handling
    )


@pytest.mark.parametrize(
    'changes, expected',
    [
        ({'state': 'x'}, WHOLE._replace(state=0)),
        ({'output': 7}, WHOLE._replace(output='')),
        ({'performance_data': 'x=1'}, WHOLE._replace(values=[])),
        ({'execution_end': None}, WHOLE._replace(ended=0.0)),
    ],
)
def test_each_value_of_a_result_counts_as_missing_on_its_own(changes, expected):
    assert read(last_check_result={**RESULT, **changes}).result == expected


def test_output_and_perfdata_are_bounded(monkeypatch):
    monkeypatch.setattr(services, 'LONGEST_OUTPUT', 5)
    monkeypatch.setattr(services, 'MOST_VALUES', 3)

    assert read().result == WHOLE._replace(output='SMART', values=["'sda'=1"])


@pytest.mark.parametrize(
    'interval, seconds',
    [
        (0.5, 0.5),
        (999_999_999_999, 999_999_999_999.0),
        (1e12, 0.0),
        (-1e12, 0.0),
        ('300', 0.0),
        (float('nan'), 0.0),
    ],
)
def test_a_number_beyond_any_time_counts_as_missing(interval, seconds):
    assert read(check_interval=interval).interval == seconds
