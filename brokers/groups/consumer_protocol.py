"""Kafka's ConsumerProtocol: the subscribed topics of a member's metadata, the only part that the broker decodes.

The metadata is a ConsumerProtocolSubscription, embedded in JoinGroup for protocol type `consumer`: version int16, then
an int32 count of int16-length strings. The rest (user data, owned partitions, rack) is for the members only.
"""

from struct import Struct

CONSUMER_PROTOCOL_TYPE = "consumer"

_HEAD = Struct(">hi")  # version, number of topics
_LENGTH = Struct(">h")


def subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """The topics, or None where the bytes are no valid subscription."""
    if len(metadata) < _HEAD.size:
        return None
    version, count = _HEAD.unpack_from(metadata)
    if version < 0 or not 0 <= count <= (len(metadata) - _HEAD.size) // _LENGTH.size:
        return None
    position = _HEAD.size
    topics = []
    for _ in range(count):
        if position + _LENGTH.size > len(metadata):
            return None
        (length,) = _LENGTH.unpack_from(metadata, position)
        position += _LENGTH.size
        name = metadata[position : position + length]
        if length < 0 or len(name) < length:
            return None
        topics.append(name.decode(errors="replace"))
        position += length
    return frozenset(topics)
