"""Read the files of version 1.6, and find those with limits of this site that are not in force.

A check does not use these files: `migrate` converts them once. Shipped entries need no conversion.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection
from typing import Any, NamedTuple

from ..errors import Coded, DataError
from ..files import CONFIG, is_there
from ..knowledge import data_file, shipped_data
from ..reading.content import object_of
from ..typed import Json
from ..words import visible

KNOWN = 'v1_6/shipped.json'  # fingerprints of the entries that version 1.x shipped


class SiteFiles(NamedTuple):
    """The files of -dbj and -ucfgj, by what they are."""

    attributes: list[str]  # paths of files with entries of this version
    limits: list[str]  # paths of files with limits of this version
    # path and SHA-256 of each file with limits that version 1.6 used, and that it did not ship
    of_1_6: list[tuple[str, str]]
    unusable: list[str]  # a message for each file that cannot be read

    def warnings(self, migrated: Collection[str], config: str) -> list[Coded]:
        """Return a message for each file whose limits are not in force.

        migrated: the SHA-256 of each file that `migrate` converted. config: the configuration
        directory.
        """
        option = [] if config == CONFIG else ['--config', os.path.abspath(config)]
        sentences = [*self.unusable]
        for path, checksum in self.of_1_6:
            if checksum in migrated:
                continue
            migrate = ['check_smart_attributes', 'migrate', os.path.abspath(path)]
            command = shlex.join([*migrate, *option])
            sentences.append(
                f'the limits in {visible(path)} are those of version 1.6 and do not apply; '
                f'as root, run: {visible(command)}'
            )
        return [Coded('limits-not-migrated', sentence) for sentence in sentences]


def site_files(database: str | None, users: str | None) -> SiteFiles:
    """Return what the files of -dbj and -ucfgj are. A file that does not exist, or of which all entries
    were shipped with version 1.6, is left out.

    database, users: the paths given with -dbj and -ucfgj.
    """
    result = SiteFiles([], [], of_1_6=[], unusable=[])
    for option, path, paths_of_this_version in (
        ('-dbj', database, result.attributes),
        ('-ucfgj', users, result.limits),
    ):
        if path is None or not is_there(path):
            continue
        try:
            data, text = read(path)
        except DataError as error:
            result.unusable.append(f'the file given with {option} is not used: {error}')
            continue
        if not is_of_1_6(data):
            paths_of_this_version.append(path)
        elif not all(
            is_shipped(name, entry) for name, entry in data['Devices'].items()
        ):
            result.of_1_6.append((path, digest(text)))
    return result


def read(path: str) -> tuple[Any, str]:
    """Return the data of a JSON file of either version, and its text.

    Raises DataError if it cannot be read.

    Of a key that occurs twice, the last value counts, as in version 1.6.
    """
    text = data_file.site_text(path)
    return data_file.decoded(text, os.path.basename(path), dict), text


def digest(text: str) -> str:
    """Return the SHA-256 of the text of a file, which shows whether `migrate` has converted it."""
    from hashlib import sha256  # it takes 5 ms to load OpenSSL

    return sha256(text.encode()).hexdigest()


def is_of_1_6(data: Any) -> bool:
    """Return whether data has the format of version 1.6, which is common to databases and user
    configurations.
    """
    return isinstance(data, dict) and isinstance(data.get('Devices'), dict)


def is_shipped(name: str, data: Any) -> bool:
    """Return whether an entry has the limits shipped with version 1.x: it is one of the shipped
    entries, or has no other limits than documented for its name. False if *data* is not an object.
    """
    if not isinstance(data, dict):
        return False
    shipped = shipped_data.content(KNOWN)
    if fingerprint(data) in shipped['entries']:
        return True
    documented = shipped['documented'].get(name)
    limits = object_of(data, 'Threshs')
    return documented is not None and all(
        documented.get(number) == limit for number, limit in limits.items()
    )


def fingerprint(data: Json) -> str:
    """Return a checksum of the columns, limits and perfdata of an entry, as 16 hexadecimal digits.

    Models and comments are ignored: an admin who added a drive to an entry did not choose its
    limits.
    """
    import json
    from binascii import crc32

    items = object_of(data, 'ID#')
    columns = {number: object_of(items, number).get('value') for number in items}
    perfs = data.get('Perfs')
    graphed = sorted(map(str, perfs)) if isinstance(perfs, list) else []
    text = json.dumps(
        [columns, object_of(data, 'Threshs'), graphed], sort_keys=True
    ).encode()
    return f'{crc32(text):08x}{crc32(text[::-1]):08x}'
