"""Which of several flows is served next: each gets its share of the bytes, by its weight.

Fair queuing (Demers, Keshav, Shenker: SIGCOMM 1989) with the virtual time of Goyal, Vin, Cheng (SIGCOMM 1996): the
flow is next whose bytes would be through first. How many bytes a flow will give is not known before it is asked: it is
taken for as many as the last time. A flow that had nothing for a while, or little, does not wait for those that have
much: a catch-up does not starve a live tail.
"""

from heapq import heappop, heappush
from typing import NamedTuple


class _Waiting(NamedTuple):
    """A flow that waits since `arrival`, as the heap orders them."""

    finish: float
    arrival: int
    start: float
    number: int


class FairQueue:
    """Flows by number, those that wait. A flow that has waited is charged what it was given, then may wait again."""

    def __init__(self) -> None:
        self._virtual_time = 0.0
        self._heap: list[_Waiting] = []
        self._waiting: dict[int, int] = {}  # number -> arrival
        self._served: dict[int, float] = {}  # until when each has had its share
        self._cost: dict[int, float] = {}  # of the last bytes of each
        self._arrivals = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, number: int) -> None:
        """The flow waits from now on, if it does not already."""
        if number in self._waiting:
            return
        start = max(self._virtual_time, self._served.get(number, 0.0))
        self._arrivals += 1
        self._waiting[number] = self._arrivals
        finish = start + self._cost.get(number, 0.0)
        heappush(self._heap, _Waiting(finish, self._arrivals, start, number))

    def pop(self) -> int:
        """The flow that is served next, which waits no more. Raises IndexError where none waits."""
        while True:
            found = heappop(self._heap)
            if self._waiting.get(found.number) == found.arrival:
                break
        del self._waiting[found.number]
        self._virtual_time = max(self._virtual_time, found.start)
        self._served[found.number] = found.start
        return found.number

    def charge(self, number: int, size: int, weight: int) -> None:
        """The flow was given `size` bytes."""
        self._cost[number] = size / weight
        self._served[number] = self._served.get(number, self._virtual_time) + size / weight

    def remove(self, number: int) -> None:
        """The flow is over."""
        for known in (self._waiting, self._served, self._cost):
            known.pop(number, None)

    def clear(self) -> None:
        """All are over."""
        self._heap.clear()
        for known in (self._waiting, self._served, self._cost):
            known.clear()
