"""A mirror of a compacted mirror keeps every invariant, through failovers and ways back of the region in the middle."""

from pathlib import Path

import pytest

from federation.audit.comparison.findings import Class
from federation.audit.verdict.verdicts import Verdict
from linker.commands import CreateLink, CreateMirror, RestoreMirrors
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.audits import audited
from tests.playbooks.linker.compacted_chains import Chain, ChainWorld, ask, even, stopped
from tests.playbooks.linker.test_compacted import (
    CLEANER,
    cleaned,
    filled,
    put,
    records,
    state,
    table,
)
from tests.playbooks.linker.world import Host
from tests.quick import some


@pytest.mark.parametrize("seed", some(range(40), quick=4))
def test_a_chain_keeps_every_invariant(seed: int, tmp_path: Path) -> None:
    chain = Chain(seed)
    chain.run()
    assert all(even(mirror, source) for mirror, source in chain.mirrors)
    for mirror, source in chain.mirrors:
        result = audited(source, mirror, tmp_path)
        assert result.verdict is Verdict.KEPT, (mirror.name, source.name, result.findings)


def test_segments_that_begin_behind_a_gap_are_mirrored_as_they_are() -> None:
    """West's segments have lost their first records, so east's begin later than where the batch before ends."""
    world = ChainWorld()
    west, east, north = world.hosts
    east.settings = {**CLEANER, "log.cleaner.enable": False}
    world.start()
    north.start()
    settings = {"cleanup_policy": "compact", "internal_segment_bytes": "600"}
    assert clients.create_topic(west, "table", **settings) == 0
    for index in range(12):
        put(west, replaced=f"{index:150}")
        put(west, **{f"key{index}": f"{index:150}"})
    cleaned(world)
    for mirror, source in ((east, west), (north, east)):
        name = f"{source.name}-{mirror.name}"
        given = {"bootstrap.servers": f"{source.name}:9092"}
        ask(mirror, CreateLink(name=name, configs=given))
        ask(mirror, CreateMirror(link=name, mirror_topic="table"))
        world.run_until(lambda m=mirror, s=source: even(m, s))  # type: ignore[misc]
    offsets = [offset for offset, *_ in records(east)]
    behind_gaps = [
        base for base in state(east).segment_bases if base in offsets and base - 1 not in offsets
    ]
    assert len(behind_gaps) > 1
    assert records(north) == records(east) == records(west)
    assert east.segments("table", 0).keys() <= north.segments("table", 0).keys() | {
        "0" * 20 + ".log"
    }


def test_an_old_primary_lacks_what_its_successor_missed_the_deletion_of(tmp_path: Path) -> None:
    """The ledger of the successor explains it, which is the source then, and the mirror after the way back."""
    world = ChainWorld()
    west, east, north = world.hosts
    world.start()
    north.start()
    settings = {"cleanup_policy": "compact", "internal_segment_bytes": "400"}
    assert clients.create_topic(west, "table", delete_retention_ms="0", **settings) == 0
    for mirror, source in ((east, west), (north, east)):
        link(mirror, source)
        ask(mirror, CreateMirror(link=f"{source.name}-{mirror.name}", mirror_topic="table"))
    put(west, a="1", b="1")
    world.run_until(lambda: even(east, west) and even(north, east))
    missed_marker(world)
    judge(world, tmp_path / "1", {east: west, north: east})

    ask(east, stopped(east, west))
    put(east, c="new")
    link(west, east)
    restored(west, east)
    assert b"a" in table(east) and b"a" not in table(west)
    judge(world, tmp_path / "2", {west: east, north: east})

    ask(west, stopped(west, east))
    put(west, d="new")
    restored(east, west)
    assert b"a" in table(east) and b"a" not in table(west)
    judge(world, tmp_path / "3", {east: west, north: east})


def missed_marker(world: ChainWorld) -> None:
    """West deletes key a, and removes the marker before east is there again, which holds the record for ever."""
    west, east, north = world.hosts
    world.sever(east, west)
    put(west, a=None)
    for _ in range(2):
        filled(west)
        cleaned(world)
    world.severed.clear()
    world.run_until(lambda: even(east, west) and even(north, east), 60_000)
    assert b"a" not in table(west) and b"a" in table(east)


def link(mirror: Host, source: Host) -> None:
    given = {"bootstrap.servers": f"{source.name}:9092", "source.fencing.enable": "false"}
    ask(mirror, CreateLink(name=f"{source.name}-{mirror.name}", configs=given))


def restored(old: Host, winner: Host) -> None:
    """The old primary becomes the winner's mirror."""
    ask(old, RestoreMirrors(f"{winner.name}-{old.name}", ("table",)))
    old.world.run_until(lambda: old.mirror("table").shown is MirrorState.ACTIVE)


def judge(world: ChainWorld, folder: Path, mirrors: dict[Host, Host]) -> None:
    """East and west differ by what is known to be stale, east and its mirror do not. All go on afterwards."""
    for mirror, source in mirrors.items():
        world.run_until(lambda m=mirror, s=source: even(m, s))  # type: ignore[misc]
    for mirror, source in mirrors.items():
        result = audited(source, mirror, folder)
        wanted = set() if mirror is world.north else {Class.KNOWN_STALE}
        assert {one.kind for one in result.findings} == wanted, result.findings
        assert result.verdict is Verdict.KEPT
    for host in world.hosts:
        host.start()
    world.run(10_000)
