"""A mirror of a compacted topic has what its source's log has, cleans itself, and says what it may lack."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from brokers.ids import TopicPartition
from brokers.records.batch import iter_headers
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import open_batch
from linker.commands import ChangeMirrors, CreateLink, CreateMirror, RestoreMirrors
from linker.frames import Hello
from linker.protocol_versions import SPOKEN
from linker.records.hole_ledger import HoleCause
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import LINK as BOTH
from tests.playbooks.linker.test_bidirectional import link_both_ways
from tests.playbooks.linker.world import Host, World, caught_up, linked

TABLE = TopicPartition("table", 0)
BACKOFF_MS = 1_000
CLEANER = {
    "log.cleaner.backoff.ms": BACKOFF_MS,
    "log.cleaner.min.cleanable.ratio": 0.01,
    "log.retention.check.interval.ms": 500,
    "offsets.topic.num.partitions": 1,
}
Table = dict[bytes, bytes]


class Negotiating(World):
    """The destination speaks these versions of the protocol."""

    versions = SPOKEN
    on_way_back: Callable[[], None] = staticmethod(lambda: None)  # of storms

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if isinstance(frame, Hello):
            frame = replace(frame, versions=self.versions)
        super().send(host, stream, frame)


def started(kind: type[Negotiating] = Negotiating, **configs: str) -> Negotiating:
    world = kind()
    for host in (world.source, world.destination):
        host.settings, host.works_off = CLEANER, True
    world.start()
    settings = {"cleanup_policy": "compact", "internal_segment_bytes": "400", **configs}
    assert clients.create_topic(world.source, "table", **settings) == 0
    return world


def put(host: Host, **values: str | None) -> int:
    """One batch -> its base offset."""
    records = [
        NewRecord(key.encode(), None if value is None else value.encode())
        for key, value in values.items()
    ]
    error, offset = clients.send_batch(host, "table", 0, build_batch(records, timestamp=host.now))
    assert error == 0
    return offset


def filled(host: Host, count: int = 20) -> None:
    """So many batches of one key, and segments that may be cleaned before them."""
    for index in range(count):
        put(host, filler=f"{index:060}")


def records(host: Host) -> list[tuple[int, bytes | None, bytes | None]]:
    log = host.log("table", 0)
    return [
        (record.offset, record.key, record.value)
        for position, header in iter_headers(log)
        for record in open_batch(log[position : position + header.length])
    ]


def table(host: Host) -> Table:
    latest = {key: value for _, key, value in records(host)}
    return {key: value for key, value in latest.items() if key and value is not None}


def cleaned(world: World) -> None:
    world.run(3 * BACKOFF_MS)


def state(host: Host) -> Any:
    found = host.view.partition_state(TABLE)
    assert found is not None
    return found


def holes(world: World) -> list[tuple[int, int, HoleCause]]:
    found = world.destination.mirror("table").holes
    return [(hole.base_offset, hole.next_offset, hole.cause) for hole in found]


def test_a_mirror_takes_what_a_cleaned_log_has_and_its_gaps_are_no_holes() -> None:
    world = started()
    put(world.source, a="1", b="1")
    put(world.source, a="2")
    filled(world.source)
    cleaned(world)
    assert state(world.source).complete_from > 10
    before = records(world.source)
    assert before[0][0] == 1 and len(before) < 15
    linked(world, topic="table")
    world.run_until(lambda: caught_up(world, "table"))
    assert records(world.destination) == before
    assert world.destination.log("table", 0) == world.source.log("table", 0)
    assert holes(world) == []


def test_a_mirror_cleans_itself_and_has_the_same_latest_values() -> None:
    world = started()
    linked(world, topic="table")
    put(world.source, a="1", b="1", c="1")
    put(world.source, a=None, b="2")
    filled(world.source)
    world.run_until(lambda: caught_up(world, "table"))
    cleaned(world)
    assert state(world.destination).complete_from > 10
    assert 0 not in {offset for offset, *_ in records(world.destination)}
    assert table(world.destination) == table(world.source)
    assert holes(world) == []


def test_a_marker_that_the_source_removed_before_the_mirror_got_it_is_recorded() -> None:
    world = started(delete_retention_ms="0")
    linked(world, topic="table")
    put(world.source, a="1", b="1")
    world.run_until(lambda: caught_up(world, "table"))
    world.reachable = False
    world.cut()
    marker = put(world.source, a=None)
    filled(world.source)
    cleaned(world)
    filled(world.source)
    cleaned(world)
    removed = state(world.source).markers_from
    assert removed == marker + 1 and marker not in {offset for offset, *_ in records(world.source)}
    world.reachable = True
    world.run_until(lambda: caught_up(world, "table"))
    assert holes(world) == [(2, removed, HoleCause.SOURCE_REMOVED_MARKERS)]
    assert table(world.destination)[b"a"] == b"1" and b"a" not in table(world.source)
    world.destination.stop()
    world.destination.start()
    filled(world.source, 3)
    world.run_until(lambda: caught_up(world, "table"))
    assert holes(world) == [(2, removed, HoleCause.SOURCE_REMOVED_MARKERS)]


@pytest.mark.parametrize(("held_ms", "is_kept"), [("86400000", True), ("60000", False)])
def test_a_source_that_holds_retention_keeps_markers_for_its_mirror(
    held_ms: str, is_kept: bool
) -> None:
    world = started(delete_retention_ms="0")
    linked(world, topic="table", retention_hold_enable="true", retention_hold_max_ms=held_ms)
    put(world.source, a="1", b="1")
    world.run_until(lambda: caught_up(world, "table"))
    world.run(3_000)  # the hold is asked for, and the mirror has said how far it is
    world.reachable = False
    world.cut()
    marker = put(world.source, a=None)
    filled(world.source)
    cleaned(world)
    world.run(70_000)
    filled(world.source)
    cleaned(world)
    assert (marker in {offset for offset, *_ in records(world.source)}) == is_kept
    world.reachable = True
    world.run_until(lambda: caught_up(world, "table"))
    assert (holes(world) == []) == is_kept
    assert (table(world.destination) == table(world.source)) == is_kept
    # What the mirror has, too, is not kept for it.
    world.run(5_000)
    filled(world.source)
    cleaned(world)
    filled(world.source)
    cleaned(world)
    assert marker not in {offset for offset, *_ in records(world.source)}


def test_markers_that_were_removed_before_a_mirror_began_are_no_doubt() -> None:
    world = started(delete_retention_ms="0")
    for index in range(10):
        put(world.source, **{f"key-{index}": "x" * 100})
    put(world.source, **{f"key-{index}": None for index in range(5)})
    filled(world.source)
    cleaned(world)
    filled(world.source)
    cleaned(world)
    assert state(world.source).markers_from > 0
    linked(world, topic="table", replica_fetch_max_bytes="65536")
    world.run_until(lambda: caught_up(world, "table"))
    assert holes(world) == []
    assert table(world.destination) == table(world.source)


def test_where_holes_pause_a_mirror_a_marker_that_it_missed_does_too() -> None:
    world = started(delete_retention_ms="0")
    linked(world, topic="table", mirror_hole_policy="pause")
    put(world.source, a="1")
    world.run_until(lambda: caught_up(world, "table"))
    world.reachable = False
    world.cut()
    put(world.source, a=None)
    filled(world.source)
    cleaned(world)
    filled(world.source)
    cleaned(world)
    world.reachable = True
    world.run_until(lambda: world.destination.mirror("table").shown is MirrorState.PAUSED)
    assert "deletion markers" in world.destination.mirror("table").reason
    assert holes(world) == []
    resume = ChangeMirrors(verb="resume", link="west-east", topics=("table",))
    world.destination.ask(resume)
    world.run_until(lambda: caught_up(world, "table"))
    assert len(holes(world)) == 1


def test_a_source_that_is_compacted_from_now_on_has_a_mirror_that_is() -> None:
    world = started(cleanup_policy="delete")
    linked(world, topic="table")
    put(world.source, a="1")
    put(world.source, a="2")
    filled(world.source)
    world.run_until(lambda: caught_up(world, "table"))
    clients.set_config(world.source, "table", "cleanup.policy", "compact")
    cleaned(world)
    assert world.destination.view.topic_configs("table")["cleanup.policy"] == "compact"
    assert state(world.destination).complete_from > 0
    assert table(world.destination) == table(world.source)
    assert 0 not in {offset for offset, *_ in records(world.destination)}


def test_a_region_that_compacts_by_default_does_not_compact_mirrors_of_others() -> None:
    world = World()
    world.destination.settings = {"log.cleanup.policy": "compact", **CLEANER}
    world.destination.works_off = True
    world.start()
    clients.create_topic(world.source, "table")
    linked(world, topic="table")
    put(world.source, a="1")
    put(world.source, a="2")
    world.run(5_000)
    assert world.destination.view.topic_configs("table")["cleanup.policy"] == "delete"
    assert world.destination.log("table", 0) == world.source.log("table", 0)
    clients.set_config(world.source, "table", "cleanup.policy", "compact")
    world.run(5_000)
    assert world.destination.view.topic_configs("table")["cleanup.policy"] == "compact"


def failed_over(world: World) -> None:
    world.reachable = False
    world.cut()
    command = ChangeMirrors(verb="failover", link="west-east", topics=("table",))
    assert world.destination.ask(command).topics[0].state == "STOPPED"


def restored(world: World, **configs: str) -> None:
    world.reachable = True
    given = {name.replace("_", "."): value for name, value in configs.items()}
    link = CreateLink(name="east-west", configs={"bootstrap.servers": "east:9092", **given})
    assert not isinstance(world.source.ask(link), Exception)
    world.source.ask(RestoreMirrors("east-west", ("table",)))
    world.run_until(lambda: world.source.mirror("table").shown is MirrorState.ACTIVE)
    world.run_until(lambda: caught_up(world, "table"))


def test_an_old_primary_that_cleaned_beyond_the_cut_begins_anew() -> None:
    world = started()
    linked(world, topic="table", source_fencing_enable="false")
    put(world.source, a="kept", b="kept")
    world.run_until(lambda: caught_up(world, "table"))
    failed_over(world)
    put(world.source, a="orphan")
    filled(world.source)
    cleaned(world)
    offsets = {offset: key for offset, key, _ in records(world.source)}
    assert 0 not in offsets  # what the cut will remove has replaced it
    put(world.destination, c="new")
    restored(world)
    assert table(world.source) == table(world.destination)
    assert table(world.source)[b"a"] == b"kept" and table(world.source)[b"c"] == b"new"
    orphans = list(world.source.files.list("orphans/table-0"))
    assert len(orphans) == 1 and orphans[0].startswith("2-")
    assert world.source.log("table", 0) == world.destination.log("table", 0)


def test_an_old_primary_that_cleaned_below_the_cut_only_keeps_what_it_has() -> None:
    world = started()
    linked(world, topic="table", source_fencing_enable="false")
    put(world.source, a="1")
    put(world.source, a="2")
    filled(world.source)
    world.run_until(lambda: caught_up(world, "table"))
    cleaned(world)
    complete_from = state(world.source).complete_from
    failed_over(world)
    put(world.source, a="orphan")
    put(world.destination, c="new")
    cut = state(world.source).log_end_offset - 1
    restored(world)
    assert state(world.source).complete_from == complete_from < cut
    assert table(world.source) == table(world.destination)
    assert table(world.source)[b"a"] == b"2"


def test_what_begins_anew_begins_where_its_source_does() -> None:
    world = started()
    linked(world, topic="table", source_fencing_enable="false")
    put(world.source, a="kept", b="kept")
    world.run_until(lambda: caught_up(world, "table"))
    failed_over(world)
    put(world.source, a="orphan")
    filled(world.source)
    cleaned(world)
    restored(world, mirror_start_offset_spec="latest")
    assert table(world.source) == table(world.destination) != {}
    (cut,) = world.source.mirror("table").holes
    assert (cut.cause, cut.missing) == (HoleCause.DIVERGENCE_CUT, 0)


def test_a_link_that_mirrors_by_names_mirrors_compacted_topics_too() -> None:
    world = started()
    put(world.source, a="1")
    wanted = {
        "auto.create.mirror.topics.enable": "true",
        "auto.create.mirror.topics.filters": '{"topicFilters":[{"name":"table","patternType":"LITERAL",'
        '"filterType":"INCLUDE"}]}',
    }
    link = CreateLink(name="west-east", configs={"bootstrap.servers": "west:9092", **wanted})
    assert not isinstance(world.destination.ask(link), Exception)
    world.run_until(lambda: "table" in world.destination.view.image.topics_by_name)
    world.run_until(lambda: caught_up(world, "table"))
    assert world.destination.view.topic_configs("table")["cleanup.policy"] == "compact"
    assert table(world.destination) == {b"a": b"1"}


def test_a_compacted_topic_and_its_mirror_change_places_without_a_copy() -> None:
    world = started()
    link_both_ways(world)
    created = CreateMirror(link=BOTH, mirror_topic="table")
    assert not isinstance(world.destination.ask(created), Exception)
    put(world.source, a="1", b="1")
    put(world.source, a="2")
    filled(world.source)
    world.run_until(lambda: caught_up(world, "table"))
    cleaned(world)
    before = records(world.source)
    reverse = ChangeMirrors(
        verb="reverse-and-start", link=BOTH, topics=("table",), timeout_ms=30_000
    )
    world.destination.ask(reverse)
    world.run_until(lambda: ("mirror", "table") in world.source.view.image.documents)
    world.run_until(lambda: world.source.mirror("table").shown is MirrorState.ACTIVE)
    put(world.destination, c="new")
    world.run_until(lambda: table(world.source).get(b"c") == b"new")
    assert records(world.source)[: len(before)] == before  # nothing was emptied
    assert table(world.source) == table(world.destination)
