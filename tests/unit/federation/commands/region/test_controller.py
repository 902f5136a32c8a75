"""`causeway region describe` while nobody is the active controller, or while it does not answer."""

import json
from typing import Any, Final

import pytest

from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.configs import DescribeConfigsResponse
from brokers.wire.messages.metadata import DescribeTopicPartitionsResponse
from brokers.wire.messages.quorum import (
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
    DescribeQuorumResponseTopic,
    QuorumReplicaState,
)
from tests.unit.federation.commands.broker_double import Answers, broker_double

NOT_LEADER: Final = 6


def cluster(_: Any) -> DescribeClusterResponse:
    """A broker that knows of a quorum names any broker as the controller, itself at worst."""
    brokers = [DescribeClusterBroker(broker_id=3, host="h3", port=3)]
    return DescribeClusterResponse(cluster_id="region-one", controller_id=3, brokers=brokers)


def nobody_leads(_: Any) -> DescribeQuorumResponse:
    told = DescribeQuorumResponsePartition(error_code=NOT_LEADER)
    topics = [DescribeQuorumResponseTopic(topic_name="__cluster_metadata", partitions=[told])]
    return DescribeQuorumResponse(topics=topics)


def hangs_up(_: Any) -> DescribeQuorumResponse:
    """What becomes of a question that was brought to a leader which is silent."""
    raise ConnectionAbortedError


REGION: Answers = {
    60: (2, cluster),
    32: (4, lambda _: DescribeConfigsResponse()),
    75: (0, lambda _: DescribeTopicPartitionsResponse()),
}


@pytest.mark.parametrize("quorum", [nobody_leads, hangs_up])
def test_a_region_without_an_active_controller_names_none_and_is_not_well(quorum: Any) -> None:
    with broker_double({**REGION, 55: (2, quorum)}) as broker:
        ran = broker.run("region", "describe", "--check")
        told = broker.run("region", "describe", "--json")
        listed = broker.run("region", "brokers")
    assert ran.exit_code == 3
    assert "active controller: none is known" in ran.output
    assert "most of the controllers must run" in ran.output
    assert told.exit_code == 3, "also without --check"
    found = json.loads(told.stdout)
    assert (found["controller"], found["quorum"]) == (-1, None)
    assert [broker["id"] for broker in found["brokers"]] == [3], "the rest is told all the same"
    assert found["brokers"][0]["fenced"] is None, "a broker that died since then is not fenced"
    assert "unknown" in listed.output
    assert "active" not in listed.output


def heard_of_one(_: Any) -> DescribeQuorumResponse:
    voters = [
        QuorumReplicaState(replica_id=1, log_end_offset=100),
        QuorumReplicaState(replica_id=2, log_end_offset=-1),
    ]
    told = DescribeQuorumResponsePartition(leader_id=1, high_watermark=100, current_voters=voters)
    topics = [DescribeQuorumResponseTopic(topic_name="__cluster_metadata", partitions=[told])]
    return DescribeQuorumResponse(topics=topics)


def test_a_voter_that_was_not_heard_of_is_behind_by_nobody_knows_how_much() -> None:
    with broker_double({**REGION, 55: (2, heard_of_one)}) as broker:
        told = json.loads(broker.run("region", "describe", "--json").stdout)
        shown = broker.run("region", "describe").output
    assert told["quorum"]["voters"] == [
        {"id": 1, "lag": 0, "is_away": False},
        {"id": 2, "lag": None, "is_away": True},
    ]
    assert "voters 1, 2 (not heard of since the election)" in shown
