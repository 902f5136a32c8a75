"""Which partitions take records: writes to many of them at once, again and again."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from tests.bench import answers, frames, topics
from tests.bench.answers import Place
from tests.bench.connection import Connection

# What a partition that is no mirror any more may say for a moment: its leader does not know yet, or is about to change.
NOT_NOW = (answers.POLICY_VIOLATION, 3, 5, 6, 7, 19, 20)
AT_REST = 4.0  # of the time that a round of attempts took: what is measured is to have most of the processors
SHORTEST_S, LONGEST_S = 0.02, 1.0


class Writer:
    """One connection to each leader of some topics of a region, whose leaders stay."""

    def __init__(self, address: str, names: list[str]) -> None:
        self._leaders = topics.places(address, names)
        self._stack = ExitStack()
        self._connections: dict[str, Connection] = {}

    @property
    def places(self) -> set[Place]:
        return set(self._leaders)

    def __enter__(self) -> Self:
        for address in set(self._leaders.values()):
            self._connections[address] = self._stack.enter_context(Connection(address))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def attempt(self, wanted: Collection[Place]) -> set[Place]:
        """One record to each of these; those that took it, on all replicas."""
        by_leader: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for topic, partition in wanted:
            by_leader[self._leaders[topic, partition]][topic].append(partition)
        record = frames.batch([b"is it writable?"], time.time_ns() // 1_000_000)
        for address, partitions in by_leader.items():
            self._connections[address].send(frames.produce_each(partitions, record))
        taken = set()
        for address in by_leader:
            for place, code in answers.produced_each(self._connections[address].receive()):
                if answers.expect(code, f"produce to {place}", *NOT_NOW) == answers.NONE:
                    taken.add(place)
        return taken


def pause_s(took_s: float, at_rest: float = AT_REST) -> float:
    """After a round of attempts. Of ten thousand partitions one takes so long that figures would be made of pauses."""
    return max(SHORTEST_S, min(LONGEST_S, at_rest * took_s))


def until_taken(
    writer: Writer, went_wrong: Callable[[], None], timeout_s: float, at_rest: float = AT_REST
) -> dict[Place, float]:
    """Writes to every partition until it takes a record; when it did. `went_wrong` raises what ends the waiting."""
    at: dict[Place, float] = {}
    deadline = time.monotonic() + timeout_s
    while left := writer.places - at.keys():
        began = time.perf_counter()
        taken = writer.attempt(left)
        now = time.perf_counter()
        at |= dict.fromkeys(taken, now)
        went_wrong()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(left)} partitions took no record in {timeout_s} s")
        time.sleep(pause_s(now - began, at_rest))
    return at
