"""Icinga Director with a database of its own, for a running Icinga of `daemons`."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from daemons import Ground, Icinga
from mariadb import Database

MODULES = Path('/usr/share/icingaweb2/modules')


class Director:
    """The command line of the Director; its web pages do the same."""

    def __init__(self, ground: Ground, icinga: Icinga) -> None:
        self.ground = ground
        self.icinga = icinga
        ground.own('web/modules/director', 'web/enabledModules')
        self.port = Database(ground, 'director', icinga.password).port
        self._configure()
        self.asks('migration', 'run')
        self.asks('kickstart', 'run')

    def _configure(self) -> None:
        web = self.ground.folder / 'web'
        self.ground.place(
            'web/config.ini',
            '[global]\nmodule_path = "/usr/share/icingaweb2/modules"\nconfig_resource = '
            '"director"\n'
            '[logging]\nlog = "stderr"\nlevel = "ERROR"\n',
        )
        self.ground.place(
            'web/resources.ini',
            '[director]\ntype = "db"\ndb = "mysql"\nhost = "127.0.0.1"\n'
            f'port = "{self.port}"\ndbname = "director"\nusername = "director"\n'
            f'password = "{self.icinga.password}"\ncharset = "utf8"\n',
        )
        self.ground.place(
            'web/modules/director/config.ini', '[db]\nresource = "director"\n'
        )
        self.ground.place(
            'web/modules/director/kickstart.ini',
            '[config]\nendpoint = "bed"\nhost = "127.0.0.1"\n'
            f'port = {self.icinga.port}\nusername = "root"\npassword = "{self.icinga.password}"\n',
        )
        for name in ('director', 'incubator', 'reactbundle'):
            (web / 'enabledModules' / name).symlink_to(MODULES / name)

    def asks(self, *words: str, given: str = '') -> str:
        """Run "icingacli director ..."; return what it prints."""
        command = self.ground.as_user('icingacli', 'director', *words)
        done = subprocess.run(
            command,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            cwd=self.ground.folder,
            env={
                'PATH': '/usr/bin:/bin',
                'LC_ALL': 'C',
                'ICINGAWEB_CONFIGDIR': str(self.ground.folder / 'web'),
            },
        )
        assert done.returncode == 0, f'{words}: {done.stdout}'
        return done.stdout

    def creates(self, kind: str, name: str, properties: Mapping[str, Any]) -> None:
        self.asks(kind, 'create', name, '--json', json.dumps(properties))

    def dumps(self, basket: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            self.asks('basket', 'dump', '--name', basket)
        )
        return found

    def deploys(self) -> None:
        """Let Icinga have all of it; waits until it runs with it."""
        self.asks('config', 'deploy', '--force')
