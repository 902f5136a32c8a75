"""Frames <-> protobuf bytes. Record bytes are not copied by `decode`, and once by `encode` (into the message).

Chunks are most of the bytes, so their envelope is encoded and decoded here: `Frame{Chunk{head, data}}` with `data` last
is a few bytes of tags and lengths, then the batches. Any protobuf library reads the same.
"""

from collections.abc import Callable
from typing import Any, Final

from brokers.ids import OFFSET_MAX, OffsetAndMetadata, TopicPartition
from linker.errors import MirrorError
from linker.filters import Filter, Pattern
from linker.frames import (
    Agreed,
    AskBeacon,
    Beacon,
    Chunk,
    Credit,
    Declined,
    Frame,
    GroupOffsets,
    Hello,
    OffsetBounds,
    Refused,
    Subscribe,
    TopicState,
    Unsubscribe,
    WatchGroups,
    WatchTopics,
    Welcome,
)
from linker.wire.v1 import link_pb2 as pb

_CHUNK_TAG: Final = pb.Frame.CHUNK_FIELD_NUMBER << 3 | 2
_HEAD_TAG: Final = pb.Chunk.HEAD_FIELD_NUMBER << 3 | 2
_DATA_TAG: Final = pb.Chunk.DATA_FIELD_NUMBER << 3 | 2

# Half of 31 bits: every failover needs a leader epoch above its source's.
LEADER_EPOCH_MAX: Final = 1 << 30
TOPIC_ID_SIZES: Final = (0, 16)


class FrameError(ValueError):
    """Bytes that are not a frame: the stream cannot be used any more."""


def encode(frame: Frame) -> bytes:
    if isinstance(frame, Chunk):
        return _encode_chunk(frame)
    return _ENCODERS[type(frame)](frame).SerializeToString()


def decode(data: bytes) -> Frame | None:
    """None for a kind of frame that this version does not know. Raises FrameError."""
    if data and data[0] == _CHUNK_TAG:
        return _decode_chunk(data)
    message = pb.Frame()
    try:
        message.ParseFromString(data)
        kind = message.WhichOneof("frame")
        return _DECODERS[kind](getattr(message, kind)) if kind is not None else None
    except Exception as error:
        raise FrameError(str(error)) from error


def _encode_chunk(chunk: Chunk) -> bytes:
    head = pb.ChunkHead(
        subscription=chunk.subscription,
        offset=chunk.offset,
        next_offset=chunk.next_offset,
        leader_epoch=chunk.leader_epoch,
        roll=chunk.roll,
        standing=_standing(chunk.bounds),
        clock=chunk.clock,
    ).SerializeToString()
    size = len(chunk.data)
    inner = b"".join(
        (bytes((_HEAD_TAG,)), _varint(len(head)), head, bytes((_DATA_TAG,)), _varint(size))
    )
    outer = bytes((_CHUNK_TAG,)) + _varint(len(inner) + size)
    return b"".join((outer, inner, chunk.data))


def _decode_chunk(data: bytes) -> Chunk:
    try:
        size, position = _read_varint(data, 1)
        if position + size != len(data) or data[position] != _HEAD_TAG:
            raise FrameError("a chunk that does not fill its frame")
        head_size, position = _read_varint(data, position + 1)
        head = pb.ChunkHead.FromString(data[position : position + head_size])
        position += head_size
        if position >= len(data) or data[position] != _DATA_TAG:
            raise FrameError("a chunk without data")
        data_size, position = _read_varint(data, position + 1)
    except FrameError:
        raise
    except Exception as error:
        raise FrameError(str(error)) from error
    if position + data_size != len(data):
        raise FrameError("a chunk whose data does not end with its frame")
    return Chunk(
        head.subscription,
        _offset(head.offset),
        _offset(head.next_offset),
        _leader_epoch(head.leader_epoch),
        head.roll,
        _from_standing(head.standing),
        head.clock,
        memoryview(data)[position:],
    )


def _offset(number: int) -> int:
    """-1 is none."""
    if not -1 <= number <= OFFSET_MAX:
        raise FrameError(f"an offset of {number}")
    return number


def _leader_epoch(number: int) -> int:
    if number > LEADER_EPOCH_MAX:
        raise FrameError(f"a leader epoch of {number}")
    return number


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while shift < 64:
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
        shift += 7
    raise FrameError("a number without an end")


def _standing(standing: OffsetBounds) -> pb.Standing:
    return pb.Standing(
        log_start_offset=standing.log_start_offset,
        high_watermark=standing.high_watermark,
        last_stable_offset=standing.last_stable_offset,
    )


def _from_standing(message: pb.Standing) -> OffsetBounds:
    return OffsetBounds(
        _offset(message.log_start_offset),
        _offset(message.high_watermark),
        _offset(message.last_stable_offset),
    )


def _hello(frame: Hello) -> pb.Frame:
    return pb.Frame(
        hello=pb.Hello(
            version=frame.version,
            link_name=frame.link_name,
            link_id=frame.link_id,
            cluster_id=frame.cluster_id,
            expected_cluster_id=frame.expected_cluster_id,
            chunk_bytes=frame.chunk_bytes,
        )
    )


def _topic_state(frame: TopicState) -> pb.Frame:
    return pb.Frame(
        topic_state=pb.TopicState(
            topic=frame.topic,
            topic_id=frame.topic_id,
            partition_count=frame.partition_count,
            configs=frame.configs,
            leader_epochs=frame.leader_epochs,
        )
    )


def _watch_groups(frame: WatchGroups) -> pb.Frame:
    filters = [
        pb.Filter(name=one.name, pattern=_PATTERNS[one.pattern], exclude=one.exclude)
        for one in frame.filters
    ]
    return pb.Frame(watch_groups=pb.WatchGroups(filters=filters))


def _group_offsets(frame: GroupOffsets) -> pb.Frame:
    offsets = [
        pb.GroupOffset(
            topic=key.topic,
            partition=key.partition,
            offset=value.offset,
            leader_epoch=value.leader_epoch,
            metadata=value.metadata,
            committed_at=value.committed_at,
        )
        for key, value in frame.offsets.items()
    ]
    return pb.Frame(group_offsets=pb.GroupOffsets(group=frame.group, offsets=offsets))


def _subscribe(frame: Subscribe) -> pb.Frame:
    return pb.Frame(
        subscribe=pb.Subscribe(
            subscription=frame.subscription,
            topic=frame.partition.topic,
            partition=frame.partition.partition,
            topic_id=frame.topic_id,
            offset=frame.offset,
            lineage=[pb.EpochStart(leader_epoch=one, offset=start) for one, start in frame.lineage],
            from_latest=frame.from_latest,
        )
    )


def _agreed(frame: Agreed) -> pb.Frame:
    return pb.Frame(
        agreed=pb.Agreed(
            subscription=frame.subscription,
            start_offset=frame.start_offset,
            leader_epoch=frame.leader_epoch,
            standing=_standing(frame.bounds),
            clock=frame.clock,
        )
    )


def _declined(frame: Declined) -> pb.Frame:
    return pb.Frame(
        declined=pb.Declined(
            subscription=frame.subscription,
            error=frame.error.value,
            because=frame.because,
            agreed_offset=frame.agreed_offset,
        )
    )


def _beacon(frame: Beacon) -> pb.Frame:
    standings = [
        pb.SubscriptionStanding(subscription=number, standing=_standing(bounds))
        for number, bounds in frame.bounds
    ]
    return pb.Frame(beacon=pb.Beacon(clock=frame.clock, nonce=frame.nonce, standings=standings))


_PATTERNS: Final = {Pattern.LITERAL: pb.Filter.LITERAL, Pattern.PREFIXED: pb.Filter.PREFIXED}

_ENCODERS: Final[dict[type, Callable[[Any], pb.Frame]]] = {
    Hello: _hello,
    Welcome: lambda frame: pb.Frame(
        welcome=pb.Welcome(version=frame.version, cluster_id=frame.cluster_id)
    ),
    Refused: lambda frame: pb.Frame(refused=pb.Refused(code=frame.code, because=frame.because)),
    WatchTopics: lambda frame: pb.Frame(watch_topics=pb.WatchTopics(topics=frame.topics)),
    TopicState: _topic_state,
    WatchGroups: _watch_groups,
    GroupOffsets: _group_offsets,
    Subscribe: _subscribe,
    Unsubscribe: lambda frame: pb.Frame(
        unsubscribe=pb.Unsubscribe(subscription=frame.subscription)
    ),
    Agreed: _agreed,
    Declined: _declined,
    Beacon: _beacon,
    AskBeacon: lambda frame: pb.Frame(ask_beacon=pb.AskBeacon(nonce=frame.nonce)),
    Credit: lambda frame: pb.Frame(credit=pb.Credit(granted_bytes=frame.granted_bytes)),
}


def _from_group_offsets(message: pb.GroupOffsets) -> GroupOffsets:
    return GroupOffsets(
        message.group,
        {
            TopicPartition(one.topic, one.partition): OffsetAndMetadata(
                one.offset, one.leader_epoch, one.metadata, one.committed_at
            )
            for one in message.offsets
        },
    )


def _from_topic_state(message: pb.TopicState) -> TopicState:
    if len(message.topic_id) not in TOPIC_ID_SIZES:
        raise FrameError(f"a topic id of {len(message.topic_id)} bytes")
    return TopicState(
        message.topic,
        message.topic_id,
        message.partition_count,
        dict(message.configs),
        tuple(_leader_epoch(one) for one in message.leader_epochs),
    )


def _from_filter(message: pb.Filter) -> Filter:
    pattern = Pattern.PREFIXED if message.pattern == pb.Filter.PREFIXED else Pattern.LITERAL
    return Filter(message.name, pattern, message.exclude)


def _from_declined(message: pb.Declined) -> Declined:
    known = message.error in MirrorError.__members__
    error = MirrorError(message.error) if known else MirrorError.UNKNOWN
    return Declined(message.subscription, error, message.because, _offset(message.agreed_offset))


_DECODERS: Final[dict[str, Callable[[Any], Frame]]] = {
    "hello": lambda m: Hello(
        m.link_name, m.link_id, m.cluster_id, m.expected_cluster_id, m.chunk_bytes, m.version
    ),
    "welcome": lambda m: Welcome(m.cluster_id, m.version),
    "refused": lambda m: Refused(m.code, m.because),
    "watch_topics": lambda m: WatchTopics(tuple(m.topics)),
    "topic_state": _from_topic_state,
    "watch_groups": lambda m: WatchGroups(tuple(_from_filter(one) for one in m.filters)),
    "group_offsets": _from_group_offsets,
    "subscribe": lambda m: Subscribe(
        m.subscription,
        TopicPartition(m.topic, m.partition),
        m.topic_id,
        _offset(m.offset),
        tuple((one.leader_epoch, _offset(one.offset)) for one in m.lineage),
        m.from_latest,
    ),
    "unsubscribe": lambda m: Unsubscribe(m.subscription),
    "agreed": lambda m: Agreed(
        m.subscription,
        _offset(m.start_offset),
        _leader_epoch(m.leader_epoch),
        _from_standing(m.standing),
        m.clock,
    ),
    "declined": _from_declined,
    "beacon": lambda m: Beacon(
        m.clock,
        tuple((one.subscription, _from_standing(one.standing)) for one in m.standings),
        m.nonce,
    ),
    "ask_beacon": lambda m: AskBeacon(m.nonce),
    "credit": lambda m: Credit(m.granted_bytes),
}
