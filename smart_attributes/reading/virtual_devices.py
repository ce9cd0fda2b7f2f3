"""Recognize devices that answer but are not drives: RAID volumes, virtual disks, optical drives. Pure."""
from __future__ import annotations

import re

from ..errors import DriveIsNoDrive
from ..words import clean

# Models of virtual disks without SMART, by hypervisor, in full as smartctl prints them; with SCSI, the vendor comes
# first. A virtual disk that reports health data is judged like any drive.
VIRTUAL_DISKS = {
    # QEMU, hw/ide/core.c, hw/scsi/scsi-disk.c, hw/nvme/ctrl.c; smartctl 7.3 in such a guest
    'QEMU/KVM': ('QEMU HARDDISK', 'QEMU QEMU HARDDISK', 'QEMU NVMe Ctrl'),
    # logs of guests: "Direct-Access VMware Virtual disk", "Disk model: VMware Virtual NVMe Disk"
    'VMware': ('VMware Virtual disk', 'VMware, VMware Virtual S', 'VMware Virtual SATA Hard Drive',
               'VMware Virtual IDE Hard Drive', 'VMware Virtual NVMe Disk'),
    # logs of guests: "Direct-Access Msft Virtual Disk"; Microsoft, Azure documentation on NVMe disks
    'Hyper-V': ('Msft Virtual Disk', 'MSFT Virtual Disk', 'Virtual HD', 'MSFT NVMe Accelerator v1.0'),
    'Xen': ('XENSRC PVDISK',),  # XenServer, INQUIRY data of its paravirtual disks; /dev/xvdX never answers smartctl
    'VirtualBox': ('VBOX HARDDISK', 'ORCL-VBOX-NVME-VER12'),  # VirtualBox, DevATA.cpp, DrvSCSI.cpp, DevNVMe
    'bhyve': ('BHYVE SATA DISK', 'bhyve-NVMe'),  # FreeBSD, usr.sbin/bhyve/pci_ahci.c, pci_nvme.c
    # logs of instances: "Direct-Access Google PersistentDisk"
    'Google Cloud': ('Google PersistentDisk', 'Google EphemeralDisk', 'nvme_card-pd'),
    'Amazon EC2': ('Amazon Elastic Block Store',)}  # AWS, "Identify the EBS device": the model in Identify Controller
_BY_MODEL = {model.upper(): hypervisor for hypervisor, models in VIRTUAL_DISKS.items() for model in models}

# Types of block devices that never have SMART. FreeBSD's names: cd(4), sa(4) and ses(4), which its scan lists.
_PATHS = (
    (r'/dev/(?:sr|scd|cdrom)[^/]*|/dev/cd[0-9]+', 'an optical drive'),
    (r'/dev/ses[0-9]+', 'an enclosure'),
    (r'/dev/(?:vd|xvd)[a-z][^/]*', 'a virtual disk (virtio or Xen)'),
    (r'/dev/n?s[at][0-9][^/]*', 'a tape drive'),
    (r'/dev/z?ram[^/]*', 'memory'),
    (r'/dev/fd[^/]*', 'a floppy drive'),
    (r'/dev/(?:loop|md|dm-|mapper/|bcache|zd)[^/]*', 'a device made of files or other disks'),
    (r'/dev/(?:nbd|d?rbd)[^/]*|/dev/disk/by-path/.*iscsi.*', 'a network disk'),
)

# SCSI peripheral device types that can have SMART. Source: SPC-5, table "Peripheral device type".
_DISK_TYPES = ('', 'disk', 'simplified disk', 'host managed zoned block device', 'object based storage')
_VOLUME = r'(?i)\b(?:logical volume|virtual[ _-]?di[sc]k|raid\w*|volume|vdisk|lun)\b'
_OPTICAL = r'(?i)\b(?:DVD|BD|CD)(?:[-_ +]?(?:ROM|RW?|RAM|RE|WRITER))?\b'
# A logical unit name of NAA format 6 has 32 digits and belongs to a controller's volume; a drive has one of 16 digits.
# Source: SPC-5, 7.7.6.6 "NAA designator format".
_NAA_6 = r'(?i)6[0-9a-f]{31}'


def of_path(path: str) -> str:
    """Return the type of a device without SMART by its path: "an optical drive"; '' if it may be a drive."""
    return next((kind for pattern, kind in _PATHS if re.fullmatch(pattern, path)), '')


def virtual_disk(model: str) -> DriveIsNoDrive | None:
    """Return the error for a virtual disk, or None if its model is not in the list."""
    hypervisor = _BY_MODEL.get(' '.join(model.split()).upper())
    return DriveIsNoDrive(f'is a virtual disk of {hypervisor}, so it has no SMART; check the drives on the '
                          f'host', 'virtual-disk') if hypervisor else None


def not_a_drive(model: str, kind: str, transport: str, unit_id: str) -> DriveIsNoDrive | None:
    """Return why this SCSI device has no SMART of its own, or None if it may be a drive.

    kind: the peripheral device type as smartctl names it: "disk", "CD/DVD".
    transport: "iSCSI", "SAS (SPL-4)". unit_id: hexadecimal digits.
    """
    if kind not in _DISK_TYPES:
        return DriveIsNoDrive(f'is not a disk ({clean(kind)}), so it has no SMART')
    if transport.lower().startswith('iscsi'):
        return DriveIsNoDrive('is an iSCSI volume; check its drives in the storage system',
                              'iscsi-volume')
    if re.search(_OPTICAL, model):
        return DriveIsNoDrive('is an optical drive, so it has no SMART')
    if re.search(_VOLUME, model) or re.fullmatch(_NAA_6, unit_id):
        return DriveIsNoDrive('is a RAID volume or virtual disk, not a drive, so it has no SMART; address the drives '
                              'behind it, for example megaraid,N@/dev/bus/0 or cciss,N@/dev/sg0 (see smartctl --scan)',
                              'raid-volume')
    return None
