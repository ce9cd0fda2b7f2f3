"""Who a drive says it is. The errors and the model share it."""
from __future__ import annotations

from .typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Optional


class Identity(NamedTuple):
    """What the drive says it is. Strings are as printed, without outer blanks."""

    protocol: str = ''            # "ATA", "NVMe", "SCSI", or '' when not told
    model: str = ''
    firmware: str = ''
    serial: str = ''
    wwn: str = ''                 # hexadecimal digits: "5000c500a1b2c3d4"
    rotation: Optional[int] = None  # rounds per minute; 0 is a solid state drive; None not told
    capacity: Optional[int] = None  # bytes
    family: str = ''              # smartctl's own database: "Intel 730 and DC S35x0/3610/3700 Series SSDs"
    sector_size: int = 512        # bytes of a logical block
    spins: bool = False           # counts starts of a spindle; asked where the rotation is not told
    physical_block_size: Optional[int] = None  # bytes of a sector as it is on the disk; None not told

    @property
    def kind(self) -> str:
        """One of "hdd", "ssd", "nvme", "sas": what limits are chosen by."""
        if self.protocol == 'NVMe':
            return 'nvme'
        if self.protocol == 'SCSI':
            return 'sas'
        # Drives older than ATA-8 and smartctl older than 5.43 do not tell the rotation.
        return 'hdd' if self.rotation or (self.rotation is None and self.spins) else 'ssd'

    @property
    def plain_model(self) -> str:
        """The model with single blanks, as the patterns of attributes.json name it."""
        return ' '.join(self.model.split())
