"""What TCP and gRPC can do: within a connection no loss and no reordering, across connections anything.

A pipe between two places may be slow, stand still while its path is blocked, in both directions or in one, and break.
Each end of a broken pipe hears of it later, or (half-open) only when a keepalive finds out. What was on its way may
still arrive.
"""

from collections.abc import Callable
from random import Random

from tests.kernel.timeline import Act
from tests.sim.scenario import CommonScenario
from tests.sim.world import World

KEEPALIVE_MS = 20_000  # how long a half-open connection goes unnoticed by whoever only listens
BYTES_PER_MS = 20_000
NEVER_MS = 1 << 40


class Pipe:
    """Two directions between `ends`, a pair of places; `lost[end]` is called once when that end hears of the break."""

    def __init__(self, network: "Network", ends: tuple[str, str]) -> None:
        self.ends = ends
        self.open = True
        self.lost: list[Callable[[str], None]] = [lambda _: None, lambda _: None]
        self._network = network
        self._arrived = [0, 0]
        self._told = [False, False]
        self._flying = [True, True]  # whether what is on its way to that end still arrives

    def send(self, sender: int, act: Act, size: int = 0) -> int:
        """`act` happens at the other end -> the instant when the last byte has left."""
        network, receiver = self._network, 1 - sender
        takes = network.takes(self.ends[sender], self.ends[receiver], size)
        left = network.opens(self.ends[sender], self.ends[receiver]) + takes
        if not self.open:
            return left
        arrives = network.arrival(self.ends[sender], self.ends[receiver]) + takes
        self._arrived[receiver] = max(self._arrived[receiver], arrives)
        network.world.at(self._arrived[receiver], lambda: self._arrive(receiver, act))
        return left

    def _arrive(self, receiver: int, act: Act) -> None:
        if self._flying[receiver] and not self._told[receiver]:
            act()

    def close(self, closer: int) -> None:
        """In order: the other end hears of it after everything that was sent; the closer hears nothing more."""
        self._told[closer] = True
        if not self.open:
            return
        other = 1 - closer
        self.send(closer, lambda: self._tell(other, "closed by the other end"))
        self.open = False
        self._network.forget(self)

    def cut(self, because: str, *, half_open: int | None = None) -> None:
        """It breaks in the middle; the end `half_open` notices nothing for long."""
        if not self.open:
            return
        self.open = False
        self._network.forget(self)
        world, rng = self._network.world, self._network.rng
        for end in (0, 1):
            self._flying[end] = rng.random() < 0.5
            late = KEEPALIVE_MS if end == half_open else rng.randrange(0, 50)
            world.after(late, lambda end=end: self._tell(end, because))

    def vanish(self, end: int) -> None:
        """The process at this end is gone, and hears nothing more."""
        self._told[end] = True

    def _tell(self, end: int, because: str) -> None:
        if not self._told[end]:
            self._told[end] = True
            self.lost[end](because)


class Network:
    """All pipes, and the latency between places."""

    def __init__(self, world: World, scenario: CommonScenario) -> None:
        self.world = world
        self.rng: Random = world.rng("network")
        self.calm = False
        self.regions: dict[str, str] = {}  # of places; clients are in none, and near to all
        self.wan_ms = 0  # what a path between two regions takes longer
        # What the line between two regions carries in a direction, of all that goes there; 0: each by itself.
        self.line_bytes_per_ms = 0
        self._line: dict[
            tuple[str | None, ...], int
        ] = {}  # milliseconds x rate until when it is taken
        self._scenario = scenario
        self._pipes: dict[Pipe, None] = {}
        self.severed: set[tuple[str, str]] = (
            set()
        )  # from, to: nothing gets through, and nothing heals that
        self._blocked: dict[tuple[str, str], int] = {}  # from, to -> until when

    def pipe(self, one: str, other: str) -> Pipe:
        pipe = Pipe(self, (one, other))
        self._pipes[pipe] = None
        return pipe

    def forget(self, pipe: Pipe) -> None:
        self._pipes.pop(pipe, None)

    def arrival(self, one: str, other: str) -> int:
        """When what leaves now arrives."""
        delay = 1 + int(self.rng.random() * self._scenario.latency_ms)
        if not self.calm and self.rng.random() < self._scenario.spike_rate:
            delay += self.rng.randrange(50, 1500)
        if self._are_far(one, other):
            delay += self.wan_ms
        return self.opens(one, other) + delay

    def takes(self, one: str, other: str, size: int) -> int:
        """How long it is until the last of so many bytes has left, once something can."""
        rate = self.line_bytes_per_ms
        if not rate or not self._are_far(one, other):
            return size // BYTES_PER_MS
        line, opens = (self.regions.get(one), self.regions.get(other)), self.opens(one, other)
        self._line[line] = max(opens * rate, self._line.get(line, 0)) + size
        return self._line[line] // rate - opens

    def _are_far(self, one: str, other: str) -> bool:
        regions = self.regions.get(one), self.regions.get(other)
        return None not in regions and regions[0] != regions[1]

    def opens(self, one: str, other: str) -> int:
        """When something can leave; now, unless the path is blocked."""
        if (one, other) in self.severed:
            return self.world.now + NEVER_MS
        return max(self.world.now, self._blocked.get((one, other), 0))

    def block(self, one: str, other: str, milliseconds: int, *, one_way: bool = False) -> None:
        """Nothing gets through for a while, or nothing from `one` to `other`; connections last, their bytes wait."""
        self._blocked[one, other] = self.world.now + milliseconds
        if not one_way:
            self.block(other, one, milliseconds, one_way=True)

    def heal(self) -> None:
        """From now on no spikes and nothing blocked; what is on its way arrives as was decided."""
        self.calm = True
        self._blocked.clear()

    def pipes_between(self, one: str, other: str) -> list[Pipe]:
        return [pipe for pipe in self._pipes if {one, other} == set(pipe.ends)]

    def pipes_at(self, place: str) -> list[Pipe]:
        return [pipe for pipe in self._pipes if place in pipe.ends]

    def die(self, place: str, *, silently: bool) -> None:
        """A process ended: its peers' kernels hear of it, unless the whole machine went."""
        for pipe in self.pipes_at(place):
            end = pipe.ends.index(place)
            pipe.vanish(end)
            half_open = 1 - end if silently and self.rng.random() < 0.5 else None
            pipe.cut(f"{place} is gone", half_open=half_open)
