"""A MariaDB of its own for a daemon of `daemons`, on the loopback interface."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

from daemons import Ground, free_port, until

# on a disk, creating 170 tables takes 20 s instead of 1
MEMORY, ROOM = '/dev/shm', 1 << 30


class Database:
    """A running server with one database and one user, both of that name."""

    def __init__(
        self, ground: Ground, name: str, password: str, charset: str = 'utf8'
    ) -> None:
        self.ground, self.name, self.port = ground, name, free_port()
        places = [f'--datadir={self._folder()}', f'--tmpdir={ground.folder}/scratch']
        done = ground.runs(
            'mariadb-install-db',
            '--no-defaults',
            '--auth-root-authentication-method=normal',
            '--skip-test-db',
            *places,
        )
        assert done.returncode == 0, done.stdout
        ground.starts(
            'mariadbd',
            '--no-defaults',
            *places,
            f'--socket={ground.folder}/database.sock',
            '--bind-address=127.0.0.1',
            f'--port={self.port}',
            '--innodb-buffer-pool-size=64M',
            '--innodb-flush-method=nosync',
            '--innodb-flush-log-at-trx-commit=0',
            '--skip-log-bin',
        )
        sql = (
            f'CREATE DATABASE {name} CHARACTER SET {charset}; CREATE USER {name}@127.0.0.1 '
            f'IDENTIFIED BY "{password}"; GRANT ALL ON {name}.* TO {name}@127.0.0.1;'
        )
        until(lambda: self._asked(sql).returncode == 0, 30, 'the database')

    def _folder(self) -> str:
        """Return a folder for the data: in memory if there is room, else on the disk."""
        self.ground.own('database', 'scratch')
        if not os.path.isdir(MEMORY) or shutil.disk_usage(MEMORY).free < ROOM:
            return f'{self.ground.folder}/database'
        folder = tempfile.mkdtemp(prefix='csa-database-', dir=MEMORY)
        self.ground.elsewhere.append(folder)
        if self.ground.user:
            shutil.chown(folder, self.ground.user)
        return folder

    def does(self, sql: str) -> None:
        """Run statements as the administrator."""
        done = self._asked(sql, self.name)
        assert done.returncode == 0, done.stderr

    def _asked(self, sql: str, *database: str) -> subprocess.CompletedProcess[str]:
        command = [
            'mariadb',
            '--no-defaults',
            '-u',
            'root',
            f'--socket={self.ground.folder}/database.sock',
            *database,
        ]
        return subprocess.run(
            command, input=sql, capture_output=True, text=True, timeout=60
        )
