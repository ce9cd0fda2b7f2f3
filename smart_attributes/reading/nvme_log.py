"""Read a page of an NVMe log in a vendor's format through smartctl, which prints it as a
hexadecimal dump.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ..constants import LOG_PAGE, LONGEST_STATEMENT
from ..errors import NOTHING, Coded, DriveError
from ..model import Answer, Device, LogPage
from ..typed import Json
from ..words import clean
from . import content, system

LINE = 16  # bytes that smartctl prints in a line
PATIENCE = 5.0  # seconds for one page; a verdict does not wait any longer
READ, HANGS, UNREAD = range(3)  # values of LogPage.status
_KEY = re.compile('smartctl_([0-9]{4,6})_u')
_HEADER = r'NVMe Log {} \((?:NSID 0x[0-9a-f]{{1,8}}, )?0x0200 bytes\)'
# " 10  01 02 03 04 05 06 07 08  09 0a 0b 0c 0d 0e 0f 10    ................". Source: smartmontools,
# utility.cpp, dStrHex().
_HEX = re.compile(
    r'([0-9a-f]{2,3}) +((?:[0-9a-f]{2} ){8}) ((?:[0-9a-f]{2} ){7}[0-9a-f]{2})(?: {4}.{1,16})?'
)


def controller(device: Device) -> str:
    """Return the path of the controller of an NVMe drive, "/dev/nvme0"; '' if the drive has no
    controller or several.

    Vendor logs belong to the controller. The namespace nvme0n1 may belong to a controller other
    than nvme0.
    """
    path = device.path
    if path.startswith('/dev/disk/'):
        path = os.path.realpath(path)
    match = re.fullmatch('/dev/(nvme[0-9]+)(n[0-9]+)?(?:p[0-9]+)?', path)
    if match is None or device.type not in ('', 'nvme'):
        return ''
    name, namespace = match.groups()
    return _controller_of(name, namespace) if namespace else f'/dev/{name}'


def _controller_of(name: str, namespace: str) -> str:
    """Return the path of the controller of a namespace, from sysfs; '' if it has several.

    If sysfs does not know the namespace nvme0n1, "/dev/nvme0" is returned.
    name, namespace: the parts of its name: "nvme0" and "n1". Source: Linux, drivers/nvme/host/multipath.c.
    """
    link = f'{system.ROOT}/sys/class/block/{name}{namespace}/device'
    if not os.path.islink(link):
        return f'/dev/{name}'
    folder = os.path.realpath(link)
    target = os.path.basename(folder)
    is_controller = re.compile('nvme[0-9]+').fullmatch
    if is_controller(target):
        return f'/dev/{target}'
    # The folder is that of a subsystem, to which several controllers may belong.
    controllers = list(filter(is_controller, system.names_in(folder)))
    return f'/dev/{controllers[0]}' if len(controllers) == 1 else ''


def page_of(answer: Answer, number: str) -> LogPage | None:
    """Return the page in the answer of smartctl, or why the page is missing; None if smartctl was
    not started, so no page was requested.
    """
    if answer.outcome in ('timeout', 'cut short'):
        return LogPage(number, status=HANGS)
    if answer.outcome == 'overflow':
        return LogPage(number, status=UNREAD)
    # The outcome is "not started", "too late", "met" or "busy".
    if answer.outcome != 'done':
        return None
    if answer.status:
        return LogPage(number, status=UNREAD, failure=_failure(answer.stdout))
    page = parse(answer.stdout, number)
    if isinstance(page, Coded):
        return LogPage(number, status=UNREAD, failure=page)
    return LogPage(number, page)


def parse(stdout: bytes, number: str) -> bytes | Coded:
    """Return the bytes of a log page in smartctl's JSON, or the reason why the JSON is not exactly
    this page.

    number: of the page, such as "0xC0".
    """
    try:
        return _bytes(_lines(content.document_of(stdout)), number)
    except DriveError:
        fault = 'the JSON is damaged'
    except ValueError as error:
        fault = str(error)
    return Coded(
        'vendor-log-unread', f'the dump that smartctl printed is unusable: {fault}'
    )


def _bytes(lines: Sequence[str], number: str) -> bytes:
    """Return the bytes of a log page in a dump. Raises ValueError if it is not whole."""
    if not lines or not re.fullmatch(_HEADER.format(number.lower()), lines[0]):
        raise ValueError('the header is missing')
    if len(lines) != 1 + LOG_PAGE // LINE:
        raise ValueError(f'it has {len(lines) - 1} lines instead of {LOG_PAGE // LINE}')
    page = b''
    for line in lines[1:]:
        match = _HEX.fullmatch(line)
        if not match or int(match[1], 16) != len(page):
            raise ValueError(f'the line for byte 0x{len(page):x} is damaged')
        page += bytes.fromhex(match[2] + match[3])
    return page


def _lines(data: Json) -> list[str]:
    """Return the nonblank lines of smartctl's text that its JSON has under numbered keys, in
    order; [] if it has none.
    """
    keys = sorted(filter(_KEY.fullmatch, data), key=lambda key: int(key.split('_')[1]))
    lines = [content.text_of(data, key) for key in keys]
    return [line for line in lines if line]


def _failure(stdout: bytes) -> Coded:
    """Return the first message of smartctl, or `NOTHING` if it printed none."""
    try:
        messages = content.messages_in(content.document_of(stdout))
    except DriveError:
        return NOTHING
    if not messages:
        return NOTHING
    _, text = messages[0]
    return Coded('smartctl-message', clean(text, LONGEST_STATEMENT))
