"""The quorum's requests: at a node alone, and on their way to whoever leads."""

from typing import Any

import pytest

from brokers.api import quorum_requests
from brokers.config.broker_config import from_settings
from brokers.effects import Ask, Hangup, Reply
from brokers.errors import KafkaError
from brokers.events import Answered, AskFailure, Listener, Request
from brokers.ids import Peer
from brokers.wire.messages.fetch import FetchRequest, ReplicaState
from brokers.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
    DescribeQuorumResponse,
)
from tests.unit.brokers.api.whole import NOW, Whole
from tests.unit.brokers.wiring import Wiring

DESCRIBE: Any = next(each for each in quorum_requests.FOR_CLIENTS if each.KEY == 55)
LEADER = Peer(2, "h", 91)


def request(topic: str, *partitions: int) -> DescribeQuorumRequest:
    asked = [DescribeQuorumRequestPartition(partition_index=index) for index in partitions]
    return DescribeQuorumRequest(
        topics=[DescribeQuorumRequestTopic(topic_name=topic, partitions=asked)]
    )


@pytest.mark.parametrize("version", range(3))
def test_one_voter_leads_and_has_everything(version: int) -> None:
    node = Whole()
    answer = node.ask(DESCRIBE, version, request("__cluster_metadata", 0))
    (partition,) = answer.topics[0].partitions
    assert (partition.error_code, partition.leader_id) == (0, 1)
    end = node.broker.view.image.next_offset
    assert partition.high_watermark == end > 0
    (voter,) = partition.current_voters
    assert (voter.replica_id, voter.log_end_offset) == (1, end)
    assert partition.observers == [] and answer.error_code == 0
    assert [node.node_id for node in answer.nodes] == ([1] if version >= 2 else [])


def test_other_partitions_have_no_quorum() -> None:
    for topic, index in (("__cluster_metadata", 1), ("t", 0)):
        answer = Whole().ask(DESCRIBE, 2, request(topic, index))
        (partition,) = answer.topics[0].partitions
        assert partition.error_code == KafkaError.UNKNOWN_TOPIC_OR_PARTITION


# --- elsewhere ---


class Plane:
    """Stands for the plane of a node that follows node 2."""

    controller = LEADER
    is_active = False

    def __init__(self) -> None:
        self.taken: list[Request] = []

    def on_request(self, request: Request, now: int) -> list[Any]:
        self.taken.append(request)
        return []


def follower() -> tuple[Wiring, Plane]:
    plane = Plane()
    return Wiring(from_settings({"node.id": 1, "log.dirs": "data"}), plane), plane


def ask(wiring: Wiring, listener: Listener, key: int, version: int, message: Any) -> list[Any]:
    asked = Request(7, key, version, None, "h", message, listener)
    return wiring.handlers.by_listener[listener][key](asked, NOW)


@pytest.mark.parametrize("key", [55, 80, 81])
def test_what_operators_ask_is_brought_to_the_leader_as_it_came(key: int) -> None:
    wiring, plane = follower()
    message = DescribeQuorumRequest()
    (sent,) = ask(wiring, Listener.DATA, key, 0, message)
    assert isinstance(sent, Ask)
    assert (sent.peer, sent.api_key, sent.api_version, sent.message) == (LEADER, key, 0, message)
    answer = DescribeQuorumResponse(error_message="as the leader says")
    told = wiring.continuations.peer_answered(Answered(sent.ticket, answer), NOW)
    assert told == [Reply(7, answer)]
    assert plane.taken == []


def test_a_leader_that_is_lost_takes_the_connection_with_it() -> None:
    wiring, _ = follower()
    (sent,) = ask(wiring, Listener.DATA, 55, 2, DescribeQuorumRequest())
    failed = Answered(sent.ticket, None, AskFailure.CLOSED)
    (end,) = wiring.continuations.peer_answered(failed, NOW)
    assert isinstance(end, Hangup) and end.ticket == 7


def test_nodes_ask_whoever_they_ask() -> None:
    wiring, plane = follower()
    for api in quorum_requests.FOR_NODES:
        assert ask(wiring, Listener.CONTROLLER, api.KEY, api.VERSIONS[1], None) == []
    assert [each.api_key for each in plane.taken] == [52, 53, 54, 55, 59, 80, 81, 82]


@pytest.mark.parametrize(
    "message",
    [FetchRequest(replica_id=5), FetchRequest(replica_state=ReplicaState(replica_id=5))],
)
def test_who_fetches_the_metadata_is_heard(message: FetchRequest) -> None:
    wiring, plane = follower()
    ask(wiring, Listener.CONTROLLER, 1, 15, message)
    assert wiring.heard_from == [(5, 7)] and len(plane.taken) == 1
