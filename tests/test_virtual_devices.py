"""no_drives: volumes, virtual disks and optical drives are told from drives."""

import csv
import json

import pytest
from conftest import ROOT

from smart_attributes.errors import DriveIsNoDrive
from smart_attributes.reading import json_report, text_report
from smart_attributes.reading.addresses import of_path
from smart_attributes.reading.failure_reasons import (
    VIRTUAL_DISKS,
    not_a_drive,
    virtual_disk,
)


@pytest.mark.parametrize(
    'model, unit',
    [
        ('SEAGATE ST600MM0006', '5000c5004a5b6c7d'),
        ('SAMSUNG MZILT3T8HALS/007', ''),
        ('HGST HUC101812CSS204', '60000000000000000'),
    ],
)
def test_a_sas_drive_is_a_drive(model, unit):
    """A wrong "no drive" would hide it for ever."""
    assert not_a_drive(model, 'disk', 'SAS (SPL-4)', unit) is None


# What smartctl 7.3 prints of a virtio-scsi disk in a guest of QEMU 7.2.
QEMU = {
    'json_format_version': [1, 0],
    'smartctl': {'version': [7, 3], 'exit_status': 4},
    'device': {'name': '/dev/sda', 'type': 'scsi', 'protocol': 'SCSI'},
    'scsi_vendor': 'QEMU',
    'scsi_product': 'QEMU HARDDISK',
    'scsi_model_name': 'QEMU QEMU HARDDISK',
    'scsi_revision': '2.5+',
    'device_type': {'scsi_value': 0, 'name': 'disk'},
    'temperature': {'current': 0},
}
VBOX = {
    'json_format_version': [1, 0],
    'smartctl': {'version': [7, 3], 'exit_status': 4},
    'device': {'name': '/dev/sda', 'type': 'sat', 'protocol': 'ATA'},
    'model_name': 'VBOX HARDDISK',
    'serial_number': 'VB0d1e2f30-41526374',
    'smart_support': {'available': False},
}
VBOX_TEXT = """smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)
=== START OF INFORMATION SECTION ===
Device Model:     VBOX HARDDISK
Serial Number:    VB0d1e2f30-41526374
SMART support is: Unavailable - device lacks SMART capability.
"""


@pytest.mark.parametrize(
    'report, hypervisor',
    [
        (json.dumps(QEMU), 'QEMU/KVM'),
        (json.dumps(VBOX), 'VirtualBox'),
        (VBOX_TEXT, 'VirtualBox'),
    ],
)
def test_a_virtual_disk_is_known_as_one(report, hypervisor):
    """A scan in such a guest was UNKNOWN for ever."""
    with pytest.raises(DriveIsNoDrive, match=f'disk of {hypervisor}') as caught:
        (json_report.parse if report.startswith('{') else text_report.parse_text)(
            report
        )

    assert caught.value.identity.model


def test_an_emulated_disk_that_tells_of_its_health_is_judged():
    """QEMU's NVMe drives have a health log, and somebody may have put a warning into it."""
    report = json_report.parse(
        json.dumps(
            {
                'json_format_version': [1, 0],
                'smartctl': {'version': [7, 3], 'exit_status': 8},
                'device': {'name': '/dev/nvme0', 'type': 'nvme', 'protocol': 'NVMe'},
                'model_name': 'QEMU NVMe Ctrl',
                'smart_status': {'passed': False, 'nvme': {'value': 4}},
                'nvme_smart_health_information_log': {'critical_warning': 4},
            }
        )
    )

    assert report.smart_status is False


@pytest.mark.parametrize('hypervisor', VIRTUAL_DISKS)
def test_every_virtual_disk_is_known_by_its_model(hypervisor):
    """A wrong name would hide a drive."""
    errors = [virtual_disk(model) for model in VIRTUAL_DISKS[hypervisor]['models']]

    assert errors and {error.code for error in errors} == {'virtual-disk'}
    assert all(hypervisor in str(error) for error in errors)


def test_no_measured_drive_is_a_virtual_disk():
    """Models of real drives, thousands of them."""
    with open(ROOT / 'tests/models.csv', newline='') as file:
        models = {row['model'] for row in csv.DictReader(file)}

    assert len(models) > 1000
    assert [model for model in models if virtual_disk(model)] == []


@pytest.mark.parametrize(
    'path, what',
    [
        ('/dev/sr0', 'optical'),
        ('/dev/vda', 'virtio'),
        ('/dev/xvda1', 'Xen'),
        ('/dev/md127', 'other disks'),
        ('/dev/dm-3', 'other disks'),
        ('/dev/mapper/vg-root', 'other disks'),
        ('/dev/nbd0', 'network disk'),
        ('/dev/rbd1', 'network disk'),
        ('/dev/nst0', 'tape'),
        ('/dev/zram0', 'memory'),
        ('/dev/disk/by-path/ip-10.0.0.1:3260-iscsi-x', 'network disk'),
    ],
)
def test_a_path_may_tell_that_there_is_no_drive(path, what):
    """Before anything is asked."""
    assert what in of_path(path)


@pytest.mark.parametrize(
    'path',
    [
        '/dev/sda',
        '/dev/sdst',
        '/dev/nvme0',
        '/dev/sg3',
        '/dev/bus/0',
        '/dev/disk/by-id/ata-X',
    ],
)
def test_paths_of_drives_are_none_of_these(path):
    """A wrong "no drive" would hide it for ever."""
    assert of_path(path) == ''


VOLUME = 'is a RAID volume or virtual disk without SMART; name the drives behind it (smartctl --scan)'


@pytest.mark.parametrize(
    'answer, code, words',
    [
        (
            ('X1', 'CD/DVD', '', ''),
            'not-a-drive',
            'is not a disk (CD/DVD), so it has no SMART; exclude it: --ignore PATH',
        ),
        (
            ('X1', 'disk', 'iSCSI', ''),
            'iscsi-volume',
            'is an iSCSI volume; check its drives in the storage system',
        ),
        (
            ('X DVD-ROM', '', '', ''),
            'not-a-drive',
            'is an optical drive, so it has no SMART; exclude it: --ignore PATH',
        ),
        (('LSI Logical Volume', 'disk', 'SAS (SPL-4)', ''), 'raid-volume', VOLUME),
        (('QEMU Virtual disk', 'disk', '', ''), 'raid-volume', VOLUME),
        (('X1', '', '', '6' + '0' * 31), 'raid-volume', VOLUME),
    ],
)
def test_an_answer_that_no_drive_gives_has_a_sentence_and_its_code(answer, code, words):
    """Left out of a scan; named as such when asked for."""
    error = not_a_drive(*answer)

    assert (error.code, str(error)) == (code, words)


@pytest.mark.parametrize(
    ('lines', 'is_volume'),
    [
        ('Elements in grown defect list: 0', True),
        ('', True),
        (
            'Elements in grown defect list: 0\nPercentage used endurance indicator: 3%',
            False,
        ),
    ],
)
def test_a_volume_that_reports_values_like_a_drive_is_no_drive(lines, is_volume):
    """Its OK covers no drive behind the controller; a drive reports its errors, too."""
    text = f"""Vendor:               Areca
Product:              ARC-1110-VOL#00
Device type:          disk
Transport protocol:   Fibre channel (FCP-2)
SMART Health Status: OK
Current Drive Temperature:     30 C
Drive Trip Temperature:        25 C
{lines}
"""
    if not is_volume:
        assert text_report.parse_text(text).smart_status
        return
    with pytest.raises(DriveIsNoDrive) as error:
        text_report.parse_text(text)
    assert error.value.code == 'raid-volume'
    assert (
        text_report.parse_text(
            text.replace('Status: OK', 'Status: FAILED')
        ).smart_status
        is False
    )
