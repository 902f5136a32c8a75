"""Whatever the bytes are: a message or a WireError, soon, and in memory that the bytes account for."""

import tracemalloc
from collections.abc import Callable
from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.ids import Buffer
from brokers.wire import codec
from brokers.wire.encoding import compile_encoder
from brokers.wire.frames import parse_request_header
from brokers.wire.layout import REQUEST_ELEMENTS_MAX, Layout
from brokers.wire.message import Message
from brokers.wire.messages.api_versions import ApiVersionsRequest
from brokers.wire.messages.group_offsets import OffsetCommitRequest, OffsetCommitRequestTopic
from brokers.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from brokers.wire.primitives import WireError, write_unsigned_varint
from tests.unit.brokers.wire.samples import Sampler, all_layouts

Decode = Callable[[Buffer], Message]

LAYOUTS = all_layouts()
ENCODERS = {layout.title: compile_encoder(layout) for layout in LAYOUTS}
METADATA, OFFSET_COMMIT, API_VERSIONS, PRODUCE, FETCH = 3, 8, 18, 0, 1
# An empty topic of OffsetCommit takes 3 bytes on the wire; as an object with its list, about 150.
BYTES_PER_BYTE_MAX = 64


def decoder(layout: Layout) -> Decode:
    """The public way to decode this message."""
    name, key = layout.schema.name, layout.schema.key
    if key is not None and name.endswith("Request"):
        return partial(codec.decode_request, key, layout.version, position=0)
    if key is not None and name.endswith("Response"):
        return partial(codec.decode_response, key, layout.version, position=0)
    return partial(codec.decode_record, name, layout.version)


def short_sample(layout: Layout, random: Random) -> bytes:
    """A message of strings so short that most of its bytes are structure."""
    return b"".join(ENCODERS[layout.title](Sampler(random, lengths=(0, 1, 2)).message(layout)))


def layouts_of(name: str) -> list[Layout]:
    return [layout for layout in LAYOUTS if layout.schema.name == name]


@pytest.mark.parametrize("name", codec.SCHEMAS)
def test_a_message_cut_short_anywhere_is_refused(name: str) -> None:
    for layout in layouts_of(name):
        decode = decoder(layout)
        whole = short_sample(layout, Random(layout.title))
        for length in range(min(len(whole), 200)):
            for piece in (whole[:length], memoryview(whole)[:length]):
                assert _is_refused_or_a_prefix(decode, piece, layout)


def _is_refused_or_a_prefix(decode: Decode, piece: Buffer, layout: Layout) -> bool:
    """A few cuts leave a message that is whole by itself; then it has just these bytes."""
    try:
        message = decode(piece)
    except WireError:
        return True
    return b"".join(ENCODERS[layout.title](message)) == bytes(piece)


@pytest.mark.parametrize("name", [name for name in codec.SCHEMAS if name.endswith("Request")])
def test_bytes_that_follow_a_request_are_ignored_as_kafka_ignores_them(name: str) -> None:
    for layout in layouts_of(name):
        whole = short_sample(layout, Random(layout.title))
        for rest in (b"\0", b"\1", b"\xff" * 9):
            assert decoder(layout)(whole + rest) == decoder(layout)(whole)


@pytest.mark.parametrize("name", [name for name in codec.SCHEMAS if not name.endswith("Request")])
def test_bytes_that_follow_any_other_message_are_refused(name: str) -> None:
    for layout in layouts_of(name):
        whole = short_sample(layout, Random(layout.title))
        for rest in (b"\0", b"\1", b"\xff" * 9):
            with pytest.raises(WireError):
                decoder(layout)(whole + rest)


@pytest.mark.parametrize("name", codec.SCHEMAS)
def test_changed_bytes_make_another_message_or_none(name: str) -> None:
    random = Random(name)
    for layout in layouts_of(name):
        decode, encode = decoder(layout), ENCODERS[layout.title]
        for _ in range(30):
            piece = _changed(short_sample(layout, random), random)
            try:
                message = decode(piece)
            except WireError:
                continue
            # What was understood can be said again, and is understood alike.
            assert decode(b"".join(encode(message))) == message or "nan" in repr(message)


def _changed(whole: bytes, random: Random) -> bytes:
    """A few bytes overwritten, inserted or taken away; lengths and counts among them."""
    piece = bytearray(whole)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(piece) + 1)
        junk = random.choice((b"\0", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\xff\x0f", b"\x01"))
        piece[at : at + random.choice((0, 1, len(junk)))] = junk
    return bytes(piece)


@given(st.sampled_from(LAYOUTS), st.binary(max_size=200))
def test_arbitrary_bytes_make_a_message_or_none(layout: Layout, data: bytes) -> None:
    try:
        message = decoder(layout)(data)
    except WireError:
        return
    assert isinstance(message, Message)


@given(st.binary(max_size=64))
def test_arbitrary_bytes_make_a_request_header_or_none(data: bytes) -> None:
    try:
        header, position = parse_request_header(data)
    except WireError:
        return
    assert 10 <= position <= len(data)
    assert header.api_key in codec.VERSIONS


def peak_bytes(decode: Decode, frame: Buffer) -> int:
    """The most memory that was in use at once to decode a frame, or to refuse it."""
    tracemalloc.start()
    try:
        decode(frame)
    except WireError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize("name", [name for name in codec.SCHEMAS if name.endswith("Request")])
def test_an_announced_length_allocates_nothing_before_its_bytes_are_there(name: str) -> None:
    layout = layouts_of(name)[-1]
    decode = decoder(layout)
    whole = short_sample(layout, Random(name))
    assert isinstance(decode(whole), Message)  # compiles the decoder
    for huge in (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x0f", b"\x7f\xff"):
        for at in range(min(len(whole), 300)):
            piece = whole[:at] + huge + whole[at + len(huge) :]
            assert peak_bytes(decode, piece) < 20_000 + BYTES_PER_BYTE_MAX * len(piece)


def test_a_frame_of_empty_elements_takes_memory_in_proportion() -> None:
    topics = [OffsetCommitRequestTopic() for _ in range(10_000)]
    request = OffsetCommitRequest(group_id="g", topics=topics)
    frame = b"".join(codec.encode_request(OFFSET_COMMIT, 8, request))
    decode = decoder(codec.layout("OffsetCommitRequest", 8))
    assert decode(frame) == request
    assert peak_bytes(decode, frame) < BYTES_PER_BYTE_MAX * len(frame)


def test_more_elements_than_anyone_asks_for_are_refused() -> None:
    count = REQUEST_ELEMENTS_MAX + 1
    frame = count.to_bytes(4, "big") + b"\0\0" * count
    assert len(codec.decode_request(METADATA, 0, _topics(count - 1), 0).topics) == count - 1  # type: ignore[attr-defined]
    with pytest.raises(WireError, match="too long with topics"):
        codec.decode_request(METADATA, 0, frame, 0)


def _topics(count: int) -> bytes:
    return count.to_bytes(4, "big") + b"\0\0" * count


def test_arrays_share_the_bound_on_elements() -> None:
    topic = MetadataRequestTopic(name="")
    whole = b"".join(codec.encode_request(METADATA, 12, MetadataRequest(topics=[topic] * 3)))
    assert codec.decode_request(METADATA, 12, whole, 0) == MetadataRequest(topics=[topic] * 3)
    # One topic too many, spread over the partitions of two.
    half = REQUEST_ELEMENTS_MAX // 2
    partitions = half.to_bytes(4, "big") + bytes(4 * half)
    body = b"\0" * 12 + b"\0" * 5 + b"\0" * 8  # replica, wait, bytes, isolation, session
    topics = (2).to_bytes(4, "big") + (b"\0\0" + bytes(4)) * 2
    forgotten = (2).to_bytes(4, "big") + (b"\0\0" + partitions) * 2
    with pytest.raises(WireError, match="too long with partitions"):
        codec.decode_request(FETCH, 7, body + topics + forgotten, 0)


def test_tags_count_as_elements() -> None:
    many = b"\x7f" + b"".join(write_unsigned_varint(tag) + b"\0" for tag in range(127))
    partition_count = 1 + REQUEST_ELEMENTS_MAX // 127
    topics = write_unsigned_varint(partition_count + 1) + (b"\1\1" + many) * partition_count
    frame = b"\1" + bytes(4) + b"\1" + b"\0" + topics + b"\0"
    with pytest.raises(WireError, match="too long with a tag buffer"):
        codec.decode_request(OFFSET_COMMIT, 8, frame, 0)


TAGS = {
    "unsorted": b"\2\1\0\0\0",
    "twice": b"\2\1\0\1\0",
    "too many": b"\x80\1",
    "beyond the frame": b"\1\5\3\0\0",
    "an endless number": b"\1\xff\xff\xff\xff\xff\1\0",
    "a number beyond 32 bits": b"\1\xff\xff\xff\xff\x1f\0",
}


@pytest.mark.parametrize("tags", TAGS.values(), ids=TAGS)
def test_an_illegal_tag_buffer_is_refused(tags: bytes) -> None:
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    whole = b"".join(codec.encode_request(API_VERSIONS, 3, request))
    assert codec.decode_request(API_VERSIONS, 3, whole[:-1] + b"\2\0\0\7\1x", 0) == request
    with pytest.raises(WireError):
        codec.decode_request(API_VERSIONS, 3, whole[:-1] + tags, 0)


def test_a_known_tag_has_the_size_that_it_announces() -> None:
    # Fetch v12 with cluster id "c" under tag 0, said to take a byte more than it does.
    body = bytes(25) + b"\1\1\1"
    assert codec.decode_request(FETCH, 12, body + b"\1\0\2\2c", 0).cluster_id == "c"  # type: ignore[attr-defined]
    for tags in (b"\1\0\3\2cc", b"\1\0\1\2c", b"\2\0\2\2c\0\2\2c"):
        with pytest.raises(WireError):
            codec.decode_request(FETCH, 12, body + tags, 0)


ILLEGAL = {
    "a string of length -2": (METADATA, 4, b"\0\0\0\1\xff\xfe\0"),
    "null for a topic's name": (METADATA, 4, b"\0\0\0\1\xff\xff\0"),
    "an array of length -2": (METADATA, 4, b"\xff\xff\xff\xfe\0"),
    "a name that is not UTF-8": (METADATA, 4, b"\0\0\0\1\0\1\xff\0"),
    "half of a surrogate pair": (METADATA, 4, b"\0\0\0\1\0\3\xed\xa0\x80\0"),
    "null for the topics of v0": (METADATA, 0, b"\xff\xff\xff\xff"),
    "records of length -2": (
        PRODUCE,
        3,
        b"\xff\xff\0\1\0\0\0\0\0\0\0\1\0\1t\0\0\0\1\0\0\0\0\xff\xff\xff\xfe",
    ),
    "a cursor neither null nor there": (75, 0, b"\1\0\0\0\0\2\0"),
}


@pytest.mark.parametrize(("key", "version", "body"), ILLEGAL.values(), ids=ILLEGAL)
def test_illegal_lengths_nulls_and_text_are_refused(key: int, version: int, body: bytes) -> None:
    with pytest.raises(WireError):
        codec.decode_request(key, version, body, 0)
