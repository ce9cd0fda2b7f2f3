"""Run the program as on FreeBSD: sys.platform is changed, and whatever Linux alone has is taken
away.

What Python lacks there: os.posix_spawn(setsid=True), because FreeBSD's spawn.h has no
POSIX_SPAWN_SETSID; extended attributes; names of constants. As root, /sys, /proc and /run are
hidden behind empty file systems. The rest is Linux,
so this is no proof for FreeBSD: it finds code that needs Linux.
"""

import os
import subprocess
import sys
import sysconfig

import abilities
from conftest import ROOT

STAND_IN = f"""
import errno, os, sys, time

def spawn(*arguments, setsid=False, _real=os.posix_spawn, **options):
    if setsid:
        raise NotImplementedError('posix_spawn: setsid unavailable on this platform')
    return _real(*arguments, **options)

sys.platform, os.posix_spawn = 'freebsd14', spawn
for module, name in ((os, 'getxattr'), (os, 'ST_NOEXEC'), (time, 'CLOCK_BOOTTIME'), (errno, 'ENODATA')):
    delattr(module, name)
sys.path[:0] = [{str(ROOT)!r}, {sysconfig.get_path('purelib')!r}]
"""
PROGRAM = (
    f'sys.argv[0] = {str(ROOT / "check_smart_attributes")!r}\nfrom '
    f'smart_attributes.main import main\nmain()'
)
HIDE = 'for folder in /sys /proc /run; do mount -t tmpfs none $folder || exit 99; done; exec "$@"'


def run(*arguments: str, code: str = PROGRAM) -> subprocess.CompletedProcess[str]:
    """Run the program, or other *code*, with the arguments."""
    hidden = (
        []
        if abilities.no_namespaces()
        else ['unshare', '--mount', 'sh', '-c', HIDE, 'sh']
    )
    return subprocess.run(
        [*hidden, sys.executable, '-IS', '-c', STAND_IN + code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd='/',
        env={'PATH': '/usr/bin:/bin', 'XDG_STATE_HOME': os.environ['XDG_STATE_HOME']},
    )
