"""Load the shipped and local database and limits, with a message for each mistake in the local
files.

A mistake never stops a check: the valid parts of a file still apply, and the mistake is reported
with the verdicts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from ..command_line.options import DataFiles, Options
from ..errors import Coded, UsageError
from ..files import CONFIG, is_there
from ..model import Judgement, Report, Risk, Verdict
from ..typed import TYPE_CHECKING, Json, NamedTuple
from ..wording import local_day
from ..words import clean, visible

if TYPE_CHECKING:
    from ..command_line.options import Before
    from ..knowledge.drive_database import SpecDatabase
    from ..knowledge.site_file import SiteFile
    from ..knowledge.thresholds import Thresholds
    from ..v1_6.files import SiteFiles
    from .judging import Rules


DATABASE = 'attributes.json'
ADDITIONS = 'attributes.d'
LIMITS = 'thresholds.d'
ACCEPTED = 'acknowledged.json'

Files = list[tuple[str, str]]  # path, and name for messages ('': its last part)


class Site(NamedTuple):
    """The parts of the local data files that match their schema."""

    attributes: tuple[SiteFile, ...] = ()
    thresholds: tuple[SiteFile, ...] = ()
    mistakes: tuple[str, ...] = ()  # mistakes in other places: a folder
    # the files of the options of version 1.6, if any are given
    old: SiteFiles | None = None


class Judge(NamedTuple):
    """All data that judging needs in addition to a report."""

    database: SpecDatabase
    thresholds: Thresholds
    rules: Rules
    mistakes: tuple[Coded, ...] = ()  # mistakes in the local data files
    # files of version 1.6 whose limits are not in force
    warnings: tuple[Coded, ...] = ()

    def contradictions(self, verdict: Verdict, report: Report | None) -> list[str]:
        """Return a message for each contradiction between local files that affects a drive."""
        messages = self.thresholds.disagreements(
            verdict.device, verdict.identity, verdict.entry or ''
        )
        if report is None:
            return messages
        numbers = [row.id for row in report.attributes]
        dispute = self.database.dispute(verdict.identity, numbers)
        return [dispute, *messages] if dispute else messages


def site_of(data: DataFiles, before: Before | None) -> Site:
    """Return the local data files, first from the configuration directory and then from the
    command line.
    """
    mistakes: list[str] = []
    attributes, limits = files_of(data, mistakes)
    old = before.site_files() if before else None
    if old:
        attributes += [(path, '') for path in old.attributes]
        limits += [(path, '') for path in old.limits]
    if not attributes and not limits:
        return Site(mistakes=tuple(mistakes), old=old)
    from ..knowledge import site_file

    return Site(
        tuple(site_file.load(path, 'attributes', shown) for path, shown in attributes),
        tuple(site_file.load(path, 'thresholds', shown) for path, shown in limits),
        tuple(mistakes),
        old,
    )


def files_of(data: DataFiles, mistakes: list[str]) -> tuple[Files, Files]:
    """Return the files with entries and the files with limits. Mistakes are added to *mistakes*."""
    # only the usual directory may be missing
    is_expected = data.config != CONFIG or os.path.lexists(data.config)
    if is_expected and not os.path.isdir(data.config):
        mistakes.append(
            f'{visible(data.config)} is not a readable directory, so the local limits and '
            'entries are not used; correct --config'
        )
    attributes = [
        *_folder(data.config, ADDITIONS, mistakes),
        *((path, '') for path in data.attributes),
    ]
    limits = [
        *_folder(data.config, LIMITS, mistakes),
        *((path, '') for path in data.thresholds),
    ]
    accepted = os.path.join(data.config, ACCEPTED)
    if is_there(accepted):
        limits.insert(0, (accepted, ''))
    return attributes, limits


def _folder(config: str, name: str, mistakes: list[str]) -> Files:
    """Return each JSON file in a folder of the configuration directory.

    Return [] if the folder does not exist. If it cannot be read, return [] and add a message to
    *mistakes*.
    """
    folder = os.path.join(config, name)
    try:
        return [
            (os.path.join(folder, file), f'{name}/{file}')
            for file in sorted(os.listdir(folder))
            if file.endswith('.json')
        ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        mistakes.append(
            f'{folder}: {error.strerror}; make it readable for the monitoring user, or remove it'
        )
        return []


def judge_of(options: Options, site: Site) -> Judge:
    """Return database, limits and rules.

    Raises UsageError if the command line names an unknown metric.
    """
    from ..knowledge import shipped_data, thresholds
    from . import judging

    asked = options.judging
    newest, mistakes = newest_database(options.data.config)
    mistakes += site.mistakes
    database, attribute_files = _with_entries(newest, site.attributes)
    default = shipped_data.content('thresholds/default.json')
    limit_files: Sequence[SiteFile] = site.thresholds
    if limit_files:
        from ..knowledge import site_file

        limit_files = site_file.faultless_limits(
            limit_files, database.metrics, default.get('groups', ())
        )
    for file in (*attribute_files, *limit_files):
        mistakes += file.mistakes
    _check_metrics(options, database)
    of_command_line = {'warning': dict(asked.warning), 'critical': dict(asked.critical)}
    limits = [(file.name, file.data) for file in limit_files]
    return Judge(
        database,
        thresholds.Thresholds(default, limits, of_command_line, today()),
        judging.Rules(asked, time.time(), risk_of),
        tuple(
            Coded('configuration-error', mistake) for mistake in dict.fromkeys(mistakes)
        ),
        _warnings(site, options.data.config),
    )


def _warnings(site: Site, config: str) -> tuple[Coded, ...]:
    """Return a message for each file of version 1.6 whose limits are not in force."""
    if not site.old:
        return ()
    migrated = []  # digests of the files that were converted
    for file in site.thresholds:
        migrated += file.data.get('migrated', ())
    return tuple(site.old.warnings(migrated, config))


def risk_of(
    judgements: Sequence[Judgement], kind: str, groups: Sequence[str]
) -> Risk | None:
    """Return how many drives with such findings failed; None if the number is unknown or the
    data cannot be read.
    """
    from ..knowledge import risks

    try:
        return risks.of(risks.shipped(), judgements, kind, groups)
    except Exception:
        # a damaged file does not affect the verdict; `doctor` reports it
        return None


def database_of(data: DataFiles) -> SpecDatabase:
    """Return the database with the entries of this site, for a command that does not judge
    drives.
    """
    newest, _ = newest_database(data.config)
    database, _ = _with_entries(newest, site_of(data, None).attributes)
    return database


def _with_entries(
    newest: Json, files: Sequence[SiteFile]
) -> tuple[SpecDatabase, Sequence[SiteFile]]:
    """Return the database with the usable entries of the files, and the files, each with the
    mistakes in it.
    """
    from ..knowledge import drive_database

    if files:
        from ..knowledge import site_file

        files = site_file.faultless_entries(newest, files)
    entries = [(file.name, file.data) for file in files]
    return drive_database.SpecDatabase(newest, entries), files


def today() -> str:
    """Return the current local date, such as "2026-11-22", to compare with the last day of
    overrides.
    """
    return local_day(time.time())


def newest_database(config: str) -> tuple[Json, list[str]]:
    """Return the content of attributes.json: of the local copy if this is newer and valid, else
    of the shipped file.

    The second value lists the mistakes that prevent a local file from being used.
    """
    from ..knowledge import shipped_data

    data: Json = shipped_data.content(DATABASE)
    replacement = os.path.join(config, DATABASE)
    if not os.path.lexists(replacement):
        return data, []
    from ..knowledge import site_file

    newer = site_file.load(replacement, 'attributes')
    # A local file that was left by an earlier package must not replace a newer shipped file.
    if newer.mistakes or newer.data.get('date', '') <= data['date']:
        return data, list(newer.mistakes)
    return newer.data, []


def _check_metrics(options: Options, database: SpecDatabase) -> None:
    """Raise UsageError for an unknown metric, an invalid range, or limits that contradict each
    other.
    """
    from ..knowledge import ranges

    units = database.units
    asked = options.judging
    limits = (*asked.warning, *asked.critical)
    limited = [name for name, _ in limits]
    for name in (*limited, *asked.ignore_metrics, *options.which.metrics):
        if name not in units:
            from ..knowledge import data_errors

            raise UsageError(
                f'"{clean(name)}" is not a metric; {data_errors.nearest_metric(name, units)}'
            )
    for name, limit in limits:
        ranges.parse(limit, units[name])
    warning = dict(asked.warning)
    critical = dict(asked.critical)
    for name in limited:
        why = ranges.contradiction(
            warning.get(name, ''),
            critical.get(name, ''),
            database.worse.get(name, ''),
            units[name],
        )
        if why:
            raise UsageError(f'{name}: {why}')
