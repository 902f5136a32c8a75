"""OffsetCommit, OffsetFetch and OffsetDelete in every version."""

from uuid import UUID

import pytest

from brokers.api import offset_commit, offset_delete, offset_fetch
from brokers.errors import KafkaError
from brokers.groups.requests import SyncRequest
from brokers.ids import TopicPartition
from brokers.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.playbooks.groups.world import offsets_by_group
from tests.unit.brokers.api.group_node import NO_ID, T_ID, U_ID, GroupNode
from tests.unit.brokers.groups.requests import join

COMMITS = range(offset_commit.VERSIONS[0], offset_commit.VERSIONS[1] + 1)
FETCHES = range(offset_fetch.VERSIONS[0], offset_fetch.VERSIONS[1] + 1)
NOBODYS_ID = UUID(int=999)
IDS = {"t": T_ID, "u": U_ID, "none": NOBODYS_ID}


def commit(version: int, offsets: dict[tuple[str, int], int], **fields) -> OffsetCommitRequest:
    topics: dict[str, OffsetCommitRequestTopic] = {}
    for (name, partition), offset in offsets.items():
        topic = topics.setdefault(
            name,
            OffsetCommitRequestTopic(
                name="" if version >= 10 else name, topic_id=IDS[name] if version >= 10 else NO_ID
            ),
        )
        topic.partitions.append(
            OffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=offset,
                committed_metadata=f"at {offset}",
            )
        )
    return OffsetCommitRequest(group_id="g", topics=list(topics.values()), **fields)


def errors_of(answer) -> list[int]:
    return [item.error_code for topic in answer.topics for item in topic.partitions]


def fetch(node: GroupNode, version: int, partitions: dict[str, list[int]] | None):
    """(group error, {topic name or id: [(partition, offset, metadata, error)]})."""
    if version < 8:
        topics = None if partitions is None else [
            OffsetFetchRequestTopic(name=name, partition_indexes=indexes)
            for name, indexes in partitions.items()
        ]  # fmt: skip
        answer = node.ask(offset_fetch, version, OffsetFetchRequest(group_id="g", topics=topics))
        group = answer
    else:
        many = None if partitions is None else [
            OffsetFetchRequestTopics(
                name="" if version >= 10 else name,
                topic_id=IDS[name] if version >= 10 else NO_ID,
                partition_indexes=indexes,
            )
            for name, indexes in partitions.items()
        ]  # fmt: skip
        asked = OffsetFetchRequestGroup(group_id="g", topics=many)
        answer = node.ask(offset_fetch, version, OffsetFetchRequest(groups=[asked]))
        (group,) = answer.groups
        assert group.group_id == "g"
    return group.error_code, {
        (topic.topic_id if version >= 10 else topic.name): [
            (item.partition_index, item.committed_offset, item.metadata, item.error_code)
            for item in topic.partitions
        ]
        for topic in group.topics
    }


def key(version: int, name: str):
    return IDS[name] if version >= 10 else name


@pytest.mark.parametrize("version", COMMITS)
def test_every_partition_is_answered(version: int) -> None:
    node = GroupNode()
    offsets = {("t", 0): 5, ("none", 0): 6, ("t", 2): 7, ("t", -1): 8, ("u", 0): 9}
    answer = node.ask(offset_commit, version, commit(version, offsets))
    unknown = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    no_topic = KafkaError.UNKNOWN_TOPIC_ID if version >= 10 else unknown
    assert errors_of(answer) == [0, unknown, unknown, no_topic, 0]
    assert [topic.name for topic in answer.topics] == (
        ["", "", ""] if version >= 10 else ["t", "none", "u"]
    )
    committed = offsets_by_group(node.world.coordinator)["g"]
    assert {name: offset.offset for name, offset in committed.items()} == {
        TopicPartition("t", 0): 5,
        TopicPartition("u", 0): 9,
    }


@pytest.mark.parametrize("version", COMMITS)
def test_a_generation_without_a_group_has_the_error_of_its_time(version: int) -> None:
    request = commit(version, {("t", 0): 5}, generation_id_or_member_epoch=3, member_id="m")
    answer = GroupNode().ask(offset_commit, version, request)
    error = KafkaError.GROUP_ID_NOT_FOUND if version >= 9 else KafkaError.ILLEGAL_GENERATION
    assert errors_of(answer) == [error]


@pytest.mark.parametrize("version", COMMITS)
def test_a_commit_of_nothing_is_answered(version: int) -> None:
    assert GroupNode().ask(offset_commit, version, commit(version, {})).topics == []


@pytest.mark.parametrize("version", range(2, 5))
def test_a_commit_says_how_long_it_lives(version: int) -> None:
    node = GroupNode()
    node.ask(offset_commit, version, commit(version, {("t", 0): 5}, retention_time_ms=1_000))
    node.ask(offset_commit, version, commit(version, {("t", 1): 5}, retention_time_ms=-1))
    (group,) = node.world.coordinator._manager.groups.values()
    expiries = {partition: until for partition, _, until in group.offsets.times()}
    assert expiries == {
        TopicPartition("t", 0): node.world.now + 1_000,
        TopicPartition("t", 1): None,
    }


def test_metadata_may_be_null() -> None:
    node = GroupNode()
    request = commit(7, {("t", 0): 5})
    request.topics[0].partitions[0].committed_metadata = None
    assert errors_of(node.ask(offset_commit, 7, request)) == [0]
    assert fetch(node, 7, {"t": [0]}) == (0, {"t": [(0, 5, "", 0)]})


@pytest.mark.parametrize("version", FETCHES)
def test_what_was_committed_is_fetched(version: int) -> None:
    node = GroupNode()
    node.ask(offset_commit, 8, commit(8, {("t", 1): 5, ("u", 0): 6}))
    error, topics = fetch(node, version, {"t": [1, 0], "u": [0]})
    assert error == 0
    assert topics == {
        key(version, "t"): [(1, 5, "at 5", 0), (0, -1, "", 0)],
        key(version, "u"): [(0, 6, "at 6", 0)],
    }


@pytest.mark.parametrize("version", range(2, offset_fetch.VERSIONS[1] + 1))
def test_null_asks_for_everything_and_none_for_nothing(version: int) -> None:
    node = GroupNode()
    node.ask(offset_commit, 8, commit(8, {("t", 1): 5, ("u", 0): 6, ("t", 0): 7}))
    error, topics = fetch(node, version, None)
    assert error == 0
    assert topics == {
        key(version, "t"): [(1, 5, "at 5", 0), (0, 7, "at 7", 0)],
        key(version, "u"): [(0, 6, "at 6", 0)],
    }
    assert fetch(node, version, {}) == (0, {})


@pytest.mark.parametrize("version", FETCHES)
def test_a_topic_that_nobody_knows_has_no_offset(version: int) -> None:
    error, topics = fetch(GroupNode(), version, {"none": [3]})
    refused = KafkaError.UNKNOWN_TOPIC_ID if version >= 10 else KafkaError.NONE
    assert (error, topics) == (0, {key(version, "none"): [(3, -1, "", refused)]})


@pytest.mark.parametrize("version", FETCHES)
def test_a_coordinator_that_is_not_ready_says_so_where_its_version_has_room(version: int) -> None:
    node = GroupNode(loaded=False)
    error, topics = fetch(node, version, {"t": [0, 1]})
    assert error == (KafkaError.NOT_COORDINATOR if version >= 2 else 0)
    refused = {"t": [(0, -1, "", 16), (1, -1, "", 16)]}
    assert topics == (refused if version == 1 else {})


def test_a_forgotten_topic_cannot_be_named_by_id() -> None:
    node = GroupNode()
    node.ask(offset_commit, 8, commit(8, {("t", 0): 5, ("u", 0): 6}))
    del node.plane.image.topics_by_name["t"]
    assert fetch(node, 10, None) == (0, {U_ID: [(0, 6, "at 6", 0)]})
    assert set(fetch(node, 9, None)[1]) == {"t", "u"}


def test_many_groups_are_fetched_at_once() -> None:
    node = GroupNode()
    node.ask(offset_commit, 8, commit(8, {("t", 0): 5}))
    groups = [
        OffsetFetchRequestGroup(group_id=name, topics=None, member_id="m", member_epoch=3)
        for name in ("none", "g", "g")
    ]
    request = OffsetFetchRequest(groups=groups, require_stable=True)
    answer = node.ask(offset_fetch, 9, request)
    assert [(group.group_id, len(group.topics)) for group in answer.groups] == [
        ("none", 0),
        ("g", 1),
        ("g", 1),
    ]


def delete(node: GroupNode, offsets: list[tuple[str, int]]):
    topics = [
        OffsetDeleteRequestTopic(
            name=name, partitions=[OffsetDeleteRequestPartition(partition_index=partition)]
        )
        for name, partition in offsets
    ]
    return node.ask(offset_delete, 0, OffsetDeleteRequest(group_id="g", topics=topics))


def test_offsets_are_deleted_and_every_partition_is_answered() -> None:
    node = GroupNode()
    node.ask(offset_commit, 8, commit(8, {("t", 0): 5, ("u", 0): 6}))
    answer = delete(node, [("t", 0), ("none", 0), ("t", 7), ("t", 1)])
    unknown = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    assert answer.error_code == 0
    assert errors_of(answer) == [0, unknown, unknown, 0]
    assert set(offsets_by_group(node.world.coordinator)["g"]) == {TopicPartition("u", 0)}


def test_offsets_of_no_group_are_refused_as_a_whole() -> None:
    answer = delete(GroupNode(), [("t", 0)])
    assert (answer.error_code, answer.topics) == (KafkaError.GROUP_ID_NOT_FOUND, [])


def test_offsets_that_are_read_stay() -> None:
    node = GroupNode()
    node.ask(offset_commit, 8, commit(8, {("t", 0): 5}))
    ticket = node.world.ask("join", join())
    node.world.settle()
    member = node.world.answers[ticket].member_id
    node.world.answer("sync", SyncRequest(group="g", generation=1, member_id=member))
    assert errors_of(delete(node, [("t", 0), ("u", 0)])) == [
        KafkaError.GROUP_SUBSCRIBED_TO_TOPIC,
        KafkaError.NONE,
    ]
