"""What a node says of groups that other nodes coordinate."""

from collections.abc import Mapping

import pytest

from brokers.ids import OFFSETS_TOPIC
from brokers.metadata.commands.topic_commands import CreateTopics
from brokers.metadata.topics.topic_creation import internal_topic
from brokers.node.group_states import TIMEOUT_MS, coordinator_of
from brokers.region import DescribeGroups
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.groups import JoinGroupRequest, JoinGroupRequestProtocol
from tests.playbooks.membership.client import Client
from tests.playbooks.membership.region import Region

WITH_MEMBERS, WITHOUT = "billing", "audit"


@pytest.fixture
def region() -> Region:
    """Three nodes, and a group with a member."""
    region = Region()
    first = region.start(1, 2, 3)[0]
    region.run(500)
    topics = CreateTopics((internal_topic(OFFSETS_TOPIC, first.config),))
    first.take(first.broker.parts.forwarding.submit(topics, lambda *_: [], region.now))
    region.run(2_000)
    protocols = [JoinGroupRequestProtocol(name="range", metadata=b"")]
    request = JoinGroupRequest(
        group_id=WITH_MEMBERS,
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        protocol_type="consumer",
        protocols=protocols,
    )
    Client(region).ask(coordinator(region), ApiKey.JOIN_GROUP, 3, request)
    region.run(100)
    return region


def coordinator(region: Region, group: str = WITH_MEMBERS) -> int:
    found = coordinator_of(region.image, group)
    assert found is not None
    return found.node_id


def described(region: Region, node_id: int, within: int = 100) -> Mapping[str, bool] | None:
    node = region.nodes[node_id]
    node.feed(DescribeGroups(1, (WITH_MEMBERS, WITHOUT)))
    region.run(within)
    return node.groups


def test_every_node_says_the_same(region: Region) -> None:
    found = [described(region, each) for each in (1, 2, 3)]
    assert found == 3 * [{WITH_MEMBERS: True, WITHOUT: False}]


def test_groups_whose_coordinator_does_not_answer_are_left_out(region: Region) -> None:
    gone = coordinator(region)
    region.nodes[gone].stall()
    asker = next(each for each in (1, 2, 3) if each != gone)
    kept = [] if coordinator(region, WITHOUT) == gone else [WITHOUT]
    assert list(described(region, asker, TIMEOUT_MS + 100) or ()) == kept


def test_of_no_group_the_answer_is_there_at_once(region: Region) -> None:
    region.nodes[1].feed(DescribeGroups(1, ()))
    assert region.nodes[1].groups == {}
