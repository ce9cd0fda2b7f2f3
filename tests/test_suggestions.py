"""What is proposed for a mistyped metric, on the command line and in files."""
from __future__ import annotations

import json

import pytest
from conftest import drive_path, run

from smart_attributes.knowledge import data_errors, shipped_data
from smart_attributes.knowledge.drive_database import SpecDatabase

KNOWN = SpecDatabase(shipped_data.load(shipped_data.path('attributes.json'))).units
REPORT = ('--report', drive_path('intel-worn'), '--no-history')
LISTED = 'doc/reference/metrics.md lists them, for example endurance_used'


@pytest.mark.parametrize(('word', 'meant'), [
    ('temperture', 'temperature'), ('Temperature', 'temperature'), ('power-on-time', 'power_on_time'),
    ('wear', 'endurance_used'), ('temp', 'temperature'), ('spare', 'spare_available'),
    ('hours', 'power_on_time'), ('endurance', 'endurance_used'),
    ('Percentage_Used', 'endurance_used'), ('percentage_used', 'endurance_used'),
    ('Available_Spare', 'spare_available'), ('Media_and_Data_Integrity_Errors', 'media_errors'),
    ('Elements in grown defect list', 'reallocated'),
    ('Wear_Leveling_Count', 'endurance_used'), ('Media_Wearout_Indicator', 'endurance_used'),
    ('Reallocated_Sector_Ct', 'reallocated'), ('Current_Pending_Sector', 'pending'),
    ('UDMA_CRC_Error_Count', 'crc_errors'), ('Power_On_Hours', 'power_on_time'),
    ('Temperature_Celsius', 'temperature'), ('SSD_Life_Left', 'endurance_used')])
def test_a_mistyped_or_foreign_name_gets_its_metric(word, meant):
    """Spelling, smartctl's names, vendors' names, and the beginning of a word in them."""
    assert data_errors.nearest_metric(word, KNOWN) == f'did you mean {meant}?'


@pytest.mark.parametrize('word', ['zzz', 'x', '', '=', 'e' * 10_000, '\N{SNOWMAN}'])
def test_what_is_like_no_metric_gets_the_list(word):
    """A wrong proposal would be worse than none."""
    assert data_errors.nearest_metric(word, KNOWN) == LISTED


def test_only_a_known_metric_is_proposed():
    """A name of smartctl helps only where its metric may be named."""
    assert data_errors.nearest_metric('Percentage_Used', ['temperature']) == LISTED


@pytest.mark.parametrize(('word', 'meant'), [
    ('temperture', 'temperature'), ('wear', 'endurance_used'), ('Percentage_Used', 'endurance_used'),
    ('Reallocated_Sector_Ct', 'reallocated')])
@pytest.mark.parametrize('words', [
    ('-w', '{}=50'), ('-c', '{}=50'), ('--ignore-metric', '{}'), ('--acknowledged', 'SERIAL01:{}=5')],
    ids=['-w', '-c', '--ignore-metric', '--acknowledged'])
def test_an_option_proposes_the_metric(words, word, meant):
    """And it is UNKNOWN, not a limit that never alerts."""
    done = run(*REPORT, *(each.format(word) for each in words))

    assert (done.code, done.text) == (
        3, f'SMART UNKNOWN - [usage-error] "{word}" is not a metric; did you mean {meant}?\n')


@pytest.mark.parametrize('command', [('acknowledge', '--why', 'known since 2024'), ('history',)],
                         ids=['acknowledge', 'history'])
def test_a_command_proposes_the_metric(command):
    """Metrics stand alone there."""
    done = run(*command, '--report', drive_path('intel-worn'), 'Percentage_Used')

    assert (done.code, done.text) == (3,
                                      'SMART UNKNOWN - [usage-error] "Percentage_Used" is not a metric; '
                                      'did you mean endurance_used?\n')


@pytest.mark.parametrize(('metric', 'fields', 'said'), [
    ('temperture', {'warning': '50'}, '"temperture" is not a metric; did you mean temperature?'),
    ('wear', {'warning': '80'}, '"wear" is not a metric; did you mean endurance_used?'),
    ('Percentage_Used', {'warning': '80'}, '"Percentage_Used" is not a metric; did you mean endurance_used?'),
    ('temperature', {'warning': {'drive': 'Percentage_Used', 'else': None}}, '"Percentage_Used" does not fit'),
    ('temperature', {'warning': {'drive': 'temperature_limt', 'else': None}},
     '"drive": "temperature_limt" is not a metric; did you mean temperature_limit?'),
    ('endurance_used', {'warning': '80%'}, 'leave out the unit: write 80'),
    ('temperature', {'warning': '50C'}, 'leave out the unit: write 50')])
def test_a_file_proposes_the_same(tmp_path, metric, fields, said):
    """In a check, and in validate."""
    file = tmp_path / 'site.json'
    file.write_text(json.dumps({'metrics': {metric: fields}}))
    for words in ((*REPORT, '--thresholds', str(file)), ('validate', str(file))):
        done = run(*words)
        assert (done.code != 0, said in done.text) == (True, True), done.text


@pytest.mark.parametrize(('words', 'said'), [
    (('-w', 'endurance_used=80%'), '"80%" is not a Nagios range; leave out the unit: write 80'),
    (('-c', 'temperature=50C'), '"50C" is not a Nagios range; leave out the unit: write 50'),
    (('-w', 'power_on_time=50000h'), '"50000h" is not a Nagios range; write 180000000, in seconds'),
    (('--acknowledged', 'SERIAL01:endurance_used=80%'), 'leave out the unit: write 80'),
    (('--acknowledged', 'SERIAL01:temperature=50C'), 'leave out the unit: write 50'),
    (('--acknowledged', 'SERIAL01:temperature=warm'), '"warm" is not a number'),
    (('--acknowledged', f'SERIAL01:pending={"9" * 309}'), 'the number is too long; write at most 30 digits'),
    (('--acknowledged', f'SERIAL01:pending=0.{"9" * 309}'), 'the number is too long; write at most 30 digits'),
    (('-w', f'temperature={"9" * 309}'), 'its number is too long'),
    (('-w', f'endurance_time_left={"9" * 309}d:'), 'its number is too long')])
def test_an_option_says_how_a_number_is_written(words, said):
    """Without a unit, and no longer than can be compared with."""
    done = run(*REPORT, *words)

    assert (done.code, said in done.text) == (3, True), done.text
    assert 'inside check_smart_attributes' not in done.text


@pytest.mark.parametrize('digits', [41, 309, 5000])
@pytest.mark.parametrize('text', ['{}', '{}d:', '~:{}y'])
def test_a_number_without_end_in_a_file_is_a_mistake_and_hides_no_drive(tmp_path, text, digits):
    """A check ended with an OverflowError, for all drives."""
    file = tmp_path / 'site.json'
    bound = {'drive': 'threshold', 'else': text.replace('{}', '9' * digits)}
    file.write_text(json.dumps({'metrics': {'endurance_time_left': {'warning': bound}}}))

    done = run(*REPORT, '--thresholds', str(file))
    assert 'inside check_smart_attributes' not in done.text
    assert 'INTEL SSDSC2' in done.text
    assert (digits > 300) == ('is not a Nagios range' in done.text)


def test_a_new_metric_of_a_site_is_not_taken_for_a_mistyped_one(tmp_path):
    """Its name has a form, which is all that is wrong with it."""
    file = tmp_path / 'mine.json'
    file.write_text(json.dumps({'entries': [], 'metrics': {'Percentage_Used': {
        'meaning': 'our own figure', 'unit': '%', 'worse': 'high'}}}))

    assert 'the key "Percentage_Used" does not fit: a metric\'s name' in run('validate', str(file)).text


def test_a_name_is_compared_in_the_letters_of_metrics():
    assert data_errors._plain('--Media_Wearout Indicator!') == 'media_wearout_indicator'


@pytest.mark.parametrize('word', ['block_counter', 'average_wear', 'total_power'])
def test_a_foreign_name_that_is_only_a_little_alike_is_not_proposed(word):
    assert data_errors.nearest_metric(word, KNOWN) == LISTED


@pytest.mark.parametrize(('word', 'said'), [('hot', 'did you mean hot_plug_count?'), ('ho', LISTED)])
def test_three_letters_are_enough_for_the_beginning_of_a_name(word, said):
    assert data_errors.nearest_metric(word, ['overheated', 'hot_plug_count']) == said
