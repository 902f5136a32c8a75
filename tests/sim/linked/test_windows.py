"""Windows that grow under faults: never beyond what their node allows them, and they do grow."""

from collections.abc import Iterable
from random import Random

import pytest

from federation.node import RegionNode
from tests.sim.linked.scenario import drawn
from tests.sim.linked.windows import WindowBroken, WindowRun
from tests.sim.network import Network
from tests.sim.nodes import Node
from tests.sim.seeds import check_all
from tests.sim.world import World

CHUNK = 25


def grown(seeds: Iterable[int]) -> list[tuple[int, int]]:
    """Bytes by which windows were larger than at first, and what of it sources could send at once, by seed."""
    found = []

    def run(seed: int) -> None:
        one = WindowRun(seed)
        one.execute()
        found.append((one.taken_most, one.grown_most))

    check_all(seeds, run, "--windows ")
    return found


def test_a_window_grows_and_is_within_what_its_node_allows() -> None:
    for taken, sent in grown([23, 25]):
        assert taken >= sent > 0


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 10_100, CHUNK))
def test_windows_of_many_federations_grow(first: int) -> None:
    found = grown(range(first, first + CHUNK))
    assert sum(taken > 0 for taken, _ in found) > CHUNK // 2, found
    assert sum(sent > 0 for _, sent in found) > CHUNK // 4, found


def test_a_line_between_regions_carries_one_thing_after_the_other() -> None:
    network = Network(World(1), drawn(Random(1)).first)
    network.regions = {"n1": "west", "n2": "west", "n21": "east"}
    assert network.takes("n1", "n21", 100) == 0
    network.line_bytes_per_ms = 10
    paths = (("n1", "n21", 100), ("n2", "n21", 50), ("n21", "n1", 50), ("n1", "n2", 100))
    assert [network.takes(*path) for path in paths] == [10, 15, 5, 0]


class Boundless(Node):
    """Gives windows all that they ask for."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        budget = node._linker._region.windows

        def take(size: int) -> int:
            budget.taken_bytes += size
            return size

        budget.take = take  # type: ignore[method-assign]
        return node


class Leaking(Node):
    """Takes nothing back of a window whose stream has ended."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        node._linker._region.windows.give_back = lambda size: None  # type: ignore[method-assign]
        return node


@pytest.mark.soak
@pytest.mark.parametrize(
    ("plant", "found"), [(Boundless, "have grown by"), (Leaking, "has no stream")]
)
def test_windows_that_take_too_much_or_keep_it_are_found(plant: type[Node], found: str) -> None:
    said = ""
    for seed in range(1, 12):
        try:
            WindowRun(seed, make_node=plant).execute()
        except WindowBroken as broken:
            said = str(broken)
            break
    assert found in said
