"""The values of options that only one command has.

A check does not need these values. Records hold the defaults.
"""

from __future__ import annotations

from collections.abc import Callable

from ..typed import Json, NamedTuple


class TriageOptions(NamedTuple):
    """The output of `triage` in addition to its table, or instead of it."""

    # each with the path of its file; None: print it
    forms: tuple[tuple[Callable[[Json], str], str | None], ...]
    since: int  # seconds to look back; 0: not at all
    asked: tuple[str, ...] = ()  # programs to run, from redundancy.dependence.PROGRAMS


class ListOptions(NamedTuple):
    """The output options of the `list` command."""

    as_json: bool


class SudoersOptions(NamedTuple):
    """Which sudoers rule is printed."""

    user: str
    literal: bool
    types: tuple[str, ...]  # types that a rule admits only on request


class ValidateOptions(NamedTuple):
    """The files to validate, and the samples and models to compare with these files."""

    files: tuple[str, ...]
    samples: str | None
    models: str | None
    format: bool


class MigrateOptions(NamedTuple):
    """The files of version 1.6 to migrate."""

    files: tuple[str, ...]


class AcknowledgeOptions(NamedTuple):
    """Which values are accepted, why, and until when."""

    every_alarm: bool
    why: str
    until: str
    shown: bool
    withdraw: tuple[str, ...]
    removed: tuple[str, ...]


class HistoryOptions(NamedTuple):
    """The actions of the `history` command."""

    as_json: bool
    imports: bool
    forget: tuple[str, ...]
    graph: str  # metric, '' for the table


class MetricsOptions(NamedTuple):
    """The output file and the format of the metrics."""

    output: str | None  # file
    openmetrics: bool
    as_json: bool


class DoctorOptions(NamedTuple):
    """Which user runs the checks, and how `doctor` prints."""

    user: str
    # also run queries about members of redundant arrays, which only root may run
    raid: bool
    as_json: bool


class FleetOptions(NamedTuple):
    """The sources of the drives of a fleet, and the output."""

    files: tuple[str, ...]
    icinga: tuple[str, ...]  # https://HOST:5665
    api_user: str
    password_file: str
    certificate: str
    key: str
    authority: str
    # host names in their certificates, in the same order; empty: from the URLs
    icinga_name: tuple[str, ...]
    filter: str
    hosts: str | None  # filter of the hosts that should have the check; '' for all
    plan: str
    drives: tuple[str, ...]  # names of the drives to list; empty: all
    limit: int  # drives in the table; 0: all
    as_json: bool
    html: str | None
