"""P8: whatever a mirror skips is in the hole ledger, with its cause, before the mirror goes on."""

from datetime import UTC, datetime

import pytest

from brokers.ids import TopicPartition
from brokers.records.builder import NewRecord, build_batch
from linker.records.hole_ledger import Hole, HoleCause, HoleIndex
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import World, caught_up, linked

ORDERS = TopicPartition("orders", 0)


def holes(world: World) -> list[tuple[int, int, HoleCause]]:
    found = world.destination.mirror("orders").holes
    return [(hole.base_offset, hole.next_offset, hole.cause) for hole in found]


def produce(world: World, count: int) -> None:
    for index in range(count):
        clients.send(world.source, "orders", 0, b"%d" % index)


def test_what_was_deleted_before_the_link_came_is_a_hole() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    produce(world, 10)
    assert clients.delete_records(world.source, "orders", 0, 4) == 0
    linked(world)
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(0, 4, HoleCause.SOURCE_DELETED_RECORDS)]
    state = world.destination.view.partition_state(ORDERS)
    assert state is not None
    assert state.log_start_offset == 4
    assert world.destination.offsets("orders", 0) == [4, 5, 6, 7, 8, 9]


def test_a_source_that_was_emptied_leaves_one_hole_up_to_its_end() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    produce(world, 5)
    clients.delete_records(world.source, "orders", 0, 5)
    linked(world)
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(0, 5, HoleCause.SOURCE_DELETED_RECORDS)]
    produce(world, 2)
    world.run_until(lambda: caught_up(world))
    assert world.destination.offsets("orders", 0) == [5, 6]


def test_what_the_source_dropped_while_the_link_was_down_is_a_hole() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    world.reachable = False
    world.cut()
    produce(world, 6)
    clients.delete_records(world.source, "orders", 0, 7)
    world.reachable = True
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(3, 7, HoleCause.SOURCE_DELETED_RECORDS)]
    assert world.destination.offsets("orders", 0)[-2:] == [7, 8]


@pytest.mark.parametrize(
    ("deleted_by", "cause"),
    [
        ("retention", HoleCause.SOURCE_LOG_START),
        ("DeleteRecords", HoleCause.SOURCE_DELETED_RECORDS),
        ("both", HoleCause.SOURCE_LOG_START),
        ("DeleteRecords before a restart", HoleCause.SOURCE_LOG_START),
    ],
)
def test_what_a_client_deleted_is_told_from_retention_as_long_as_the_source_knows(
    deleted_by: str, cause: HoleCause
) -> None:
    world = World()
    world.source.settings = {"log.retention.check.interval.ms": 1_000}
    world.start()
    clients.create_topic(world.source, "orders")
    produce(world, 5)
    if deleted_by != "DeleteRecords":
        assert clients.set_config(world.source, "orders", "retention.ms", "1000") == 0
    if deleted_by in ("retention", "both"):
        world.run(5_000)
    if deleted_by != "retention":
        produce(world, 2)
        assert clients.delete_records(world.source, "orders", 0, -1) == 0
    if deleted_by.endswith("restart"):
        world.source.stop()
        world.source.start()
    linked(world)
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(0, 5 if deleted_by == "retention" else 7, cause)]


def test_a_batch_that_holds_the_log_start_arrives_whole() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    clients.send(world.source, "orders", 0, *[b"%d" % index for index in range(10)])
    clients.send(world.source, "orders", 0, b"last")
    clients.delete_records(world.source, "orders", 0, 6)
    linked(world)
    world.run_until(lambda: caught_up(world))
    state = world.destination.view.partition_state(ORDERS)
    assert state is not None
    assert state.log_start_offset == 6
    assert world.destination.log("orders", 0) == world.source.log("orders", 0)


def test_a_log_start_that_moves_over_mirrored_data_is_no_hole() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    produce(world, 6)
    world.run_until(lambda: caught_up(world))
    clients.delete_records(world.source, "orders", 0, 4)
    world.run(1000)
    state = world.destination.view.partition_state(ORDERS)
    assert state is not None
    assert state.log_start_offset == 4
    assert holes(world) == []


def test_a_start_at_latest_is_decided_once() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders", 2)
    produce(world, 5)
    linked(world, mirror_start_offset_spec="latest")
    world.run(200)
    world.cut()
    clients.send(world.source, "orders", 1, b"while it was cut")
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(0, 5, HoleCause.START_OFFSET_LATEST)]
    assert world.destination.offsets("orders", 1) == [0], "its start was decided when it was empty"
    produce(world, 1)
    world.run_until(lambda: caught_up(world))
    assert world.destination.offsets("orders", 0) == [5]


def at(now: int) -> str:
    return datetime.fromtimestamp(now / 1000, UTC).isoformat()


@pytest.mark.parametrize("trouble", ["none", "cut", "restart"])
def test_a_start_at_a_time_begins_with_the_batch_that_holds_it(trouble: str) -> None:
    world = World().start()
    clients.create_topic(world.source, "orders", 3)
    for _ in range(3):
        clients.send(world.source, "orders", 0, b"old", b"older")
        world.run(1_000)
    start = world.now
    clients.send(world.source, "orders", 0, b"new")
    clients.send(world.source, "orders", 1, b"new")
    linked(world, mirror_start_offset_spec=at(start))
    if trouble == "cut":
        world.cut()
    if trouble == "restart":
        world.destination.stop()
        world.destination.start()
    world.run_until(lambda: caught_up(world))
    assert world.destination.offsets("orders", 0) == [6]
    assert world.destination.offsets("orders", 1) == [0]
    assert holes(world) == [(0, 6, HoleCause.START_OFFSET_TIMESTAMP)]
    clients.send(world.source, "orders", 2, b"later")
    world.run_until(lambda: caught_up(world))
    assert world.destination.offsets("orders", 2) == [0]


def test_a_start_at_a_time_inside_a_batch_takes_the_whole_batch() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    clients.send(world.source, "orders", 0, b"old")
    records = [NewRecord(None, b"x", timestamp=world.now + more) for more in (0, 1_000, 2_000)]
    data = build_batch(records, timestamp=world.now)
    clients.send_batch(world.source, "orders", 0, data)
    clients.send(world.source, "orders", 0, b"old, too")
    linked(world, mirror_start_offset_spec=at(world.now + 500))
    world.run_until(lambda: caught_up(world))
    assert world.destination.offsets("orders", 0) == [1, 4]
    assert holes(world) == [(0, 1, HoleCause.START_OFFSET_TIMESTAMP)]


def test_a_start_after_the_last_record_is_the_end_of_now() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    produce(world, 5)
    linked(world, mirror_start_offset_spec=at(world.now + 86_400_000))
    world.run_until(lambda: caught_up(world))
    assert world.destination.offsets("orders", 0) == []
    produce(world, 1)
    world.run_until(lambda: caught_up(world))
    assert world.destination.offsets("orders", 0) == [5]


def test_the_hole_is_in_the_ledger_even_if_the_node_dies_at_once() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    produce(world, 5)
    clients.delete_records(world.source, "orders", 0, 5)
    linked(world)

    def ledger() -> list[Hole]:
        index, image = HoleIndex(), world.destination.view.image
        index.follow(image, image.documents)
        return index.of(image, "orders")

    world.run_until(lambda: bool(ledger()))
    world.destination.stop()
    world.destination.start()
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(0, 5, HoleCause.SOURCE_DELETED_RECORDS)]
