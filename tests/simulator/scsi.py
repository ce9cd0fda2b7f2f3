"""The pages of a SCSI drive. Source: SPC-5 (T10/BSR INCITS 502), SBC-4 (T10/BSR INCITS 506).

Description.log: temperature, drive_trip (degrees Celsius), grown_defects, pending_defects,
percentage_used, non_medium_errors, power_on_minutes, start_stop and load_unload ([cycles, rated]),
read, write and verify (seven numbers: corrected fast, delayed, by rereads, total corrected,
invocations, bytes, uncorrected), background (status, and for each result minutes, block, sense key,
sense code, reassign status).
"""

from collections.abc import Iterable, Sequence

from .binary import Answers, big, text
from .descriptions import Description, SelfTest

SERIAL_NUMBER, IDENTIFICATION, CHARACTERISTICS = 0x80, 0x83, 0xB1
_STANDBY = 0x5E  # additional sense code: LOW POWER CONDITION ON and its kin
_KINDS = {
    'Background short': 1,
    'Background long': 2,
    'Foreground short': 5,
    'Foreground long': 6,
}
_RESULTS = {
    'Completed': 0,
    'Aborted (by user command)': 1,
    'Aborted (device reset ?)': 2,
    'Unknown error, incomplete': 3,
    'Completed, segment failed': 4,
    'Failed in first segment': 5,
    'Failed in second segment': 6,
}

FARM = 0x3D, 3  # page and subpage of Seagate's log
# name -> parameter
FARM_BY_HEAD = {'reallocated': 0x21, 'repeated': 0x28, 'unrecoverable': 0x29}
Page = tuple[int, int]


def answers(
    drive: Description, is_enabled: bool = True, is_asleep: bool = False
) -> Answers:
    """Return everything that the drive can say.

    Without any log it is a RAID volume, which only says who it is.
    """
    found = {
        'inquiry': inquiry(drive),
        'sense': sense(drive, is_asleep),
        'capacity': capacity(drive.capacity),
    }
    found.update(
        (f'vpd-{number:02x}', page)
        for number, page in vital_product_data(drive).items()
    )
    if not drive.log:
        return found
    found.update({'opcodes': supported_commands(), 'opcode-4d': log_sense_usage()})
    found.update(
        {'mode-1c': exceptions_control(is_enabled), 'mode-0a': _mode(0x0A, bytes(10))}
    )
    found.update(
        (f'page-{page:02x}-{subpage:02x}', data)
        for (page, subpage), data in log_pages(drive).items()
    )
    if 'grown_defects' in drive.log:
        found['defects'] = defects(drive.log['grown_defects'])
    return found


def inquiry(drive: Description) -> bytes:
    """Return the standard INQUIRY data: a disk that follows SPC-4. Source: SPC-5, 6.6.2."""
    header = bytes([0, 0, 6, 2, 31, 0, 0, 2])
    return (
        header + text(drive.vendor, 8) + text(drive.model, 16) + text(drive.firmware, 4)
    )


def sense(drive: Description, is_asleep: bool) -> bytes:
    """Return what REQUEST SENSE tells: why it fails soon, that it sleeps, or nothing.

    Source: SPC-5, 4.4.3.
    """
    code, qualifier = (_STANDBY, 0x02) if is_asleep else verdict(drive.health)
    return bytes([0x70, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, code, qualifier]).ljust(
        18, b'\0'
    )


def verdict(health: str) -> tuple[int, int]:
    """Return additional sense code and qualifier of "5d/10", 0 and 0 of a healthy drive."""
    if health == 'PASSED':
        return 0, 0
    code, qualifier = health.split('/')
    return int(code, 16), int(qualifier, 16)


def capacity(size: int) -> bytes:
    """Return the answer to READ CAPACITY (16): last block, block length. Source: SBC-4, 5.21.2."""
    return (big(max(0, size // 512 - 1), 8) + big(512, 4)).ljust(32, b'\0')


def vital_product_data(drive: Description) -> dict[int, bytes]:
    """Return the VPD pages. Source: SPC-5, 7.7; SBC-4, 6.6.2."""
    # NAA 5: eight bytes; NAA 6, of a volume: sixteen
    name = bytes.fromhex(drive.wwn)
    unit = bytes([0x01, 0x03, 0, len(name)]) + name  # binary, NAA, of the logical unit
    # the same of the target port, protocol 6: SAS
    port = bytes([0x61, 0x93, 0, 8]) + name[:7] + b'\xff'
    rate = {None: 0, 0: 1}.get(drive.rotation, drive.rotation or 0)
    pages = {
        SERIAL_NUMBER: text(drive.serial, len(drive.serial)),
        IDENTIFICATION: unit + port,
        CHARACTERISTICS: (big(rate, 2) + bytes([0, 3 if rate == 1 else 2])).ljust(
            60, b'\0'
        ),
    }
    pages[0] = bytes([0, *pages])
    return {
        number: bytes([0, number]) + big(len(page), 2) + page
        for number, page in pages.items()
    }


def supported_commands() -> bytes:
    """Return the answer to REPORT SUPPORTED OPERATION CODES: what scsi.c knows.

    Source: SPC-5, 6.35.2.
    """
    lengths = {0x00: 6, 0x03: 6, 0x12: 6, 0x1A: 6, 0x4D: 10, 0xB7: 12}
    # READ CAPACITY (16), this command: they have a service action
    actions = ((0x9E, 0x10, 16), (0xA3, 0x0C, 12))
    entries = [
        bytes([code, 0, 0, 0, 0, 0]) + big(length, 2)
        for code, length in lengths.items()
    ]
    entries += [
        bytes([code, 0]) + big(action, 2) + bytes([0, 1]) + big(length, 2)
        for code, action, length in actions
    ]
    return big(8 * len(entries), 4) + b''.join(entries)


def log_sense_usage() -> bytes:
    """Return the same for LOG SENSE alone: the bits of its ten bytes that count, those of the
    subpage too. Source: SPC-5, 6.35.3.
    """
    return (
        bytes([0, 3])
        + big(10, 2)
        + bytes([0x4D, 0x01, 0xFF, 0xFF, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x07])
    )


def exceptions_control(is_enabled: bool) -> bytes:
    """Return the Informational Exceptions Control mode page; bit DEXCPT switches them off.

    Source: SPC-5, 7.5.12.
    """
    return _mode(0x1C, bytes([0x10 if is_enabled else 0x08, 6, 0, 0, 0, 0, 0, 0, 0, 1]))


def _mode(number: int, data: bytes) -> bytes:
    """Return a mode page behind the header of MODE SENSE (6), without block descriptors."""
    return bytes([3 + 2 + len(data), 0, 0, 0, number, len(data)]) + data


def defects(count: int) -> bytes:
    """Return the head of the grown defect list, bytes from index. Source: SBC-4, 5.20."""
    return bytes([0, 0x0C, 0, 0]) + big(8 * count, 4)


# --- log pages -------------------------------------------------------------------------


def farm_parameters(drive: Description) -> bytes:
    """Return Seagate's FARM log: numbers of eight bytes, the first of which is a mark; smartctl
    drops the last one.

    Source: smartmontools 7.5, farmcmds.h.
    """
    farm, serial = drive.farm, text(str(drive.farm.get('serial', drive.serial)), 8)
    information = [0] * 31
    information[2], information[3] = (
        int.from_bytes(part, 'big') for part in (serial[4:8], serial[:4])
    )
    information[11], information[12], information[19] = (
        farm.get('heads', 0),
        2,
        farm.get('hours', 0),
    )
    parameters = {
        0: [0x4641524D4552, 4, 17, 8, 0, 0, 24, 0, 0],
        1: information,
        **{
            code: [*farm[name], *[0] * (20 - len(farm[name]))]
            for name, code in FARM_BY_HEAD.items()
            if name in farm
        },
        0x81: [0] * 23,
    }
    return b''.join(
        big(code, 2)
        + bytes([3, 8 * len(numbers)])
        + b''.join(b'\xc0' + big(number, 7) for number in numbers)
        for code, numbers in parameters.items()
    )


def log_pages(drive: Description) -> dict[Page, bytes]:
    """Return the log pages, and the lists of them. Source: SPC-5, 7.3; SBC-4, 6.4."""
    bodies: dict[Page, bytes] = {
        (0x2F, 0): exceptions(drive),
        (0x10, 0): self_tests(drive.self_tests),
    }
    for page, parameters in _counters(drive).items():
        bodies[page] = b''.join(_parameter(code, data) for code, data in parameters)
    if drive.farm:
        bodies[FARM] = farm_parameters(drive)
    bodies[0, 0] = bytes(
        sorted({0, *(page for page, subpage in bodies if not subpage)})
    )
    bodies[0, 0xFF] = b''.join(
        bytes(page) for page in sorted({(0, 0), (0, 0xFF), *bodies})
    )
    return {
        (page, subpage): bytes([page | (0x40 if subpage else 0), subpage])
        + big(len(body), 2)
        + body
        for (page, subpage), body in bodies.items()
    }


def _parameter(code: int, data: bytes) -> bytes:
    return big(code, 2) + bytes([0x03, len(data)]) + data


def _counters(drive: Description) -> dict[Page, Sequence[tuple[int, bytes]]]:
    """Return the parameters of all pages that consist of nothing else."""
    log = drive.log
    pages: dict[Page, Sequence[tuple[int, bytes]]] = {}
    for page, name in ((0x02, 'write'), (0x03, 'read'), (0x05, 'verify')):
        if name in log:
            pages[page, 0] = list(enumerate(big(number, 8) for number in log[name]))
    if 'non_medium_errors' in log:
        pages[0x06, 0] = [(0, big(log['non_medium_errors'], 8))]
    if 'temperature' in log:
        pages[0x0D, 0] = [
            (0, bytes([0, log['temperature']])),
            (1, bytes([0, log.get('drive_trip', 255)])),
        ]
    if 'start_stop' in log or 'load_unload' in log:
        pages[0x0E, 0] = list(
            _cycles(log.get('start_stop', []), log.get('load_unload', []))
        )
    if 'percentage_used' in log:
        pages[0x11, 0] = [(1, bytes([0, 0, 0, log['percentage_used']]))]
    if 'power_on_minutes' in log:
        status, results = log.get('background', (0, ()))
        pages[0x15, 0] = [
            (0, big(log['power_on_minutes'], 4) + bytes([0, status]) + bytes(6)),
            *((place, _scanned(*result)) for place, result in enumerate(results, 1)),
        ]
    if 'pending_defects' in log:
        pages[0x15, 1] = [(0, big(log['pending_defects'], 4))]
    return pages


def _scanned(minutes: int, block: int, key: int, code: int, reassigned: int) -> bytes:
    """Return a result of the background scan. Source: SBC-4, 6.4.2."""
    return (
        big(minutes, 4)
        + bytes([reassigned << 4 | key, code, 0])
        + bytes(5)
        + big(block, 8)
    )


def _cycles(
    start_stop: Sequence[int], load_unload: Sequence[int]
) -> Iterable[tuple[int, bytes]]:
    """Yield date of manufacture, then rated and accumulated cycles. Source: SPC-5, 7.3.22."""
    yield 1, b'201540'
    for code, numbers in ((3, start_stop), (5, load_unload)):
        if numbers:
            cycles, rated = numbers
            yield code, big(rated, 4)
            yield code + 1, big(cycles, 4)


def exceptions(drive: Description) -> bytes:
    """Return the Informational Exceptions page.

    Code 0 makes smartctl ask with REQUEST SENSE. Source: SPC-5, 7.3.8.
    """
    return _parameter(
        0, bytes([*verdict(drive.health), drive.log.get('temperature', 255), 0])
    )


def self_tests(tests: Sequence[SelfTest]) -> bytes:
    """Return the Self-Test Results page: always 20 entries. Source: SPC-5, 7.3.20."""
    entries = []
    for place in range(20):
        body = _tested(tests[place]) if place < len(tests) else bytes(16)
        entries.append(_parameter(place + 1, body))
    return b''.join(entries)


def _tested(test: SelfTest) -> bytes:
    result = _RESULTS[test.status]
    address, sense_data = (
        (big(123456, 8), bytes([3, 0x11, 0, 0]))
        if result > 2
        else (b'\xff' * 8, bytes(4))
    )
    return (
        bytes([_KINDS[test.kind] << 5 | result, 0])
        + big(test.hours, 2)
        + address
        + sense_data
    )
