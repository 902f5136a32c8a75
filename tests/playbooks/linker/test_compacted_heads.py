"""A region took over with the end of a compacted log only: what it never had is sealed before the log is emptied."""

from dataclasses import replace
from typing import Any

from brokers.records.batch import iter_headers
from brokers.records.record import open_batch
from linker.frames import Declined
from tests.playbooks.linker.test_compacted import (
    Negotiating,
    cleaned,
    failed_over,
    filled,
    put,
    records,
    restored,
    started,
    state,
    table,
)
from tests.playbooks.linker.test_restore import orphan_values, orphans
from tests.playbooks.linker.world import Host, caught_up, linked


def begun_late(kind: type[Negotiating] = Negotiating) -> Negotiating:
    """East began at offset 4, and was failed over at 5. West has cleaned its log beyond that."""
    world = started(kind)
    put(world.source, west="1", a="1")
    put(world.source, b="1", a="2")
    linked(world, topic="table", source_fencing_enable="false", mirror_start_offset_spec="latest")
    world.run_until(lambda: caught_up(world, "table"))
    put(world.source, c="1")
    world.run_until(lambda: caught_up(world, "table"))
    failed_over(world)
    put(world.source, a="orphan")
    filled(world.source)
    cleaned(world)
    put(world.destination, c="of east")
    return world


def sealed_offsets(host: Host, folder: str) -> list[int]:
    log = orphan_values(host, folder)
    return [
        record.offset
        for position, header in iter_headers(log)
        for record in open_batch(log[position : position + header.length])
    ]


def test_what_the_new_primary_never_had_is_sealed_before_the_log_is_emptied() -> None:
    world = begun_late()
    head = [offset for offset, *_ in records(world.source) if offset < 4]
    assert head == [0, 2] and state(world.source).complete_from > 5
    restored(world)
    assert table(world.source) == table(world.destination) == {b"c": b"of east"}
    first, tail = sorted(orphans(world.source).items())
    assert first[0].startswith("table-0/0-4.e") and tail[0].startswith("table-0/5-")
    assert "never had it" in first[1]["reason"] and "never had it" not in tail[1]["reason"]
    assert sealed_offsets(world.source, first[0]) == head


class Older(Negotiating):
    """East is of a release that does not say where its log began."""

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if host is self.destination and isinstance(frame, Declined):
            frame = replace(frame, began_at=-1)
        super().send(host, stream, frame)


def test_of_a_source_that_does_not_say_where_its_log_began_all_is_sealed() -> None:
    world = begun_late(Older)
    restored(world)
    head, _ = sorted(orphans(world.source))
    assert head.startswith("table-0/0-5.e")
    assert sealed_offsets(world.source, head) == [0, 2, 4]
