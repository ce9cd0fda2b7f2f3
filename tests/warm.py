"""Start the program without waiting for its imports: a server has loaded all modules, and forks for
each call.

Each call is a process of its own, with its own arguments, environment, folder and output, and ends
as any other. What is about imports, the locale or the interpreter's options needs a new interpreter
(`conftest.run` decides that).
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import pkgutil
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = (
    'jinja2',
    'jsonschema',
    'nagiosplugin',
    'prometheus_client',
    'pySMART',
    'rich.console',
    'rich.table',
    'encodings.ascii',
    'encodings.idna',
    'encodings.unicode_escape',
    'encodings.utf_8_sig',
)
LONGEST = 100_000  # bytes of a request: what a socket takes at once
USUAL = {'PATH': '/usr/bin:/bin', 'LC_ALL': 'C'}
_starting = threading.Lock()
# by the process that uses it: a fork must not share the socket
_servers: dict[int, Server] = {}


class Server(NamedTuple):
    """A process with all modules, and the socket to it."""

    process: subprocess.Popen[bytes]
    line: socket.socket

    def end(self) -> None:
        """Wait for it, so that the time of its calls counts as that of the tests."""
        self.line.close()
        self.process.wait()


class Request(NamedTuple):
    """What to run, and how."""

    arguments: tuple[str, ...]
    folder: str
    environment: dict[str, str]
    setup: str = ''  # code that the process runs before the program

    def as_json(self) -> bytes:
        return json.dumps(self).encode()

    @property
    def is_usual(self) -> bool:
        """Whether a process that was started with the usual environment can run it."""
        return (
            self.environment.items() >= USUAL.items()
            and len(self.as_json()) < LONGEST
            and not any(
                name.startswith(('PYTHON', 'LANG', 'LC_'))
                for name in self.environment.keys() - USUAL.keys()
            )
        )


def call(request: Request, timeout: float = 60) -> tuple[int, bytes]:
    """Run the program; returns exit status, negative for a signal, and output.

    Raises subprocess.TimeoutExpired.
    """
    mine, its = socket.socketpair()
    reading, writing = os.pipe()
    with _starting:
        socket.send_fds(_server().line, [request.as_json()], [its.fileno(), writing])
    its.close()
    os.close(writing)
    with mine, open(reading, 'rb', buffering=0) as output:
        end = time.monotonic() + timeout
        pid = int(mine.recv(32))
        try:
            text = b''.join(iter(lambda: _read(output.fileno(), end), b''))
            return int(_read(mine.fileno(), end)), text
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(list(request.arguments), timeout) from None


def stop() -> None:
    """End the server, for a test that counts processes; the next call starts another."""
    if os.getpid() in _servers:
        _servers.pop(os.getpid()).end()


def _read(source: int, end: float) -> bytes:
    if not select.select([source], [], [], max(0, end - time.monotonic()))[0]:
        raise TimeoutError
    return os.read(source, 1 << 20)


def _server() -> Server:
    if os.getpid() not in _servers:
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        process = subprocess.Popen(
            [sys.executable, '-I', __file__, str(its.fileno())],
            pass_fds=[its.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # pipes, as the calls get: a file could be sought in
            cwd='/',
            env=USUAL,
        )
        its.close()
        _servers[os.getpid()] = Server(process, mine)
        atexit.register(stop)
    return _servers[os.getpid()]


# --- the server ------------------------------------------------------------------------


def serve(line: socket.socket) -> None:
    """Fork for each request.

    Returns in a process that is to run the program, as its own arguments say.
    """
    _load()
    while True:
        request, given, _, _ = socket.recv_fds(line, LONGEST, 2)
        _reap()
        if not request:
            break
        if not os.fork():
            line.close()
            return _attend(Request(*json.loads(request)), *given)
        for each in given:
            os.close(each)
    _reap(0)
    sys.exit(0)


def _load() -> None:
    """Load what the program may load at any time: a call that becomes another user may not read
    it any more.
    """
    import smart_attributes

    ours = (
        each.name
        for each in pkgutil.walk_packages(
            smart_attributes.__path__, 'smart_attributes.'
        )
    )
    sources = (path.read_text() for path in (ROOT / 'smart_attributes').rglob('*.py'))
    names = {
        name
        for text in sources
        for name in re.findall(r'(?m)^ +(?:from|import) ([a-zA-Z][\w.]*)', text)
    }
    for name in (*ours, *LIBRARIES, *names):
        # who needs what is missing says so in its own call
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _reap(options: int = os.WNOHANG) -> None:
    try:
        while os.waitpid(-1, options)[0]:
            pass
    except ChildProcessError:
        pass


def _attend(request: Request, answer: int, output: int) -> None:
    """Become the program, in a child; the parent tells its end."""
    pid = os.fork()
    if pid:
        os.close(output)
        _tell(answer, pid)
    os.close(answer)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    time.tzset()
    sys.argv = [str(ROOT / 'check_smart_attributes'), *request.arguments]
    exec(request.setup, {})


def _tell(answer: int, pid: int) -> NoReturn:
    os.write(answer, b'%d' % pid)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(answer, b'%d' % code)
    os._exit(0)


if __name__ == '__main__':
    sys.path.insert(0, str(ROOT))
    serve(socket.socket(fileno=int(sys.argv[1])))
    from smart_attributes.main import main

    main()
