"""A source keeps what the mirrors of a link with `retention.hold.enable` lack, up to bounds on both sides."""

from pathlib import Path

import pytest

from brokers.ids import TopicPartition
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    DeleteLink,
    DescribeLink,
    DropRetentionHolds,
    ListRetentionHolds,
)
from linker.records.retention_hold import HOLD_KIND
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_link_metrics import scraped
from tests.playbooks.linker.world import Host, World, caught_up, linked

ORDERS = TopicPartition("orders", 0)
CHECK_MS = 1_000  # retention runs that often
RETENTION_MS = 5_000
BIG = b"x" * 60_000  # a few of them fill a segment of 1 MiB


def world_of(**source: object) -> World:
    world = World()
    for host in (world.source, world.destination):
        host.settings = {"log.retention.check.interval.ms": CHECK_MS, "log.segment.bytes": 1 << 20}
    world.source.settings |= {name.replace("_", "."): value for name, value in source.items()}
    world.start()
    clients.create_topic(world.source, "orders", retention_ms=str(RETENTION_MS))
    return world


def produce(world: World, count: int) -> None:
    for _ in range(count):
        clients.send(world.source, "orders", 0, BIG)


def log_start(host: Host) -> int:
    state = host.view.partition_state(ORDERS)
    assert state is not None
    return state.log_start_offset


def holds(world: World) -> list[str]:
    return [name for kind, name in world.source.view.image.documents if kind == HOLD_KIND]


def pass_retention(world: World) -> None:
    """Everything that was produced is older than the source keeps it, and retention has run."""
    world.run(RETENTION_MS + 3 * CHECK_MS)


def cut_off(world: World) -> None:
    world.run(3_000)  # the hold is asked for, and the mirror has said how far it is
    world.reachable = False
    world.cut()


def test_without_a_hold_retention_takes_what_the_mirror_lacks() -> None:
    world = world_of()
    linked(world)
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    cut_off(world)
    produce(world, 40)
    pass_retention(world)
    assert log_start(world.source) == 43
    assert holds(world) == []


def test_a_hold_keeps_what_came_while_the_link_was_down() -> None:
    world = world_of()
    linked(world, retention_hold_enable="true")
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    cut_off(world)
    assert holds(world) == ["cluster-east/west-east/orders"]
    produce(world, 40)
    pass_retention(world)
    assert log_start(world.source) <= 3
    assert world.source.view.held_bytes(ORDERS) > 40 * len(BIG)
    world.reachable = True
    world.run_until(lambda: caught_up(world))
    assert world.destination.mirror("orders").holes == ()
    pass_retention(world)
    assert log_start(world.source) == 43, "the mirror holds it all, so nothing is held"
    assert world.source.view.held_bytes(ORDERS) == 0


def test_a_source_that_has_restarted_holds_all_until_the_mirror_is_heard() -> None:
    world = world_of()
    linked(world, retention_hold_enable="true")
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    cut_off(world)
    produce(world, 20)
    world.source.stop()
    world.source.start()
    pass_retention(world)
    assert log_start(world.source) <= 3
    world.reachable = True
    world.run_until(lambda: caught_up(world))
    assert world.destination.mirror("orders").holes == ()
    pass_retention(world)
    assert log_start(world.source) == 23


@pytest.mark.parametrize(
    "bound",
    [
        {"retention_hold_max_bytes": str(1 << 20)},
        {"retention_hold_max_ms": str(RETENTION_MS + CHECK_MS)},
    ],
    ids=["bytes", "time"],
)
def test_the_bounds_of_the_link_end_a_hold(bound: dict[str, str]) -> None:
    world = world_of()
    linked(world, retention_hold_enable="true", **bound)
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    cut_off(world)
    produce(world, 60)
    pass_retention(world)
    assert log_start(world.source) > 30
    assert world.source.view.held_bytes(ORDERS) <= 1 << 20
    world.reachable = True
    world.run_until(lambda: caught_up(world))
    assert world.destination.mirror("orders").holes, "what was lost all the same is in the ledger"


@pytest.mark.parametrize(
    "cap", ["link_retention_hold_max_bytes", "link_retention_hold_max_ms"], ids=["bytes", "time"]
)
def test_the_source_can_forbid_holds(cap: str) -> None:
    world = world_of(**{cap: 0})
    linked(world, retention_hold_enable="true")
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    cut_off(world)
    assert holds(world) == []
    task = {one.name: one for one in world.destination.ask(DescribeLink("west-east")).tasks}
    assert task["RetentionHold"].state == "IN_ERROR"
    assert "link.retention.hold.max" in task["RetentionHold"].because
    produce(world, 40)
    pass_retention(world)
    assert log_start(world.source) == 43


def test_the_source_bounds_all_holds_together() -> None:
    world = world_of(link_retention_hold_max_bytes=2 << 20)
    linked(world, retention_hold_enable="true")
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    cut_off(world)
    produce(world, 80)
    pass_retention(world)
    assert 1 << 20 <= world.source.view.held_bytes(ORDERS) <= 2 << 20


@pytest.mark.parametrize("is_heard_late", [False, True], ids=["at once", "later"])
@pytest.mark.parametrize("end", ["setting", "failover"])
def test_a_hold_ends_with_what_it_was_for(end: str, is_heard_late: bool) -> None:
    world = world_of()
    linked(world, retention_hold_enable="true", source_fencing_enable="false")
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    world.run(1_000)
    assert len(holds(world)) == 1
    if is_heard_late:
        cut_off(world)
    if end == "setting":
        sets = {"retention.hold.enable": "false"}
        world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets))
    else:
        world.destination.ask(
            ChangeMirrors(verb="failover", link="west-east", topics=("orders",)), 60_000
        )
    world.reachable = True
    world.run_until(lambda: not holds(world))
    produce(world, 20)
    pass_retention(world)
    assert log_start(world.source) == 23


def test_a_hold_ends_with_its_link_and_with_its_topic() -> None:
    world = world_of()
    linked(world, retention_hold_enable="true", source_fencing_enable="false")
    world.run(1_000)
    assert len(holds(world)) == 1
    world.destination.ask(DeleteLink(name="west-east", force=True))
    world.run_until(lambda: not holds(world), 5_000)
    clients.create_topic(world.source, "views")
    clients.create_topic(world.source, "clicks")
    linked(world, "views", retention_hold_enable="true")
    world.run(1_000)
    assert holds(world) == ["cluster-east/west-east/views"]
    clients.delete_topic(world.source, "views")
    world.run_until(lambda: not holds(world), 5_000)


def test_people_delete_what_is_held() -> None:
    world = world_of()
    linked(world, retention_hold_enable="true")
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    cut_off(world)
    produce(world, 20)
    assert clients.delete_records(world.source, "orders", 0, 20) == 0
    assert log_start(world.source) == 20


def test_a_paused_mirror_keeps_its_hold() -> None:
    world = world_of()
    linked(world, retention_hold_enable="true")
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    world.run(2_000)
    world.destination.ask(ChangeMirrors(verb="pause", link="west-east", topics=("orders",)))
    produce(world, 40)
    pass_retention(world)
    assert log_start(world.source) <= 3
    world.destination.ask(ChangeMirrors(verb="resume", link="west-east", topics=("orders",)))
    world.run_until(lambda: caught_up(world))
    assert world.destination.mirror("orders").holes == ()


def test_an_operator_of_the_source_sees_a_hold_and_drops_it() -> None:
    world = world_of()
    linked(world, retention_hold_enable="true")
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    cut_off(world)
    produce(world, 40)
    pass_retention(world)
    ((record, (replica,)),) = world.source.ask(ListRetentionHolds("west-east")).holds
    assert (record.topic, record.cluster_id) == ("orders", "cluster-east")
    assert (replica.is_leader, replica.mirror_offset) == (True, 3)
    assert replica.held_bytes == world.source.view.held_bytes(ORDERS) > 40 * len(BIG)
    assert world.source.ask(ListRetentionHolds("another")).code == "CLUSTER_LINK_NOT_FOUND"

    command = DropRetentionHolds(link="west-east", topics=("views",))
    assert "views" in world.source.ask(command).because
    checked = DropRetentionHolds(link="west-east", validate_only=True)
    assert len(world.source.ask(checked).holds) == 1
    world.run(3 * CHECK_MS)
    assert log_start(world.source) <= 3
    world.source.ask(DropRetentionHolds(link="west-east"))
    world.run(3 * CHECK_MS)
    assert log_start(world.source) == 43
    world.reachable = True
    world.run_until(lambda: caught_up(world))
    world.run(3_000)
    ((record, replicas),) = world.source.ask(ListRetentionHolds()).holds
    assert record.dropped_at is not None, "the link asks for it still"
    assert replicas == ()

    for value in ("false", "true"):
        sets = {"retention.hold.enable": value}
        world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets))
        world.run(2_000)
    ((record, _),) = world.source.ask(ListRetentionHolds()).holds
    assert record.dropped_at is None


def test_metrics_tell_what_is_held(tmp_path: Path) -> None:
    world = world_of()
    linked(world, retention_hold_enable="true")
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    cut_off(world)
    produce(world, 40)
    pass_retention(world)
    found = scraped(world.source, tmp_path)["causeway_retention_hold_bytes"]
    assert list(found.values()) == [world.source.view.held_bytes(ORDERS)]
    world.source.stop()
    world.source.start()
    assert "causeway_retention_hold_bytes" not in scraped(world.source, tmp_path), "it said 0"
    ((_, (replica,)),) = world.source.ask(ListRetentionHolds("west-east")).holds
    assert replica.held_bytes == -1
    world.run(2 * CHECK_MS)
    found = scraped(world.source, tmp_path)["causeway_retention_hold_bytes"]
    assert list(found.values()) == [world.source.view.held_bytes(ORDERS)]
