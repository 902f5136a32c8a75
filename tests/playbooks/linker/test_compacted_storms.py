"""Seeded storms over a compacted topic and its mirror keep every invariant; planted bugs are found."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brokers.ids import OFFSET_MAX
from brokers.records.batch import iter_headers
from federation.audit.verdict.verdicts import Verdict
from linker.frames import Chunk
from tests.playbooks.linker.compacted_storms import Found, Plant, Storm
from tests.playbooks.linker.test_compacted import Negotiating
from tests.playbooks.linker.world import Host
from tests.quick import some


@pytest.mark.parametrize("seed", some(range(40), quick=6))
def test_a_storm_keeps_every_invariant(seed: int, tmp_path: Path) -> None:
    storm = Storm(seed)
    storm.run()
    assert storm.audited(tmp_path) is Verdict.KEPT


class View:
    """A region's view that is wrong about a partition's state."""

    def __init__(self, view: Any, change: Callable[[Any], Any]) -> None:
        self._view = view
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def partition_state(self, partition: Any) -> Any:
        state = self._view.partition_state(partition)
        return None if state is None else self._change(state)


def at_each_start(host: Host, act: Callable[[], None]) -> None:
    host.on_start = act
    act()


def silent_removals(world: Negotiating) -> None:
    """A source that does not say that it has removed deletion markers."""

    def act() -> None:
        region = world.source.linker._region
        region.view = View(region.view, lambda state: state._replace(markers_from=0))  # type: ignore[assignment]

    at_each_start(world.source, act)


def markers_dropped_early(world: Negotiating) -> None:
    """A cleaner for which no deletion marker has to wait."""
    cleaner_of = world.source.works_on

    def act() -> None:
        world.source.works_on = lambda effect: replace(
            cleaner_of(effect), delete_retention_ms=0, now=effect.now + 1
        )

    act()


def batches_lost_on_the_way(world: Negotiating) -> None:
    """A source that leaves a batch out now and then, and calls that compaction."""
    send = world.send

    def losing(host: Host, stream: int, frame: Any) -> None:
        if isinstance(frame, Chunk) and world.rng.random() < 0.5:
            starts = [position for position, _ in iter_headers(frame.data)]
            if len(starts) > 1:
                bounds = frame.bounds._replace(complete_from=OFFSET_MAX)
                data = bytes(frame.data)
                frame = replace(frame, data=data[: starts[-2]] + data[starts[-1] :], bounds=bounds)
        send(host, stream, frame)

    world.send = losing  # type: ignore[method-assign]


def cut_and_kept(world: Negotiating) -> None:
    """A log that is cut below what it has cleaned goes on with what is left."""

    def forget() -> None:
        world.source.storage.root.complete_from.offsets.clear()
        for replica in world.source.broker.parts.partitions.all.values():
            if replica.log is not None:
                replica.log.completeness.complete_from = 0

    world.on_way_back = forget


def run_all(seeds: Iterable[int], plant: Plant, **configs: str) -> None:
    for seed in seeds:
        Storm(seed, plant, **configs).run()


@pytest.mark.parametrize(
    ("plant", "finding"),
    [
        (silent_removals, "the mirror differs in"),
        (markers_dropped_early, "was removed before its time"),
        (batches_lost_on_the_way, "other bytes from|the mirror differs in"),
        (cut_and_kept, "restored: "),
    ],
)
def test_a_planted_bug_is_found(plant: Plant, finding: str) -> None:
    early = {} if plant is markers_dropped_early else {"delete_retention_ms": "0"}
    with pytest.raises(Found, match=finding):
        run_all(range(60), plant, **early)
