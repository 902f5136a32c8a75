"""One run of one seed: bad weather while every write is watched, then calm, and everything must come to rest."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.sim import court
from tests.sim.federation import Federation
from tests.sim.operators import Operator
from tests.sim.producers import Producer
from tests.sim.storms import Storm
from tests.sim.weather import Weather, draw
from tests.sim.world import START, World

CALM_MS_MAX = 120_000  # a healed federation comes to rest in this time, or names what is stuck


class Stuck(Exception):
    """The weather is fine and something does not move."""


@dataclass
class Outcome:
    """What a run came to."""

    weather: Weather
    trace_hash: str
    steps: int
    virtual_ms: int
    acknowledged: int
    lives: int


class Run:
    """Everything that takes part."""

    def __init__(self, seed: int, show: Callable[[str], None] | None = None) -> None:
        self.world = World(seed, show)
        self.weather = draw(self.world.rng("weather"))
        self.world.note("weather", self.weather.describe())
        self.federation = Federation(self.world, self.weather)
        self.storm = Storm(self.federation)
        self.operator = Operator(self.federation)
        self.producers = [
            Producer(self.federation, f"producer-{index}", idempotent=self.weather.idempotent)
            for index in range(self.weather.producers)
        ]

    def execute(self) -> Outcome:
        for node in self.federation.nodes.values():
            node.start()
        self._prepare()
        for client in self.producers:
            self.world.spawn(client.run())
        self.storm.begin()
        self.world.run(self.world.now + self.weather.duration_ms)
        self.storm.end()
        self.federation.network.heal()
        self.federation.stopping = True
        self._settle(self._missing)
        return self._close()

    def _prepare(self) -> None:
        prepared = self.world.spawn(self.operator.prepare())
        if not self.world.run(self.world.now + CALM_MS_MAX, lambda: prepared.done):
            raise Stuck("the federation was not set up")

    def _settle(self, missing: Callable[[], list[str]]) -> None:
        until = self.world.now + CALM_MS_MAX
        while left := missing():
            if self.world.now >= until:
                raise Stuck("; ".join(left))
            self.world.run(self.world.now + 250)

    def _missing(self) -> list[str]:
        return [f"{each.name} is not drained" for each in self.producers if not each.drained]

    def _close(self) -> Outcome:
        for node in self.federation.nodes.values():
            node.stop()
        court.hear_end(self.federation.evidence)
        if self.federation.testimony.contradictions:
            raise Stuck("; ".join(self.federation.testimony.contradictions[:3]))
        return Outcome(
            self.weather,
            self.world.trace_hash,
            self.world.steps,
            self.world.now - START,
            len(self.federation.testimony.acknowledged),
            sum(node.life for node in self.federation.nodes.values()),
        )
