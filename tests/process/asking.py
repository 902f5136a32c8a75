"""Plain questions to one node, which no client's caches or retries stand between."""

import socket
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from brokers.wire.codec import decode_response
from brokers.wire.frames import RequestHeader, encode_request_frame, parse_response_header
from brokers.wire.message import Message
from brokers.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from brokers.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
)

METADATA, DESCRIBE_QUORUM = (3, 12), (55, 2)
POLL_S = 0.01
COMMAND_PAUSE_S = 0.2


class Placed(NamedTuple):
    """A partition as a broker tells it; `leader` is -1 where there is none."""

    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        return self.leader >= 0 and len(self.isr) == len(self.replicas)


Partition = tuple[str, int]


def ask(address: str, api: tuple[int, int], message: Message, *, timeout_s: float = 2) -> Any:
    """The answer; OSError where there is none."""
    host, _, port = address.rpartition(":")
    frame = b"".join(map(bytes, encode_request_frame(RequestHeader(*api, 1, "test"), message)))
    with socket.create_connection((host, int(port)), timeout=timeout_s) as connection:
        connection.sendall(frame)
        (length,) = struct.unpack(">i", exactly(connection, 4))
        answer = exactly(connection, length)
    _, position = parse_response_header(*api, answer)
    return decode_response(*api, answer, position)


def exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise ConnectionError("closed")
        data += more
    return data


def placed(address: str, topics: Iterable[str]) -> dict[Partition, Placed]:
    """Where the partitions are, as the broker at `address` knows."""
    wanted = [MetadataRequestTopic(name=topic) for topic in topics]
    answer = ask(address, METADATA, MetadataRequest(topics=wanted, allow_auto_topic_creation=False))
    return {
        (topic.name, each.partition_index): Placed(
            each.leader_id, tuple(each.replica_nodes), tuple(each.isr_nodes)
        )
        for topic in answer.topics
        for each in topic.partitions
    }


def leads_the_quorum(address: str) -> bool:
    """Whether the controller at `address` says that it does."""
    one = DescribeQuorumRequestPartition(partition_index=0)
    topic = DescribeQuorumRequestTopic(topic_name="__cluster_metadata", partitions=[one])
    answer = ask(address, DESCRIBE_QUORUM, DescribeQuorumRequest(topics=[topic]))
    return answer.topics[0].partitions[0].error_code == 0


def until(
    is_so: Callable[[], bool],
    timeout_s: float,
    what: Callable[[], object],
    *,
    pause_s: float = POLL_S,
) -> None:
    """Polls; a node that doesn't answer has not said that it is so.

    It pauses between two questions, by `COMMAND_PAUSE_S` where each starts a process: other tests need the cores.
    """
    deadline = time.monotonic() + timeout_s
    while not _try(is_so):
        assert time.monotonic() < deadline, f"after {timeout_s} s: {what()}"
        time.sleep(pause_s)


def _try(is_so: Callable[[], bool]) -> bool:
    try:
        return is_so()
    except OSError:
        return False


def times_to_change(
    observe: Callable[[], Mapping[Partition, int]],
    was: Mapping[Partition, int],
    *,
    since: float,
    timeout_s: float,
) -> dict[Partition, float]:
    """Seconds since `since` (monotonic) until `observe` shows each partition of `was` with another leader."""
    took: dict[Partition, float] = {}

    def all_changed() -> bool:
        seen = observe()
        for partition in was.keys() - took.keys():
            if seen[partition] not in (-1, was[partition]):
                took[partition] = time.monotonic() - since
        return len(took) == len(was)

    until(all_changed, timeout_s, lambda: f"no other leader: {sorted(was.keys() - took.keys())}")
    return took
