"""What earlier versions printed is read as what this version prints."""
from __future__ import annotations

import pytest

from smart_attributes.fleet import legacy
from smart_attributes.output import advice

READING = {'metric': 'pending', 'value': 16, 'unit': '', 'source': 'attribute 197', 'state': 'CRITICAL',
           'warning': '0', 'critical': '8'}


@pytest.mark.parametrize('words, code', [
    ('cannot be read: sudo wants a password, so the sudoers rule for this call is missing', 'sudo-rule-missing'),
    ('cannot be read: sudo insists on a terminal', 'sudo-blocked'),
    ('cannot be read: smartctl is older than 7.0', 'smartctl-missing'),
    ('is not there: no such device; check the path', 'no-such-device'),
    ('is not there, or smartctl cannot detect its device type', ''),
    ('is an empty slot, or its drive is dead', 'empty-slot'),
    ('2 of 3 expected drives missing, 1 there', 'drives-missing'),
    ('ACME X1 SERIAL1 is gone from /dev/sda, noticed 3 d ago', 'drive-gone'), ('x; y is gone from z', ''),
    ('cannot be opened: Permission denied; run as root', 'no-permission'), ('no answer within 30 s', 'timeout'),
    ('was not read: time was over', 'timeout'), ('answers nothing', '')])
def test_a_sentence_without_code_is_recognised_by_its_words(words, code):
    assert legacy.code_of(words) == code


@pytest.mark.parametrize('words, serials', [
    ('ACME is gone from /dev/sda; history --forget SER1 retires it', ('SER1',)),
    ('no answer; last seen there: ACME X1 (serial SER1), 3 d ago', ('SER1',)),
    ('no answer; last seen there: ACME (2) X1 (serial SER)1), 3 d ago', ('SER)1',)),
    ('last seen there: ACME X1 (serial SE...', ('SE',)), ('last seen there: ACME X1 (serial SE', ('SE',)),
    ('pending 8, critical above 4', ())])
def test_serial_numbers_of_other_drives_are_seen_in_sentences(words, serials):
    assert legacy.serials(words) == serials


@pytest.mark.parametrize('reading, code', [
    ({}, 'above-limit'), ({'value': 5, 'critical': '8:'}, 'below-limit'),
    ({'value': 2, 'critical': '@1:3'}, 'inside-limit'),
    ({'value': 4, 'growth': 'pending grew by 4'}, 'growth'), ({'value': 4}, ''), ({'value': None}, ''),
    ({'state': 'WARNING', 'critical': None}, 'above-limit'), ({'critical': 7}, ''), ({'critical': 'x'}, ''),
    ({'metric': 'self_test', 'value': 'Extended: read failure'}, 'self-test-failed'),
    ({'metric': 'of_a_site', 'value': 'bad'}, 'status-reported'), ({'metric': [], 'value': 'bad'}, 'status-reported')])
def test_a_finding_gets_the_code_that_its_reading_shows(reading, code):
    given = {**READING, **reading}
    [found] = legacy.drive({'findings': ['a finding'], 'readings': [{'state': 'OK'}, given]})['findings']

    assert (found['code'], found['text'], found['metric']) == (code, 'a finding', given['metric'])


@pytest.mark.parametrize('given', [{}, {'findings': 7}, {'notes': [7, {}]}, {
    'findings': [7], 'readings': 7, 'notes': 7, 'why': 7, 'action': []}])
def test_a_drive_with_values_of_any_type_is_read(given):
    found = legacy.drive(given)

    assert (found['findings'], found['notes'], found['code']) == ([], [], None)


def test_a_finding_has_the_values_of_its_reading():
    [found] = legacy.drive({'findings': ['a finding'], 'readings': [{**READING, 'grown': 3}]})['findings']

    assert found == {'state': 'CRITICAL', 'metric': 'pending', 'value': 16, 'unit': '', 'source': 'attribute 197',
                     'code': 'above-limit', 'text': 'a finding', 'limit': '8', 'grown': 3}


def test_of_a_list_without_end_the_first_200_are_read():
    given = {'state': 'WARNING', 'findings': ['x'] * 300, 'readings': [{**READING, 'state': 'WARNING'}] * 300}

    assert len(legacy.drive(given)['findings']) == len(legacy.notes(['x'] * 300)) == 200


def test_a_note_mentions_the_drive_that_is_gone():
    words = 'ACME is gone from /dev/sda; history --forget SER1 retires it'

    assert legacy.notes([words]) == [{'code': 'drive-gone', 'text': words, 'serial': 'SER1'}]


def test_a_silent_drive_has_the_serial_number_that_was_there_last():
    found = legacy.drive({'why': 'no answer; last seen there: ACME (serial SER1), 3 d ago', 'action': advice.READ})

    assert found['last_seen'] == {'serial': 'SER1'}


def test_findings_that_do_not_match_the_readings_keep_their_words_and_the_state_of_the_drive():
    found = legacy.drive({'state': 'WARNING', 'findings': ['a', 'b'], 'readings': [READING]})['findings']

    assert [(each['text'], each['state'], each['code']) for each in found] == [
        ('a', 'WARNING', ''), ('b', 'WARNING', '')]


@pytest.mark.parametrize('given, code', [
    ({'why': 'no answer', 'action': advice.READ}, 'timeout'), ({'why': 'x', 'action': advice.READ}, 'drive-unreadable'),
    ({'why': 'is not there: x', 'action': advice.SEARCH}, 'no-such-device'), ({'why': 'x', 'action': 'watch'}, None),
    ({'why': 'x', 'action': advice.READ, 'code': 'asleep-too-long'}, 'asleep-too-long')])
def test_an_unread_drive_gets_its_code_and_so_does_the_note_that_repeats_why(given, code):
    found = legacy.drive({**given, 'notes': [given['why'], 'another']})

    assert (found['code'], found['notes'][0]['code'], found['notes'][1]) == (
        code, code or '', {'code': '', 'text': 'another', 'serial': None})


def test_a_former_action_has_its_new_name():
    assert legacy.action('order within 90 days') == advice.ORDER
    assert legacy.action('check the array, then replace one drive at a time') == advice.COPY
    assert [legacy.action(each) for each in ('watch', 'paint it', 7, [], None)] == ['watch', 'paint it', 7, [], None]


@pytest.mark.parametrize('given, depends', [
    ({'carries': ['md0 (raid1, /srv)', 7, None, ['x']]}, [{'text': 'md0 (raid1, /srv)'}]), ({'carries': []}, []),
    ({'carries': ['x'] * 900}, [{'text': 'x'}] * legacy.MOST), ({}, None), ({'carries': 'md0'}, None),
    ({'carries': ['old'], 'depends': [{'text': 'new'}]}, [{'text': 'new'}]), ({'depends': 7}, 7)])
def test_what_a_drive_carried_is_what_depends_on_it(given, depends):
    """Builds without groups wrote sentences."""
    assert legacy.depends(given) == depends
