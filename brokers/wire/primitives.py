"""Variable-length integers and tag buffers (KIP-482), and the error of invalid bytes."""

from uuid import UUID

from brokers.ids import Buffer

ZERO_UUID = UUID(int=0)  # Kafka's Uuid.ZERO_UUID: no id
TAGS_MAX = (
    127  # in one struct, so that their count is one byte; Kafka's structs have about ten at most
)
UINT32_MAX = (1 << 32) - 1


class WireError(ValueError):
    """Bytes that are no valid message, or a message that cannot be encoded."""


def read_unsigned_varint(buffer: Buffer, position: int) -> tuple[int, int]:
    """(value, next position); at most 5 bytes and 32 bits."""
    try:
        byte = buffer[position]
        if byte < 128:
            return byte, position + 1
        return read_varint_rest(buffer, position + 1, byte)
    except IndexError as error:
        raise WireError(f"varint cut short at byte {position}") from error


def read_varint_rest(buffer: Buffer, position: int, first: int) -> tuple[int, int]:
    """The rest of a varint whose first byte is 128 or more. Raises IndexError for a missing byte."""
    value = first & 0x7F
    for shift in (7, 14, 21, 28):
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 128:
            if value > UINT32_MAX:
                break
            return value, position
    raise WireError(f"varint beyond 32 bits before byte {position}")


def write_unsigned_varint(value: int) -> bytes:
    """The shortest encoding of 0 <= value < 2^32."""
    if not 0 <= value <= UINT32_MAX:
        raise WireError(f"{value} is no unsigned 32-bit number")
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def skip_tags(buffer: Buffer, position: int, count: int, limit: int) -> int:
    """The position after a tag buffer without known tags; `count` is its first byte."""
    if count > TAGS_MAX:
        raise WireError(f"{count} tags or more")
    previous = -1
    for _ in range(count):
        previous, _, position = open_tag(buffer, position, previous, limit)
    return position


def open_tag(buffer: Buffer, position: int, previous: int, limit: int) -> tuple[int, int, int]:
    """(tag, start, next position) of one tagged field. Tags rise strictly (KIP-482)."""
    tag, position = read_unsigned_varint(buffer, position)
    size, start = read_unsigned_varint(buffer, position)
    if tag <= previous:
        raise WireError(f"tag {tag} after tag {previous}")
    if size > limit - start:
        raise WireError(f"tag {tag} announces {size} bytes where {limit - start} are left")
    return tag, start, start + size
