"""Every node finds the groups with members that read a topic, whichever node coordinates them."""

from dataclasses import replace
from struct import pack

import pytest

from brokers.groups.offsets_partition import partition_for
from brokers.ids import OFFSETS_TOPIC
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.topics.topic_creation import internal_topic
from brokers.node.group_states import TIMEOUT_MS
from brokers.region import FindReaders, ReadersFound
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from brokers.wire.messages.groups import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from tests.playbooks.membership.client import Client
from tests.playbooks.membership.region import Region

NODES = (1, 2, 3)
READ, OTHER = "orders", "payments"


class Groups:
    """A region of three nodes with two topics, and its clients. `replicas`: of each partition of groups."""

    def __init__(self, replicas: int = 3) -> None:
        self.region = region = Region()
        first = region.start(*NODES)[0]
        region.run(500)
        own = (NewTopic(name=each, partition_count=2) for each in (READ, OTHER))
        offsets = internal_topic(OFFSETS_TOPIC, first.config)
        topics = CreateTopics((replace(offsets, replication_factor=replicas), *own))
        first.take(first.broker.parts.forwarding.submit(topics, lambda *_: [], region.now))
        region.run(2_000)
        self.client = Client(region)

    def coordinated_by(self, node: int, number: int = 0) -> str:
        """The name of a group."""
        places = self.region.image.topics_by_name[OFFSETS_TOPIC].partitions
        names = (f"group-{each}" for each in range(10_000))
        found = [each for each in names if places[partition_for(each, len(places))].leader == node]
        return found[number]

    def join(self, node: int, group: str, *topics: str, rebalances: bool = False) -> str:
        """A consumer of these topics becomes its only member."""
        metadata = pack(">hi", 0, len(topics))
        metadata += b"".join(pack(">h", len(each)) + each.encode() for each in topics)
        request = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=30_000,
            rebalance_timeout_ms=30_000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
        )
        joined = self.client.ask(node, ApiKey.JOIN_GROUP, 3, request)
        self.region.run(3_500)
        member = str(self.client.answers[joined].member_id)
        if not rebalances:
            assigned = [SyncGroupRequestAssignment(member_id=member, assignment=b"")]
            sync = SyncGroupRequest(
                group_id=group, generation_id=1, member_id=member, assignments=assigned
            )
            self.client.ask(node, ApiKey.SYNC_GROUP, 2, sync)
            self.region.run(500)
        return member

    def commit(self, node: int, group: str, topic: str, member: str = "") -> None:
        item = OffsetCommitRequestPartition(partition_index=1, committed_offset=5)
        named = OffsetCommitRequestTopic(name=topic, partitions=[item])
        request = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=1 if member else -1,
            member_id=member,
            topics=[named],
        )
        asked = self.client.ask(node, ApiKey.OFFSET_COMMIT, 8, request)
        self.region.run(500)
        assert not self.client.answers[asked].topics[0].partitions[0].error_code

    def found(self, node: int, within: int = 100) -> ReadersFound:
        asked = self.region.nodes[node]
        asked.feed(FindReaders(1, (READ, OTHER)))
        self.region.run(within)
        assert asked.readers is not None
        return asked.readers


@pytest.fixture
def groups() -> Groups:
    return Groups()


def test_members_that_subscribe_are_found_by_every_node(groups: Groups) -> None:
    names = {each: groups.coordinated_by(each) for each in NODES}
    groups.join(1, names[1], READ)
    groups.join(2, names[2], READ, OTHER)
    groups.join(3, names[3], OTHER)
    for node in NODES:
        found = groups.found(node)
        assert found.groups[READ] == tuple(sorted((names[1], names[2])))
        assert found.groups[OTHER] == tuple(sorted((names[2], names[3])))
        assert found.unknown == ()


def test_members_of_groups_that_have_committed_are_found_by_every_node(groups: Groups) -> None:
    """Whatever they subscribe to now; groups without members are not."""
    for node in NODES:
        name = groups.coordinated_by(node)
        groups.commit(node, name, READ, groups.join(node, name, "elsewhere"))
        groups.commit(node, groups.coordinated_by(node, 1), READ)
    wanted = tuple(sorted(groups.coordinated_by(node) for node in NODES))
    for node in NODES:
        assert groups.found(node) == ReadersFound(1, {READ: wanted, OTHER: ()})


def test_a_node_that_does_not_answer_is_named(groups: Groups) -> None:
    groups.join(2, name := groups.coordinated_by(2), READ)
    groups.region.nodes[3].stall()
    found = groups.found(1, TIMEOUT_MS + 100)
    assert found.groups[READ] == (name,)
    assert found.unknown == ("broker 3 does not answer",)


def test_a_node_that_falls_silent_between_two_questions_is_named(groups: Groups) -> None:
    groups.join(2, groups.coordinated_by(2), READ)
    groups.region.nodes[1].feed(FindReaders(1, (READ,)))
    groups.region.run(8)
    groups.region.nodes[2].stall()
    groups.region.run(TIMEOUT_MS + 100)
    found = groups.region.nodes[1].readers
    assert found is not None and found.unknown == ("broker 2 does not answer",)


def test_of_a_group_that_rebalances_elsewhere_nobody_knows_what_it_reads(groups: Groups) -> None:
    """But of one that has committed. Its own coordinator knows."""
    name = groups.coordinated_by(2)
    groups.join(2, name, READ, rebalances=True)
    assert groups.found(2) == ReadersFound(1, {READ: (name,), OTHER: ()})
    assert groups.found(1).unknown == (f"group {name} rebalances",)


def test_partitions_of_groups_that_nobody_coordinates_are_named() -> None:
    """Their only replica is on a node that is gone."""
    groups = Groups(replicas=1)
    places = groups.region.image.topics_by_name[OFFSETS_TOPIC].partitions
    gone = {index for index, each in enumerate(places) if tuple(each.replicas) == (3,)}
    groups.region.nodes[3].die()
    groups.region.run(30_000)
    found = groups.found(1)
    assert set(found.unknown) == {f"{OFFSETS_TOPIC}-{each} has no leader" for each in gone}
    assert gone


def test_where_no_group_ever_was_nothing_is_found_at_once() -> None:
    region = Region()
    (node,) = region.start(1)
    region.run(500)
    node.feed(FindReaders(7, (READ,)))
    assert node.readers == ReadersFound(7, {READ: ()})
