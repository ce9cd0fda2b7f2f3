"""Derive the sector size of a disk from its counts, for collections that do not give it.

A disk with physical sectors of 4 KiB that counts logical sectors of 512 B loses eight at once. Measured on 52,320 and
18,433 hard disks: by model, either nearly all counts are multiples of eight, or about one in eight, as by chance.
"""
from collections import Counter
from typing import Dict, Mapping, Optional

LOGICAL, PHYSICAL = 512, 4096
IN_EIGHTS = PHYSICAL // LOGICAL
# Pending sectors first: Hitachi's designs count pending sectors in logical sectors, but reallocated ones in physical
# sectors. Dell uses 196 in place of 5.
ATTRIBUTES = (197, 5, 196)


class Sizes:
    """Sector sizes by model, derived from the counts of the drives of a file."""

    def __init__(self) -> None:
        self._drives: Dict[int, Counter[str]] = {attribute: Counter() for attribute in ATTRIBUTES}
        self._in_eights: Dict[int, Counter[str]] = {attribute: Counter() for attribute in ATTRIBUTES}

    def add(self, model: str, counts: Mapping[int, int]) -> None:
        """Add the counts of one drive. counts: raw numbers by attribute."""
        for attribute in ATTRIBUTES:
            if counts.get(attribute):
                self._drives[attribute][model] += 1
                self._in_eights[attribute][model] += counts[attribute] % IN_EIGHTS == 0

    def physical(self, model: str) -> Optional[int]:
        """Return the size of a physical sector in bytes.

        None if no drive of the model has lost a sector; its size then has no effect.
        """
        for attribute in ATTRIBUTES:
            drives = self._drives[attribute][model]
            if drives:
                return PHYSICAL if 2 * self._in_eights[attribute][model] > drives else LOGICAL
        return None
