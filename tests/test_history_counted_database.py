"""Commits are counted beside the database: missing ones are noticed, and urgent ones get to the
disk.
"""

from __future__ import annotations

from pathlib import Path

import history_database
import pytest

from smart_attributes.constants import DAY
from smart_attributes.history import directory
from smart_attributes.history.database import Database
from smart_attributes.history.directory import Commits

NOW = 1_795_000_000  # 18 November 2026
WRITTEN = NOW - 7 * DAY


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """A database with one commit, that of its tables."""
    return history_database.empty(tmp_path, NOW)


def commit(database: Database) -> Commits:
    """Commit something; return the record as it was while that was written."""
    record = database.guarded(
        lambda: database.commit(NOW, lambda: directory.read_commits(database.folder))
    )
    assert record is not None
    return record


def record_of(database: Database) -> Commits:
    record = directory.read_commits(database.folder)
    assert record is not None
    return record


@pytest.mark.parametrize(
    'before', [None, Commits(), Commits(is_open=1)], ids=['no-record', 'closed', 'open']
)
def test_a_commit_is_noted_on_the_disk_before_it_is_made(database, before):
    """A power cut between the two leaves a record that says that commits may have followed."""
    if before and before.is_open:
        directory.change_commits(database.folder, lambda record: record._replace(is_open=1))
    database.commits = before

    assert commit(database).is_open == 1
    assert (
        record_of(database)
        == database.commits
        == Commits(2, NOW, 0, 0, 1, directory.VERSION, directory.boot_id())
    )


@pytest.mark.parametrize(
    ('before', 'facts', 'number'),
    [
        (Commits(sequence=41, is_open=1), True, 42),
        (Commits(sequence=1, is_open=1), True, 2),
        (None, True, 2),
        (None, False, 1),
    ],
)
def test_a_commit_gets_the_number_after_the_largest_that_is_known(database, before, facts, number):
    """The record knows commits that the database has lost; their numbers are not given again."""
    if not facts:
        database.run('DELETE FROM fact')
    database.commits = before
    commit(database)

    assert database.run(
        "SELECT value FROM fact WHERE name IN ('sequence', 'written') ORDER BY name"
    ) == [(str(number),), (str(NOW),)]


@pytest.mark.parametrize(
    ('record', 'sequence', 'missing'),
    [
        (Commits(5, NOW - 10), 5, []),
        (Commits(5, NOW - 10), 6, []),
        (Commits(5, NOW - 10), 4, [NOW - 10, 0]),
        (None, 4, [NOW, 1]),
    ],
    ids=['ok-all', 'ok-more', 'one-lost', 'no-record'],
)
def test_commits_that_the_record_counts_and_the_database_lacks_are_missing(
    database: Database, record: Commits | None, sequence: int, missing: list[int]
):
    database.commits = record

    assert database.missing({'sequence': str(sequence), 'written': str(WRITTEN)}, NOW) == (
        dict(
            zip(
                ('missing', 'missing_since', 'missing_until', 'uncounted'), (NOW, WRITTEN, *missing)
            )
        )
        if missing
        else {}
    )


@pytest.mark.parametrize(
    ('record', 'since'),
    [
        (None, None),
        (Commits(synced_at=WRITTEN, is_open=1, boot='another'), WRITTEN),
        (Commits(is_open=1, boot='another'), 0),
        (Commits(synced_at=WRITTEN, is_open=0, boot='another'), None),
        (Commits(synced_at=WRITTEN, is_open=1, boot=directory.boot_id()), None),
    ],
    ids=['no-record', 'restarted', 'never-synced', 'all-synced', 'no-restart'],
)
def test_a_restart_may_have_taken_commits_since_the_last_sync(database, record, since):
    database.commits = record

    assert database.unsynced_since() == since


@pytest.mark.parametrize(
    ('synced_at', 'is_urgent', 'is_synced'),
    [
        (NOW, False, False),
        (NOW - DAY + 1, False, False),
        (NOW - DAY, False, True),
        (NOW + 1, False, True),
        (NOW - 1, True, True),
        (None, False, True),
        (None, True, True),
    ],
)
def test_commits_are_synced_where_they_are_urgent_and_once_a_day(
    database, synced_at, is_urgent, is_synced
):
    """A clock that was set back does not put it off."""
    commit(database)
    database.commits = (
        None if synced_at is None else record_of(database)._replace(synced_at=synced_at)
    )
    database.is_urgent = is_urgent
    database.sync(NOW)

    assert record_of(database)[2:5] == ((2, NOW, 0) if is_synced else (0, 0, 1))
    if is_synced:
        assert (database.commits, database.is_urgent) == (record_of(database), False)
