"""Compacted topics where one end of the link is of a release that does not mirror them: they wait for its upgrade."""

from linker.protocol_versions import COMPACTED_FROM, SPOKEN, ProtocolVersions
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_compacted import (
    CLEANER,
    Negotiating,
    cleaned,
    filled,
    put,
    records,
    started,
    table,
)
from tests.playbooks.linker.world import caught_up, linked


def test_a_source_of_an_earlier_release_is_asked_for_nothing() -> None:
    world = started()
    put(world.source, a="1")
    world.versions = ProtocolVersions(1, COMPACTED_FROM - 1)
    linked(world, topic="table")
    world.run(3_000)
    assert any("upgrade it" in each.why for each in world.destination.changes)
    assert world.destination.log("table", 0) == b""
    world.versions = SPOKEN
    world.cut()
    world.run_until(lambda: caught_up(world, "table"))
    assert table(world.destination) == {b"a": b"1"}


def older() -> Negotiating:
    """The destination is of a release that does not mirror compacted topics."""
    world = Negotiating()
    world.versions = ProtocolVersions(1, COMPACTED_FROM - 1)
    for host in (world.source, world.destination):
        host.settings, host.works_off = CLEANER, True
    world.start()
    return world


def upgraded(world: Negotiating) -> None:
    world.versions = SPOKEN
    world.cut()
    world.run_until(lambda: caught_up(world, "table"))
    policy = lambda: world.destination.view.topic_configs("table")["cleanup.policy"]  # noqa: E731
    world.run_until(lambda: policy() == "compact")
    assert world.destination.mirror("table").shown is MirrorState.ACTIVE
    assert world.destination.linker.skipped_offsets("table") == 0


def waits(world: Negotiating, reason: str) -> bool:
    mirror = world.destination.mirror("table")
    return mirror.record.state is MirrorState.ACTIVE and reason in mirror.lags[0].state


def test_a_destination_of_an_earlier_release_waits_until_it_is_upgraded() -> None:
    """It took what compaction had removed for a loss, and its mirror failed for good."""
    world = older()
    settings = {"cleanup_policy": "compact", "internal_segment_bytes": "400"}
    assert clients.create_topic(world.source, "table", **settings) == 0
    put(world.source, a="1")
    filled(world.source)
    cleaned(world)
    linked(world, topic="table", retry_backoff_ms="100")
    world.run_until(lambda: waits(world, "the destination runs a release"))
    assert world.destination.log("table", 0) == b""
    upgraded(world)
    assert records(world.destination)[0] == records(world.source)[0]


def test_a_topic_that_becomes_compacted_waits_for_an_upgrade_of_its_destination() -> None:
    world = older()
    clients.create_topic(world.source, "table", internal_segment_bytes="400")
    linked(world, topic="table", retry_backoff_ms="100")
    put(world.source, a="1")
    filled(world.source)
    world.run_until(lambda: caught_up(world, "table"))
    clients.set_config(world.source, "table", "cleanup.policy", "compact")
    world.run_until(lambda: waits(world, "the destination runs a release"))
    held = world.destination.log("table", 0)
    put(world.source, a="2")
    filled(world.source)
    cleaned(world)
    assert world.destination.log("table", 0) == held
    upgraded(world)
    assert table(world.destination) == table(world.source)


def test_gaps_of_a_topic_that_was_compacted_wait_for_an_upgrade_of_its_destination() -> None:
    world = older()
    settings = {"cleanup_policy": "compact", "internal_segment_bytes": "400"}
    clients.create_topic(world.source, "table", **settings)
    put(world.source, a="1")
    filled(world.source)
    cleaned(world)
    clients.set_config(world.source, "table", "cleanup.policy", "delete")
    linked(world, topic="table", retry_backoff_ms="100")
    world.run_until(lambda: waits(world, "compaction has removed"))
    world.versions = SPOKEN
    world.cut()
    world.run_until(lambda: caught_up(world, "table"))
    assert world.destination.log("table", 0) == world.source.log("table", 0)
