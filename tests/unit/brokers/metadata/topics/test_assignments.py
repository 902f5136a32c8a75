"""How many replicas a new topic gets, and where, when nobody says or everybody does."""

import json
import random
from collections import Counter
from typing import Any

import pytest

from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.errors import KafkaError
from brokers.metadata.commands.broker_commands import UnregisterBroker
from brokers.metadata.commands.mirror_commands import CreateMirrorTopic
from brokers.metadata.commands.topic_commands import (
    CreatePartitions,
    CreateTopics,
    NewPartitions,
    NewTopic,
    TopicOutcome,
)
from brokers.metadata.controller.controller import Controller
from brokers.metadata.topics.topic_creation import internal_topic
from tests.unit.brokers.metadata.images import Region

OFFSETS = "__consumer_offsets"
RACKS = {1: "west", 2: "west", 3: "east", 4: "east"}


def placement(west: int, east: int) -> str:
    def entry(rack: str, count: int) -> list[dict[str, Any]]:
        return [{"count": count, "constraints": {"rack": rack}}]

    return json.dumps(
        {"version": 2, "replicas": entry("west", west), "observers": entry("east", east)}
    )


def config(**settings: Any) -> BrokerConfig:
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return from_settings({"node.id": 1, "log.dirs": "data", **named})


def region(**settings: Any) -> Region:
    made = Region(config(**settings), brokers=0)
    for broker_id, rack in RACKS.items():
        made.register(broker_id, rack=rack)
    return made


def create(region: Region, name: str, **more: Any) -> TopicOutcome:
    (outcome,) = region.do(CreateTopics((NewTopic(name=name, **more),)))  # type: ignore[misc]
    assert isinstance(outcome, TopicOutcome)
    return outcome


@pytest.mark.parametrize(
    ("brokers", "settings", "factor"),
    [
        (1, {}, 1),
        (2, {}, 2),
        (5, {}, 3),
        (5, {"offsets_topic_replication_factor": 2}, 2),
        (1, {"default_replication_factor": 3}, 1),
    ],
)
def test_a_coordinators_topic_has_three_replicas_or_what_a_small_region_holds(
    brokers: int, settings: dict[str, int], factor: int
) -> None:
    made = Region(config(**settings), brokers=brokers)
    made.do(CreateTopics((internal_topic(OFFSETS, made.config),)))
    assert len(made.partition(OFFSETS).replicas) == factor


def test_a_number_that_was_set_for_coordinators_is_kept_to() -> None:
    made = Region(config(offsets_topic_replication_factor=3), brokers=2)
    (outcome,) = made.do(  # type: ignore[misc]
        CreateTopics((internal_topic(OFFSETS, made.config),))
    )
    assert outcome.error is KafkaError.INVALID_REPLICATION_FACTOR


def test_a_topic_keeps_the_default_placement_it_was_created_under() -> None:
    made = region(confluent_log_placement_constraints=placement(2, 1))
    assert create(made, "t").replication_factor == 3
    partition = made.partition("t")
    assert set(partition.replicas[:2]) == {1, 2} and partition.observers == partition.replicas[2:]
    assert made.image.config((2, "t"))["confluent.placement.constraints"] == placement(2, 1)
    made.do(CreateMirrorTopic(name="m", partition_count=1, writer="east"))
    assert len(made.partition("m").observers) == 1
    made.do(CreateMirrorTopic(name="n", partition_count=1, writer="east", replication_factor=2))
    assert (len(made.partition("n").replicas), made.partition("n").observers) == (2, ())


@pytest.mark.parametrize(
    "more",
    [
        {"replication_factor": 2},
        {"assignments": ((0, (3, 1)),)},
        {"configs": {"confluent.placement.constraints": ""}},
    ],
)
def test_who_says_something_else_has_no_default_placement(more: dict[str, Any]) -> None:
    made = region(confluent_log_placement_constraints=placement(2, 1))
    assert create(made, "t", **more).error is KafkaError.NONE
    assert made.partition("t").observers == ()


def test_coordinators_topics_have_a_placement_of_their_own() -> None:
    made = region(
        confluent_log_placement_constraints=placement(1, 1),
        confluent_offsets_topic_placement_constraints=placement(2, 2),
    )
    made.do(CreateTopics((internal_topic(OFFSETS, made.config),)))
    assert len(made.partition(OFFSETS).observers) == 2


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"replication_factor": 2}, KafkaError.INVALID_REPLICATION_FACTOR),
        ({"replication_factor": 3}, KafkaError.NONE),
        ({"assignments": ((0, (1, 2, 3)), (1, (2, 1, 4)))}, KafkaError.NONE),
        ({"assignments": ((0, (1, 3, 2)),)}, KafkaError.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_a_placement_and_what_else_is_said_must_agree(
    more: dict[str, Any], error: KafkaError
) -> None:
    made = region()
    configs = {"confluent.placement.constraints": placement(2, 1)}
    outcome = create(made, "t", configs=configs, **more)
    assert outcome.error is error and bool(outcome.because) == bool(error)


def test_a_placement_that_cannot_be_read_is_an_invalid_setting() -> None:
    configs = {"confluent.placement.constraints": '{"version": 2}'}
    outcome = create(region(), "t", configs=configs)
    assert outcome.error is KafkaError.INVALID_CONFIG
    assert "replicas: required" in (outcome.because or "")


def test_new_partitions_of_a_topic_are_placed_like_its_first() -> None:
    made = region()
    create(made, "t", configs={"confluent.placement.constraints": placement(1, 2)})
    made.do(CreatePartitions((NewPartitions(name="t", count=3),)))
    for index in range(3):
        partition = made.partition("t", index)
        assert set(partition.observers) == {3, 4} and partition.isr == partition.replicas[:1]
    growth = NewPartitions(name="t", count=4, assignments=((3, 1, 2),))
    (outcome,) = made.do(CreatePartitions((growth,)))  # type: ignore[misc]
    assert outcome.error is KafkaError.INVALID_REPLICA_ASSIGNMENT


def test_a_new_partition_begins_with_those_who_are_there() -> None:
    made = region()
    made.fence(1)
    create(made, "t", assignments=((0, (1, 3, 2)),))
    partition = made.partition("t")
    assert (partition.leader, partition.isr, partition.replicas) == (3, (3, 2), (1, 3, 2))
    assert [home.int for home in partition.directories] == [201, 203, 202]
    outcome = create(made, "u", assignments=((0, (1,)),))
    assert outcome.error is KafkaError.INVALID_REPLICA_ASSIGNMENT


def test_the_first_leader_is_in_the_preferred_rack() -> None:
    made = region(leader_preference_racks="east")
    create(made, "t", assignments=((0, (1, 2, 3)),))
    assert made.partition("t").leader == 3


def grown(settings: dict[str, Any]) -> Region:
    """A region whose consumers came before its second and third broker."""
    made = Region(config(**settings), brokers=1)
    made.do(CreateTopics((internal_topic(OFFSETS, made.config),)))
    create(made, "t", replication_factor=1)
    for broker_id in (2, 3):
        made.register(broker_id, starts_fenced=True)
        made.beat(broker_id)
    return made


def test_a_coordinators_topic_grows_with_its_region() -> None:
    made = grown({})
    partitions = made.image.topics_by_name[OFFSETS].partitions
    assert all(partition.isr == (1,) and partition.leader == 1 for partition in partitions)
    assert {partition.adding for partition in partitions} <= {(2, 3), (3, 2)}
    assert {frozenset(partition.replicas) for partition in partitions} == {frozenset((1, 2, 3))}
    first = Counter(partition.replicas[0] for partition in partitions)
    assert max(first.values()) - min(first.values()) <= 3, "leaders are spread"
    assert len(made.partition("t").replicas) == 1, "nobody asked for more"


def test_a_coordinators_topic_grows_to_a_setting_as_far_as_there_are_brokers() -> None:
    """It was begun before somebody asked for three of each."""
    made = Region(config(offsets_topic_replication_factor=1), brokers=1)
    made.do(CreateTopics((internal_topic(OFFSETS, made.config),)))
    made.controller = Controller(config(offsets_topic_replication_factor=3), random.Random(1))
    for broker_id, factor in ((2, 2), (3, 3), (4, 3)):
        made.register(broker_id, starts_fenced=True)
        made.beat(broker_id)
        partitions = made.image.topics_by_name[OFFSETS].partitions
        assert {len(each.replicas) for each in partitions} == {factor}


def test_a_coordinators_topic_whose_replicas_were_given_stays_as_it_is() -> None:
    made = grown({"offsets_topic_replication_factor": 1})
    assert {len(each.replicas) for each in made.image.topics_by_name[OFFSETS].partitions} == {1}


def test_a_coordinators_topic_grows_even_where_all_who_hold_it_are_unregistered() -> None:
    made = Region(config(), brokers=4)
    made.topic(OFFSETS, (2, 3))
    made.fence(2, 3)
    for gone in (2, 3):
        made.do(UnregisterBroker(gone))
    made.register(5, starts_fenced=True)
    made.beat(5)
    partition = made.partition(OFFSETS)
    assert {*partition.replicas} > {2, 3} and len(partition.replicas) == 3
