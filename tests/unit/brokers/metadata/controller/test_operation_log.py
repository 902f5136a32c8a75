"""The operator log: what a change at somebody's request leaves in the metadata log, and for how long."""

from typing import Any

import pytest

from brokers.api import create_partitions, create_topics, delete_topics, envelope
from brokers.config.broker_config import from_settings
from brokers.events import Request
from brokers.membership.envelopes import enclose
from brokers.metadata.commands.broker_commands import FeatureUpdate, UpdateFeatures
from brokers.metadata.commands.operation_commands import RecordOperation
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.controller.operation_log import DETAILS_MAX, RESOURCES_MAX
from brokers.metadata.image import snapshot
from brokers.metadata.image.replay import replay
from brokers.security.origin import Origin
from brokers.security.principal import KafkaPrincipal
from brokers.wire.message import Message
from brokers.wire.messages.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from tests.unit.brokers.api.asking import Node
from tests.unit.brokers.metadata.images import Region

ANN = Origin("User:ann", "admin", "10.1.2.3")
DAY_MS = 86_400_000


def region(**settings: Any) -> Region:
    keys = {key.replace("_", "."): value for key, value in settings.items()}
    return Region(from_settings({"node.id": 1, "log.dirs": "data", **keys}))


def record(region: Region, name: str, resources: int = 1, details: str = "") -> None:
    named = tuple(("link", f"{name}-{number}") for number in range(resources))
    region.do(RecordOperation(origin=ANN, operation=name, resources=named, details=details))


def kept(region: Region) -> list[tuple[int, str]]:
    return [(each.number, each.operation) for each in region.image.operations]


def through_envelope(node: Node, key: int, message: Any) -> None:
    """As a broker forwards it for a client."""
    principal = KafkaPrincipal("User", "ann")
    request = Request(0, key, 7, "admin", "10.1.2.3", message, principal=principal)
    node.ask(envelope, 0, enclose(request))


def test_a_clients_change_is_in_the_log_with_who_asked_and_from_where() -> None:
    node = Node()
    asked = CreatableTopic(name="orders", num_partitions=2, replication_factor=1)
    through_envelope(node, create_topics.KEY, CreateTopicsRequest(topics=[asked]))
    (operation,) = node.image.operations
    assert (operation.number, operation.origin) == (0, ANN)
    assert (operation.operation, operation.resources) == ("CreateTopics", (("topic", "orders"),))
    assert operation.details == "orders: partitions 2, replication factor 1"

    node.ask(create_topics, 7, CreateTopicsRequest(topics=[asked]))
    trial = CreatableTopic(name="trial", num_partitions=1, replication_factor=1)
    node.ask(create_topics, 7, CreateTopicsRequest(topics=[trial], validate_only=True))
    grown = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name="orders", count=2, assignments=None)]
    )
    node.ask(create_partitions, 3, grown)
    assert len(node.image.operations) == 1, "nothing was changed by these"

    node.ask(delete_topics, 6, DeleteTopicsRequest(topics=[DeleteTopicState(name="orders")]))
    assert [each.operation for each in node.image.operations] == ["CreateTopics", "DeleteTopics"]


def test_what_no_client_asks_for_is_not_in_it() -> None:
    node = Node()
    node.do(CreateTopics((NewTopic(name="__consumer_offsets", partition_count=1),)))
    assert "__consumer_offsets" in node.image.topics_by_name
    assert node.image.operations == ()


def test_no_more_is_kept_than_the_settings_say() -> None:
    small = region(operation_log_max_entries=3)
    for number in range(5):
        record(small, f"Change{number}")
    assert kept(small) == [(2, "Change2"), (3, "Change3"), (4, "Change4")]
    data = snapshot.encode(small.image, 3, 99)
    assert snapshot.decode(data, "region-one", 9).operations == small.image.operations


def test_what_is_older_than_the_settings_say_is_dropped_with_the_next_change() -> None:
    aging = region(operation_log_retention_ms=10 * DAY_MS)
    for day in (0, 1, 5, 12):
        aging.now = day * DAY_MS
        record(aging, f"Day{day}")
    assert kept(aging) == [(2, "Day5"), (3, "Day12")]
    endless = region(operation_log_retention_ms=-1, operation_log_max_entries=-1)
    for day in (0, 10_000):
        endless.now = day * DAY_MS
        record(endless, f"Day{day}")
    assert kept(endless) == [(0, "Day0"), (1, "Day10000")]


def test_a_region_of_an_older_level_and_one_that_wants_none_write_none() -> None:
    old = region()
    del old.image.features["causeway.version"]
    record(old, "Change")
    without = region(operation_log_max_entries=0)
    record(without, "Change")
    assert kept(old) == kept(without) == []


def test_the_change_that_begins_it_is_its_first_entry() -> None:
    old = region()
    del old.image.features["causeway.version"]

    def raised(name: str) -> tuple[Message, ...]:
        command = UpdateFeatures((FeatureUpdate(name, 1, 1),))
        return old.controller.operation_records(old.image, ANN, command, None, old.now)

    assert raised("group.version") == ()
    (first,) = raised("causeway.version")
    replay(old.image, [first], old.image.next_offset + 1)
    assert [each.details for each in old.image.operations] == ["causeway.version=1"]


@pytest.mark.parametrize("length", [DETAILS_MAX, DETAILS_MAX + 1, 100_000])
def test_a_change_of_any_size_fits(length: int) -> None:
    big = region()
    record(big, "Change", resources=RESOURCES_MAX + 50, details="x" * length)
    (operation,) = big.image.operations
    assert len(operation.resources) == RESOURCES_MAX
    assert operation.details.startswith("and 50 more; ")
    assert len(operation.details) == DETAILS_MAX
