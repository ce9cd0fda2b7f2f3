"""The parts of the page that are decided before Jinja2 draws it: list, counts and changes; no
browser needed.
"""

import json
import re
from typing import Any

import pytest

from smart_attributes.constants import DAY, MONTH, YEAR
from smart_attributes.output import page, page_charts
from smart_attributes.output.page_drives import compact, compact_reading, sentence
from smart_attributes.work import actions

NOW = 1.8e9


def noted(text):
    return {'code': 'old-event', 'text': text}


def drive(
    name: str, action: str = actions.NOTHING, state: str = 'OK', **more: Any
) -> dict[str, Any]:
    return {
        'name': name,
        'state': state,
        'action': action,
        'readings': [],
        'notes': [],
        **more,
    }


def read(
    metric: str, value: Any, unit: str = '', judged: bool = True
) -> dict[str, Any]:
    return {'metric': metric, 'value': value, 'unit': unit, 'judged': judged}


def work(*drives: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the work list of a document, in the order given."""
    return [
        {'name': each['name'], 'action': each['action'], 'reason': each.get('why')}
        for each in drives
    ]


def shown(drives: list[dict[str, Any]], **more: Any) -> str:
    return page.page(
        {'version': 2, 'drives': drives, 'work': work(*drives), **more}, 'Drives', NOW
    )


def data_of(text: str) -> dict[str, Any]:
    """Return the data that the page's script reads."""
    found: dict[str, Any] = json.loads(
        text.partition('<script type="application/json"')[2]
        .partition('>')[2]
        .partition('</script>')[0]
    )
    return found


def test_the_list_begins_with_the_work_list_and_has_each_drive_once():
    drives = [
        drive('a', actions.ORDER),
        drive('b'),
        drive('c', actions.REPLACE),
        drive('d', actions.WATCH),
    ]
    document = {'drives': drives, 'work': work(drives[2], drives[0], drives[3])}
    found = page._listed(document)

    assert [each['name'] for each in found] == ['c', 'a', 'd', 'b']


@pytest.mark.parametrize('depends, count', [([], 1), ([{'text': 'md0'}], 0)])
def test_a_drive_whose_use_is_not_known_says_so(depends, count):
    """If groups depend on it, the reason already says what is not known."""
    text = shown(
        [drive('a', actions.REPLACE, not_known='its use is not known', depends=depends)]
    )

    assert text.count('<span>Its use is not known</span>') == count


def test_further_actions_of_a_drive_are_on_the_page():
    """In the plain table, and in the data that the script reads."""
    also = [{'action': 'cable', 'to_do': 'check the cable'}]
    text = shown(
        [
            drive(
                'sda',
                'watch',
                'WARNING',
                to_do='watch: ...',
                why='pending 2',
                also=also,
            )
        ]
    )

    assert (
        '<strong>Watch: ...</strong><span>Also check the cable</span><span>pending 2'
        in text
    )
    assert data_of(text)['drives'][0]['also'] == also


def test_drives_of_one_name_all_stay_in_the_list():
    """Reports of two hosts may have the same name."""
    found = page._listed(
        {'drives': [drive('a', serial='1'), drive('a', serial='2')], 'work': []}
    )

    assert [each['serial'] for each in found] == ['1', '2']


def test_the_head_counts_the_drives_of_each_state():
    drives = [
        drive('a', state='WARNING'),
        drive('b'),
        drive('c'),
        drive('d', state='UNKNOWN'),
    ]

    assert page._counts(drives) == {'CRITICAL': 0, 'UNKNOWN': 1, 'WARNING': 1, 'OK': 2}


@pytest.mark.parametrize(
    'why, text',
    [
        ('spare_left 97 %, critical below 98', 'spare left 97 %, critical below 98'),
        ('old_spare_left 1; spare_left 2', 'old spare left 1; spare left 2'),
        ('a_word of none', 'a_word of none'),
        (None, ''),
    ],
)
def test_a_reason_names_metrics_as_people_say_them(why, text):
    """In the data as well; one name may be the end of another."""
    readings = [
        read(metric, 1) for metric in ('spare_left', 'old_spare_left', 'pending')
    ]
    [listed] = data_of(shown([drive('a', why=why, readings=readings)]))['drives']

    assert listed.get('why', '') == text


@pytest.mark.parametrize(
    'value, seen',
    [
        ('a\x1b[2Jb', 'ab'),
        (['a\u202eb', 1], ['a b', 1]),
        (('a\nb',), ['a b']),
        ({'k': {'l': ['\x07']}}, {'k': {'l': [' ']}}),
        (None, None),
        (3.5, 3.5),
        (True, True),
    ],
)
def test_strings_are_shown_without_what_has_no_shape(value, seen):
    assert page._made_visible(value) == seen


def test_notes_and_remarks_are_on_the_page():
    text = shown(
        [drive('a')],
        notes=[noted('slot 9 was not read')],
        remarks=[noted('renew the rule')],
    )

    for words in ('slot 9 was not read', 'renew the rule'):
        assert words in text.partition('<script type="application/json"')[0]


def test_the_data_of_the_page_are_the_document_and_when_it_was_made():
    data = data_of(
        page.page(
            {'version': 2, 'drives': [drive('sda', model='ACME')]}, 'Drives', NOW + 0.6
        )
    )

    assert data['made'] == NOW + 1
    assert data['drives'][0]['model'] == 'ACME'


def test_the_data_are_a_part_of_their_own_with_one_byte_for_each_character():
    """A wide character elsewhere on the page would double the memory for the megabytes of a
    fleet.
    """
    head, data, tail = page.rendered(
        page.Content('{"drives":["\\u732b"]}', {}, {}, notes=['\u732b']), 'Drives', 0
    )

    assert data == '{"drives":["\\u732b"]}' and '\u732b' in head + tail
    assert head.endswith('id="data">') and tail.startswith('</script>')


def test_the_page_says_when_it_was_made(monkeypatch):
    monkeypatch.setattr(page.time, 'localtime', lambda now: page.time.gmtime(now))

    assert re.search(
        '<time>2026-11-22 12:34 [A-Z]+</time>',
        page.page({'drives': []}, 'Drives', 1_795_350_840),
    )


def test_the_last_good_copy_on_a_disk_without_a_check_is_in_the_list():
    """It is in no count, because no check has read it."""
    document = {
        'drives': [drive('sda', actions.WAIT)],
        'work': [
            {
                'name': 'sdx',
                'action': 'do-not-remove',
                'reason': 'why sdx',
                'state': 'OK',
            },
            {'name': 'sda', 'action': 'wait', 'reason': None},
        ],
    }
    text = shown(**document)
    plain = text.partition('<noscript>')[2].partition('</noscript>')[0]

    assert [(each['name'], each.get('unread')) for each in page._listed(document)] == [
        ('sdx', True),
        ('sda', None),
    ]
    assert 'why sdx' in plain and 'no check reads' in plain and '1 drive,' in text
    assert 'sdx' in [each['name'] for each in data_of(text)['drives']]


def test_groups_are_drawn_and_are_not_in_the_data():
    """Escaped like all else."""
    group = {
        'id': 'md0',
        'name': '<b>md0</b>',
        'kind': 'md',
        'level': 'raid1',
        'used_as': ['/srv<i>'],
        'tolerates': 0,
        'activity': 'recover',
        'progress': 37.4,
        'missing': 0,
        'unknown': None,
        'text': 'x',
        'members': [
            {
                'name': 'sda1',
                'state': 'in_sync',
                'slot': 0,
                'detail': '<u>',
                'drives': [
                    {'name': 'sda', 'state': 'CRITICAL'},
                    {'name': 'sdz', 'state': None},
                ],
            },
            {'name': None, 'state': 'missing', 'slot': 1, 'detail': None, 'drives': []},
        ],
    }
    text = shown([drive('sda', state='CRITICAL')], groups=[group], replace_order=[])
    drawn = text.partition('<section aria-labelledby="groups-title"')[2].partition(
        '</main>'
    )[0]

    for words in (
        '&lt;b&gt;md0&lt;/b&gt;',
        '/srv&lt;i&gt;',
        '&lt;u&gt;',
        'value="37.4"',
        '37 %',
        'data-place="0">sda</a>',
        '<span class="where">sdz</span>',
    ):
        assert words in drawn
    assert not {'groups', 'replace_order'} & set(data_of(text))


# --- which drives the page of a fleet shows --------------------------------------------------------------------


def test_the_page_of_a_fleet_says_which_drives_it_shows():
    assert sentence((12, 12), (500, 500)) == ''
    assert sentence((12, 12), (500, 23988)).startswith(
        'The list shows 12 of 12 drives that alert or need an action, and the 500 most worn of '
        'the 23,988 remaining drives.'
    )
    assert '9,000 of 12,000 drives that' in sentence((9000, 12000), (0, 0))


# --- what is shown of a drive ---------------------------------------------------------------------

READING = {'metric': 'pending', 'value': 8, 'unit': ''}


@pytest.mark.parametrize(
    'reading, is_kept',
    [
        ({**READING, 'said': 'pending 8'}, False),
        ({**READING, 'said': 'pending 9'}, True),
        ({**READING, 'said': None}, False),
        (READING, False),
        ({**READING, 'said': 8}, False),
        ({**READING, 'metric': 'used', 'unit': '%', 'said': 'used 8 %'}, False),
        ({**READING, 'value': 'passed', 'said': 'pending: passed'}, False),
        ({**READING, 'value': 'passed', 'said': 'pending passed'}, True),
    ],
    ids=[
        'follows',
        'differs',
        'none',
        'missing',
        'the-value',
        'with-unit',
        'word',
        'other-word',
    ],
)
def test_words_that_follow_from_the_value_are_not_kept(reading, is_kept):
    assert ('said' in compact_reading(reading)) is is_kept


def test_what_is_empty_is_left_out():
    """Findings are texts that name metrics as people say them."""
    given = [
        drive(
            'sda',
            model='ACME',
            host='db1',
            serial='',
            findings=[
                {'text': 'grown_defects 9', 'metric': 'grown_defects'},
                noted('x'),
            ],
            bay=None,
            notes=[noted('old')],
            readings=[
                {**READING, 'warning': '8', 'critical': ''},
                {**READING, 'value': None},
            ],
        ),
        drive(
            'sdb',
            replacement={'text': 'x'},
            depends=[{'text': 'md0 (raid1)', 'name': 'md0'}],
        ),
    ]

    assert [compact(each) for each in given] == [
        {
            'name': 'sda',
            'state': 'OK',
            'action': 'nothing',
            'model': 'ACME',
            'host': 'db1',
            'findings': ['grown defects 9', 'x'],
            'notes': [noted('old')],
            'readings': [
                {'metric': 'pending', 'warning': '8', 'value': 8},
                {'metric': 'pending', 'value': None},
            ],
        },
        {
            'name': 'sdb',
            'state': 'OK',
            'action': 'nothing',
            'notes': [],
            'readings': [],
            'depends': [{'text': 'md0 (raid1)'}],
        },
    ]


@pytest.mark.parametrize(
    'past, since, kept',
    [
        ({'pending': [[1800, 1], [5400, 2]], 'none': []}, 1800, ['pending']),
        ({'pending': [[1800, 1], [5400, 1]]}, 1800, []),
        ({}, None, []),
    ],
    ids=['rises', 'same', 'no-history'],
)
def test_a_page_has_the_trend_of_each_value_that_has_changed(past, since, kept):
    [found] = data_of(shown([drive('a', past=past)]))['drives']

    assert found.get('since') == since
    assert found.get('past', {}) == {metric: past[metric] for metric in kept}


# --- the charts -----------------------------------------------------------------------------------


def charted(*drives: dict[str, Any], **more: Any) -> dict[str, Any]:
    return page_charts.charts({'drives': drives, **more}, NOW)


def worn(name: str, value: float, past: Any = (), **forecast: Any) -> dict[str, Any]:
    return drive(
        name,
        readings=[read('endurance_used', value, '%')],
        past={'endurance_used': past},
        **({'forecasts': {'endurance_used': forecast}} if forecast else {}),
    )


def test_a_course_has_what_the_chart_draws_of_it():
    """Points of now and later, which a wrong clock has left, are omitted; a rise is that of its
    day.
    """
    past = [
        [NOW + 5, 99],
        [NOW - 10 * DAY, 21],
        [NOW - 10 * DAY - 60, 20],
        [NOW, 98],
        [NOW - YEAR, 10],
        [NOW - 2 * YEAR, 1],
        [NOW - 5 * DAY, 15],
    ]
    [course] = charted(worn('a', 30, past, left=0.5))['wear']

    assert course.points == [
        [NOW - 2 * YEAR, 1],
        [NOW - YEAR, 10],
        [NOW - 10 * DAY - 60, 20],
        [NOW - 10 * DAY, 21],
        [NOW - 5 * DAY, 15],
        [NOW, 30],
    ]
    assert (
        course.metric,
        course.unit,
        course.begin,
        course.last,
        course.low,
        course.high,
        course.usual,
    ) == ('endurance_used', '%', NOW - 2 * YEAR, 30, 1, 30, 17.5)
    assert course.rate == pytest.approx(20 / YEAR * MONTH) and course.forecast == {
        'left': 0.5
    }
    assert course.rises == [(NOW - YEAR, 9), (NOW - 10 * DAY, 11), (NOW, 15)]
    assert (course.is_usual, course.warm_since) == (False, NOW)


@pytest.mark.parametrize(
    'value, past, rate',
    [
        (30, [[NOW - DAY, 20]], 10 / DAY * MONTH),
        (30, [[NOW - DAY + 1, 20]], 0),
        (30, [[NOW - 9 * DAY, 40]], 0),
        (30, [[NOW - YEAR - 1, 1], [NOW - 2 * DAY, 20]], 5 / DAY * MONTH),
    ],
)
def test_the_rate_is_that_of_a_year_at_most_and_of_a_day_at_least(value, past, rate):
    assert charted(worn('a', value, past))['wear'][0].rate == pytest.approx(rate)


def warm(name: str, last: float, *past: float) -> dict[str, Any]:
    return drive(
        name,
        readings=[read('temperature', last, 'C')],
        past={
            'temperature': [
                [NOW - DAY * (len(past) - day), number]
                for day, number in enumerate(past)
            ]
        },
    )


@pytest.mark.parametrize('last, is_usual', [(33.9, True), (34, False)])
def test_a_drive_may_be_a_little_warmer_than_usual(last, is_usual):
    assert charted(warm('a', last, 30, 30, 30))['temperature'][0].is_usual is is_usual


@pytest.mark.parametrize(
    'past, since',
    [
        ([30, 39, 30, 30, 39], NOW - DAY),
        ([30, 30, 34], NOW),
        ([30, 30, 37], NOW - DAY),
        ([40, 40], NOW - 2 * DAY),
    ],
)
def test_a_drive_is_warm_since_it_left_the_usual_temperature(past, since):
    """It is as close to 40 °C as to the usual temperature, or closer."""
    assert charted(warm('a', 40, *past))['temperature'][0].warm_since == since


def test_charts_begin_with_what_matters_most():
    """Wear: the least time left, then the most worn.

    Temperature: the most above the usual one, then the warmest.
    """
    past = [[NOW - DAY, 0]]
    found = charted(
        worn('a', 5, past),
        worn('b', 9, past),
        worn('c', 1, past, left=9),
        worn('d', 1, past, left=3),
        worn('e', 99, past, left=0),
    )
    assert [each.drive['name'] for each in found['wear']] == ['d', 'c', 'e', 'b', 'a']
    assert found['wear'][2].forecast is None

    found = charted(
        *(
            warm(name, last, usual, usual, usual)
            for name, last, usual in (
                ('f', 50, 50),
                ('g', 22.5, 20),
                ('h', 40, 30),
                ('i', 35, 30),
                ('j', 44, 40),
            )
        )
    )
    assert [each.drive['name'] for each in found['temperature']] == [
        'h',
        'i',
        'j',
        'f',
        'g',
    ]


@pytest.mark.parametrize(
    'metric, value, unit, is_judged, is_shown',
    [
        ('crc_errors', 3, '', True, True),
        ('crc_errors', 3, '', False, False),
        ('crc_errors', 1, '', True, False),
        ('crc_errors', 'many', '', True, False),
        ('power_cycles', 3, '', True, False),
        ('endurance_used', 3, '%', True, False),
    ],
)
def test_counts_that_rose_have_a_chart(metric, value, unit, is_judged, is_shown):
    found = charted(
        drive(
            'a',
            readings=[read(metric, value, unit, is_judged)],
            past={metric: [[NOW - DAY, 2]]},
        )
    )

    assert [course.metric for course in found['rose']] == ([metric] if is_shown else [])


def test_charts_begin_with_the_first_reading_of_all_drives():
    old, new = worn('old', 1, [[NOW - 9 * DAY, 1]]), worn('new', 1, [[NOW - DAY, 1]])

    assert charted(new, old)['begin'] == NOW - 9 * DAY
    assert charted() == {'wear': [], 'temperature': [], 'rose': [], 'begin': NOW}


@pytest.mark.parametrize(
    'numbers, most, left',
    [
        ([1, 2, 3, 4], 4, [1, 2, 3, 4]),
        ([1, 2, 3, 4, 5], 4, [1, 3, 4, 5]),
        ([1, 9, 2, 8, 3, 7, 4], 4, [1, 9, 7, 4]),
        ([1, 2, 3], 0, [1, 2, 3]),
        ([1, 3, 2, 5], 0, [1, 3, 5]),
        ([1], 1, [1]),
    ],
)
def test_a_line_keeps_its_ends_and_its_peaks(numbers, most, left):
    assert [
        number for _, number in page_charts.thinned([*enumerate(numbers)], most)
    ] == left


def test_a_drive_without_two_points_in_time_is_in_no_chart():
    """A page without any history has no chart, and says nothing about what did not happen."""
    text = shown(
        [worn('a', 5), warm('b', 40), worn('c', 1, [[NOW, 1], [NOW + DAY, 2]])]
    )

    assert (
        '<svg' not in text and 'history' not in text.partition('<noscript>')[0].lower()
    )
    assert charted(worn('a', 5))['wear'] == []
    assert '<svg' in shown([worn('a', 5, [[NOW - DAY, 5]])])


def test_links_of_the_page_lead_somewhere():
    """A part that is not on the page has no link."""
    group = {
        'name': 'md0',
        'kind': 'md',
        'level': 'raid1',
        'used_as': [],
        'tolerates': 1,
    }
    group.update(activity=None, missing=0, unknown=None, members=[])
    for more in ({}, {'groups': [group]}):
        for drives in (
            [drive('a')],
            [{**worn('a', 5, [[NOW - DAY, 4]]), 'bay': 'slot 1', 'device': ''}],
        ):
            text = shown(drives, **more)
            links = set(re.findall('href="#([^"]+)"', text))
            assert links <= set(re.findall(' id="([^"]+)"', text))
            assert ('href="#drives"' in text) is ('<svg' in text)


def test_an_axis_has_each_date_once():
    """A history of two days had the same date twice."""
    text = shown([warm('a', 40, 30, 30)])
    dates = re.findall('y="186" text-anchor="[a-z]+">([^<]+)<', text)

    assert dates == ['2027-01-13', '2027-01-14', '2027-01-15']
    assert re.findall('y="186"[^>]+>([^<]+)<', shown([warm('a', 40, 30)])) == dates[1:]


@pytest.mark.parametrize(
    'bay, kind, enclosure, number',
    [
        ('slot 7', None, '', '7'),
        ('enclosure 2 slot 10', None, 'enclosure 2', '10'),
        ('slot 32:9', 'megaraid,4', '/dev/bus/0 enclosure 32', '9'),
        ('bay 1I:1:3', 'cciss,3', '/dev/bus/0 enclosure 1I:1', '3'),
        ('slot 1 of enclosure 0', 'areca,1/0', '/dev/bus/0 enclosure 0', '1'),
        ('port 3', '3ware,3', '/dev/bus/0', '3'),
        ('behind the fan', None, '', 'behind the fan'),
        (None, 'megaraid,4', '/dev/bus/0 slot unknown', ''),
        (None, None, 'slot unknown', ''),
    ],
)
def test_a_drive_is_in_its_enclosure_behind_its_controller(
    bay, kind, enclosure, number
):
    assert page_charts._bay({'bay': bay, 'type': kind, 'device': '/dev/bus/0'}) == (
        enclosure,
        number,
    )


def test_shelves_have_their_drives_by_bay():
    drives = [
        drive(name, bay=bay, device='/dev/bus/0', type=kind)
        for name, bay, kind in (
            ('a', 'enclosure 10 slot 2', ''),
            ('b', 'enclosure 2 slot 10', ''),
            ('c', 'enclosure 2 slot 9', ''),
            ('d', None, 'megaraid,4'),
        )
    ]

    assert [
        (shelf, [(each['name'], each['number']) for each in found])
        for shelf, found in page_charts.shelves(drives)
    ] == [
        ('/dev/bus/0 slot unknown', [('d', '')]),
        ('enclosure 2', [('c', '9'), ('b', '10')]),
        ('enclosure 10', [('a', '2')]),
    ]
    assert page_charts.shelves(drives[3:]) == []


def test_every_drive_with_its_state_is_among_the_bays():
    drives = [
        drive(f'd{number}', bay=f'slot {number}', device='') for number in range(700)
    ]
    drives[9].update(state='WARNING')
    bays = shown(drives).partition('<ul class="bays"')[2].partition('</ul>')[0]

    assert bays.count('<li') == 700 and bays.count('<strong>warning</strong>') == 1
    assert 'href="#drive-8" data-place="8">d8</a>' in bays


def test_the_list_shows_the_action_and_the_reason_of_the_document():
    """All findings are in the row that opens."""
    given = drive(
        'sda', 'replace', 'CRITICAL', to_do='replace it now', reason='16 sectors'
    )
    given.update(
        why='pending 16; old', findings=[{'text': 'pending 16', 'metric': 'pending'}]
    )
    text = shown([given])

    assert '<strong>Replace it now</strong><span>16 sectors</span>' in text
    assert data_of(text)['drives'][0]['findings'] == ['pending 16']
