"""What a source says of the regions that mirror its topics, as protobuf."""

from dataclasses import replace
from uuid import UUID

import pytest

from brokers.ids import id_text
from linker.answers import (
    Destination,
    Destinations,
    HeldPartition,
    LinkDescription,
    RetentionHolds,
)
from linker.records.destination import DestinationRecord
from linker.records.retention_hold import HoldRecord
from linker.wire.administration import reply
from linker.wire.v1 import admin_pb2 as pb

LINK = LinkDescription(
    name="l",
    link_id="i",
    source_cluster_id="",
    state="ACTIVE",
    error="NO_ERROR",
    because="",
    topics=(),
    category_counts={},
    tasks=(),
    created_at=5,
    mode="SOURCE",
    destination_cluster_id="e",
)
DESTINATION = Destination(
    record=DestinationRecord(
        cluster_id="e",
        link="l",
        topic_ids=frozenset({UUID(int=7), UUID(int=8)}),
        told_at=9,
    ),
    topics=("t",),
    is_heard=True,
    writes_wait_ms=None,
    is_missed=False,
)


def test_a_retention_hold_has_the_replicas_of_the_broker_asked() -> None:
    hold = HoldRecord(
        cluster_id="e",
        link="l",
        topic="t",
        topic_id=UUID(int=7),
        max_bytes=8,
        max_ms=9,
        since=10,
        dropped_at=11,
    )
    answer = RetentionHolds(((hold, (HeldPartition(1, True, 2, 3),)),))
    (one,) = pb.RetentionHoldsReply.FromString(reply("ListRetentionHolds", answer)).holds
    assert one == pb.RetentionHold(
        link_name="l",
        destination_cluster_id="e",
        topic="t",
        topic_id=id_text(UUID(int=7)),
        max_bytes=8,
        max_ms=9,
        since_ms=10,
        dropped_at_ms=11,
        partitions=[pb.HeldPartition(partition=1, is_leader=True, mirror_offset=2, held_bytes=3)],
    )


@pytest.mark.parametrize("method", ["ListDestinations", "ForgetDestination"])
@pytest.mark.parametrize("writes_wait_ms", [None, 0, 5])
def test_a_destination_has_its_topics_and_what_waits_for_it(
    method: str, writes_wait_ms: int | None
) -> None:
    answer = Destinations((replace(DESTINATION, writes_wait_ms=writes_wait_ms),))
    (one,) = pb.DestinationsReply.FromString(reply(method, answer)).destinations
    assert one == pb.Destination(
        link_name="l",
        destination_cluster_id="e",
        topics=["t"],
        topic_count=2,
        told_at_ms=9,
        is_heard=True,
        writes_wait_ms=writes_wait_ms,
        is_missed=False,
    )
    assert one.HasField("writes_wait_ms") is (writes_wait_ms is not None), "0 is a wait, too"


def test_who_was_missed_and_is_not_heard_is_told_from_others() -> None:
    answer = Destinations((replace(DESTINATION, is_heard=False, is_missed=True),))
    (one,) = pb.DestinationsReply.FromString(reply("ListDestinations", answer)).destinations
    assert (one.is_heard, one.is_missed) == (False, True)


@pytest.mark.parametrize("writes_wait_ms", [None, 0, 5])
def test_a_link_says_how_long_writes_wait_for_its_other_end(writes_wait_ms: int | None) -> None:
    told = reply("DescribeLink", replace(LINK, writes_wait_ms=writes_wait_ms))
    link = pb.LinkReply.FromString(told).link
    found = link.writes_wait_ms if link.HasField("writes_wait_ms") else None
    assert found == writes_wait_ms
