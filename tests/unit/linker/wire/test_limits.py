"""What is too long in a frame ends the stream, whichever end sends it."""

from typing import Any

import pytest

from brokers.ids import OffsetAndMetadata, TopicPartition
from linker import frames
from linker.errors import MirrorError
from linker.filters import FILTERS_MAX, Filter, parse_filters
from linker.frames import TOPICS_MAX
from linker.offset_bounds import OffsetBounds
from linker.wire import administration
from linker.wire.frames import decode, encode
from linker.wire.limits import (
    CONFIGS_MAX,
    FRAME_BYTES_MAX,
    LINEAGE_MAX,
    NAME_CHARACTERS_MAX,
    PARTITIONS_MAX,
    REASON_CHARACTERS_MAX,
    TEXT_BYTES_MAX,
    FrameError,
)
from linker.wire.v1 import admin_pb2 as pb

LONGEST = "n" * NAME_CHARACTERS_MAX
PARTITION = TopicPartition("orders", 0)


def with_name(name: str) -> list[Any]:
    """Frames that hold it, each in another place."""
    committed = OffsetAndMetadata(1, 0, "", 5)
    return [
        frames.Hello(name, "id", "east"),
        frames.Hello("link", name, "east"),
        frames.Hello("link", "id", name),
        frames.Hello("link", "id", "east", name),
        frames.Welcome(name),
        frames.WatchTopics(("orders", name)),
        frames.TopicState(name),
        frames.GroupOffsets("group", {TopicPartition(name, 0): committed}),
        frames.Subscribe(1, TopicPartition(name, 0), bytes(16), 0, (), False),
    ]


def test_the_longest_name_passes() -> None:
    for frame in with_name(LONGEST):
        assert decode(encode(frame)) == frame


@pytest.mark.parametrize("place", range(9))
def test_a_longer_name_is_refused(place: int) -> None:
    with pytest.raises(FrameError, match="a name of 250 characters"):
        decode(encode(with_name(LONGEST + "n")[place]))


@pytest.mark.parametrize(
    "frame",
    [
        frames.GroupOffsets("g" * 1_000_000, {}),
        frames.GroupOffsets("\u20ac" * 11_000, {}),
        frames.GroupOffsets("g", {PARTITION: OffsetAndMetadata(1, 0, "m" * 40_000, 5)}),
        frames.GroupOffsets("g", {PARTITION: OffsetAndMetadata((1 << 62) + 1, 0, "", 5)}),
        frames.GroupOffsets("g", {PARTITION: OffsetAndMetadata(-2, 0, "", 5)}),
        frames.GroupOffsets("g", {TopicPartition("orders", -1): OffsetAndMetadata(1)}),
        frames.GroupOffsets("g", {}, (TopicPartition("orders", PARTITIONS_MAX),)),
        frames.TopicState("orders", partition_count=(1 << 31) - 1),
        frames.TopicState("orders", partition_count=1, leader_epochs=(-2,)),
        frames.Subscribe(1, TopicPartition("orders", -1), bytes(16), 0, ()),
    ],
)
def test_what_no_region_of_kafka_can_have_is_refused(frame: frames.Frame) -> None:
    """A group id of a megabyte was hashed again and again: its commit was refused, and tried once more."""
    with pytest.raises(FrameError):
        decode(encode(frame))


def test_the_longest_group_id_passes() -> None:
    frame = frames.GroupOffsets("g" * TEXT_BYTES_MAX, {PARTITION: OffsetAndMetadata(1)})
    assert decode(encode(frame)) == frame


def test_a_reason_is_cut_short() -> None:
    for long in (
        frames.Refused("c" * 1_000_000, "r" * 1_000_000),
        frames.Declined(1, MirrorError.UNKNOWN, "r" * 1_000_000),
    ):
        frame = decode(encode(long))
        assert isinstance(frame, frames.Refused | frames.Declined)
        assert len(frame.because) < REASON_CHARACTERS_MAX + 50
        assert frame.because.endswith("(1000000 characters)")


@pytest.mark.parametrize(
    ("whole", "more"),
    [
        (
            lambda length: frames.WatchTopics(tuple(f"{one}" for one in range(length))),
            TOPICS_MAX + 1,
        ),
        (
            lambda length: frames.RewatchTopics(tuple(f"{one}" for one in range(length))),
            TOPICS_MAX + 1,
        ),
        (lambda length: frames.WatchGroups((Filter("group"),) * length), FILTERS_MAX + 1),
        (
            lambda length: frames.Subscribe(
                1, PARTITION, bytes(16), 0, tuple((one, one) for one in range(length)), False
            ),
            LINEAGE_MAX + 1,
        ),
    ],
    ids=["topics", "more topics", "filters", "lineage"],
)
def test_a_list_has_a_longest_length(whole: Any, more: int) -> None:
    assert decode(encode(whole(more - 1))) == whole(more - 1)
    with pytest.raises(FrameError, match=f"a list of {more}"):
        decode(encode(whole(more)))


@pytest.mark.parametrize("method", ["DescribeReplicas", "PauseMirrors"])
def test_a_command_names_as_many_topics_as_a_stream(method: str) -> None:
    field = "topics" if method == "DescribeReplicas" else "mirror_topics"
    request = administration.METHODS[method][0](**{field: ["orders"] * (TOPICS_MAX + 1)})
    with pytest.raises(administration.MalformedRequest, match="a list of 20001"):
        administration.command(method, request.SerializeToString())


def test_only_a_chunk_is_longer_than_a_frame() -> None:
    with pytest.raises(FrameError, match="a frame of"):
        decode(encode(frames.TopicState("o" * FRAME_BYTES_MAX)))
    chunk = frames.Chunk(1, 2, 3, 4, True, OffsetBounds(0, 9, 9), 5, bytes(FRAME_BYTES_MAX + 1))
    assert decode(encode(chunk)) == chunk


def test_a_filter_list_of_a_link_has_the_same_limit() -> None:
    one = '{"name":"a","patternType":"LITERAL","filterType":"INCLUDE"}'
    text = '{"groupFilters":[' + ",".join([one] * (FILTERS_MAX + 1)) + "]}"
    with pytest.raises(ValueError, match=f"above {FILTERS_MAX}"):
        parse_filters(text, "groupFilters")


def test_settings_and_names_of_filters_have_a_limit() -> None:
    many = {str(one): "" for one in range(CONFIGS_MAX + 1)}
    with pytest.raises(FrameError, match="1001 settings"):
        decode(encode(frames.TopicState("orders", configs=many)))
    with pytest.raises(FrameError, match="a text of"):
        decode(encode(frames.WatchGroups((Filter("g" * (TEXT_BYTES_MAX + 1)),))))
    for request in (pb.CreateLinkRequest(configs=many), pb.CreateMirrorRequest(configs=many)):
        method = type(request).__name__.removesuffix("Request")
        with pytest.raises(administration.MalformedRequest, match="1001 settings"):
            administration.command(method, request.SerializeToString())


def test_a_command_deletes_no_more_settings_than_a_link_may_have() -> None:
    request = pb.AlterLinkConfigsRequest(link_name="link")
    getattr(request, "delete").extend(["x"] * (CONFIGS_MAX + 1))  # noqa: B009 - a keyword in C++ only
    with pytest.raises(administration.MalformedRequest, match="a list of 1001, above 1000"):
        administration.command("AlterLinkConfigs", request.SerializeToString())
