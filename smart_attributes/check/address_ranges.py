"""Write addresses of consecutive slots as ranges. Pure."""

import re
from collections.abc import Sequence

_SLOT = re.compile(r'(.*[,/])([0-9]+)(@.*)')


def ranges(addresses: Sequence[str]) -> list[str]:
    """Return the addresses, with consecutive slots of one controller as a range:
    megaraid,0-7@/dev/bus/0.
    """
    written = []
    # what stands before and after the slot -> slots
    slots: dict[tuple[str, str], list[int]] = {}
    for address in addresses:
        parts = _SLOT.fullmatch(address)
        if parts:
            slots.setdefault((parts[1], parts[3]), []).append(int(parts[2]))
        else:
            written.append(address)
    for (head, tail), numbers in slots.items():
        for run in _runs(sorted(numbers)):
            # One or two slots are written one by one. USB ports never become a range, because an
            # adapter has at most two.
            if len(run) >= 3:
                written.append(f'{head}{run[0]}-{run[-1]}{tail}')
            else:
                written += [f'{head}{slot}{tail}' for slot in run]
    return written


def _runs(slots: Sequence[int]) -> list[list[int]]:
    """Return the runs of consecutive slots in sorted ones: [0, 1, 2] and [5] in 0, 1, 2, 5."""
    runs: list[list[int]] = []
    for slot in slots:
        if runs and slot == runs[-1][-1] + 1:
            runs[-1].append(slot)
        else:
            runs.append([slot])
    return runs
