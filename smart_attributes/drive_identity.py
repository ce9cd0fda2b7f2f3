"""The identity of a drive, shared by `errors` and `model`."""
from __future__ import annotations

from .typed import NamedTuple


class Identity(NamedTuple):
    """The identity that a drive reports. Strings are as smartctl prints them, without blanks at their ends."""

    protocol: str = ''            # "ATA", "NVMe", "SCSI", or '' if not reported
    model: str = ''
    firmware: str = ''
    serial: str = ''
    wwn: str = ''                 # hexadecimal digits: "5000c500a1b2c3d4"
    rotation: int | None = None   # revolutions per minute; 0 is a solid state drive; None if not reported
    capacity: int | None = None   # bytes
    family: str = ''              # smartctl's own database: "Intel 730 and DC S35x0/3610/3700 Series SSDs"
    sector_size: int = 512        # bytes of a logical block
    spins: bool = False           # counts spindle starts; for drives that do not report the rotation
    physical_block_size: int | None = None  # bytes of a physical sector; None if not reported

    @property
    def kind(self) -> str:
        """The kind that decides which limits apply: "hdd", "ssd", "nvme" or "sas"."""
        if self.protocol == 'NVMe':
            return 'nvme'
        if self.protocol == 'SCSI':
            return 'sas'
        # Drives older than ATA-8 and smartctl older than 5.43 do not report the rotation.
        return 'hdd' if self.rotation or (self.rotation is None and self.spins) else 'ssd'

    @property
    def plain_model(self) -> str:
        """The model with single blanks, as in the patterns of attributes.json."""
        return ' '.join(self.model.split())
