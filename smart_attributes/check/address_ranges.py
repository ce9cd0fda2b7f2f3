"""Write addresses of consecutive slots as ranges. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

# this many consecutive slots are written as a range; the numbers of a type without slots, such as
# those of a USB port, are fewer
AT_LEAST = 3
_SLOT = re.compile(r'(.*[,/])([0-9]+)(@.*)')


def ranges(addresses: Sequence[str]) -> list[str]:
    """Return the addresses, with consecutive slots of one controller as a range:
    megaraid,0-7@/dev/bus/0.
    """
    written: list[str] = []
    # what stands before and after the slot -> slots
    slots: dict[tuple[str, str], list[int]] = {}
    for address in addresses:
        parts = _SLOT.fullmatch(address)
        if parts:
            slots.setdefault((parts[1], parts[3]), []).append(int(parts[2]))
        else:
            written.append(address)
    for (head, tail), numbers in slots.items():
        # in a run of consecutive slots, slot and place differ by the same number
        places = enumerate(sorted(numbers))
        for _, pairs in groupby(places, key=lambda pair: pair[1] - pair[0]):
            run = [str(slot) for _, slot in pairs]
            if len(run) >= AT_LEAST:
                run = [f'{run[0]}-{run[-1]}']
            written += [f'{head}{slots_or_slot}{tail}' for slots_or_slot in run]
    return written
