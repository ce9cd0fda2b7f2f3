"""What the builders of sectors and pages share."""

# File name in the drive's folder -> the bytes that the drive answers with.
Answers = dict[str, bytes]


def text(words: str, length: int) -> bytes:
    """Return characters padded with blanks, as all three protocols want them."""
    return words.encode('latin-1').ljust(length)[:length]


def put(block: bytearray, offset: int, data: bytes) -> None:
    """Write *data* into *block*, which keeps its length."""
    if offset + len(data) > len(block):
        raise ValueError(f'{len(data)} bytes at {offset} exceed {len(block)}')
    block[offset : offset + len(data)] = data


def big(number: int, length: int) -> bytes:
    """Return a number as SCSI writes it."""
    return number.to_bytes(length, 'big')


def little(number: int, length: int) -> bytes:
    """Return a number as ATA and NVMe write it."""
    return number.to_bytes(length, 'little')
