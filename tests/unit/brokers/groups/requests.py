"""Requests as clients send them, with what a test does not care about filled in."""

from typing import Any

from brokers.groups.requests import CommitRequest, JoinRequest
from brokers.ids import OffsetAndMetadata, TopicPartition
from tests.playbooks.groups.consumer import subscription

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)
U0 = TopicPartition("u", 0)


def join(**fields: Any) -> JoinRequest:
    settled: dict[str, Any] = {
        "group": "g",
        "client_id": "c",
        "protocol_type": "consumer",
        "protocols": (("range", subscription(["t"])),),
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 60_000,
        "requires_member_id": False,
    }
    return JoinRequest(**(settled | fields))


def commit(*partitions: TopicPartition, **fields: Any) -> CommitRequest:
    offsets = {partition: OffsetAndMetadata(5) for partition in partitions or (T0,)}
    return CommitRequest(**({"group": "g", "offsets": offsets} | fields))
