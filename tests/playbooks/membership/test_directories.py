"""Brokers with several log directories, one of which fails: only what lies in it is led by others."""

from uuid import UUID

import pytest

from brokers.api import assign_replicas_to_dirs, versions
from brokers.errors import KafkaError
from brokers.events import Listener
from brokers.ids import TopicPartition
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.image.image import PartitionImage
from tests.playbooks.membership.client import Client
from tests.playbooks.membership.region import Node, Region
from tests.sim.files import SimFiles

A, B = UUID(int=21), UUID(int=22)  # node 2's
OTHERS = {1: UUID(int=11), 3: UUID(int=31)}


class Story:
    """Three nodes, node 2 with two directories, and a topic of four partitions on all of them."""

    def __init__(self) -> None:
        self.region = Region()
        self.disks: dict[UUID, SimFiles | None] = {A: SimFiles(), B: SimFiles()}
        self.region.directories[2] = self.disks
        for node_id, directory in OTHERS.items():
            self.region.directories[node_id] = {directory: SimFiles()}
        self.region.start(1, 2, 3)
        self.region.run(500)
        self.client = Client(self.region)
        assignments = tuple((index, (2, 3, 1)) for index in range(4))
        topic = NewTopic(name="t", assignments=assignments, configs={"min.insync.replicas": "2"})
        forwarding = self.region.nodes[1].broker.parts.forwarding
        then = lambda result, now: []  # noqa: E731
        effects = forwarding.submit(CreateTopics((topic,)), then, self.region.now)
        self.region.nodes[1].take(effects)
        self.region.run(1_000)

    @property
    def node(self) -> Node:
        return self.region.nodes[2]

    def placed(self, index: int) -> PartitionImage:
        placed = self.region.image.partition(TopicPartition("t", index))
        assert placed is not None
        return placed

    def disk(self, directory: UUID) -> SimFiles:
        disk = self.disks[directory]
        assert disk is not None
        return disk

    def lie_in(self, directory: UUID) -> list[int]:
        return [index for index in range(4) if self.placed(index).directory(2) == directory]


@pytest.fixture
def story() -> Story:
    return Story()


def test_the_region_knows_where_every_replica_lies(story: Story) -> None:
    assert story.region.image.brokers[2].log_dirs == (A, B)
    assert story.lie_in(A) == [0, 2] and story.lie_in(B) == [1, 3]
    assert {story.placed(0).directory(node_id) for node_id in OTHERS} == {*OTHERS.values()}
    before = story.region.image.next_offset
    story.region.run(10_000)
    assert story.region.image.next_offset == before


def test_others_lead_what_lies_in_a_directory_that_fails_and_nothing_else(story: Story) -> None:
    story.disk(B).break_at("t-1")
    refused = story.client.write(2, 1, b"lost")
    story.region.run(200)
    assert story.client.said(refused) is KafkaError.KAFKA_STORAGE_ERROR
    assert [story.placed(index).leader for index in range(4)] == [2, 3, 2, 3]
    assert [2 in story.placed(index).isr for index in range(4)] == [True, False, True, False]
    assert story.region.image.brokers[2].log_dirs == (A,)
    assert story.node.alive and "log directory /" + str(B) + ": offline" in story.node.told
    kept = [story.client.write(leader, index, b"x") for index, leader in ((0, 2), (1, 3), (3, 3))]
    asked = story.client.write(2, 3, b"not here")
    story.region.run(200)
    assert [story.client.said(each) for each in kept] == [KafkaError.NONE] * 3
    assert story.client.said(asked) is KafkaError.KAFKA_STORAGE_ERROR


def test_an_idle_directory_that_fails_is_noticed_by_its_checkpoint(story: Story) -> None:
    story.client.write(2, 1, b"x")
    story.disk(B).break_at("checkpoint")
    story.region.run(6_000)
    assert [story.placed(index).leader for index in range(4)] == [2, 3, 2, 3]


def test_a_directory_that_works_again_is_used_from_the_next_start_on(story: Story) -> None:
    story.disk(B).break_at("t-1")
    story.client.write(2, 1, b"lost")
    story.region.run(200)
    story.disk(B).break_at("")
    kept = story.client.write(3, 1, b"kept")
    story.region.run(5_000)
    assert story.client.said(kept) is KafkaError.NONE
    assert 2 not in story.placed(1).isr  # once failed is failed
    story.region.ask_to_end(2)
    story.region.run(3_000)
    story.region.start(2)
    story.region.run(5_000)
    assert story.region.image.brokers[2].log_dirs == (A, B)
    assert all(2 in story.placed(index).isr for index in range(4))
    assert story.lie_in(B) == [1, 3]


def test_without_a_directory_at_the_start_the_rest_is_served(story: Story) -> None:
    story.region.ask_to_end(2)
    story.region.run(3_000)
    kept, story.disks[B] = story.disks[B], None
    story.region.start(2)
    story.region.run(5_000)
    assert [2 in story.placed(index).isr for index in range(4)] == [True, False, True, False]
    assert not any(name.startswith("t-1") for name in story.disk(A).list(""))
    story.region.ask_to_end(2)
    story.region.run(3_000)
    story.disks[B] = kept
    story.region.start(2)
    story.region.run(5_000)
    assert all(2 in story.placed(index).isr for index in range(4))


def test_a_new_disk_in_the_place_of_a_broken_one_is_filled_anew(story: Story) -> None:
    written = story.client.write(2, 1, b"kept")
    story.region.run(200)
    assert story.client.said(written) is KafkaError.NONE
    story.region.ask_to_end(2)
    story.region.run(3_000)
    del story.disks[B]
    new = UUID(int=23)
    story.disks[new] = SimFiles()
    story.region.start(2)
    story.region.run(6_000)
    assert all(2 in story.placed(index).isr for index in range(4))
    assert story.lie_in(B) == [] and {1, 3} == {*story.lie_in(new)}
    assert story.disk(new).size(f"t-1/{0:020}.log") > 0


@pytest.mark.parametrize("directory", [A, B])
def test_without_the_metadata_logs_directory_or_the_last_one_the_node_ends(
    story: Story, directory: UUID
) -> None:
    """Others can take over, so nobody waits for a disk that may never be well again."""
    if directory == B:  # not the metadata log's: the node goes on with that one
        story.disk(B).break_at("t-3")
        story.client.write(2, 3, b"x")
        story.region.run(200)
        assert story.node.alive
    story.disk(A).break_at("t-0")
    story.client.write(2, 0, b"x")
    story.region.run(200)
    assert not story.node.alive
    assert story.node.end is not None and "has failed" in str(story.node.end.reason)
    story.region.run(3_000)
    assert story.region.image.brokers[2].fenced
    assert [story.placed(index).leader for index in range(4)] == [3, 3, 3, 3]


def test_a_failure_that_no_controller_hears_of_ends_the_node(story: Story) -> None:
    story.region.nodes[1].stall()
    story.disk(B).break_at("t-1")
    story.client.write(2, 1, b"x")
    story.region.run(29_000)
    assert story.node.alive
    story.region.run(2_000)
    assert story.node.end is not None and "no controller has heard" in str(story.node.end.reason)


def test_assignments_are_asked_of_controllers_only() -> None:
    assert assign_replicas_to_dirs.KEY in versions.advertised(Listener.CONTROLLER)
    assert assign_replicas_to_dirs.KEY not in versions.advertised(Listener.DATA)
