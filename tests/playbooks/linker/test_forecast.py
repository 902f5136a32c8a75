"""What a failover would cost, foretold; and that it costs that."""

from brokers.ids import TopicPartition
from linker.answers import Forecast, GroupForecast, PartitionForecast, TopicForecast
from linker.commands import ChangeMirrors, ForecastMirrors
from linker.errors import LinkRefusal
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import World, caught_up, linked


def started(**configs: str) -> World:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, **configs)
    clients.send(world.source, "orders", 0, b"a", b"b", b"c", b"d")
    world.run_until(lambda: caught_up(world))
    world.run(1_000)
    return world


def forecast(world: World, *topics: str) -> TopicForecast:
    answer = world.destination.ask(ForecastMirrors(topics=topics))
    assert isinstance(answer, Forecast), answer
    (found,) = answer.topics
    return found


def only(found: TopicForecast) -> PartitionForecast:
    (partition,) = found.partitions
    return partition


def only_group(found: TopicForecast) -> GroupForecast:
    (group,) = found.groups
    return group


def test_a_mirror_in_step_would_lose_nothing_that_is_known_of() -> None:
    found = only(forecast(started()))
    assert (found.mirror_end, found.source_high_watermark, found.missing) == (4, 4, 0)
    assert 0 <= found.known_ms < 1_000


def test_what_is_missing_is_what_a_failover_then_says_it_lost() -> None:
    """The link is slow, and breaks while the mirror lacks records."""
    world = started(io_max_bytes_per_second="100000", replica_fetch_max_bytes="65536")
    for _ in range(20):
        clients.send(world.source, "orders", 0, b"x" * 60_000)
    world.run(500)
    world.reachable = False
    world.cut()
    world.run(100)
    foretold = only(forecast(world))
    source = world.source.view.partition_state(TopicPartition("orders", 0))
    assert source is not None and foretold.source_high_watermark == source.high_watermark
    assert 0 < foretold.missing < 20
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east", topics=("orders",)))
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None
    assert cut.partitions[0].missing == foretold.missing
    assert cut.partitions[0].offset == source.high_watermark - foretold.missing
    assert world.now - cut.partitions[0].source_clock >= foretold.known_ms


def test_the_age_of_what_is_known_grows_while_the_source_is_away() -> None:
    world = started()
    world.reachable = False
    world.cut()
    clients.send(world.source, "orders", 0, b"e")
    world.run(30_000)
    found = only(forecast(world))
    assert found.missing == 0
    assert found.known_ms >= 30_000
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east", topics=("orders",)))
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None and cut.partitions[0].missing == found.missing


def test_a_group_resumes_where_it_stood_or_reads_again() -> None:
    world = started(consumer_offset_sync_enable="true")
    clients.commit(world.source, "billing", "orders", 0, 3)
    world.run(1_000)
    stands = GroupForecast("billing", 0, 3, 3, 0, 0, False, False)
    assert only_group(forecast(world)) == stands
    member = clients.join(world.destination, "billing")
    clients.commit(world.source, "billing", "orders", 0, 4)
    world.run(1_000)
    assert only_group(forecast(world)) == GroupForecast(
        "billing", 0, 4, 3, 1, 0, is_active_here=True, is_active_at_source=False
    )
    assert clients.leave(world.destination, "billing", member) == 0


def test_a_commit_beyond_the_end_of_the_source_loses_nothing() -> None:
    """While the source is heard; else there may be records up to it."""
    world = started(consumer_offset_sync_enable="true")
    clients.commit(world.source, "billing", "orders", 0, 600)
    world.run(1_000)
    assert only_group(forecast(world)).read_and_lost == 0
    world.reachable = False
    world.cut()
    world.run(100)
    assert only_group(forecast(world)).read_and_lost == 596


def test_a_group_that_has_members_is_shown_on_either_side() -> None:
    """Also where it has committed nothing since they came."""
    world = started(consumer_offset_sync_enable="true")
    clients.commit(world.source, "billing", "orders", 0, 3)
    world.run(1_000)
    there = clients.join(world.source, "billing")
    world.run(1_000)
    assert _active(world) == (False, True)
    here = clients.join(world.destination, "billing")
    assert _active(world) == (True, True)
    assert clients.leave(world.source, "billing", there) == 0
    world.run(1_000)
    assert _active(world) == (True, False)
    assert clients.leave(world.destination, "billing", here) == 0
    assert _active(world) == (False, False)


def _active(world: World) -> tuple[bool | None, bool | None]:
    group = only_group(forecast(world))
    return group.is_active_here, group.is_active_at_source


def test_groups_that_are_not_copied_are_no_part_of_it_and_that_is_said() -> None:
    world = started()
    clients.commit(world.source, "billing", "orders", 0, 3)
    world.run(1_000)
    found = forecast(world)
    assert (found.groups, found.copies_groups) == ((), False)


def test_only_topics_that_a_link_writes_have_a_forecast() -> None:
    world = started()
    answer = world.destination.ask(ForecastMirrors(topics=("orders", "other")))
    assert isinstance(answer, LinkRefusal) and "other" in answer.because
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east", topics=("orders",)))
    assert world.destination.ask(ForecastMirrors()) == Forecast(())
