"""What operators and clients do at the same time, while the metadata log's disk takes its time."""

from typing import Any

import pytest

from brokers.events import Request
from brokers.ids import TopicPartition
from brokers.metadata.commands.config_commands import ResourceType
from brokers.wire.messages import configs, topics
from linker.answers import MirrorDescription
from linker.commands import ChangeMirrors, CreateLink, CreateMirror, DeleteLink, DescribeMirror
from linker.errors import LinkRefusal
from linker.events import AdminAsked
from linker.records.mirror_record import MIRROR_KIND
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up, linked


class Slow(Host):
    """A region whose disk answers after `disk_ms`."""

    disk_ms = 0

    def _outward(self, effect: Any) -> bool:
        if super()._outward(effect):
            return True
        if not self.disk_ms:
            return False
        node = self.node

        def stored() -> None:
            if self.node is node:  # what a crash overtook is never written
                for event in self._process.stored([effect]):
                    self.feed(event)

        self.world.after(self.disk_ms, stored)
        return True


def slow_world() -> tuple[World, Slow]:
    world = World()
    here = Slow(world, "east")
    world.destination = here
    world.start()
    clients.create_topic(world.source, "orders", 2)
    return world, here


@pytest.mark.parametrize("later_ms", range(0, 60, 3))
@pytest.mark.parametrize("first", ["create", "delete"])
def test_a_mirror_made_while_its_link_is_deleted_is_whole_or_absent(
    first: str, later_ms: int
) -> None:
    world, here = slow_world()
    here.ask(CreateLink(name="west-east", configs={"bootstrap.servers": "west:9092"}))
    here.disk_ms = 4
    create = AdminAsked(1 << 40, CreateMirror(link="west-east", mirror_topic="orders"))
    delete = AdminAsked(1 << 41, DeleteLink(name="west-east"))
    one, other = (create, delete) if first == "create" else (delete, create)
    here.feed(one)
    world.at(world.now + later_ms, lambda: here.feed(other))
    world.run(5_000)
    assert {create.ticket, delete.ticket} <= set(here.answers)
    topic = here.view.image.topics_by_name.get("orders")
    found = here.ask(DescribeMirror("orders"))
    if "west-east" in here.linker.links:
        clients.send(world.source, "orders", 0, b"a")
        assert isinstance(found, MirrorDescription)
        world.run_until(lambda: caught_up(world))
    else:
        assert topic is None, "nobody could ever write to it"
        assert isinstance(found, LinkRefusal)


@pytest.mark.parametrize("later_ms", range(1, 12))
def test_a_setting_changed_here_while_it_is_set_back_is_set_back_again(later_ms: int) -> None:
    world, here = slow_world()
    linked(world)
    here.disk_ms = 5
    clients.set_config(world.source, "orders", "retention.ms", "777000")

    def edit() -> None:
        change = configs.IncrementalAlterableConfig(
            name="retention.ms", config_operation=0, value="1"
        )
        resource = configs.IncrementalAlterConfigsResource(
            resource_type=ResourceType.TOPIC, resource_name="orders", configs=[change]
        )
        message = configs.IncrementalAlterConfigsRequest(resources=[resource])
        here.feed(Request(1 << 42, 44, 1, "test", "127.0.0.1", message))

    world.at(world.now + later_ms, edit)
    world.run(2_000)
    assert here.view.image.config((ResourceType.TOPIC, "orders"))["retention.ms"] == "777000"


@pytest.mark.parametrize("interruption", ["cut", "crash"])
@pytest.mark.parametrize("later_ms", range(0, 90, 3))
def test_a_start_at_latest_that_was_interrupted_is_carried_out(
    interruption: str, later_ms: int
) -> None:
    """Whatever the ledger calls a hole is one, and the mirror begins where the hole ends."""
    world, here = slow_world()
    for _ in range(5):
        clients.send(world.source, "orders", 0, b"before")
    given = {"bootstrap.servers": "west:9092", "mirror.start.offset.spec": "latest"}
    here.ask(CreateLink(name="west-east", configs=given))
    here.disk_ms = 4
    here.feed(AdminAsked(1 << 40, CreateMirror(link="west-east", mirror_topic="orders")))
    world.run(later_ms)
    if interruption == "crash":
        here.disk_ms = 0
        here.stop()
        here.start()
    else:
        world.cut()
    clients.send(world.source, "orders", 0, b"after")
    world.run(2_000)
    if "orders" not in here.view.image.topics_by_name:
        return
    world.run_until(lambda: caught_up(world))
    (hole,) = here.mirror("orders").holes
    assert here.offsets("orders", 0) == list(range(hole.next_offset, 6))
    state = here.view.partition_state(TopicPartition("orders", 0))
    assert state is not None
    assert state.log_start_offset == hole.next_offset


@pytest.mark.parametrize("later_ms", range(0, 90, 3))
def test_a_start_at_latest_that_a_failover_forestalls_is_no_hole(later_ms: int) -> None:
    """The ledger kept it, and a mirror that the topic became again went there: its own records were gone."""
    world, here = slow_world()
    for _ in range(5):
        clients.send(world.source, "orders", 0, b"before")
    given = {"bootstrap.servers": "west:9092", "mirror.start.offset.spec": "latest"}
    here.ask(CreateLink(name="west-east", configs=given))
    here.disk_ms = 4
    here.feed(AdminAsked(1 << 40, CreateMirror(link="west-east", mirror_topic="orders")))
    world.run(later_ms)
    here.feed(
        AdminAsked(1 << 41, ChangeMirrors(verb="failover", link="west-east", topics=("orders",)))
    )
    world.run(2_000)
    if "orders" not in here.view.image.topics_by_name:
        return
    here.disk_ms = 0
    here.ask(ChangeMirrors(verb="failover", link="west-east", topics=("orders",)))
    clients.send(here, "orders", 0, b"of east")
    state = here.view.partition_state(TopicPartition("orders", 0))
    assert state is not None
    (base,) = here.offsets("orders", 0)
    assert [one.next_offset for one in here.mirror("orders").holes] == [base][: base > 0]


@pytest.mark.parametrize("room", range(0, 1_400, 40))
def test_a_failover_whose_topic_is_deleted_before_it_is_recorded_is_answered(room: int) -> None:
    """The disk is full between the hand-over and the last record; whoever could write now deletes the topic."""
    world, here = slow_world()
    linked(world)
    world.run_until(lambda: caught_up(world))
    here.disk_ms = 4
    here.files.full_after(room)
    failover = ChangeMirrors(verb="failover", link="west-east", topics=("orders",))
    here.feed(AdminAsked(1 << 40, failover))
    world.run(300)
    here.files.full_after(None)
    delete = topics.DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000)
    for _ in range(40):
        if "orders" in here.view.image.topics_by_name:
            here.feed(Request(1 << 42, 20, 5, "test", "127.0.0.1", delete))
        world.run(100)
    assert 1 << 40 in here.answers
    assert "orders" not in here.linker.links["west-east"].mirrors


def test_the_record_of_a_deleted_mirror_that_could_not_be_removed_is_removed_later() -> None:
    world, here = slow_world()
    linked(world)
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world))
    here.ask(ChangeMirrors(verb="failover", link="west-east", topics=("orders",)))
    here.disk_ms = 4
    delete = topics.DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000)
    here.feed(Request(1 << 42, 20, 5, "test", "127.0.0.1", delete))
    world.run_until(lambda: "orders" not in here.view.image.topics_by_name)
    here.files.full_after(0)
    world.run(200)
    assert here.mirror("orders").record.state is MirrorState.STOPPED
    here.files.full_after(None)
    world.run_until(lambda: (MIRROR_KIND, "orders") not in here.view.image.documents)
    made = here.ask(CreateMirror(link="west-east", mirror_topic="orders"))
    assert isinstance(made, MirrorDescription)
    world.run_until(lambda: caught_up(world))
