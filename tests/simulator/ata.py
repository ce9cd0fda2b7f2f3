"""The sectors of an ATA drive.

Source: ACS-4 (T13/BSR INCITS 529) and ATA8-ACS (T13/1699-D) for what is obsolete.
"""

import re
from collections.abc import Mapping, Sequence

from .binary import Answers, little, put, text
from .descriptions import Description, Row, SelfTest, Statistic

SECTOR = 512
_FLAGS = 'POSRCK'  # bits 0 to 5 of an attribute's flags, in smartctl's letters

# ATA8-ACS, tables "Self-test execution status values" and "SMART EXECUTE OFF-LINE IMMEDIATE
# subcommands".
_STATUS = (
    'Completed without error',
    'Aborted by host',
    'Interrupted (host reset)',
    'Fatal or unknown error',
    'Completed: unknown failure',
    'Completed: electrical failure',
    'Completed: servo/seek failure',
    'Completed: read failure',
    'Completed: handling damage??',
)
_KINDS = {
    'Offline': 0,
    'Short offline': 1,
    'Extended offline': 2,
    'Conveyance offline': 3,
    'Short captive': 0x81,
    'Extended captive': 0x82,
}

# Logs: SMART ones are read by SMART READ LOG, general purpose ones by READ LOG EXT.
(
    SUMMARY_ERRORS,
    EXTENDED_ERRORS,
    STATISTICS,
    SELF_TESTS,
    EXTENDED_SELF_TESTS,
    SELECTIVE,
    FARM,
) = (
    1,
    3,
    4,
    6,
    7,
    9,
    0xA6,
)
SCT = 0xE0
FARM_PAGE, FARM_PAGES, FARM_SIGNATURE = 16384, 6, 0x4641524D4552
# The numbers of the FARM log that a description may give: page and place; those of heads take a
# list.
FARM_PLACES = {
    'hours': (1, 19),
    'spindle_hours': (1, 20),
    'heads': (1, 11),
    'form_factor': (1, 12),
    'repeated': (3, 71),
    'unrecoverable': (3, 95),
    'reallocated': (5, 649),
}


def answers(drive: Description, is_enabled: bool = True) -> Answers:
    """Return everything that the drive can say.

    is_enabled: SMART is; a drive that was told to leave it aborts the commands.
    """
    found = {
        'identify': identify(drive, is_enabled),
        'inquiry': inquiry(drive),
        'sense': bytes([0x70]).ljust(18, b'\0'),
    }
    if not is_enabled:
        return found
    data, thresholds = attribute_tables(drive.attributes, drive.raw_bytes)
    found.update({'smart-data': data, 'smart-thresholds': thresholds})
    smart_logs = {
        SUMMARY_ERRORS: summary_error_log(drive.errors),
        SELF_TESTS: self_test_log(drive.self_tests),
        SELECTIVE: selective_log(),
    }
    if drive.erc:
        smart_logs[SCT] = sct_status()
        found['erc'] = b''.join(little(limit, 2) for limit in drive.erc)
    long_logs = {
        EXTENDED_ERRORS: extended_error_log(drive.errors),
        EXTENDED_SELF_TESTS: extended_self_test_log(drive.self_tests),
    }
    if drive.statistics:
        long_logs[STATISTICS] = statistics_log(drive.statistics)
    if drive.farm:
        long_logs[FARM] = farm_log(drive)
    for prefix, logs in (('smart-log', smart_logs), ('log', long_logs)):
        found[f'{prefix}-00'] = directory(
            {address: len(log) // SECTOR for address, log in logs.items()}
        )
        found.update((f'{prefix}-{address:02x}', log) for address, log in logs.items())
    return found


def summed(block: bytes) -> bytes:
    """Return a sector whose bytes sum to zero (ATA8-ACS, 7.52.6: "data structure checksum")."""
    return block[: SECTOR - 1] + bytes([-sum(block[: SECTOR - 1]) & 0xFF])


def identify(drive: Description, is_enabled: bool = True) -> bytes:
    """Return the answer to IDENTIFY DEVICE. Source: ACS-4, table 50."""
    sectors = drive.capacity // SECTOR
    wwn = int(drive.wwn or '0', 16)
    has_wwn = 0x0100 if wwn else 0
    words = {
        49: 0x0300,  # LBA, DMA
        60: min(sectors, 0x0FFFFFFF) & 0xFFFF,
        61: min(sectors, 0x0FFFFFFF) >> 16,
        # SATA: up to 6 Gb/s, and at `link` now
        76: 0x000E,
        77: 2 * drive.link,
        80: 0x07F0,  # ATA/ATAPI-4 to ACS-3
        # supported: SMART, 48 bit; its logs and tests, GPL, WWN
        82: 0x0001,
        83: 0x4400,
        84: 0x4023 | has_wwn,
        85: int(is_enabled),
        86: 0x0400,
        87: 0x4023 | has_wwn,  # enabled: the same
        100: sectors & 0xFFFF,
        101: sectors >> 16 & 0xFFFF,
        102: sectors >> 32 & 0xFFFF,
        # 1 or 8 logical sectors in a physical one
        106: {512: 0x4000, 4096: 0x6003}[drive.physical_block_size],
        108: wwn >> 48 & 0xFFFF,
        109: wwn >> 32 & 0xFFFF,
        110: wwn >> 16 & 0xFFFF,
        111: wwn & 0xFFFF,
        # SCT, with error recovery control
        206: 0x0009 if drive.erc else 0,
        217: {None: 0, 0: 1}.get(drive.rotation, drive.rotation or 0),
        222: 0x107E,  # SATA 2.5 to 3.2
        255: 0x00A5,  # there is a checksum
    }
    block = bytearray(SECTOR)
    for word, value in words.items():
        put(block, 2 * word, little(value, 2))
    for word, words_, length in (
        (10, drive.serial, 20),
        (23, drive.firmware, 8),
        (27, drive.model, 40),
    ):
        put(block, 2 * word, _swapped(words_, length))
    return summed(bytes(block))


def _swapped(words: str, length: int) -> bytes:
    """Return an ATA string: two characters a word, the first in the high byte (ACS-4, 3.4.9)."""
    raw = text(words, length)
    return b''.join(raw[place : place + 2][::-1] for place in range(0, length, 2))


def inquiry(drive: Description) -> bytes:
    """Return what SCSI sees of the drive. Source: SAT-4, 8.1.2."""
    header = bytes([0, 0, 5, 2, 31, 0, 0, 2])
    return (
        header
        + text('ATA', 8)
        + text(drive.model, 16)
        + text(drive.firmware.rstrip()[-4:], 4)
    )


# --- attributes ---------------------------------------------------------------------


def attribute_tables(
    rows: Sequence[Row], exact: Mapping[str, str]
) -> tuple[bytes, bytes]:
    """Return the answers to SMART READ DATA and READ THRESHOLDS.

    Source: SFF-8035i 2.0; ATA8-ACS, table 62.

    exact: attribute -> raw value in hexadecimal digits, low byte first, where its printed form does
    not tell.
    """
    data, thresholds = bytearray(SECTOR), bytearray(SECTOR)
    data[0] = thresholds[0] = 16
    for place, row in enumerate(rows):
        flags = sum(
            1 << bit for bit, letter in enumerate(_FLAGS) if row.flags[bit] == letter
        )
        raw = bytes.fromhex(exact.get(str(row.id), '')) or raw_bytes(row.raw)
        entry = bytes([row.id]) + little(flags, 2) + bytes([row.value, row.worst]) + raw
        put(data, 2 + 12 * place, entry)
        if row.threshold is not None:
            put(thresholds, 2 + 12 * place, bytes([row.id, row.threshold]))
    # Off-line tests, self-tests, selective self-tests; autosave; error log; 2 and 60 minutes for
    # the self-tests.
    for offset, value in ((367, 0x5B), (368, 3), (370, 1), (372, 2), (373, 60)):
        data[offset] = value
    return summed(bytes(data)), summed(bytes(thresholds))


def raw_bytes(printed: str) -> bytes:
    """Return seven bytes (raw value and reserved) that smartctl prints like this, in the format
    that its database has for such an attribute.

    Source: smartctl(8), -v: raw48, raw16(raw16), raw24(raw8), raw16(avg16), raw24/raw32,
    tempminmax, msec24hour32.
    Raises ValueError for other words; a description then gives the bytes in "raw_bytes".
    """
    for pattern, places in _RAW_FORMATS:
        match = re.fullmatch(pattern, printed)
        if match:
            block = bytearray(7)
            for number, (offset, length) in zip(match.groups(), places):
                put(
                    block,
                    offset,
                    (int(number, 0) & (1 << 8 * length) - 1).to_bytes(length, 'little'),
                )
            return bytes(block)
    clock = re.fullmatch(r'(\d+)h\+(\d+)m(?:\+(\d+)\.(\d+)s)?', printed)
    if clock:
        hours, minutes, seconds, thousandths = (
            int(part or 0) for part in clock.groups()
        )
        return little(hours, 4) + little(
            60000 * minutes + 1000 * seconds + thousandths, 3
        )
    raise ValueError(f'the raw value "{printed}" has no known form')


# A pattern, and for each of its numbers offset and length in the seven bytes.
_RAW_FORMATS: list[tuple[str, tuple[tuple[int, int], ...]]] = [
    (r'(\d+|0x[0-9a-f]+)', ((0, 6),)),
    (r'(-?\d+) \(Min/Max (-?\d+)/(-?\d+)\)', ((0, 1), (2, 1), (3, 1))),
    (
        r'(-?\d+) \((\d+) (\d+) (\d+) (\d+) (\d+)\)',
        ((0, 1), (5, 1), (4, 1), (3, 1), (2, 1), (1, 1)),
    ),
    (r'(\d+) \((\d+) (\d+) (\d+)\)', ((0, 3), (5, 1), (4, 1), (3, 1))),
    (r'(\d+) \((\d+) (\d+)\)', ((0, 2), (4, 2), (2, 2))),
    (r'(\d+) \(Average (\d+)\)', ((0, 2), (2, 2))),
    (r'(\d+)/(\d+)', ((4, 3), (0, 4))),
    (r'(\d+) (\d+) (\d+)', ((4, 2), (2, 2), (0, 2))),
]


# --- logs -----------------------------------------------------------------------------


def directory(sizes: dict[int, int]) -> bytes:
    """Return the directory of logs: a size in sectors for each address. Source: ACS-4, 9.2."""
    block = bytearray(SECTOR)
    put(block, 0, little(1, 2))
    for address, sectors in sizes.items():
        put(block, 2 * address, little(sectors, 2))
    return bytes(block)


def summary_error_log(count: int) -> bytes:
    """Return the log of the last five errors; what they were is left blank.

    Source: ATA8-ACS, A.4.
    """
    block = bytearray(SECTOR)
    block[0] = 1
    if count:
        block[1] = (count - 1) % 5 + 1
        put(block, 452, little(count & 0xFFFF, 2))
    return summed(bytes(block))


def extended_error_log(count: int) -> bytes:
    """Return the extended comprehensive error log, one sector of it. Source: ATA8-ACS, A.7."""
    block = bytearray(SECTOR)
    block[0] = 1
    if count:
        put(block, 2, little((count - 1) % 4 + 1, 2))
        put(block, 500, little(count & 0xFFFF, 2))
    return summed(bytes(block))


def self_test_log(tests: Sequence[SelfTest]) -> bytes:
    """Return the self-test log: a ring of 21 entries. Source: ATA8-ACS, A.10."""
    block = bytearray(SECTOR)
    block[0] = 1
    newest_last = tests[20::-1]
    _put_tests(block, newest_last, start=2, size=24, lba_bytes=4)
    block[508] = len(newest_last)
    return summed(bytes(block))


def extended_self_test_log(tests: Sequence[SelfTest]) -> bytes:
    """Return the extended self-test log: a ring of 19 entries. Source: ATA8-ACS, A.9."""
    block = bytearray(SECTOR)
    block[0] = 1
    newest_last = tests[18::-1]
    _put_tests(block, newest_last, start=4, size=26, lba_bytes=6)
    put(block, 2, little(len(newest_last), 2))
    return summed(bytes(block))


def _put_tests(
    block: bytearray, tests: Sequence[SelfTest], start: int, size: int, lba_bytes: int
) -> None:
    """Write the entries of a self-test log, which differ in their places and in how long an LBA
    may be.
    """
    for place, test in enumerate(tests):
        lba = _failing_lba(test) & (1 << 8 * lba_bytes) - 1
        put(block, start + size * place, _tested(test) + little(lba, lba_bytes))


def _tested(test: SelfTest) -> bytes:
    """Return type, status (10 % left where it failed), power-on hours and checkpoint."""
    status = _STATUS.index(test.status)
    return (
        bytes([_KINDS[test.kind], status << 4 | bool(status)])
        + little(test.hours & 0xFFFF, 2)
        + b'\0'
    )


def _failing_lba(test: SelfTest) -> int:
    return 123456 if test.status == 'Completed: read failure' else 0xFFFFFFFFFFFF


def selective_log() -> bytes:
    """Return the selective self-test log: never used. Source: ATA8-ACS, A.11."""
    return summed(bytes([1]).ljust(SECTOR, b'\0'))


def sct_status() -> bytes:
    """Return the SCT status after a successful question for a time limit of error recovery.

    Source: ACS-4, 8.2.5.
    """
    block = bytearray(SECTOR)
    # format version; action and function of the last command
    for offset, value in ((0, 3), (16, 3), (18, 2)):
        put(block, offset, little(value, 2))
    return bytes(block)


def statistics_log(entries: Sequence[Statistic]) -> bytes:
    """Return the device statistics, pages 0 to the last one. Source: ACS-4, 9.5."""
    pages = sorted({entry.page for entry in entries})
    log = bytearray(SECTOR * max(8, pages[-1] + 1))
    log[8 : 8 + 2 + len(pages)] = bytes([1 + len(pages), 0, *pages])
    put(log, 0, little(1, 2))
    for page in pages:
        put(log, SECTOR * page, bytes([1, 0, page]))
    for entry in entries:
        put(log, SECTOR * entry.page + entry.offset, _statistic(entry))
    return bytes(log)


def farm_log(drive: Description) -> bytes:
    """Return Seagate's FARM log with the numbers of FARM_PLACES.

    Source: smartmontools 7.5, farmcmds.h.
    """
    log = bytearray(FARM_PAGE * FARM_PAGES)
    serial = str(drive.farm.get('serial', drive.serial))[:8]
    header = (FARM_SIGNATURE, 4, 17, FARM_PAGES, len(log), FARM_PAGE, 24)
    numbers = {
        **{(0, place): number for place, number in enumerate(header)},
        (1, 12): 2,
        **{(page, 0): page for page in range(1, FARM_PAGES)},
        **{
            (1, 2 + place): int.from_bytes(
                _swapped(serial[4 * place :][:4], 4), 'little'
            )
            for place in (0, 1)
        },
    }
    for name, (page, place) in FARM_PLACES.items():
        given = drive.farm.get(name, [])
        numbers.update(
            ((page, place + head), number)
            for head, number in enumerate(given if isinstance(given, list) else [given])
        )
    for (page, place), number in numbers.items():
        put(log, FARM_PAGE * page + 8 * place, little(number, 7) + b'\xc0')
    return bytes(log)


def _statistic(entry: Statistic) -> bytes:
    """Return the value in seven bytes, then flags: supported, valid, normalized, DSN, condition
    met.
    """
    flags = 0x80 | (0x40 if entry.number is not None else 0)
    flags |= sum(
        bit
        for bit, letter in ((0x20, 'N'), (0x10, 'D'), (0x08, 'C'))
        if letter in entry.flags
    )
    return little((entry.number or 0) & (1 << 56) - 1, 7) + bytes([flags])
