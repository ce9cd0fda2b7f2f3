"""A made-up ATA drive that the real smartctl reads, from its own record of commands.

`smartctl -a -` takes a protocol as `smartctl -r ataioctl,2` prints it, on standard
input: each command with the 512 bytes it returned. So one drive can be had in every
form that smartctl prints. Source: smartmontools 7.3, atacmds.cpp, parsed_ata_device.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import abilities

SMARTCTL = abilities.path_of('smartctl')

# id, flags, value, worst, threshold, raw
Row = tuple[int, int, int, int, int, int]
# type, status byte, hours
Test = tuple[int, int, int]


class Drive(NamedTuple):
    """What the drive answers."""

    rows: Sequence[Row] = ()
    tests: Sequence[Test] = ()  # newest first
    errors: int = 0
    is_failing: bool = False
    model: str = 'ACME ARGO 500'
    serial: str = 'EXAMPLE0001'
    firmware: str = 'A1.0'
    sectors: int = 976773168
    rotation: int = 7200  # 1: solid state drive
    wwn: int = 0x5000C50012345678
    is_enabled: bool = True


def printed(drive: Drive, *arguments: str) -> bytes:
    """Return what the real smartctl prints of *drive*."""
    assert SMARTCTL
    session = '\n'.join(_session(drive)) + '\n'
    return subprocess.run(
        [SMARTCTL, *arguments, '-'], input=session.encode(), capture_output=True, check=False
    ).stdout


def _session(drive: Drive) -> Iterator[str]:
    values, thresholds = _tables(drive.rows)
    yield from _command('IDENTIFY DEVICE', _identify(drive))
    yield from _command('SMART READ ATTRIBUTE VALUES', values)
    yield from _command('SMART READ ATTRIBUTE THRESHOLDS', thresholds)
    yield from _command('SMART STATUS CHECK', None, int(drive.is_failing))
    for address, log in (
        (0, _directory()),
        (1, _error_log(drive.errors)),
        (6, _test_log(drive.tests)),
        (9, b''),
    ):
        yield from _command(
            'SMART READ LOG', _summed(log.ljust(512, b'\0')) if address else log, 0, address
        )


def _command(
    name: str, data: bytes | None, returned: int = 0, select: int | None = None
) -> Iterator[str]:
    parameter = '' if select is None else f' InputParameter={select}'
    yield f'REPORT-IOCTL: Device=/dev/sda Command={name}{parameter}'
    yield f'REPORT-IOCTL: Device=/dev/sda Command={name} returned {returned}'
    if data is not None:
        yield f'===== [{name}] DATA START (BASE-16) ====='
        for start in range(0, 512, 16):
            octets = ' '.join(f'{octet:02x}' for octet in data[start : start + 16])
            yield f'{start:03d}-{start + 15:03d}: {octets} |................|'
        yield f'===== [{name}] DATA END (512 Bytes) ====='


def _identify(drive: Drive) -> bytes:
    """IDENTIFY DEVICE. Source: ACS-3, table 45."""
    words = bytearray(512)
    words[20:40] = _swapped(drive.serial, 20)
    words[46:54] = _swapped(drive.firmware, 8)
    words[54:94] = _swapped(drive.model, 40)
    enabled = 0x0001 if drive.is_enabled else 0
    for word, value in (
        (49, 0x0200),
        (60, drive.sectors & 0xFFFF),
        (61, drive.sectors >> 16 & 0xFFF),
        (80, 0x01FE),
        (82, 0x0001),
        (83, 0x4400),
        (84, 0x4123),
        (85, enabled),
        (86, 0x0400),
        (87, 0x4123),
        (100, drive.sectors & 0xFFFF),
        (101, drive.sectors >> 16 & 0xFFFF),
        (102, drive.sectors >> 32),
        (106, 0x6003),
        *(
            (108 + place, drive.wwn >> shift & 0xFFFF)
            for place, shift in enumerate((48, 32, 16, 0))
        ),
        (217, drive.rotation),
        (255, 0x00A5),
    ):
        struct.pack_into('<H', words, 2 * word, value)
    return _summed(bytes(words))


def _tables(rows: Sequence[Row]) -> tuple[bytes, bytes]:
    values, thresholds = bytearray(512), bytearray(512)
    values[0] = thresholds[0] = 16
    for place, (number, flags, value, worst, threshold, raw) in enumerate(rows):
        struct.pack_into(
            '<BHBB6s',
            values,
            2 + 12 * place,
            number,
            flags,
            value,
            worst,
            raw.to_bytes(6, 'little'),
        )
        struct.pack_into('<BB', thresholds, 2 + 12 * place, number, threshold)
    # self-tests, autosave and error log are supported
    values[367], values[368], values[370] = 0x5B, 3, 1
    return _summed(bytes(values)), _summed(bytes(thresholds))


def _directory() -> bytes:
    log = bytearray(512)
    for address in (0, 1, 6, 9):
        log[2 * address] = 1
    return bytes(log)


def _error_log(count: int) -> bytes:
    log = bytearray(512)
    log[0] = 1
    if count:
        log[1] = (count - 1) % 5 + 1
        struct.pack_into('<H', log, 452, count)
    return bytes(log)


def _test_log(tests: Sequence[Test]) -> bytes:
    log = bytearray(512)
    log[0] = 1
    for place, (kind, status, hours) in enumerate(reversed(tests)):
        struct.pack_into('<BBHBI', log, 2 + 24 * place, kind, status, hours, 0, 0xFFFFFFFF)
    log[508] = len(tests)
    return bytes(log)


def _swapped(text: str, length: int) -> bytes:
    """ATA strings: two characters a word, the first in the high byte."""
    raw = text.ljust(length).encode('latin-1')
    pairs: list[bytes] = [raw[place : place + 2][::-1] for place in range(0, length, 2)]
    return b''.join(pairs)


def _summed(block: bytes) -> bytes:
    """Make the bytes of a sector sum to zero."""
    return block[:511] + bytes([-sum(block[:511]) & 0xFF])
