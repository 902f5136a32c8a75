"""Every frame survives the wire, protobuf reads the same, and hostile bytes are refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.ids import OffsetAndMetadata, TopicPartition
from linker import frames, hold_frames, reversal_frames
from linker.errors import MirrorError
from linker.filters import Filter, Pattern
from linker.frames import Chunk
from linker.offset_bounds import BehindOrigin, OffsetBounds, SegmentPosition
from linker.protocol_versions import ProtocolVersions
from linker.wire.frames import FrameError, decode, encode
from linker.wire.limits import PARTITIONS_MAX
from linker.wire.v1 import link_pb2

OFFSETS = st.integers(-1, 2**62)
SIGNED = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
EPOCHS = st.integers(-1, 2**30)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
UINT = st.integers(0, 2**64 - 1)
TOPIC_IDS = st.binary(min_size=16, max_size=16)
ORIGINS = st.builds(BehindOrigin, OFFSETS, OFFSETS, OFFSETS, st.booleans())
STANDINGS = st.builds(
    OffsetBounds, *(ORIGINS if name == "origin" else OFFSETS for name in OffsetBounds._fields)
)
COUNTS = st.integers(0, PARTITIONS_MAX - 1)
PARTITIONS = st.builds(TopicPartition, TEXT, COUNTS)
COMMITS = st.builds(OffsetAndMetadata, OFFSETS, INT32, TEXT, SIGNED)
FILTERS = st.builds(Filter, TEXT, st.sampled_from(Pattern), st.booleans())
UINT32 = st.integers(0, 2**32 - 1)
VERSIONS = st.builds(ProtocolVersions, st.integers(1, 2**32 - 1), UINT32)

CHUNKS = st.builds(
    Chunk, UINT, OFFSETS, OFFSETS, EPOCHS, st.booleans(), STANDINGS, SIGNED, st.binary(max_size=300)
)
REVERSED = st.builds(
    reversal_frames.ReversedTopic, TEXT, TOPIC_IDS, TOPIC_IDS, SIGNED, st.booleans(), OFFSETS
)
REFUSED = st.builds(reversal_frames.ReversalRefused, TEXT, SIGNED, TEXT, TEXT)
OTHERS = st.one_of(
    st.builds(frames.Hello, TEXT, TEXT, TEXT, TEXT, UINT32, VERSIONS, chunk_bytes_max=UINT32),
    st.builds(frames.Welcome, TEXT, UINT32),
    st.builds(frames.Refused, TEXT, TEXT),
    st.builds(frames.WatchTopics, st.lists(TEXT, max_size=4).map(tuple)),
    st.builds(
        frames.RewatchTopics,
        st.lists(TEXT, max_size=4).map(tuple),
        st.lists(TEXT, max_size=4).map(tuple),
    ),
    st.builds(
        frames.TopicState,
        TEXT,
        st.sampled_from([b"", b"0123456789abcdef"]),
        COUNTS,
        st.dictionaries(TEXT, TEXT, max_size=3),
        st.lists(EPOCHS, max_size=4).map(tuple),
        st.lists(TEXT, max_size=3).map(tuple),
        st.lists(INT32, max_size=3).map(tuple),
        OFFSETS,
        st.none() | st.builds(frames.Former, TEXT, TOPIC_IDS, SIGNED),
        st.none() | st.builds(frames.Former, TEXT, TOPIC_IDS, SIGNED),
    ),
    st.builds(
        hold_frames.HoldRetention,
        OFFSETS,
        OFFSETS,
        st.lists(st.builds(hold_frames.HeldTopic, TEXT, TOPIC_IDS), max_size=3).map(tuple),
        st.booleans(),
    ),
    st.builds(
        hold_frames.MirrorPositions, st.lists(st.tuples(UINT, OFFSETS), max_size=3).map(tuple)
    ),
    st.builds(hold_frames.RetentionHeld, OFFSETS, OFFSETS, TEXT),
    st.builds(reversal_frames.Reverse, st.lists(REVERSED, max_size=3).map(tuple)),
    st.builds(
        reversal_frames.WithdrawReversals,
        st.lists(
            st.builds(reversal_frames.WithdrawnReversal, TEXT, TOPIC_IDS, SIGNED), max_size=3
        ).map(tuple),
    ),
    REFUSED,
    st.builds(reversal_frames.CheckReversals, UINT, st.lists(REVERSED, max_size=3).map(tuple)),
    st.builds(reversal_frames.ReversalsChecked, UINT, st.lists(REFUSED, max_size=3).map(tuple)),
    st.builds(
        frames.Superseded,
        st.lists(
            st.builds(frames.SupersededTopic, TEXT, st.binary(max_size=16), SIGNED), max_size=3
        ).map(tuple),
    ),
    st.builds(frames.MirroredTopics, st.lists(TOPIC_IDS, max_size=3).map(tuple)),
    st.builds(frames.WatchGroups, st.lists(FILTERS, max_size=3).map(tuple)),
    st.builds(
        frames.GroupOffsets,
        TEXT,
        st.dictionaries(PARTITIONS, COMMITS, max_size=3),
        st.lists(PARTITIONS, max_size=3).map(tuple),
    ),
    st.builds(
        frames.Subscribe,
        UINT,
        PARTITIONS,
        st.binary(max_size=16),
        OFFSETS,
        st.lists(st.tuples(INT32, OFFSETS), max_size=4).map(tuple),
        st.booleans(),
        st.integers(-1, 2**31 - 1),
        st.just(-1) | OFFSETS,
        st.integers(1, 100),
        st.builds(SegmentPosition, OFFSETS, OFFSETS),
        st.booleans(),
    ),
    st.builds(frames.Unsubscribe, UINT),
    st.builds(
        frames.WantedStreams,
        st.lists(INT32, max_size=3).map(tuple),
        st.lists(INT32, max_size=3).map(tuple),
    ),
    st.builds(frames.Agreed, UINT, OFFSETS, EPOCHS, STANDINGS, SIGNED, OFFSETS, OFFSETS),
    st.builds(
        frames.Declined, UINT, st.sampled_from(MirrorError), TEXT, OFFSETS, st.just(-1) | OFFSETS
    ),
    st.builds(
        frames.Beacon, SIGNED, st.lists(st.tuples(UINT, STANDINGS), max_size=3).map(tuple), UINT
    ),
    st.builds(frames.AskBeacon, UINT, TEXT, OFFSETS),
    st.builds(frames.Credit, UINT),
)


@given(OTHERS)
def test_a_frame_comes_back_as_it_was(frame: Any) -> None:
    assert frame is None or decode(encode(frame)) == frame


@given(CHUNKS.filter(lambda chunk: len(chunk.data) > 0))
def test_a_chunk_comes_back_as_it_was_and_protobuf_reads_the_same(chunk: Chunk) -> None:
    data = encode(chunk)
    assert decode(data) == chunk
    message = link_pb2.Frame.FromString(data)
    assert message.chunk.data == chunk.data
    assert message.chunk.head.offset == chunk.offset
    assert message.chunk.head.standing.high_watermark == chunk.bounds.high_watermark
    assert message.SerializeToString() == data


def test_the_data_of_a_chunk_is_not_copied_on_the_way_in() -> None:
    data = encode(Chunk(1, 2, 3, 4, True, OffsetBounds(0, 9, 9), 5, b"x" * 1000))
    chunk = decode(data)
    assert isinstance(chunk, Chunk)
    assert isinstance(chunk.data, memoryview)
    assert chunk.data.obj is data


def test_a_chunk_of_many_megabytes_has_a_length_of_many_bytes() -> None:
    chunk = Chunk(1, 2, 3, 4, True, OffsetBounds(0, 9, 9), 5, bytes(20 << 20))
    assert decode(encode(chunk)) == chunk


@given(st.binary(max_size=200))
def test_any_bytes_are_a_frame_or_refused(data: bytes) -> None:
    try:
        frame = decode(data)
    except FrameError:
        return
    assert frame is None or decode(encode(frame)) == frame


@given(CHUNKS, st.data())
def test_a_chunk_that_was_cut_or_changed_is_a_chunk_or_refused(chunk: Chunk, draw: Any) -> None:
    data = bytearray(encode(chunk))
    del data[draw.draw(st.integers(1, len(data) - 1)) :]
    with pytest.raises(FrameError):
        decode(bytes(data))
    data = bytearray(encode(chunk))
    data[draw.draw(st.integers(0, len(data) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    try:
        decode(bytes(data))
    except FrameError:
        return


@pytest.mark.parametrize(
    "frame",
    [
        frames.TopicState("orders", b"abc", 1),
        frames.TopicState("orders", former=frames.Former("west", b"abc", 1)),
        frames.TopicState("orders", b"0123456789abcdef", 1, {}, (2**31 - 1,)),
        frames.Agreed(1, 0, 2**31 - 1, OffsetBounds(0, 0, 0), 5, is_deleted=True),
        Chunk(1, 2, 3, 2**31 - 1, True, OffsetBounds(0, 9, 9), 5, b"x"),
    ],
)
def test_a_topic_id_that_is_none_and_a_leader_epoch_without_a_next_one_are_refused(
    frame: Any,
) -> None:
    """The first is no UUID; after the second no failover could lead, nor any start of the node."""
    with pytest.raises(FrameError):
        decode(encode(frame))


@pytest.mark.parametrize("offset", [-2, 2**62 + 1, 2**63 - 1])
def test_an_offset_that_no_log_has_is_refused(offset: int) -> None:
    """A mirror skipped to the high watermark that a source claimed, and the node ended at the append after it."""
    bounds = OffsetBounds(0, 9, 9)
    for frame in (
        Chunk(1, offset, 3, 0, True, bounds, 5, b"x"),
        Chunk(1, 2, offset, 0, True, bounds, 5, b"x"),
        Chunk(1, 2, 3, 0, True, bounds._replace(log_start_offset=offset), 5, b"x"),
        frames.Agreed(1, offset, 0, bounds, 5),
        frames.Agreed(1, 0, 0, bounds._replace(high_watermark=offset), 5),
        frames.Beacon(1, ((1, bounds._replace(last_stable_offset=offset)),), 2),
        frames.Declined(1, MirrorError.UNKNOWN, "", offset),
        frames.Subscribe(1, TopicPartition("t", 0), bytes(16), offset, (), False),
        frames.Subscribe(1, TopicPartition("t", 0), bytes(16), 0, ((1, offset),), False),
    ):
        with pytest.raises(FrameError, match="an offset of"):
            decode(encode(frame))


def test_a_kind_of_frame_from_the_future_is_skipped() -> None:
    unknown = b"\xfa\x01\x02ab"  # field 31, two bytes
    assert decode(unknown) is None


def test_a_mirror_error_from_the_future_is_unknown() -> None:
    frame = link_pb2.Frame(declined=link_pb2.Declined(subscription=3, error="NEW_ONE"))
    assert decode(frame.SerializeToString()) == frames.Declined(3, MirrorError.UNKNOWN, "", 0)
