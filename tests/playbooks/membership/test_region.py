"""Brokers that come, go, stall and are mistaken for others."""

from typing import Any

import pytest

from brokers.errors import Refusal
from brokers.events import Started
from brokers.membership.broker_state import SILENCE_TIMEOUT_MS
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from tests.playbooks.membership.region import Node, Region
from tests.sim.files import SimFiles


@pytest.fixture
def region() -> Region:
    """Three nodes that are there."""
    region = Region()
    region.start(1, 2, 3)
    region.run(500)
    return region


def fenced(region: Region) -> dict[int, bool]:
    return {each: broker.fenced for each, broker in sorted(region.image.brokers.items())}


def test_nodes_that_start_together_are_soon_counted_on(region: Region) -> None:
    assert all(node.serves and node.is_ready for node in region.nodes.values())
    assert fenced(region) == {1: False, 2: False, 3: False}


def test_nothing_happens_to_nodes_that_are_there(region: Region) -> None:
    before = region.image.next_offset
    region.run(30_000)
    assert fenced(region) == {1: False, 2: False, 3: False}
    assert region.image.next_offset == before


def test_every_node_takes_commands(region: Region) -> None:
    told: dict[int, Any] = {}
    for node_id in (1, 2, 3):
        forwarding = region.nodes[node_id].broker.parts.forwarding

        def then(result: Any, now: int, node_id: int = node_id) -> list[Any]:
            at = region.nodes[node_id].broker.view.image
            told[node_id] = (result, f"topic-{node_id}" in at.topics_by_name)
            return []

        topic = NewTopic(name=f"topic-{node_id}", partition_count=1, replication_factor=1)
        region.nodes[node_id].take(forwarding.submit(CreateTopics((topic,)), then, region.now))
    region.run(100)
    assert {each: in_force for each, (_, in_force) in told.items()} == {1: True, 2: True, 3: True}
    assert not [result for result, _ in told.values() if isinstance(result, Refusal)]


def test_a_killed_broker_is_fenced_at_the_first_probe_and_returns_at_once(region: Region) -> None:
    region.run(2_000)
    region.nodes[3].die()
    region.run(2_000)
    assert fenced(region) == {1: False, 2: False, 3: True}
    (again,) = region.start(3)
    region.run(300)
    assert again.is_ready and fenced(region)[3] is False


def test_a_stalled_broker_keeps_its_place_for_a_session_and_comes_back_by_itself(
    region: Region,
) -> None:
    region.nodes[3].stall()
    region.run(7_000)
    assert fenced(region)[3] is False
    region.run(5_000)
    assert fenced(region)[3] is True
    region.nodes[3].go_on()
    region.run(5_000)
    assert fenced(region)[3] is False


def test_a_broker_that_leaves_is_known_to_have_lost_nothing(region: Region) -> None:
    epoch = region.image.brokers[3].broker_epoch
    region.ask_to_end(3)
    region.run(1_000)
    node = region.nodes[3]
    assert node.end is not None and node.end.reason is None and not node.alive
    (again,) = region.start(3)
    assert again.storage.previous_broker_epoch == epoch
    region.run(300)
    assert again.is_ready and region.image.brokers[3].broker_epoch > epoch


def test_the_second_of_two_with_one_id_is_told_what_to_do(region: Region) -> None:
    first = region.nodes[3]
    region.files[3] = SimFiles()  # a disk of its own
    (second,) = region.start(3)
    region.nodes |= {3: first, 33: second}  # whoever asks for node 3 reaches the first
    region.run(9_000)
    assert second.alive  # the first might be about to be missed
    region.run(5_000)
    assert second.end is not None and "node.id 3" in (second.end.reason or "")
    assert first.alive and fenced(region)[3] is False


def test_a_node_with_another_regions_disk_is_told_what_to_do(region: Region) -> None:
    files = region.files[4] = SimFiles()
    stranger = Node(region, 4, files, cluster_id="B" * 22)
    region.nodes[4] = stranger
    stranger.feed(Started())
    region.run(500)
    assert stranger.end is not None and "of another region" in (stranger.end.reason or "")
    assert 4 not in region.image.brokers


def test_a_region_that_is_stopped_as_a_whole_stops_soon(region: Region) -> None:
    for node_id in (1, 2, 3):
        region.ask_to_end(node_id)
    region.run(SILENCE_TIMEOUT_MS + 500)
    assert not any(node.alive for node in region.nodes.values())
    assert all(node.end and node.end.reason is None for node in region.nodes.values())


def test_a_broker_leaves_without_a_controller_too(region: Region) -> None:
    region.nodes[1].die()
    region.ask_to_end(3)
    region.run(SILENCE_TIMEOUT_MS - 500)
    assert region.nodes[3].alive
    region.run(1_000)
    assert not region.nodes[3].alive


def test_a_controller_that_comes_back_finds_everybody(region: Region) -> None:
    region.nodes[1].die()
    region.run(20_000)
    region.start(1)
    region.run(3_000)
    assert fenced(region) == {1: False, 2: False, 3: False}
    assert all(node.alive for node in region.nodes.values())
