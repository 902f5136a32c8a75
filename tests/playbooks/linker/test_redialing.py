"""A source whose streams never last: it is dialed no faster than one that nobody answers."""

from itertools import pairwise
from typing import Any

from linker.frames import Hello
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up, linked

LONGEST_MS = 2_000
MINUTE_MS = 60_000


class Watched(World):
    """Knows when the destination dialed; breaks a stream as soon as it is open, where it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.dials: list[int] = []
        self.breaks = False

    def dial(self, host: Host, stream: int, address: str) -> None:
        self.dials.append(self.now)
        super().dial(host, stream, address)

    def send(self, host: Host, stream: int, frame: Any) -> None:
        super().send(host, stream, frame)
        if self.breaks and host is self.destination and not isinstance(frame, Hello):
            self.cut()

    def pauses(self) -> list[int]:
        return [later - earlier for earlier, later in pairwise(self.dials)]


def copying() -> Watched:
    world = Watched()
    world.start()
    clients.create_topic(world.source, "orders", 1)
    clients.send(world.source, "orders", 0, b"a")
    linked(world)
    world.run_until(lambda: caught_up(world, "orders"))
    world.run(MINUTE_MS)
    world.dials.clear()
    return world


def test_streams_that_are_lost_as_soon_as_they_are_open() -> None:
    world = copying()
    world.breaks = True
    world.cut()
    world.run(MINUTE_MS)
    assert min(world.pauses()[-10:]) >= LONGEST_MS // 2
    assert max(world.pauses()) <= LONGEST_MS + 10 * world.delay_ms


def test_the_first_dial_after_a_stream_has_lasted_comes_soon() -> None:
    world = copying()
    world.breaks = True
    world.cut()
    world.run(MINUTE_MS)
    world.breaks = False
    world.run(2 * LONGEST_MS)
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world, "orders"))
    world.run(MINUTE_MS)
    world.dials.clear()
    cut_at = world.now
    world.cut()
    world.run(LONGEST_MS)
    assert world.dials[0] - cut_at <= 100
    assert len(world.dials) == 1


def test_a_source_that_is_another_region_now() -> None:
    world = copying()
    world.source.stop()
    world.source.cluster_id = "cluster-other"
    world.source.start()
    world.run(MINUTE_MS)
    assert min(world.pauses()[-10:]) >= LONGEST_MS // 2
