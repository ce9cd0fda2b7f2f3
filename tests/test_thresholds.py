"""Which limit holds for a drive, and who set it."""
import pytest

from smart_attributes.errors import DataError
from smart_attributes.knowledge.thresholds import CommandLineLimits, DriveLimit, Thresholds, check_ranges, selects
from smart_attributes.model import Device, Identity

DEFAULT = {'roles': {'endurance_used': {'warning': '85', 'critical': '95', 'graph': True, 'why': 'rated life'},
                     'temperature': {'hdd': {'warning': '50'},
                                     'ssd': {'warning': {'drive': 'temperature_limit', 'minus': 10, 'else': '60'}}}}}
SDA = Device('/dev/sda', name='sda')
SSD = Identity(protocol='ATA', model='INTEL SSDSC2BB240G4', serial='EXAMPLE0001', rotation=0)
HDD = Identity(protocol='ATA', model='ST4000NM0035', serial='EXAMPLE0002', rotation=7200)
FAMILY = 'Intel DC S3500'


def override(selector, warning=None, **more):
    return {'for': selector, 'why': 'because we said so', 'roles': {'endurance_used': {'warning': warning}}, **more}


def warning_of(*overrides, command_line=None, roles=None, today=''):
    site = {'overrides': list(overrides), **({'roles': roles} if roles else {})}
    limits = Thresholds(DEFAULT, [('site.json', site)], CommandLineLimits(command_line or {}, {}), today)
    limit = limits.limit('endurance_used', SDA, SSD, FAMILY)
    return limit.warning, limit.warning_origin


def test_without_a_site_file_the_default_holds():
    """And says where it comes from."""
    assert Thresholds(DEFAULT).limit('endurance_used', SDA, SSD, FAMILY)[:5] == ('85', '95', 'default.json', 'default.json', True)


def test_the_most_telling_level_wins():
    """Command line, serial, device, model, family, role: each beats the next."""
    levels = [override({'serial': 'EXAMPLE0001'}, '1'), override({'device': '/dev/sda'}, '2'), override({'model': 'INTEL.*'}, '3'),
              override({'family': FAMILY}, '4')]

    assert warning_of(*levels, command_line={'endurance_used': '0'}, roles={'endurance_used': {'warning': '5'}})[0] == '0'
    for place, expected in enumerate('1234'):
        assert warning_of(*levels[place:], roles={'endurance_used': {'warning': '5'}})[0] == expected
    assert warning_of(roles={'endurance_used': {'warning': '5'}}) == ('5', 'site.json')


def test_levels_are_merged_field_by_field():
    """An override of the warning leaves the critical limit alone."""
    limit = Thresholds(DEFAULT, [('site.json', {'overrides': [override({'serial': 'EXAMPLE0001'}, '70')]})]).limit(
        'endurance_used', SDA, SSD, FAMILY)

    assert (limit.warning, limit.critical, limit.critical_origin) == ('70', '95', 'default.json')


def test_null_means_never_and_is_not_the_same_as_left_out():
    """Somebody decided that this role is only graphed."""
    limit = Thresholds(DEFAULT, [('site.json', {'overrides': [override({'serial': 'EXAMPLE0001'}, None)]})]).limit(
        'endurance_used', SDA, SSD, FAMILY)

    assert limit.warning is None and 'warning' in limit.set_fields and limit.is_graphed


def test_two_equals_that_disagree_are_an_error_that_names_both():
    """The order in a file must not decide."""
    with pytest.raises(DataError, match=r'endurance_used, warning: .*model INTEL\.\* and .*model \.\*C2BB\.\* disagree'):
        warning_of(override({'model': 'INTEL.*'}, '70'), override({'model': '.*C2BB.*'}, '80'))


def test_two_equals_that_agree_are_none():
    """Nothing is wrong with saying it twice."""
    assert warning_of(override({'model': 'INTEL.*'}, '70'), override({'model': '.*C2BB.*'}, '70'))[0] == '70'


def test_an_override_ends_with_its_date_and_says_so():
    """Accepted until the end of January is not accepted in February."""
    until = override({'serial': 'EXAMPLE0001'}, '99', until='2027-01-31')

    assert warning_of(until, today='2027-01-31')[0] == '99'
    assert warning_of(until, today='2027-02-01')[0] == '85'
    assert Thresholds(DEFAULT, [('site.json', {'overrides': [until]})], today='2027-02-01').over(SDA, SSD, FAMILY) == [
        'site.json: the override for serial EXAMPLE0001 ended on 2027-01-31']


def test_a_kind_has_its_own_limits():
    """60 degrees are hot for a hard disk and nothing for an NVMe drive."""
    limits = Thresholds(DEFAULT)

    assert limits.limit('temperature', SDA, HDD, '').warning == '50'
    assert limits.limit('temperature', SDA, SSD, '').warning == DriveLimit('temperature_limit', -10, '60')


@pytest.mark.parametrize(('selector', 'fits'), [
    ({'serial': 'EXAMPLE0001'}, True), ({'serial': ''}, False), ({'device': 'sda'}, True), ({'device': '/dev/sda'}, True),
    ({'device': '/dev/sdb'}, False), ({'model': 'INTEL SSDSC2BB.*'}, True), ({'model': 'INTEL'}, False), ({'family': FAMILY}, True),
    ({'serial': 'EXAMPLE0001', 'device': '/dev/sdb'}, False)], ids=str)
def test_every_key_of_a_selector_must_fit(selector, fits):
    """A model pattern matches the whole name, as everywhere."""
    assert selects(selector, SDA, SSD, FAMILY) is fits


def test_a_drive_behind_a_controller_is_not_named_by_the_controllers_path():
    """/dev/bus/0 is many drives."""
    slot = Device('/dev/bus/0', 'megaraid,6', 'bus_0_megaraid_6')

    assert not selects({'device': '/dev/bus/0'}, slot, SSD, '')
    assert selects({'device': 'megaraid,6@/dev/bus/0'}, slot, SSD, '')


def test_exceptions_before_reading_need_the_device():
    """A drive that must not be read cannot be asked for its model."""
    site = {'overrides': [{'for': {'device': '/dev/sda'}, 'why': 'reading it loses data', 'read': False},
                          {'for': {'device': '/dev/sdb'}, 'why': 'hangs on its self-test log', 'skip': ['selftest']}]}
    limits = Thresholds({}, [('site.json', site)])

    assert limits.exceptions(SDA, Identity(), '').is_read is False
    assert limits.exceptions(Device('/dev/sdb', name='sdb'), Identity(), '').skipped_logs == {'selftest'}


@pytest.mark.parametrize(('data', 'words'), [
    ({'roles': {'pending': {'hdd': {'warning': '5 sectors'}}}}, 'site.json: roles, pending, hdd, warning: "5 sectors"'),
    ({'roles': {'spare_available': {'critical': {'drive': 'threshold', 'else': '10%'}}}}, 'spare_available, critical: "10%"'),
    ({'overrides': [override({'serial': 'A'}, '9:1')]}, 'override for serial A, endurance_used, warning: "9:1"'),
    ({'overrides': [override({'model': '('}, '9')]}, 'model "("')], ids=['kind', 'else', 'override', 'pattern'])
def test_a_range_that_is_none_is_named_with_its_place(data, words):
    """A limit that silently never alarms is worse than none."""
    with pytest.raises(DataError) as caught:
        check_ranges('site.json', data)

    assert words in str(caught.value)
