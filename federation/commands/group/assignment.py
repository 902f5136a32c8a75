"""The partitions of a member, in Kafka's ConsumerProtocolAssignment, which only members decode and write.

version int16, then an int32 count of topics: an int16-length name, an int32 count of int32 partitions. What follows is
user data.
"""

from struct import Struct, error

from brokers.ids import TopicPartition

_HEAD = Struct(">hi")
_LENGTH = Struct(">h")
_NUMBER = Struct(">i")


def assigned_partitions(assignment: bytes) -> list[TopicPartition] | None:
    """In order; empty for a member without an assignment, None for bytes that are no such assignment."""
    if not assignment:
        return []
    try:
        return sorted(_partitions(assignment))
    except (error, UnicodeDecodeError, ValueError):
        return None


def _partitions(assignment: bytes) -> list[TopicPartition]:
    found: list[TopicPartition] = []
    _, topics = _HEAD.unpack_from(assignment)
    position = _HEAD.size
    for _ in range(topics):
        (length,) = _LENGTH.unpack_from(assignment, position)
        position += _LENGTH.size
        name = assignment[position : position + length]
        if length < 0 or len(name) < length:
            raise ValueError("a name ends behind the assignment")
        (count,) = _NUMBER.unpack_from(assignment, position + length)
        position += length + _NUMBER.size
        numbers = Struct(f">{max(0, count)}i").unpack_from(assignment, position)
        position += _NUMBER.size * len(numbers)
        found += [TopicPartition(name.decode(), number) for number in numbers]
    return found
