"""The drives that a check does not read, because an advisory of the database forbids it."""

import os
from collections.abc import Iterable, Iterator, Sequence

from .. import files
from ..constants import LARGEST_FILE
from ..errors import ReadingHarms
from ..knowledge.patterns import fits
from ..model import Device
from ..reading import forbidden
from ..typed import Json
from .rulebook import Site


def harmed(
    devices: Sequence[Device], site: Site, config: str
) -> dict[Device, ReadingHarms]:
    """Return why these devices are not read, for those that an advisory protects.

    If several advisories protect a device, the last one counts, so one of the site replaces one of
    a database.

    config: the configuration directory, which may contain a newer database.
    """
    models = {}
    for device in devices:
        model = forbidden.model_of(device.path, device.type)
        if model:
            models[device] = model
    if not models:
        return {}
    advisories = list(_advisories(site, config, models.values()))
    errors = {}
    for device, model in models.items():
        for advisory in advisories:
            if any(fits(pattern, model) for pattern in advisory.get('models', ())):
                errors[device] = _error(advisory)
    return errors


def _advisories(site: Site, config: str, models: Iterable[str]) -> Iterator[Json]:
    """Yield the advisories that forbid reading: those of the shipped database, of a newer one and
    of the site.
    """
    shipped = forbidden.shipped()
    if any(forbidden.may_forbid(shipped, model) for model in models):
        yield from forbidden.advisories(shipped)
    newer = files.text(os.path.join(config, forbidden.DATABASE), LARGEST_FILE)
    yield from forbidden.advisories(newer)
    for file in site.attributes:
        for advisory in file.data.get('advisories', ()):
            if advisory.get('read') is False:
                yield advisory


def _error(advisory: Json) -> ReadingHarms:
    """Return the error of a drive that is not read because of an advisory."""
    return ReadingHarms(
        f'is not read: {advisory["effect"]}',
        step=f'{advisory["action"]}; then allow reading with "read": true in a limits file '
        '(doc/reference/harmful-drives.md)',
        state=str(advisory.get('state', 'warning')),
    )
