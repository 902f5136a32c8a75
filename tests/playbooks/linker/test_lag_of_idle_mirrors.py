"""Lag, forecast and cut of mirrors that copy nothing: exact while the source is heard, else an honest lower bound."""

from collections.abc import Callable

import pytest

from brokers.ids import TopicPartition
from linker.answers import Forecast, PartitionForecast, PartitionLag
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    DescribeLink,
    ForecastMirrors,
)
from linker.protocol_versions import WATCHES_FROM, ProtocolVersions
from linker.records.mirror_record import CutPartition
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_compacted import Negotiating
from tests.playbooks.linker.world import Host, Unlucky, World, caught_up, linked

MINUTE = 60_000
BEACON_MS = 500
VALUE = b"x" * 1_000


def copied(world: World, partitions: int = 1, **configs: str) -> World:
    world.start()
    clients.create_topic(world.source, "orders", partitions)
    linked(world, **configs)
    for partition in range(partitions):
        clients.send(world.source, "orders", partition, VALUE)
    world.run_until(lambda: caught_up(world))
    world.run(1_000)
    return world


def produce(world: World, count: int, partition: int = 0) -> None:
    for _ in range(count):
        clients.send(world.source, "orders", partition, VALUE)


def change(world: World, verb: str) -> None:
    command = ChangeMirrors(verb=verb, link="west-east", topics=("orders",))
    (done,) = world.destination.ask(command).topics
    assert done.refusal is None


def set_link(world: World, **sets: str) -> None:
    given = {name.replace("_", "."): value for name, value in sets.items()}
    answer = world.destination.ask(AlterLinkConfigs(name="west-east", sets=given, deletes=()))
    assert not isinstance(answer, Exception), answer


def lag(host: Host) -> PartitionLag:
    (found,) = host.mirror("orders").lags
    return found


def foretold(world: World) -> PartitionForecast:
    answer = world.destination.ask(ForecastMirrors(topics=("orders",)))
    assert isinstance(answer, Forecast), answer
    return answer.topics[0].partitions[0]


def failed_over(world: World) -> CutPartition:
    change(world, "failover")
    world.run_until(lambda: world.destination.mirror("orders").record.state is MirrorState.STOPPED)
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None
    return cut.partitions[0]


def paused(world: World) -> None:
    change(world, "pause")


def failed(world: World) -> None:
    """The source deletes what the mirror lacks, up to a segment's end, and `mirror.hole.policy` is fail."""
    world.reachable = False
    world.cut()
    produce(world, 1_100)  # more than a segment
    state = world.source.view.partition_state(TopicPartition("orders", 0))
    assert state is not None
    assert clients.delete_records(world.source, "orders", 0, state.segment_bases[1]) == 0
    world.reachable = True
    world.run_until(lambda: world.destination.mirror("orders").shown is MirrorState.FAILED)


def end_of_source(world: World) -> int:
    state = world.source.view.partition_state(TopicPartition("orders", 0))
    assert state is not None
    return state.high_watermark


@pytest.mark.parametrize("become_idle", [paused, failed])
def test_a_mirror_that_copies_nothing_knows_exactly_what_it_lacks(
    become_idle: Callable[[World], None],
) -> None:
    world = copied(World(), mirror_hole_policy="fail")
    become_idle(world)
    since = world.now
    for _ in range(3):
        produce(world, 5)
        world.run(MINUTE // 3)
        found, held = lag(world.destination), len(world.destination.log("orders", 0))
        assert (found.lag, found.is_lower_bound) == (end_of_source(world) - 1, False)
        if become_idle is paused:
            assert found.lag_bytes == len(world.source.log("orders", 0)) - held
        else:  # the rest is deleted
            assert found.lag_bytes == len(world.source.log("orders", 0))
        assert found.lag_ms >= world.now - since
        assert found.since_received_ms <= BEACON_MS + world.delay_ms
    assert found.lag >= 15
    forecast = foretold(world)
    assert (forecast.missing, forecast.known_ms <= BEACON_MS + world.delay_ms) == (found.lag, True)
    cut = failed_over(world)
    assert (cut.offset, cut.source_high_watermark) == (1, end_of_source(world))
    assert cut.missing == forecast.missing
    assert world.now - cut.source_clock <= 2 * BEACON_MS


def test_a_mirror_that_goes_on_is_in_step_again() -> None:
    world = copied(World())
    paused(world)
    produce(world, 20)
    world.run(MINUTE)
    assert lag(world.destination).lag == 20
    change(world, "resume")
    world.run_until(lambda: caught_up(world))
    world.run(1_000)
    found = lag(world.destination)
    assert (found.lag, found.lag_bytes, found.is_lower_bound) == (0, 0, False)
    assert found.lag_ms <= BEACON_MS + world.delay_ms
    assert world.destination.log("orders", 0) == world.source.log("orders", 0)


def test_a_mirror_that_was_paused_before_a_restart_knows_what_it_lacks() -> None:
    world = copied(World())
    paused(world)
    world.destination.stop()
    produce(world, 20)
    world.destination.start()
    world.run_until(lambda: lag(world.destination).lag == 20)
    found = lag(world.destination)
    held = len(world.destination.log("orders", 0))
    assert found.lag_bytes == len(world.source.log("orders", 0)) - held
    assert (found.is_lower_bound, found.lag_ms) == (False, -1), "since when is not known"


def test_while_another_partition_is_copied_the_watched_one_stands_as_of_the_last_beacon() -> None:
    """A chunk has a later clock, and says nothing of the partition that is paused."""
    world = copied(World())
    clients.create_topic(world.source, "busy")
    world.destination.ask(CreateMirror(link="west-east", mirror_topic="busy"))
    paused(world)
    world.run(1_000)
    produced: list[int] = []  # when
    for count in range(100):
        produced.append(world.now)
        produce(world, 1)
        clients.send(world.source, "busy", 0, VALUE)
        world.run(23)
        found = foretold(world)
        as_of = world.now - found.known_ms - world.delay_ms
        assert sum(at < as_of for at in produced) <= found.missing <= count + 1
    world.run(BEACON_MS + world.delay_ms)
    assert foretold(world).missing == 100


def test_a_paused_link_hears_nothing_and_says_so() -> None:
    world = copied(World())
    before = lag(world.destination)
    assert (before.is_lower_bound, before.lag_ms <= BEACON_MS + world.delay_ms) == (False, True)
    at = world.now
    set_link(world, cluster_link_paused="true")
    produce(world, 5)
    world.run(MINUTE)
    found, forecast = lag(world.destination), foretold(world)
    assert (found.lag, found.lag_bytes, found.is_lower_bound) == (0, 0, True)
    assert min(found.lag_ms, found.since_received_ms, forecast.known_ms) >= MINUTE
    assert failed_over(world).source_clock <= at


def test_a_source_of_an_earlier_release_does_not_tell_and_the_lag_is_a_lower_bound() -> None:
    world = Negotiating()
    world.versions = ProtocolVersions(1, WATCHES_FROM - 1)
    copied(world)
    at = world.now
    paused(world)
    produce(world, 5)
    world.run(MINUTE)
    found = lag(world.destination)
    assert (found.lag, found.is_lower_bound) == (0, True)
    assert min(found.lag_ms, foretold(world).known_ms) >= MINUTE
    assert failed_over(world).source_clock <= at


def test_what_a_mirror_lacks_of_a_source_with_another_history_is_a_lower_bound() -> None:
    """Not all that it holds is the source's, so its end says nothing of what it lacks."""
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: lag(world.destination).log_end_offset == 2)
    world.source.stop()
    world.source.files.crash(Unlucky())
    world.source.start()
    assert clients.send(world.source, "orders", 0, b"other") == (0, 0)
    world.run_until(lambda: world.destination.mirror("orders").shown is MirrorState.FAILED, 600_000)
    produce(world, 5)
    world.run(MINUTE)
    assert lag(world.destination).is_lower_bound
    assert min(lag(world.destination).lag_ms, foretold(world).known_ms) >= MINUTE


def test_the_lag_of_a_topic_and_of_a_link_is_that_of_all_partitions() -> None:
    world = copied(World(), partitions=2)
    paused(world)
    produce(world, 3, partition=0)
    produce(world, 4, partition=1)
    world.run(MINUTE)
    described = world.destination.ask(DescribeLink(name="west-east"))
    total, lags = described.lag, world.destination.mirror("orders").lags
    assert [one.lag for one in lags] == [3, 4]
    assert (total.records, total.size) == (7, sum(one.lag_bytes for one in lags))
    assert total.size > 7 * len(VALUE)
    assert total.milliseconds >= MINUTE and not total.is_lower_bound
    assert total.origin == (total.milliseconds, 7, total.size, False)
    set_link(world, cluster_link_paused="true")
    assert world.destination.ask(DescribeLink(name="west-east")).lag.is_lower_bound


def chained(world: World) -> Host:
    north = Host(world, "north")
    north.start()
    link = CreateLink(name="east-north", configs={"bootstrap.servers": "east:9092"})
    for command in (link, CreateMirror(link="east-north", mirror_topic="orders")):
        answer = north.ask(command)
        assert not isinstance(answer, Exception), answer
    world.run(3_000)
    return north


def test_behind_the_origin_of_a_chain_whose_first_hop_is_paused() -> None:
    world = copied(World())
    north = chained(world)
    assert lag(north).origin_lag_ms < 2_000
    paused(world)
    produce(world, 20)
    world.run(MINUTE)
    own, found = lag(world.destination), lag(north)
    assert (found.lag, found.lag_bytes, found.is_lower_bound) == (0, 0, False)
    assert (found.origin_lag, found.origin_lag_bytes) == (20, own.lag_bytes)
    assert own.lag_bytes > 0 and not found.is_origin_lower_bound
    assert found.lag_ms < 2_000 and found.origin_lag_ms >= MINUTE - 2_000
    set_link(world, cluster_link_paused="true")
    world.run(2_000)
    found = lag(north)
    assert (found.origin_lag, found.is_origin_lower_bound, found.is_lower_bound) == (
        20,
        True,
        False,
    )
    set_link(world, cluster_link_paused="false")
    change(world, "resume")
    world.run_until(lambda: lag(north).origin_lag_ms < 2_000 and lag(north).origin_lag == 0)
    assert lag(north).origin_lag_bytes == 0
