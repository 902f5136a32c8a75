"""P2: a mirror holds the source's bytes at the source's offsets, whatever happens on the way."""

import pytest

from brokers.ids import TopicPartition
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import World, caught_up, linked


def assert_equal_logs(world: World, topic: str = "orders") -> None:
    for index in range(len(world.source.view.image.topics_by_name[topic].partitions)):
        source, mirror = world.source.log(topic, index), world.destination.log(topic, index)
        assert mirror == source, (
            f"{topic}-{index}: {len(mirror)} bytes, the source has {len(source)}"
        )


def test_what_is_there_and_what_comes_later_arrive_as_they_are() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders", 3)
    clients.send(world.source, "orders", 0, b"before", b"the link")
    linked(world)
    clients.send(world.source, "orders", 2, b"after it")
    world.run_until(lambda: caught_up(world))
    assert_equal_logs(world)
    assert world.destination.log("orders", 0)


@pytest.mark.parametrize("seed", range(12))
def test_cuts_restarts_and_silences_leave_equal_logs(seed: int) -> None:
    world = World(seed).start()
    clients.create_topic(world.source, "orders", 4, segment_bytes="1048576")
    linked(world, retry_backoff_ms="10")
    for step in range(60):
        for _ in range(world.rng.randrange(1, 6)):
            values = [world.rng.randbytes(world.rng.randrange(1, 40_000)) for _ in range(3)]
            clients.send(world.source, "orders", world.rng.randrange(4), *values)
        misfortune = world.rng.randrange(8)
        if misfortune == 0:
            world.cut()
        elif misfortune == 1:
            world.source.stop()
            world.run(world.rng.randrange(1, 400))
            world.source.start()
        elif misfortune == 2:
            world.destination.stop()
            world.run(world.rng.randrange(1, 400))
            world.destination.start()
        elif misfortune == 3:
            world.reachable = not world.reachable
            world.cut()
        world.run(world.rng.randrange(1, 60))
        if step % 10 == 0:
            world.delay_ms = world.rng.choice((1, 5, 80))
    world.reachable = True
    world.run_until(lambda: caught_up(world))
    assert_equal_logs(world)
    for index in range(4):
        assert list(world.destination.segments("orders", index)) == list(
            world.source.segments("orders", index)
        ), "the mirror rolls where its source does"


def test_segments_of_a_mirror_are_whole_files_of_its_source() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders", 1, segment_bytes="1048576")
    for _ in range(30):
        clients.send(world.source, "orders", 0, world.rng.randbytes(100_000))
    assert len(world.source.segments("orders", 0)) > 2
    linked(world)
    for _ in range(30):
        clients.send(world.source, "orders", 0, world.rng.randbytes(100_000))
        world.run(3)
    world.run_until(lambda: caught_up(world))
    assert world.destination.segments("orders", 0) == world.source.segments("orders", 0)


def test_a_restarted_source_leads_with_a_higher_epoch_and_the_mirror_follows() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    clients.send(world.source, "orders", 0, b"one")
    world.run_until(lambda: caught_up(world))
    for _ in range(3):
        world.source.stop()
        world.source.start()
        clients.send(world.source, "orders", 0, b"more")
    world.run_until(lambda: caught_up(world))
    assert_equal_logs(world)
    partition = TopicPartition("orders", 0)
    source = world.source.view.partition_state(partition)
    mirror = world.destination.view.partition_state(partition)
    assert source is not None
    assert mirror is not None
    assert mirror.epochs == source.epochs
    assert mirror.leader_epoch >= source.leader_epoch


def test_partitions_added_at_the_source_are_added_to_the_mirror() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders", 1)
    linked(world)
    assert clients.grow_topic(world.source, "orders", 3) == 0
    clients.send(world.source, "orders", 2, b"new")
    world.run_until(lambda: caught_up(world))
    assert_equal_logs(world)
    assert len(world.destination.view.image.topics_by_name["orders"].partitions) == 3


def test_nobody_but_the_link_writes_to_a_mirror() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    assert clients.send(world.destination, "orders", 0, b"mine")[0] == 44  # POLICY_VIOLATION
    clients.send(world.source, "orders", 0, b"theirs")
    world.run_until(lambda: caught_up(world))
    assert_equal_logs(world)
    assert clients.grow_topic(world.destination, "orders", 5) != 0


@pytest.mark.parametrize(("growth", "allowed"), [(0, 32 << 20), (20 << 20, 52 << 20)])
def test_a_slow_receiver_is_not_overrun(growth: int, allowed: int) -> None:
    """A destination whose chunks take long keeps at most a window under way; memory does not grow with the backlog."""
    world = World()
    world.destination.settings["link.window.growth.max.bytes"] = growth
    world.start()
    clients.create_topic(world.source, "orders", 2)
    for index in range(160):
        clients.send(world.source, "orders", index % 2, world.rng.randbytes(900_000))
    world.delay_ms = 400
    linked(world)
    most = 0
    while not caught_up(world):
        world.run(50)
        most = max(most, world.bytes_under_way)
    assert_equal_logs(world)
    assert allowed - (8 << 20) < most <= allowed + (1 << 20)


def test_the_lag_of_an_idle_topic_is_at_most_a_beacon_old_and_grows_when_the_source_is_silent() -> (
    None
):
    world = World().start()
    world.source.clock_skew = -7_000
    clients.create_topic(world.source, "orders")
    linked(world)
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world))
    for _ in range(40):
        world.run(333)
        lag = world.destination.mirror("orders").lags[0]
        assert (lag.lag, lag.log_end_offset) == (0, 1)
        assert 0 <= lag.lag_ms <= 505
        assert 0 <= lag.since_received_ms <= 505
    world.reachable = False
    world.cut()
    world.run(5_000)
    assert 4_900 <= world.destination.mirror("orders").lags[0].lag_ms <= 5_600


def test_a_link_waits_while_the_disk_of_its_mirror_is_below_the_watermark() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world))
    world.destination.files.full_after(100_000)
    world.run(1_100)
    clients.send(world.source, "orders", 0, b"b", b"c")
    world.run(3_000)
    mirror = world.destination.mirror("orders")
    assert (mirror.lags[0].lag, mirror.lags[0].source_high_watermark) == (2, 3)
    assert mirror.lags[0].state.startswith("RETRYING: the disk is nearly full")
    world.destination.files.full_after(None)
    world.run_until(lambda: caught_up(world))
    assert world.destination.mirror("orders").lags[0].lag == 0


def test_a_mirror_that_can_not_keep_up_shows_records_and_milliseconds() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world))
    world.destination.files.full_after(0)
    world.run(1_000)
    clients.send(world.source, "orders", 0, b"b", b"c")
    world.run(3_000)
    world.destination.files.full_after(None)
    lag = world.destination.mirror("orders").lags[0]
    assert lag.source_high_watermark == 3
    assert 2_500 <= lag.lag_ms <= 4_100
    world.run_until(lambda: caught_up(world))
    assert world.destination.mirror("orders").lags[0].lag == 0
