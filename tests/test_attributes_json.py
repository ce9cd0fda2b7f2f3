"""The shipped database validates itself, with the function that contributors run."""

import pytest
from shipped import DATABASE

from smart_attributes.devtools import validate
from smart_attributes.knowledge import readings, shipped_data
from smart_attributes.model import AttributeRow, Identity, Report, State, Statistic


def test_the_database_proves_itself():
    """Schema, metrics, documents, overlaps, samples: no problem."""
    assert validate.examine([shipped_data.path('attributes.json')]).problems == []


# (model, attribute numbers by which its entry is known, the attribute with the capacitor test)
LENOVO = ('SSDSC2KB480G8L 01PE333D7A09691LEN', (233, 235, 237))
CAPACITOR_TESTS = [
    ('INTEL SSDSC2BB240G4', (175,), 175),
    ('INTEL SSDSC2KB480G8', (175, 235), 175),
    ('SSDSC2KB480G8R', (179, 201, 245), 201),
    (*LENOVO, 235),
    (*LENOVO, 237),
]


@pytest.mark.parametrize(
    'value, state, word',
    [
        (100, State.OK, 'passed'),
        (11, State.WARNING, 'not tested, because too hot'),
        (1, State.CRITICAL, 'failed'),
    ],
    ids=['ok-passed', 'warn-too-hot', 'crit-failed'],
)
@pytest.mark.parametrize(
    'model, attributes, number',
    CAPACITOR_TESTS,
    ids=['175', '175-beside-235', '201-dell', '235-lenovo', '237-lenovo'],
)
def test_power_loss_cap_test_is_understood_under_every_number(
    model, attributes, number, value, state, word
):
    """A failed capacitor loses data at the next power cut; its attribute has four numbers."""
    rows = {
        n: AttributeRow(n, f'Attribute_{n}', 100, 100, 0, False, '', '0')
        for n in attributes
    }
    copy = AttributeRow(
        0, 'Power_Loss_Cap_Test', value, value, 10, True, '', '640 (409 5906)'
    )
    # Where the drive keeps a second copy, the first one is unreadable here.
    if 235 in rows:
        rows[235] = AttributeRow(
            235, 'PLP_Tests_Min_Us', None, None, None, True, '', '-'
        )
    rows[number] = copy._replace(id=number)
    identity = Identity(protocol='ATA', model=model, firmware='1', rotation=0)
    report = Report(identity, attributes=tuple(rows.values()))

    spec = DATABASE.identify(identity, [row.id for row in report.attributes])
    found = {
        reading.metric: reading
        for reading in readings.vendor_readings(report, spec, DATABASE.metrics)
    }

    assert (
        found['power_loss_protection'].state,
        found['power_loss_protection'].verdict,
    ) == (
        state,
        word,
    )
    assert found['capacitor_test_result'].number == pytest.approx(640e-6)


# --- what a drive says and nobody should believe --------------------------------------------


def judged(model, firmware, attributes, statistics):
    """Return the number that is judged of each metric. attributes: (number, value, raw)."""
    identity = Identity(protocol='ATA', model=model, firmware=firmware, rotation=0)
    rows = tuple(
        AttributeRow(number, '', value, value, 1, False, '', raw)
        for number, value, raw in attributes
    )
    report = Report(
        identity,
        attributes=rows,
        statistics={place: Statistic(count, '') for place, count in statistics.items()},
    )
    spec = DATABASE.identify(identity, [row.id for row in rows])
    return {
        reading.metric: reading.number
        for reading in readings.readings(report, spec, DATABASE.metrics)
        if reading.judged
    }


ENDURANCE, UNCORRECTABLE = (7, 0x008), (4, 0x008)


@pytest.mark.parametrize(
    'value, cycles, used',
    [(51, '748', 49), (0, '2107', pytest.approx(140.5, abs=0.1))],
)
def test_wear_of_a_crucial_bx500_is_that_of_its_flash(value, cycles, used):
    """Firmware M6CR013 states 235 % of both; where the value has stopped at 0, the erased blocks
    go on.
    """
    found = judged(
        'CT120BX500SSD1',
        'M6CR013',
        [(173, 100, cycles), (202, value, str(value))],
        {ENDURANCE: 235},
    )

    assert found['endurance_used'] == used


def test_uncorrectable_errors_that_come_in_163_are_no_count():
    """The statistic of SanDisk's CloudSpeed drives: 489 and 652 on drives without one such
    error.
    """
    rows = [
        (1, 100, '0'),
        (5, 100, '0'),
        (9, 100, '1'),
        (177, 100, '93'),
        (245, 100, '7'),
    ]

    assert (
        judged('SDLFOCAM-800G-1HA1', '', rows, {UNCORRECTABLE: 652})[
            'reported_uncorrect'
        ]
        == 0
    )


def test_two_words_of_one_count_are_one_count():
    """196611 is 3 and 3."""
    rows = [(5, 100, '0'), (9, 100, '1'), (184, 100, '196611'), (233, 100, '0')]

    assert judged('INTEL SSDSC2KW256G8', 'LHF002C', rows, {})['e2e_error'] == 3


@pytest.mark.parametrize(
    'model, firmware, hours',
    [
        ('SanDisk LT0400MO', 'D414', 40000),
        ('SanDisk SDLTODKM-400G-5C', 'C403', 40000),
        ('SanDisk SDLTOCKM-016T-5C', 'C401', 40000),
        ('SanDisk SDLTODKM-400G-5C', 'C405', None),
        ('SanDisk SDLTODKM-800G-5C', 'C403', None),
    ],
)
def test_the_drives_that_die_at_40000_hours_are_known_under_every_name(
    model, firmware, hours
):
    """One maker's defect, with the revisions of each server maker."""
    found = DATABASE.advisories(
        Identity(protocol='SCSI', model=model, firmware=firmware)
    )

    assert [advisory.hour for advisory in found] == ([hours] if hours else [])
