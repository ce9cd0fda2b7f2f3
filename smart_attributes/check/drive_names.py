"""The names of a drive: a command accepts any identifier of a drive that an earlier output
contained. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..errors import UsageError
from ..model import Device, Identity
from ..reading.addresses import FOLDER, quoted, slug
from ..typed import Any, NamedTuple
from ..wording import listed
from ..words import clean

# prefixes in outputs, udev, controllers and other tools
_WWN = ('', '0x', 'naa.', 'eui.', 'wwn-0x')
_SHOWN = 10  # maximum number of names in a message
_COMPARED = 2000  # names that a mistyped name is compared with


class Named(NamedTuple):
    """A drive with its names."""

    address: str  # complete: "megaraid,4@/dev/bus/0", or "web1:sda" in a fleet
    name: str  # as printed
    others: frozenset[str]


def named(
    device: Device, identity: Identity, bay: str, by_id: Sequence[str], host: str
) -> Named:
    """Return the names of a drive. by_id: the drive's names in /dev/disk/by-id. host: the
    drive's host.
    """
    serial, wwn = identity.serial, re.sub('^0x|[^0-9a-f]', '', identity.wwn.lower())
    labels = [*by_id, serial, clean(serial), identity.wwn]
    if wwn:
        labels += [begin + wwn for begin in _WWN]
    labels = list(filter(None, labels))
    others = {*labels, f'{host}:{device.name}'}
    others.update(f'{label}_{device.name}' for label in labels)
    others.update(f'{FOLDER}/{link}' for link in by_id)
    if not device.type:
        others.add(device.path.replace('/dev/', '', 1))
    if bay:
        others.update((bay, f'{host}:{bay}'))
    return Named(device.address, device.name, frozenset(filter(None, others)))


class Wanted:
    """Finds the drives with certain names in one pass over all drives."""

    def __init__(self, words: Sequence[str], hide_serial: bool = False) -> None:
        """Look for the drives that these words name. hide_serial: print no serial number in a
        message.
        """
        self._words, self._hide_serial = words, hide_serial
        # the drives that a word names: exactly, or but for case and punctuation
        self._found: dict[str, tuple[list[Any], list[Any]]] = {
            word: ([], []) for word in words
        }
        self._names: list[str] = []
        self._spellings: dict[str, str] = {}

    def see(self, drives: Sequence[Named], item: Any) -> bool:
        """Add a drive (its names at each address) with its *item*.

        Return whether one of the words names the drive.
        """
        names = {
            name
            for drive in drives
            for name in (drive.address, drive.name, *drive.others)
        }
        slugs = {slug(name) for name in names} - {slug('')}
        is_wanted = False
        for word, (exactly, nearly) in self._found.items():
            if word in names:
                exactly.append((drives[0].address, item))
            elif slug(word) in slugs:
                nearly.append((drives[0].address, item))
            else:
                continue
            is_wanted = True
        if len(self._spellings) < _COMPARED:
            self._names.append(drives[0].name)
            for drive in drives:
                others = () if self._hide_serial else sorted(drive.others)
                self._spellings.update(
                    (slug(name), name) for name in (drive.name, *others)
                )
        return is_wanted

    def items(self) -> list[Any]:
        """Return the items of the drives that the words name.

        Raises UsageError unless each word names one drive.
        """
        return list(dict.fromkeys(self._item(word) for word in self._words))

    def _item(self, word: str) -> Any:
        exactly, nearly = self._found[word]
        matches = exactly or nearly
        said = 'this name' if self._hide_serial else quoted(word)
        if len(matches) > 1:
            raise UsageError(
                f'{said} is the name of {len(matches)} drives; write the address of one: '
                + listed([clean(address, limit=300) for address, _ in matches], _SHOWN)
            )
        if not matches:
            raise UsageError(
                '; '.join((f'{said} matches no drive', *self._hints(word)))
            )
        return matches[0][1]

    def _hints(self, word: str) -> Iterator[str]:
        import difflib  # only for this message

        for near in difflib.get_close_matches(slug(word), self._spellings, 1):
            yield f'did you mean {clean(self._spellings[near])}?'
        yield (
            f'drives: {listed(list(map(clean, self._names)), _SHOWN)}'
            if self._names
            else 'no drive was found'
        )
