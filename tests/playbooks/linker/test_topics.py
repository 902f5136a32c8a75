"""What becomes of a mirror when its source topic changes."""

from dataclasses import replace
from typing import Any

import pytest

from brokers.metadata.commands.config_commands import ResourceType
from brokers.records.batch import iter_headers, stamp
from brokers.records.builder import NewRecord, build_batch
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    DescribeMirror,
)
from linker.control.link_settings import LinkSettings
from linker.control.topic_settings import creation
from linker.errors import LinkRefusal, MirrorError
from linker.events import AdminAsked
from linker.frames import Chunk, TopicState
from linker.records.mirror_record import MIRROR_KIND
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up, linked


def started(world: World | None = None, **configs: str) -> World:
    world = (world or World()).start()
    clients.create_topic(world.source, "orders", 2, retention_ms="777000")
    linked(world, **configs)
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world))
    return world


def config(world: World, name: str) -> str | None:
    return world.destination.view.image.config((2, "orders")).get(name)


def failed(world: World) -> MirrorError:
    world.run_until(lambda: world.destination.mirror("orders").shown is MirrorState.FAILED)
    return world.destination.mirror("orders").record.error


def test_a_topic_deleted_at_the_source_fails_its_mirror_which_keeps_its_data() -> None:
    world = started()
    log = world.destination.log("orders", 0)
    clients.delete_topic(world.source, "orders")
    assert failed(world) is MirrorError.SOURCE_TOPIC_MAY_BE_DELETED
    assert world.destination.log("orders", 0) == log


def test_a_topic_deleted_and_made_anew_behind_the_links_back_is_told_by_its_id() -> None:
    world = started()
    world.reachable = False
    world.cut()
    clients.delete_topic(world.source, "orders")
    clients.create_topic(world.source, "orders", 2)
    clients.send(world.source, "orders", 0, b"another history")
    world.reachable = True
    assert failed(world) is MirrorError.SOURCE_TOPIC_ID_CHANGED
    assert b"another history" not in world.destination.log("orders", 0)


class Shrinking(World):
    """A source that says of a topic, which has the same id, that it has one partition: none of Kafka's does that, but a
    metadata log that was restored from a copy may."""

    shrinks = False

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if self.shrinks and isinstance(frame, TopicState):
            one = (frame.leader_epochs[:1], frame.leaders[:1])
            frame = replace(frame, partition_count=1, leader_epochs=one[0], leaders=one[1])
        super().send(host, stream, frame)


def test_a_topic_with_fewer_partitions_than_before_fails_its_mirror_which_keeps_its_data() -> None:
    world = started(world=Shrinking())
    assert isinstance(world, Shrinking)
    east = world.destination
    clients.send(world.source, "orders", 1, b"of the partition that goes")
    world.run_until(lambda: caught_up(world))
    logs = [east.log("orders", index) for index in range(2)]
    world.shrinks = True
    world.cut()
    assert failed(world) is MirrorError.SOURCE_PARTITIONS_DECREASED
    found = east.mirror("orders")
    assert found.record.reason == "orders has 1 partitions, the mirror 2"
    assert found.hint == "fail the mirror over, then keep it or delete and create it"
    clients.send(world.source, "orders", 0, b"not copied any more")
    world.run(5_000)
    assert [east.log("orders", index) for index in range(2)] == logs
    # What the hint says: fail it over, and keep it ...
    failover = ChangeMirrors(verb="failover", link="west-east", topics=("orders",))
    assert east.ask(failover).topics[0].state == "STOPPED"
    assert [east.log("orders", index) for index in range(2)] == logs
    assert clients.send(east, "orders", 1, b"goes on") == (0, 1)
    # ... or delete and create it.
    assert clients.delete_topic(east, "orders") == 0
    made = east.ask(CreateMirror(link="west-east", mirror_topic="orders"))
    assert not isinstance(made, LinkRefusal), made
    world.run_until(lambda: east.log("orders", 0) == world.source.log("orders", 0))
    assert len(east.view.image.topics_by_name["orders"].partitions) == 1
    assert east.mirror("orders").shown is MirrorState.ACTIVE


class Behind(World):
    """A source with a broker that has not heard of the newest partition. It answers first."""

    is_behind = False
    offset_before = 0

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if self.is_behind and isinstance(frame, TopicState):
            self.is_behind = False
            one = (frame.leader_epochs[:1], frame.leaders[:1])
            frame = replace(frame, partition_count=1, leader_epochs=one[0], leaders=one[1])
            frame = replace(frame, metadata_offset=self.offset_before)
        super().send(host, stream, frame)


def test_a_broker_of_the_source_that_is_behind_does_not_fail_a_mirror_after_a_restart() -> None:
    world = Behind()
    east = started(world).destination
    world.offset_before = world.source.view.image.next_offset
    clients.grow_topic(world.source, "orders", 3)
    world.run_until(lambda: len(east.view.image.topics_by_name["orders"].partitions) == 3)
    east.stop()
    world.is_behind = True
    east.start()
    world.run_until(lambda: not world.is_behind)
    clients.send(world.source, "orders", 2, b"goes on")
    world.run_until(lambda: b"goes on" in east.log("orders", 2))
    assert east.mirror("orders").record.state is MirrorState.ACTIVE


def test_settings_follow_the_source_and_local_edits_of_them_are_reverted() -> None:
    world = started()
    assert config(world, "retention.ms") == "777000"
    clients.set_config(world.source, "orders", "retention.ms", "888000")
    clients.set_config(world.source, "orders", "max.message.bytes", "2000000")
    world.run(200)
    assert config(world, "retention.ms") == "888000"
    assert config(world, "max.message.bytes") == "2000000"
    clients.set_config(world.source, "orders", "retention.ms", None)
    world.run(200)
    assert config(world, "retention.ms") is None
    clients.set_config(world.destination, "orders", "retention.ms", "1")
    world.run(200)
    assert config(world, "retention.ms") is None


def test_settings_left_out_are_each_regions_own() -> None:
    world = started(topic_config_sync_include="delete.retention.ms")
    assert config(world, "retention.ms") is None
    sets = {"topic.config.sync.include": "retention.ms"}
    world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets))
    world.run(200)
    assert config(world, "retention.ms") == "777000"


def test_a_stopped_mirror_that_is_deleted_is_forgotten_and_can_be_made_again() -> None:
    world = started()
    assert clients.delete_topic(world.destination, "orders") == 44, "its link holds it"
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east"))
    assert clients.delete_topic(world.destination, "orders") == 0
    world.run(1_000)
    assert isinstance(world.destination.ask(DescribeMirror("orders")), LinkRefusal)
    clients.send(world.source, "orders", 0, b"b")
    answer = world.destination.ask(CreateMirror(link="west-east", mirror_topic="orders"))
    assert not isinstance(answer, LinkRefusal), answer
    world.run_until(lambda: caught_up(world))


@pytest.mark.parametrize("room", range(0, 1600, 160))
def test_a_mirror_whose_making_was_cut_short_is_whole_or_absent_after_the_next_start(
    room: int,
) -> None:
    """The disk stops taking bytes somewhere between the record and its topic; then the node dies."""
    world = World().start()
    clients.create_topic(world.source, "orders", 2)
    clients.send(world.source, "orders", 1, b"a")
    configs = {"bootstrap.servers": "west:9092"}
    world.destination.ask(CreateLink(name="west-east", configs=configs))
    world.destination.files.full_after(room)
    command = CreateMirror(link="west-east", mirror_topic="orders")
    world.destination.feed(AdminAsked(99, command))
    world.run(2_000)
    world.destination.stop()
    world.destination.files.full_after(None)
    world.destination.start()
    world.run(3_000)
    link = world.destination.linker.links["west-east"]
    if "orders" in link.mirrors:
        world.run_until(lambda: caught_up(world))
        assert len(world.destination.view.image.topics_by_name["orders"].partitions) == 2
    else:
        assert "orders" not in world.destination.view.image.topics_by_name


def test_a_source_that_lost_records_which_the_mirror_holds_fails_the_mirror() -> None:
    world = started()
    world.source.stop()
    _drop_the_tail(world)
    world.source.start()
    assert failed(world) in (
        MirrorError.UNEXPECTED_TRUNCATION,
        MirrorError.NON_MONOTONIC_SOURCE_EPOCH,
    )
    assert world.destination.log("orders", 0), "what the source lost is kept"


def test_a_source_that_wrote_another_tail_fails_the_mirror() -> None:
    world = started()
    world.source.stop()
    _drop_the_tail(world)
    world.reachable = False
    world.source.start()
    clients.send(world.source, "orders", 0, b"x", b"y", b"z")
    world.reachable = True
    assert failed(world) is MirrorError.UNEXPECTED_TRUNCATION
    assert b"xyz" not in world.destination.log("orders", 0)


def test_a_source_whose_batches_are_not_those_of_its_leader_epochs_fails_the_mirror() -> None:
    """Histories agree and batches do not: it would be asked for ever, and always answer the same."""
    world = started(cluster_link_retry_timeout_ms="20000")
    clients.send(world.source, "orders", 0, b"b")
    world.run_until(lambda: caught_up(world))
    world.source.stop()
    name = "orders-0/00000000000000000000.log"
    log = bytes(world.source.files.read(name, 0, world.source.files.size(name)))
    first = next(iter_headers(log))[1]
    records = [NewRecord(None, b"another"), NewRecord(None, b"history")]
    world.source.files.truncate(name, first.length)
    world.source.files.append(
        name, [build_batch(records, timestamp=world.now, base_offset=1, leader_epoch=0)]
    )
    world.source.start()
    assert failed(world) is MirrorError.UNEXPECTED_TRUNCATION
    assert world.destination.log("orders", 0) == log, "what the source lost is kept"
    assert "orders-0: offset 1 comes again" in world.destination.mirror("orders").record.reason


class Unagreed(World):
    """The source's chunks are of a leader epoch that it has not told of."""

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if isinstance(frame, Chunk):
            data = bytearray(frame.data)
            header = next(iter_headers(data))[1]
            stamp(data, 0, header.base_offset, 7)
            frame = replace(frame, data=bytes(data))
        super().send(host, stream, frame)


def test_a_batch_above_the_leader_epoch_that_was_agreed_on_fails_the_mirror() -> None:
    world = Unagreed().start()
    clients.create_topic(world.source, "orders")
    linked(world, cluster_link_retry_timeout_ms="20000")
    clients.send(world.source, "orders", 0, b"a")
    assert failed(world) is MirrorError.NON_MONOTONIC_LOG_APPEND_EPOCH
    assert world.destination.log("orders", 0) == b""
    record = world.destination.mirror("orders").record
    assert "leader epoch 7 is above the partition's 0" in record.reason


def _drop_the_tail(world: World) -> None:
    """As a power cut may, where nothing is synced."""
    files = world.source.files
    name = "orders-0/00000000000000000000.log"
    files.truncate(name, 0)


@pytest.mark.parametrize("prefix", ["w.", ""])
def test_a_prefix_names_the_mirror(prefix: str) -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, topic=f"{prefix}orders", cluster_link_prefix=prefix)
    clients.send(world.source, "orders", 0, b"a")
    world.run(500)
    assert world.destination.log(f"{prefix}orders", 0) == world.source.log("orders", 0)


def test_a_mirror_has_the_configurations_that_were_asked_for_and_its_record_keeps_them() -> None:
    """A broker that finds the record without its topic creates it by the record."""
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, topic="orders")
    clients.create_topic(world.source, "bills")
    asked = CreateMirror(link="west-east", mirror_topic="bills", configs={"flush.messages": "1"})
    assert not isinstance(world.destination.ask(asked), LinkRefusal)
    configs = world.destination.view.image.config((ResourceType.TOPIC, "bills"))
    assert configs["flush.messages"] == "1"
    mirror = world.destination.linker.links["west-east"].mirrors["bills"]
    settings = LinkSettings(world.destination.linker.links["west-east"].record, 0)
    state = TopicState("bills", partition_count=3)
    again = creation("bills", settings, state, mirror.record.spec, mirror.version)
    assert (again.configs, again.partition_count) == ({"flush.messages": "1"}, 3)


def test_a_replication_factor_that_the_region_cannot_hold_is_refused() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, topic="orders")
    clients.create_topic(world.source, "bills")
    asked = CreateMirror(link="west-east", mirror_topic="bills", replication_factor=2)
    answer = world.destination.ask(asked)
    assert isinstance(answer, LinkRefusal)
    assert "bills" not in world.destination.view.image.topics_by_name
    assert (MIRROR_KIND, "bills") not in world.destination.view.image.documents
