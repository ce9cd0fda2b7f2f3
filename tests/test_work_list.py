"""What to do about a drive, and by when: the same date in triage, page and plan."""

from __future__ import annotations

from typing import Any

import pytest
from cases import case, cases, of_uses, on
from test_severity import FAILED, METRICS, drive, found

from smart_attributes.commands import cases as drive_cases
from smart_attributes.constants import DAY
from smart_attributes.errors import Coded
from smart_attributes.fleet.summary import UNDATED, due
from smart_attributes.fleet.triage_documents import Document, drives
from smart_attributes.knowledge.severity import Alarm
from smart_attributes.model import (
    Case,
    Device,
    Forecast,
    Group,
    Identity,
    Item,
    LastFinding,
    LastVerdict,
    Member,
    Replacement,
    State,
    Verdict,
)
from smart_attributes.output import json_document
from smart_attributes.redundancy import dependence, replacement
from smart_attributes.work import actions, work_list

OK, WARNING, CRITICAL, UNKNOWN = State

NOW = 1_795_348_800  # 2026-11-22
HEALTHY = Verdict(Device('/dev/sda', name='sda'), Identity('ATA', 'ACME X1'), OK)
SOON, FAR = (Forecast(days * DAY, 0, 9, is_estimate=False) for days in (80, 400))
WORN = found('endurance_used', 86, WARNING, '85')
ORDERS = [
    # days left, what to do, the date, the quarter of the plan
    (
        (192,),
        'order a replacement by 2027-03-04 (expected date)',
        '2027-03-04',
        '2027-Q1',
    ),
    (
        (91,),
        'order a replacement by 2026-11-23 (expected date)',
        '2026-11-23',
        '2026-Q4',
    ),
    ((90,), 'order a replacement now', '2026-11-22', 'now'),  # today
    ((0,), 'order a replacement now', '2026-11-22', 'now'),  # used up
    (
        (900, 192),
        'order a replacement by 2027-03-04 (expected date)',
        '2027-03-04',
        '2027-Q1',
    ),
    ((), 'order a replacement', None, UNDATED),
    ((4000,), 'order a replacement', None, UNDATED),  # beyond any plan
]


MIRROR = Group(
    'md0',
    'md0',
    'md',
    'raid1',
    2,
    members=tuple(
        Member(f'{name}1', 'in_sync', slot, (name,))
        for slot, name in enumerate(('sda', 'sdb'))
    ),
    used_as=('/srv',),
)


def lasting(days: tuple[int, ...], verdict: Verdict, **facts: Any) -> Case:
    metrics = ('endurance_used', 'spare_available')
    forecasts = {
        metric: Forecast(each * DAY, each * DAY / 2, each * DAY * 2, False)
        for metric, each in zip(metrics, days)
    }
    return case(verdict, NOW, forecasts=forecasts, **facts)


def of_document(given: dict[str, Any]) -> dict[str, Any]:
    """Return what a fleet makes of a drive of `triage --json`."""
    (only,) = drives(Document('db1', given, NOW), METRICS, NOW)
    return only.facts


@pytest.mark.parametrize('days, to_do, order_by, quarter', ORDERS)
def test_an_order_names_its_date_everywhere(days, to_do, order_by, quarter):
    """The middle of the forecast minus the lead time, where other members have the data."""
    step = Replacement('next', Coded('replace-next', 'md0'))
    worn = lasting(days, drive('sda', WORN), replacement=step)
    shown = json_document.document([worn], (), NOW)
    [listed] = work_list.in_order([worn])
    facts = of_document(shown)

    assert shown['drives'][0]['to_do'] == listed.to_do == facts['to_do'] == to_do
    assert shown['drives'][0]['action'] == facts['action'] == actions.ORDER
    assert due(facts, NOW) == quarter
    assert shown['drives'][0]['order_by'] == order_by


@pytest.mark.parametrize('days, action', [(91, actions.NOTHING), (90, actions.ORDER)])
def test_a_drive_that_is_ok_is_ordered_when_its_date_has_come(days, action):
    """With the reason: the date on which it is used up."""
    told = lasting((days,), drive('sda')).todo

    assert (told.action, '2027-02-20' in told.why) == (action, days == 90)


def test_both_halves_of_a_mirror_are_not_to_be_replaced_at_once():
    """Whoever pulled both removed the last copy."""
    halves = [on(drive(name, FAILED), name) for name in ('sda', 'sdb')]
    found = replacement.machine([MIRROR], work_list.drives(halves, NOW))
    shown = json_document.document(
        of_uses(replacement.uses(halves, found), NOW), (), NOW
    )

    assert [each['action'] for each in shown['drives']] == [actions.COPY, actions.WAIT]
    assert [
        due(of_document({**shown, 'drives': [each]}), NOW) for each in shown['drives']
    ] == ['now'] * 2


@pytest.mark.parametrize(
    'action, label, wanted',
    [
        (actions.REPLACE, 'next', actions.REPLACE),
        (actions.REPLACE, 'copy first', actions.COPY),
        (actions.REPLACE, 'last good copy', actions.KEEP),
        (actions.REPLACE, 'wait', actions.WAIT),
        (actions.NOTHING, 'next', actions.REJOIN),
        (actions.WATCH, 'last good copy', actions.KEEP),
        (actions.NOTHING, 'wait', actions.NOTHING),
        # a good drive that a group has dropped, and that has other data
        (actions.NOTHING, 'copy first', actions.COPY),
        (actions.WATCH, 'unknown', actions.COPY),
        (actions.ORDER, 'last good copy', actions.ORDER),
        (actions.READ, 'next', actions.READ),
    ],
)
def test_the_groups_on_a_drive_change_what_to_do_about_it(action, label, wanted):
    assert work_list.in_its_groups(action, label, 'replace-next') == wanted
    # dropped by an array whose only copy is dying
    if action in (actions.NOTHING, actions.WATCH):
        assert (
            work_list.in_its_groups(action, label, 'copy-other-first') == actions.WAIT
        )


@pytest.mark.parametrize(
    'action, wanted',
    [
        (actions.REPLACE, actions.DRAIN),
        (actions.ORDER_COPY, actions.ORDER),
        (actions.WATCH, actions.WATCH),
        (actions.READ, actions.READ),
    ],
)
def test_a_cluster_copies_its_data_itself(action, wanted):
    assert work_list.in_its_groups(action, 'copy first', 'leave-cluster') == wanted


def test_an_order_of_replacement_knows_which_drives_fail_and_which_are_to_be_replaced():
    silent = HEALTHY._replace(problem='is silent', code='timeout', state=UNKNOWN)
    given = [
        on(drive('a'), 'sda'),
        on(drive('b', WORN), 'sdb'),
        on(silent, 'sdc'),
        on(drive('d', FAILED), 'sdd'),
        on(HEALTHY._replace(problem='is asleep', code='asleep'), 'sde'),
        on(drive('elsewhere', FAILED)),
    ]

    assert [
        (*each.disks, each.is_failing, each.is_to_replace)
        for each in work_list.drives(given, NOW)
    ] == [
        ('sdd', True, True),
        ('sdc', True, False),
        ('sdb', False, True),
        ('sda', False, False),
        ('sde', False, False),
    ]


def test_a_disk_that_was_not_read_is_in_the_list_if_its_group_needs_it():
    kept = replacement.Step(
        replacement.Drive('sdb', frozenset(['sdb']), is_judged=False),
        'last good copy',
        Coded('last-good-copy', 'of md0'),
        (),
    )
    (only,) = work_list.in_order([], replacement.Machine((), (kept,)))

    assert only._replace(to_do='', unknown='') == Item(
        'sdb',
        UNKNOWN,
        actions.KEEP,
        '',
        None,
        0,
        kept.why,
        kept.why,
        step=Replacement(kept.label, kept.why),
    )
    assert only.to_do and only.unknown


def test_the_reason_of_the_groups_stands_behind_that_of_the_drive():
    wait = Replacement('wait', Coded('group-rebuilding', 'md0 rebuilds'))
    failed = drive('sda', FAILED)

    assert (
        case(failed, NOW, replacement=wait).todo.why
        == f'{case(failed, NOW).todo.why}; md0 rebuilds'
    )
    idle = case(drive('sda'), NOW, replacement=wait).todo
    assert idle.why == idle.reason == 'md0 rebuilds'


@pytest.mark.parametrize(
    'shown, action, why',
    [
        (case(HEALTHY, NOW), actions.NOTHING, ''),
        (case(HEALTHY, NOW, forecasts={'endurance_used': FAR}), actions.NOTHING, ''),
        (
            case(
                HEALTHY,
                NOW,
                forecasts={'endurance_used': SOON, 'spare_available': SOON},
            ),
            actions.ORDER,
            'endurance_used: expected to be used up 2027-02-10 (between 2026-11-22 and 2026-11-22); '
            'spare_available: expected to be used up 2027-02-10 (between 2026-11-22 and 2026-11-22)',
        ),
        (
            case(HEALTHY._replace(problem='is asleep', code='asleep'), NOW),
            actions.NOTHING,
            '',
        ),
        (
            case(
                HEALTHY._replace(problem='is silent', code='timeout', state=UNKNOWN),
                NOW,
            ),
            actions.READ,
            'is silent',
        ),
        *(
            (
                case(
                    HEALTHY._replace(problem='is not there', code=code, state=UNKNOWN),
                    NOW,
                ),
                actions.SEARCH,
                'is not there',
            )
            for code in sorted(work_list.MISSING)
        ),
    ],
)
def test_what_to_do_follows_from_state_code_and_forecasts(shown, action, why):
    told = shown.todo

    assert (told.action, told.why) == (action, why)


FIRM, CABLED, WORN_OUT, HOT = (
    Alarm(*each)
    for each in (
        ('firmware', '', WARNING),
        ('cable', 'errors', CRITICAL),
        ('order', 'wear', CRITICAL),
        ('cooling', '', CRITICAL),
    )
)
LOST, BAD, SPARE = (
    Alarm('', concern, WARNING) for concern in ('data', 'errors', 'wear')
)
RISKY, FAULTY = LOST._replace(is_risky=True), LOST._replace(state=CRITICAL)
NEW_MODEL = Alarm('watch', '', WARNING)


@pytest.mark.parametrize(
    'alarms, is_worn, needs',
    [
        ([], False, ['nothing']),
        ([], True, ['order']),
        ([BAD], False, ['watch errors']),
        ([BAD], True, ['watch errors', 'order']),
        ([WORN_OUT], True, ['order wear']),
        ([CABLED, BAD], False, ['cable errors', 'watch errors']),
        ([LOST, CABLED._replace(state=WARNING)], False, ['watch data', 'cable errors']),
        ([CABLED, NEW_MODEL], False, ['cable errors']),  # it is looked at anyway
        ([FIRM, HOT], False, ['firmware', 'cooling']),
        ([LOST, FIRM], False, ['watch data', 'firmware data']),  # after a copy
        ([FIRM, LOST], False, ['firmware data', 'watch data']),
        ([RISKY, FIRM], False, ['order-copy data', 'firmware data']),
        ([WORN_OUT, FIRM], False, ['order wear', 'firmware data']),  # as unsound as any
        ([SPARE, FIRM], False, ['order wear', 'firmware']),
        # not the test as well
        ([HOT, RISKY, LOST], False, ['cooling', 'order-copy data']),
        ([CABLED, FIRM], False, ['cable errors', 'firmware']),
        # includes the rest
        ([FAULTY, WORN_OUT, CABLED, FIRM, BAD], False, ['replace data']),
        # the next drive would be hot, too
        ([FAULTY, HOT], False, ['replace data', 'cooling']),
        ([SPARE], False, ['order wear']),
        ([SPARE._replace(state=CRITICAL)], False, ['replace wear']),
        ([RISKY, SPARE, LOST], True, ['order-copy data']),
        ([WORN_OUT, RISKY], False, ['order wear', 'order-copy data']),
        (
            [HOT, BAD, SPARE, FIRM],
            False,
            ['cooling', 'order wear', 'firmware data', 'watch errors'],
        ),
        ([LOST._replace(state=UNKNOWN), NEW_MODEL], False, ['investigate data']),
    ],
)
def test_the_first_finding_gives_the_action_and_what_else_is_needed_follows(
    alarms, is_worn, needs
):
    told = work_list.of_alarms(alarms, is_worn, ())

    assert [f'{each.code} {each.kind}'.strip() for each in told] == needs


@pytest.mark.parametrize(
    'accepted, kind',
    [
        (LOST, 'data'),
        (BAD, 'data'),
        (WORN_OUT, 'data'),
        (WORN_OUT._replace(state=WARNING), ''),
        (CABLED, ''),
        (HOT, ''),
    ],
)
def test_an_acknowledged_finding_leaves_a_drive_unsound(accepted, kind):
    told = work_list.of_alarms([FIRM], False, [accepted])

    assert told == [work_list.Need('firmware', kind)]


LAST = LastVerdict(
    NOW,
    (
        LastFinding(WARNING, 'pending', 'pending 6', 6, 'order-copy', concern='data'),
        LastFinding(
            WARNING, 'crc_errors', 'crc_errors 40', 40, 'cable', concern='errors'
        ),
    ),
)
WORE_OUT = LastVerdict(
    NOW, (LastFinding(CRITICAL, 'endurance_used', 'endurance_used 97 %', 97, 'order'),)
)
DIED = LastVerdict(
    NOW, (LastFinding(CRITICAL, 'pending', 'pending 800', 800, concern='data'),)
)

BEFORE = 'when last read 1 min ago'


@pytest.mark.parametrize(
    'code, last, codes, reason',
    [
        (
            'timeout',
            LAST,
            ['investigate', 'order-copy', 'cable'],
            'not read',
        ),
        (
            'timeout',
            WORE_OUT,
            ['order', 'investigate'],
            f'endurance_used 97 % {BEFORE}',
        ),
        ('timeout', DIED, ['replace'], f'pending 800 {BEFORE}'),
        ('asleep', LAST, ['order-copy', 'cable'], f'pending 6 {BEFORE}'),
        ('asleep', DIED, ['replace'], f'pending 800 {BEFORE}'),
        ('asleep', None, ['investigate'], 'not read'),
        (
            'drive-missing',
            DIED,
            ['order-search'],
            'not read; pending 800 when last read',
        ),
    ],
)
def test_a_drive_that_was_not_read_has_the_actions_of_its_last_findings(
    code, last, codes, reason
):
    """After those that are CRITICAL, and before the others, it counts that it was not read."""
    silent = HEALTHY._replace(
        problem='not read', code=code, state=UNKNOWN, last=last, step='look'
    )
    told = case(silent, NOW).todo

    assert [told.action, *(each.action for each in told.also)] == codes
    assert told.reason == reason


def test_a_further_action_has_its_date_and_its_place_in_the_order():
    """A hot, worn drive is cooled first; its replacement is planned nevertheless."""
    hot = found('temperature', 90, CRITICAL, '70')
    worn = lasting((192,), drive('sda', hot, WORN))
    told = worn.todo
    shown = json_document.document([worn], (), NOW)

    assert (told.action, [each.action for each in told.also]) == ('cooling', ['order'])
    assert told.order_by == told.also[0].to_do.split()[4] == '2026-11-28'
    assert due(of_document(shown), NOW) == '2026-Q4'
    cable = drive('sdb', found('crc_errors', 9, CRITICAL, '1'))
    assert [each.drive for each in work_list.in_order([case(cable, NOW), worn])] == [
        'sda',
        'sdb',
    ]


@pytest.mark.parametrize(
    'action, left, due',
    [
        ('watch', [10 * DAY], ('look again in a month', '2026-11-22')),
        ('watch', [], ('look again in a month', None)),
        ('replace', [400 * DAY], ('replace it now', None)),
        (
            'order-copy',
            [],
            ('copy the data now, and order a replacement', '2026-11-22'),
        ),
    ],
)
def test_the_date_of_an_order_stands_in_words_only_where_it_is_the_action(
    action, left, due
):
    assert work_list.due(action, left, NOW) == due


@pytest.mark.parametrize(
    'label, to_do',
    [
        (None, '2026-11-28 (earliest'),
        ('copy first', '2026-11-28 (earliest'),
        ('next', '2027-03-04 (expected'),
        ('wait', '2027-03-04 (expected'),
    ],
)
def test_without_redundancy_the_earliest_end_of_a_forecast_counts(label, to_do):
    step = label and Replacement(label, Coded('replace-next', 'y'))
    told = lasting((192,), drive('sda', WORN), replacement=step).todo

    assert to_do in told.to_do


def test_a_last_copy_that_is_dying_is_copied():
    last = Replacement('last good copy', Coded('last-good-copy', 'of md0'))
    found = [
        case(each, NOW, replacement=last).todo
        for each in (drive('sda', FAILED), drive('sdb'))
    ]

    assert [each.action for each in found] == ['do-not-remove', 'do-not-remove']
    assert [each.to_do.startswith('copy') for each in found] == [True, False]


def test_what_is_not_known_stands_beside_the_action():
    """A drive whose disk is not in /sys is in the work list all the same."""
    lost, recorded = drive('sda', FAILED), drive('sdb', FAILED)
    recorded = recorded._replace(device=recorded.device._replace(is_recorded=True))
    found = work_list.in_order(cases([drive('sdc'), recorded, lost], NOW))

    doubtful = Replacement('unknown', Coded('redundancy-doubtful', 'md0 differs'))

    assert 'uncertain' in case(lost, NOW, replacement=doubtful).todo.unknown
    assert [(each.drive, each.unknown[:9]) for each in found] == [
        ('sda', 'it is not'),
        ('sdb', ''),
        ('sdc', ''),
    ]


def test_a_reason_has_at_most_sixty_characters():
    told = case(drive('sda', FAILED, found('vendor_threshold', 0, CRITICAL)), NOW).todo

    assert len(told.reason) <= 60 and told.reason.startswith('smart_status: in words')


def test_an_unknown_drive_with_an_old_finding_names_it():
    """It stopped reporting its status: see last_verdict.with_status()."""
    verdict = drive('sda', found('pending', 9, State.WARNING))
    verdict = verdict._replace(state=State.UNKNOWN)

    assert case(verdict).todo.reason == 'pending 9'


def test_the_table_of_actions_names_each_code_of_a_remedy():
    remedies = {each.remedy for each in METRICS.values() if each.remedy}

    assert remedies == {
        'cable',
        'firmware',
        'cooling',
        'order',
        'watch',
    } and remedies <= set(actions.CODES)
    assert sorted(actions.CODES, key=actions.urgency) == list(actions.CODES)
    assert {
        each
        for name, each in vars(actions).items()
        if name.isupper() and isinstance(each, str)
    } == {*actions.CODES, actions.FAILING}


# --- drives of an array that another service checks -----------------------------------------------


@pytest.mark.parametrize(
    'others, label, code',
    [
        ([], 'unknown', 'members-not-checked'),
        ([('/dev/sdb', OK)], 'next', 'replace-next'),
        ([('/dev/sdb', WARNING)], 'next', 'replace-next'),
        ([('/dev/sdb', CRITICAL)], 'copy first', 'data-at-risk'),
        ([('/dev/sdc', OK)], 'unknown', 'members-not-checked'),
        ([('/dev/sda', OK)], 'unknown', 'members-not-checked'),
    ],
)
def test_one_service_per_drive_knows_the_other_members_by_their_last_state(
    others, label, code
):
    """Two services that each see half of a mirror must not both say "replace now"."""
    failing = [on(drive('sda', FAILED), 'sda')]
    others_of_run = drive_cases.drives_elsewhere(others)
    disks = [(other.device.path[5:],) for other in others_of_run]
    drives = dependence.with_others(
        work_list.drives(failing, NOW), others_of_run, disks
    )
    found = replacement.machine([MIRROR], drives)
    (use,) = replacement.uses(failing, found)

    assert (use.replacement.label, use.replacement.why.code) == (label, code)
