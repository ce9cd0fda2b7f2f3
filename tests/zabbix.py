"""Zabbix of this machine: server, agents, and the frontend for its API, in the folder of a
`Ground`.

All of them run as nobody (as ourselves where we are not root), on the loopback interface.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conftest import ROOT
from daemons import Ground, free_port, until
from mariadb import Database

FRONTEND = Path('/usr/share/zabbix')
SCHEMA = Path('/usr/share/zabbix-server-mysql')
TEMPLATE = 'SMART by check_smart_attributes'
# The parts of the frontend that its API needs, without those for a browser.
PARTS = ('api_jsonrpc.php', 'app', 'conf', 'include', 'local', 'modules', 'vendor')
# The tables of data.sql that are needed: its templates fill the others, and take a minute to load.
TABLES = ('role', 'role_rule', 'users', 'usrgrp', 'users_groups', 'hstgrp', 'config')
SERVER = """\
ListenIP=127.0.0.1
ListenPort={port}
LogType=console
PidFile={folder}/server.pid
SocketDir={folder}/run
TmpDir={folder}/run
DBHost=127.0.0.1
DBPort={database}
DBName=zabbix
DBUser=zabbix
DBPassword={password}
AllowUnsupportedDBVersions=1
Timeout=30
CacheUpdateFrequency=1
StartPollers=4
StartPreprocessors=2
StartTrappers=1
StartPingers=0
StartDiscoverers=0
StartHTTPPollers=0
StartODBCPollers=0
StartHistoryPollers=1
StartAlerters=1
StartDBSyncers=2
StartLLDProcessors=1
"""
PAGES = """<?php
$DB = ['TYPE' => 'MYSQL', 'SERVER' => '127.0.0.1', 'PORT' => '{database}', 'DATABASE' => 'zabbix', 'USER' => 'zabbix',
'PASSWORD' => '{password}', 'DOUBLE_IEEE754' => true, 'SCHEMA' => '', 'ENCRYPTION' => false, 'KEY_FILE' => '',
'CERT_FILE' => '', 'CA_FILE' => '', 'VERIFY_HOST' => false, 'CIPHER_LIST' => '', 'VAULT_URL' => '',
'VAULT_DB_PATH' => '', 'VAULT_TOKEN' => ''];
$ZBX_SERVER = '127.0.0.1';
$ZBX_SERVER_PORT = '{port}';
$ZBX_SERVER_NAME = '';
$IMAGE_FORMAT_DEFAULT = IMAGE_FORMAT_PNG;
"""
AGENT = """\
ListenIP=127.0.0.1
ListenPort={port}
Server=127.0.0.1
LogType=console
PidFile={folder}/agent-{port}.pid
StartAgents=2
Include={folder}/agent-{port}.d/*.conf
"""


class Zabbix:
    """A running server with a frontend whose API answers."""

    def __init__(self, ground: Ground) -> None:
        self.ground, self.port, self.web = ground, free_port(), free_port()
        self.password = base64.b16encode(os.urandom(8)).decode()
        ground.own('run')
        self._load_database()
        self._start_frontend()
        self._start_server()

    def _load_database(self) -> None:
        database = Database(
            self.ground, 'zabbix', self.password, 'utf8mb4 COLLATE utf8mb4_bin'
        )
        hashed = self.ground.runs(
            'php', '-r', f'echo password_hash("{self.password}", PASSWORD_BCRYPT);'
        )
        data = (
            gzip.decompress((SCHEMA / 'data.sql.gz').read_bytes()).decode().split(';\n')
        )
        database.does(
            gzip.decompress((SCHEMA / 'schema.sql.gz').read_bytes()).decode()
            + ';\n'.join(
                [
                    '',
                    *(
                        each
                        for each in data
                        if any(
                            each.startswith(f'INSERT INTO `{table}` ')
                            for table in TABLES
                        )
                    ),
                    f'UPDATE users SET passwd = "{hashed.stdout}" WHERE username = "Admin";',
                ]
            )
        )
        self._places: Mapping[str, Any] = {
            'folder': self.ground.folder,
            'port': self.port,
            'database': database.port,
            'password': self.password,
        }

    def _start_frontend(self) -> None:
        """Start PHP's own web server with a copy of the frontend, which looks for its
        configuration in /etc only.
        """
        web = self.ground.folder / 'web'
        web.mkdir()
        for part in PARTS:
            (shutil.copytree if (FRONTEND / part).is_dir() else shutil.copy)(
                FRONTEND / part, web / part
            )
        pages = self.ground.place(
            'zabbix.conf.php', PAGES.format(**self._places).replace('[\\n', '[')
        )
        place = web / 'include/classes/core/CConfigFile.php'
        place.write_text(
            place.read_text().replace('/etc/zabbix/zabbix.conf.php', str(pages))
        )
        self.ground.starts(
            'php',
            '-S',
            f'127.0.0.1:{self.web}',
            '-t',
            str(web),
            TMPDIR=str(self.ground.folder),
        )
        until(self._has_let_in, 30, 'the API of Zabbix')

    def _has_let_in(self) -> bool:
        try:
            self._key = self._call(
                'user.login', {'username': 'Admin', 'password': self.password}
            )
        except OSError:
            return False
        return True

    def _start_server(self) -> None:
        file = self.ground.place('server.conf', SERVER.format(**self._places))
        self.ground.starts('zabbix_server', '-f', '-c', str(file))
        self._server = self.ground.processes[-1]

    def close(self) -> None:
        """Stop the server before its database, without which it would not end."""
        self._server.terminate()
        self._server.wait(30)

    def asks(self, method: str, **parameters: Any) -> Any:
        """Return the result of a method of the API, called with our rights."""
        return self._call(method, parameters, auth=self._key)

    def _call(
        self, method: str, parameters: Mapping[str, Any] = {}, **more: Any
    ) -> Any:
        words = {
            'jsonrpc': '2.0',
            'method': method,
            'params': parameters,
            'id': 1,
            **more,
        }
        request = urllib.request.Request(
            f'http://127.0.0.1:{self.web}/api_jsonrpc.php',
            json.dumps(words).encode(),
            {'Content-Type': 'application/json-rpc'},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            said = json.load(answer)
        assert 'error' not in said, f'{method}: {said["error"]}'
        return said['result']

    def takes(self, template: str) -> None:
        """Import a template, as the frontend does."""
        groups = (
            'groups'
            if self._call('apiinfo.version').startswith('6.0.')
            else 'template_groups'
        )
        parts = (
            groups,
            'templates',
            'items',
            'discoveryRules',
            'triggers',
            'valueMaps',
        )
        self.asks(
            'configuration.import',
            format='yaml',
            source=template,
            rules={
                part: {'createMissing': True, 'updateExisting': True} for part in parts
            },
        )

    def watches(
        self, name: str, parameters: str, **macros: str
    ) -> subprocess.Popen[bytes]:
        """Start an agent with further parameters, and let the server watch it as a host with the
        template.

        macros: those of the template, without their prefix. Returns the process of the agent.
        """
        port, folder = free_port(), self.ground.folder
        file = self.ground.place(
            f'agent-{port}.conf', AGENT.format(port=port, folder=folder)
        )
        self.ground.place(f'agent-{port}.d/check.conf', parameters)
        self.ground.starts('zabbix_agentd', '-f', '-c', str(file))
        template = self.asks('template.get', filter={'host': TEMPLATE})[0]['templateid']
        self.asks(
            'host.create',
            host=name,
            groups=[{'groupid': '2'}],
            templates=[{'templateid': template}],
            interfaces=[
                {
                    'type': 1,
                    'main': 1,
                    'useip': 1,
                    'ip': '127.0.0.1',
                    'dns': '',
                    'port': str(port),
                }
            ],
            macros=[
                {'macro': f'{{$SMART_ATTRIBUTES.{macro}}}', 'value': value}
                for macro, value in macros.items()
            ],
        )
        return self.ground.processes[-1]

    def items(self, host: str) -> dict[str, dict[str, Any]]:
        """Return the items of a host by key, with their latest values."""
        found = self.asks(
            'item.get',
            host=host,
            output=[
                'key_',
                'name',
                'lastvalue',
                'lastclock',
                'state',
                'error',
                'units',
            ],
        )
        return {item['key_']: item for item in found}

    def values(self, host: str) -> dict[str, str]:
        """Return the latest values of a host by key, of items that have one."""
        return {
            key: item['lastvalue']
            for key, item in self.items(host).items()
            if int(item['lastclock'])
        }

    def problems(self, host: str) -> dict[str, dict[str, Any]]:
        """Return the open problems of a host by the words of their events."""
        hosts = [
            each['hostid'] for each in self.asks('host.get', filter={'host': host})
        ]
        return {
            problem['name']: problem
            for problem in self.asks('problem.get', hostids=hosts, output='extend')
        }

    def stops(self, host: str) -> None:
        """Let the server no longer watch a host."""
        self.asks(
            'host.update',
            hostid=self.asks('host.get', filter={'host': host})[0]['hostid'],
            status=1,
        )


def parameters(plugin: str, state: str, timeout: int = 30) -> str:
    """Return the parameters that are shipped, for a plugin and a state directory of a test."""
    text = (ROOT / 'contrib/zabbix/check-smart-attributes.conf').read_text()
    return (
        text.replace('/usr/lib/nagios/plugins/check_smart_attributes', plugin)
        .replace('/var/lib/check-smart-attributes-zabbix', state)
        .replace('Timeout=30', f'Timeout={timeout}')
    )


def template() -> str:
    """Return the template that is shipped."""
    return (ROOT / 'contrib/zabbix/check-smart-attributes.yaml').read_text()
