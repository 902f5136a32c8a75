"""One connection's bytes, however the network cuts them."""

import struct
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.client.api_versions import NoCommonVersion
from brokers.client.connection import LAST_CORRELATION_ID, ClientConnection, ClientResponse
from brokers.wire.codec import VERSIONS
from brokers.wire.frames import RequestHeader, encode_response_frame, parse_request_header
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from brokers.wire.messages.cluster import DescribeClusterRequest, DescribeClusterResponse
from brokers.wire.messages.metadata import MetadataRequest, MetadataResponse
from brokers.wire.primitives import WireError

FRAME_MAX = 1 << 20


class Broker:
    """The other end: `answers` are the frames that it would send, `asked` the headers that it was sent."""

    def __init__(self, serves: Mapping[int, tuple[int, int]] = VERSIONS) -> None:
        self.asked: list[RequestHeader] = []
        self.connection: ClientConnection[str] = ClientConnection(
            "me", response_bytes_max=FRAME_MAX
        )
        self.hear(self.connection.start())
        keys = [
            ApiVersion(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in serves.items()
        ]
        self.serves = frame(self.asked[0], ApiVersionsResponse(api_keys=keys))

    def hear(self, chunks: list[Any]) -> None:
        data = b"".join(chunks)
        while data:
            (size,) = struct.unpack_from(">i", data)
            self.asked.append(parse_request_header(data[4 : 4 + size])[0])
            data = data[4 + size :]

    def send(self, token: str, key: int, message: Message, highest: int | None = None) -> None:
        self.hear(self.connection.send(token, key, message, highest))

    def say(self, data: bytes) -> list[ClientResponse[str]]:
        """All of it, as the connection takes it."""
        said: list[ClientResponse[str]] = []
        while data:
            room = self.connection.room()
            size = min(len(room), len(data))
            room[:size] = data[:size]
            data = data[size:]
            said += self.connection.received(size)
        self.hear(self.connection.unsent())
        return said


def frame(header: RequestHeader, response: Message) -> bytes:
    key, version, correlation_id, _ = header
    return b"".join(map(bytes, encode_response_frame(key, version, correlation_id, response)))


def cluster(number: int) -> DescribeClusterResponse:
    return DescribeClusterResponse(cluster_id="x" * number, controller_id=number)


def cut(data: bytes, places: set[int]) -> list[bytes]:
    edges = [0, *sorted(place % len(data) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def test_nothing_but_api_versions_leaves_before_its_answer_then_all_leave_together() -> None:
    broker = Broker({ApiKey.METADATA: (0, 9), ApiKey.DESCRIBE_CLUSTER: (0, 0)})
    broker.send("first", ApiKey.METADATA, MetadataRequest())
    broker.send("second", ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
    assert [tuple(each) for each in broker.asked] == [(ApiKey.API_VERSIONS, 0, 0, "me")]
    assert list(broker.connection.tokens()) == ["first", "second"]
    assert broker.say(broker.serves) == []
    broker.send("third", ApiKey.METADATA, MetadataRequest(), 5)
    assert [tuple(each) for each in broker.asked[1:]] == [
        (ApiKey.METADATA, 9, 1, "me"),
        (ApiKey.DESCRIBE_CLUSTER, 0, 2, "me"),
        (ApiKey.METADATA, 5, 3, "me"),
    ]
    assert list(broker.connection.tokens()) == ["first", "second", "third"]


@given(
    sizes=st.lists(st.integers(0, 200) | st.integers(60_000, 70_000), min_size=1, max_size=8),
    places=st.sets(st.integers(0, 1 << 20), max_size=12),
    early=st.integers(0, 8),
)
def test_responses_come_whole_and_in_order_however_their_bytes_are_split_or_merged(
    sizes: list[int], places: set[int], early: int
) -> None:
    broker = Broker()
    tokens = [f"{index}" for index in range(len(sizes))]
    for token in tokens[:early]:
        broker.send(token, ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
    said = [each for part in cut(broker.serves, places) for each in broker.say(part)]
    for token in tokens[early:]:
        broker.send(token, ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
    data = b"".join(
        frame(header, cluster(size)) for header, size in zip(broker.asked[1:], sizes, strict=True)
    )
    said += [each for part in cut(data, places) for each in broker.say(part)]
    assert said == [
        ClientResponse(token, cluster(size)) for token, size in zip(tokens, sizes, strict=True)
    ]
    assert list(broker.connection.tokens()) == []


@given(st.binary(max_size=200), st.integers(0, 1))
def test_hostile_bytes_are_a_wire_error_or_wait_for_more(data: bytes, negotiated: int) -> None:
    broker = Broker()
    if negotiated:
        broker.say(broker.serves)
    broker.send("asked", ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
    try:
        said = broker.say(data)
    except WireError:
        return
    assert len(said) + len(list(broker.connection.tokens())) == 1


@given(st.data())
def test_a_torn_frame_is_no_response(data: st.DataObject) -> None:
    broker = Broker()
    broker.say(broker.serves)
    broker.send("asked", ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
    whole = frame(broker.asked[-1], cluster(300))
    end = data.draw(st.integers(0, len(whole) - 1))
    assert broker.say(whole[:end]) == []
    shorter = struct.pack(">i", max(0, end - 4)) + whole[4:end]
    torn = Broker()
    torn.say(torn.serves)
    torn.send("asked", ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
    with pytest.raises(WireError):
        torn.say(shorter)


@pytest.mark.parametrize("length", [-1, FRAME_MAX + 1, (1 << 31) - 1])
def test_a_length_that_cannot_be_is_refused_before_its_bytes_come(length: int) -> None:
    broker = Broker()
    broker.say(broker.serves)
    with pytest.raises(WireError, match=f"a frame of {length} bytes"):
        broker.say(struct.pack(">i", length))


def test_a_response_to_nobody_or_to_another_request_is_refused() -> None:
    broker = Broker()
    broker.say(broker.serves)
    with pytest.raises(WireError, match="without a request"):
        broker.say(frame(RequestHeader(ApiKey.METADATA, 9, 1, None), MetadataResponse()))
    broker = Broker()
    broker.say(broker.serves)
    broker.send("asked", ApiKey.METADATA, MetadataRequest(), 9)
    with pytest.raises(WireError, match="response 7 instead of 1"):
        broker.say(frame(RequestHeader(ApiKey.METADATA, 9, 7, None), MetadataResponse()))


def test_a_broker_that_answers_api_versions_with_an_error_is_refused() -> None:
    broker = Broker()
    with pytest.raises(WireError, match="error 35 in answer to ApiVersions"):
        broker.say(frame(broker.asked[0], ApiVersionsResponse(error_code=35)))


def test_what_cannot_be_sent_fails_alone_before_and_after_the_versions_are_known() -> None:
    broker = Broker({ApiKey.METADATA: (0, 9)})
    for token in ("one", "two"):
        broker.send(token, ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
        broker.send(f"{token} served", ApiKey.METADATA, MetadataRequest())
    failed = broker.say(broker.serves)
    assert [(each.token, each.message) for each in failed] == [("one", None), ("two", None)]
    assert all(isinstance(each.failure, NoCommonVersion) for each in failed)
    with pytest.raises(NoCommonVersion, match="does not serve DescribeCluster"):
        broker.send("three", ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
    assert [each.api_key for each in broker.asked[1:]] == [ApiKey.METADATA, ApiKey.METADATA]
    assert list(broker.connection.tokens()) == ["one served", "two served"]


def test_a_message_that_the_common_version_cannot_express_is_not_sent() -> None:
    broker = Broker({ApiKey.METADATA: (0, 0)})
    broker.say(broker.serves)
    with pytest.raises(NoCommonVersion, match="version 0 of API 3"):
        broker.send("all topics", ApiKey.METADATA, MetadataRequest(topics=None))
    broker.send("named", ApiKey.METADATA, MetadataRequest())
    assert [each.correlation_id for each in broker.asked] == [0, 1]


def test_who_is_told_of_a_failure_and_sends_at_once_keeps_the_order_of_the_requests() -> None:
    broker = Broker({ApiKey.METADATA: (0, 9)})
    broker.send("unknown", ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
    broker.send("waiting", ApiKey.METADATA, MetadataRequest())
    room = broker.connection.room()
    room[: len(broker.serves)] = broker.serves
    for failed in broker.connection.received(len(broker.serves)):
        assert failed.token == "unknown"
        broker.send("instead", ApiKey.METADATA, MetadataRequest())
    assert broker.connection.unsent() == []
    assert [each.correlation_id for each in broker.asked[1:]] == [1, 2]
    assert list(broker.connection.tokens()) == ["waiting", "instead"]


def test_correlation_ids_begin_again_after_the_last() -> None:
    broker = Broker()
    broker.say(broker.serves)
    broker.connection._last_correlation_id = LAST_CORRELATION_ID - 1
    for token in ("last", "first"):
        broker.send(token, ApiKey.METADATA, MetadataRequest())
    assert [each.correlation_id for each in broker.asked[1:]] == [LAST_CORRELATION_ID, 1]
