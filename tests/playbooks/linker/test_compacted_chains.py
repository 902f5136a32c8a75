"""A mirror of a compacted mirror keeps every invariant, through failovers and ways back of the region in the middle."""

import pytest

from linker.commands import CreateLink, CreateMirror
from tests.playbooks.linker import clients
from tests.playbooks.linker.compacted_chains import Chain, ChainWorld, ask, even
from tests.playbooks.linker.test_compacted import CLEANER, cleaned, put, records, state
from tests.quick import some


@pytest.mark.parametrize("seed", some(range(40), quick=4))
def test_a_chain_keeps_every_invariant(seed: int) -> None:
    chain = Chain(seed)
    chain.run()
    assert all(even(mirror, source) for mirror, source in chain.mirrors)


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
