"""The tables of history, as the steps that lead from each version to the next.

A released step is never changed; a new version is a new step at the end. The number of steps is the version.
"""

APPLICATION = 0x534D4152  # "SMAR": which program's database it is, for file(1)

STEPS = ((
    # About history itself: begun, machine, lost and why, behind (see clock), thinned; taken N: smartd's log of a drive;
    # since the second version sequence and written of the newest commit (see commits), missing, and sum (see sums).
    'CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
    'CREATE TABLE drive (number INTEGER PRIMARY KEY, protocol TEXT NOT NULL, model TEXT NOT NULL, firmware TEXT NOT '
    'NULL, serial TEXT NOT NULL, wwn TEXT NOT NULL, first_read INTEGER NOT NULL, last_read INTEGER NOT NULL)',
    'CREATE TABLE place (address TEXT NOT NULL, drive INTEGER NOT NULL, first INTEGER NOT NULL, gone INTEGER NOT NULL, '
    'scanned INTEGER NOT NULL, PRIMARY KEY (address, drive)) WITHOUT ROWID',
    # absent: when it was last read, where later checks had no number for it; 0: whenever its drive was read.
    'CREATE TABLE series (number INTEGER PRIMARY KEY, drive INTEGER NOT NULL, role TEXT NOT NULL, definition TEXT NOT '
    'NULL, pace INTEGER NOT NULL, absent INTEGER NOT NULL DEFAULT 0, UNIQUE (drive, role, definition))',
    'CREATE TABLE point (series INTEGER NOT NULL, time INTEGER NOT NULL, number REAL NOT NULL, gap INTEGER NOT NULL, '
    'PRIMARY KEY (series, time)) WITHOUT ROWID',
), (
    # Checksums, see sums: of a drive's series; of the points of a series, and of all of them but the newest.
    'ALTER TABLE drive ADD COLUMN sum INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE series ADD COLUMN settled INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE series ADD COLUMN sum INTEGER NOT NULL DEFAULT 0',
), (
    'ALTER TABLE series RENAME COLUMN role TO metric',))
