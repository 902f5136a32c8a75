"""Lag and holes in bytes; lag in milliseconds through a chain of regions."""

import pytest

from brokers.ids import TopicPartition
from linker.answers import NO_LAG, PartitionLag
from linker.commands import ChangeMirrors, CreateLink, CreateMirror, DescribeLink, ListLinks
from linker.records.hole_ledger import HoleCause
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up, linked

ORDERS = TopicPartition("orders", 0)
BIG = b"x" * 60_000


def produce(world: World, count: int, value: bytes = BIG) -> None:
    for _ in range(count):
        clients.send(world.source, "orders", 0, value)


def lag(world: World) -> PartitionLag:
    (found,) = world.destination.mirror("orders").lags
    return found


def made() -> World:
    world = World().start()
    clients.create_topic(world.source, "orders")
    return world


def test_lag_in_bytes_is_what_the_mirror_lacks() -> None:
    world = made()
    produce(world, 30)
    linked(world, io_max_bytes_per_second="200000", replica_fetch_max_bytes="65536")
    world.run(2_000)
    seen = 0
    for _ in range(4):
        found = lag(world)
        held, whole = world.destination.log("orders", 0), world.source.log("orders", 0)
        assert found.lag_bytes > 0, "it copies slowly"
        assert found.lag_bytes == len(whole) - len(held)
        seen += found.lag_bytes != len(whole)
        world.run(500)
    assert seen
    world.run_until(lambda: caught_up(world))
    world.run(1_000)
    assert (lag(world).lag, lag(world).lag_bytes) == (0, 0)


def test_lag_in_bytes_is_known_again_after_an_interruption_in_the_middle_of_a_segment() -> None:
    world = made()
    linked(world, io_max_bytes_per_second="100000", replica_fetch_max_bytes="65536")
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    world.cut()
    produce(world, 20)
    world.run(1_500)
    missing = len(world.source.log("orders", 0)) - len(world.destination.log("orders", 0))
    assert lag(world).lag_bytes == missing > 0


def test_a_list_of_links_has_the_lag_of_each_as_its_description_has_it() -> None:
    """It was -1 in every list."""
    world = made()
    for topic in ("bills", "mails"):
        clients.create_topic(world.source, topic)
    linked(world)
    ask = world.destination.ask
    assert not isinstance(ask(CreateMirror(link="west-east", mirror_topic="bills")), Exception)
    other = {"bootstrap.servers": "west:9092"}
    for name in ("empty", "stopped"):
        assert not isinstance(ask(CreateLink(name=name, configs=other)), Exception)
    ask(CreateMirror(link="stopped", mirror_topic="mails"))
    world.run_until(lambda: caught_up(world) and caught_up(world, "mails"))
    ask(ChangeMirrors(verb="failover", link="stopped", topics=("mails",)))
    world.run_until(lambda: world.destination.mirror("mails").shown is MirrorState.STOPPED)
    for is_bound in (False, True):
        listed = {one.name: one for one in ask(ListLinks()).links}
        for name in ("west-east", "empty", "stopped"):
            assert listed[name] == ask(DescribeLink(name)), name
        found = listed["west-east"].lag
        assert (found.records, found.is_lower_bound) == (0, is_bound)
        assert (listed["empty"].lag, listed["stopped"].lag) == (NO_LAG, NO_LAG)
        world.reachable = False
        world.cut()
        world.run(20)


def test_a_long_list_of_links_is_made_in_slices() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders", partitions=200)
    linked(world)
    world.run(1_000)
    host = world.destination
    ticket = host._asked(ListLinks())
    assert ticket not in host.answers, "200 partitions are more than one slice"
    world.run_until(lambda: ticket in host.answers, 5)
    (found,) = host.answers[ticket].links
    assert found.lag.records == 0


def test_a_mirror_that_begins_at_latest_lacks_nothing() -> None:
    world = made()
    produce(world, 3)
    linked(
        world,
        mirror_start_offset_spec="latest",
        io_max_bytes_per_second="100000",
        replica_fetch_max_bytes="65536",
    )
    world.run(1_000)
    assert lag(world).lag_bytes == 0
    produce(world, 10)
    world.run(100)
    sent = len(world.destination.log("orders", 0))
    assert lag(world).lag_bytes == len(world.source.log("orders", 0)) - 3 * size(world) - sent


def size(world: World) -> int:
    """Of one batch: all are alike."""
    state = world.source.view.partition_state(ORDERS)
    assert state is not None
    return len(world.source.log("orders", 0)) // state.log_end_offset


@pytest.mark.parametrize("is_restarted", [False, True], ids=["known", "unknown"])
def test_a_hole_has_the_bytes_that_the_source_deleted(is_restarted: bool) -> None:
    """The source knows them until it restarts: sizes of deleted segments are not stored."""
    world = made()
    linked(world)
    produce(world, 3)
    world.run_until(lambda: caught_up(world))
    one = size(world)
    world.reachable = False
    world.cut()
    produce(world, 40)
    state = world.source.view.partition_state(ORDERS)
    assert state is not None
    start = state.segment_bases[2]
    assert clients.delete_records(world.source, "orders", 0, start) == 0
    if is_restarted:
        world.source.stop()
        world.source.start()
    world.reachable = True
    world.run_until(lambda: caught_up(world))
    (hole,) = world.destination.mirror("orders").holes
    assert (hole.base_offset, hole.next_offset) == (3, start)
    assert hole.size == (-1 if is_restarted else one * (start - 3))


def test_a_hole_that_ends_within_a_segment_has_no_known_size() -> None:
    world = made()
    produce(world, 10, b"small")
    assert clients.delete_records(world.source, "orders", 0, 4) == 0
    linked(world)
    world.run_until(lambda: caught_up(world))
    (hole,) = world.destination.mirror("orders").holes
    assert (hole.base_offset, hole.next_offset, hole.size) == (0, 4, -1)


def test_a_start_at_latest_says_how_many_bytes_it_leaves_out() -> None:
    world = made()
    produce(world, 5)
    linked(world, mirror_start_offset_spec="latest")
    world.run(500)
    (hole,) = world.destination.mirror("orders").holes
    assert hole.cause is HoleCause.START_OFFSET_LATEST
    assert hole.size == len(world.source.log("orders", 0))


def test_behind_the_origin_of_a_chain_time_goes_on_when_its_first_link_is_cut() -> None:
    world = made()
    linked(world)
    produce(world, 3)
    north = Host(world, "north")
    north.start()
    link = CreateLink(name="east-north", configs={"bootstrap.servers": "east:9092"})
    for command in (link, CreateMirror(link="east-north", mirror_topic="orders")):
        answer = north.ask(command)
        assert not isinstance(answer, Exception), answer
    world.run(3_000)

    def lags() -> tuple[int, int, int]:
        (found,) = north.mirror("orders").lags
        return found.lag, found.lag_ms, found.origin_lag_ms

    records, behind_east, behind_west = lags()
    assert records == 0
    assert 0 <= behind_east <= behind_west < 2_000
    world.source.stop()
    world.run(60_000)
    records, behind_east, behind_west = lags()
    assert records == 0
    assert behind_east < 2_000
    (own,) = world.destination.mirror("orders").lags
    assert own.origin_lag_ms == own.lag_ms > 59_000
    assert abs(behind_west - own.lag_ms) < 2_000
    world.source.start()
    world.run_until(lambda: lags()[2] < 2_000)
