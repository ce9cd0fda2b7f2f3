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


class Named(NamedTuple):
    """A drive with its names."""

    address: str  # complete: "megaraid,4@/dev/bus/0", or "web1:sda" in a fleet
    name: str  # as printed
    others: frozenset[str]


def named(
    device: Device, identity: Identity, bay: str, by_id: Sequence[str], host: str
) -> Named:
    """Return the names of a drive. bay: '' if unknown. by_id: the drive's names in
    /dev/disk/by-id. host: the drive's host.
    """
    serial = identity.serial
    wwn = re.sub('^0x|[^0-9a-f]', '', identity.wwn.lower())
    labels = list(filter(None, (*by_id, serial, clean(serial), identity.wwn)))
    if wwn:
        labels += [prefix + wwn for prefix in _WWN]
    others = {*labels, f'{host}:{device.name}'}
    others.update(f'{label}_{device.name}' for label in labels)
    others.update(f'{FOLDER}/{link}' for link in by_id)
    if not device.type:
        others.add(device.path.replace('/dev/', '', 1))
    if bay:
        others.update((bay, f'{host}:{bay}'))
    return Named(device.address, device.name, frozenset(others))


class _Matches(NamedTuple):
    """The drives that a word names, each with its address and its item."""

    exact: list[tuple[str, Any]]
    similar: list[tuple[str, Any]]  # but for case and punctuation


class Wanted:
    """Finds the drives with certain names in one pass over all drives."""

    def __init__(self, words: Sequence[str], hide_serial: bool) -> None:
        """Look for the drives that these words name. hide_serial: print no serial number in a
        message.
        """
        self._words = words
        self._hide_serial = hide_serial
        self._matches = {word: _Matches([], []) for word in words}
        # The following are for the message about a word that names no drive, see _hints().
        self._listed: list[str] = []  # one name of each drive
        # slug -> any name of a drive: "megaraid_4" -> "megaraid,4"
        self._suggestions: dict[str, str] = {}

    def see(self, addressed: Sequence[Named], item: Any) -> None:
        """Add a drive to the matches of each word that is one of its names.

        addressed: the names of the drive at each of its addresses. item: returned by items().
        """
        address = addressed[0].address
        names: set[str] = set()
        for drive in addressed:
            names.update((drive.address, drive.name), drive.others)
        slugs = {slug(name) for name in names}
        # All names without letters and digits have this slug, so it does not make names similar.
        slugs.discard(slug(''))
        for word, matches in self._matches.items():
            if word in names:
                matches.exact.append((address, item))
            elif slug(word) in slugs:
                matches.similar.append((address, item))
        self._listed.append(addressed[0].name)
        for drive in addressed:
            others = () if self._hide_serial else sorted(drive.others)
            for name in (drive.name, *others):
                self._suggestions[slug(name)] = name

    def items(self) -> list[Any]:
        """Return the items of the drives that the words name.

        Raises UsageError unless each word names one drive.
        """
        return list(dict.fromkeys(self._item(word) for word in self._words))

    def _item(self, word: str) -> Any:
        """Return the item of the drive that a word names.

        Raises UsageError if the word names no drive, or several.
        """
        matches = self._matches[word].exact or self._matches[word].similar
        shown_word = 'this name' if self._hide_serial else quoted(word)
        if len(matches) > 1:
            addresses = [clean(address, limit=300) for address, _ in matches]
            raise UsageError(
                f'{shown_word} is the name of {len(matches)} drives; write the address of one: '
                f'{listed(addresses, _SHOWN)}'
            )
        if not matches:
            hints = '; '.join(self._hints(word))
            raise UsageError(f'{shown_word} matches no drive; {hints}')
        return matches[0][1]

    def _hints(self, word: str) -> Iterator[str]:
        """Yield the name that is most like a word, if one is alike, and the names of the drives."""
        import difflib  # only for this message

        for near in difflib.get_close_matches(slug(word), self._suggestions, 1):
            yield f'did you mean {clean(self._suggestions[near])}?'
        names = listed(list(map(clean, self._listed)), _SHOWN)
        yield f'drives: {names}' if names else 'no drive was found'
