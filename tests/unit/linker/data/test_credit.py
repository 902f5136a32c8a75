"""The window of a stream: it grows to what the network carries in a round trip, shares a budget, and gives it back."""

from collections import deque

import pytest

from brokers.ids import Instant
from linker.data.credit import TOO_LARGE_MS, CreditWindow, StreamSender
from linker.frames import Credit
from linker.window_budget import WindowBudget

MIB = 1 << 20
BEGIN, GROWTH = 32 * MIB, 128 * MIB


class Path:
    """A source that sends what it may and a chunk more; a network with a rate and a round trip; a log with a rate."""

    def __init__(
        self,
        budget: WindowBudget,
        round_trip_ms: int,
        bytes_per_ms: int,
        placed_per_ms: int = 1 << 40,
        opened_after_ms: int | None = None,
    ) -> None:
        answered = round_trip_ms if opened_after_ms is None else opened_after_ms
        self.window = CreditWindow(StreamSender(1), BEGIN, None, budget, answered)
        self.round_trip_ms = round_trip_ms
        self.bytes_per_ms, self.placed_per_ms = bytes_per_ms, placed_per_ms
        self.now: Instant = 0
        self.granted = self.sent = self.placed = self.arrived = self.most_waiting = 0
        self._credits: deque[tuple[Instant, int]] = deque()
        self._under_way: deque[tuple[Instant, int]] = deque()
        self._note(self.window.open(self.now))

    def _note(self, sends: list) -> None:
        for send in sends:
            assert isinstance(send.frame, Credit)
            self._credits.append((self.now + self.round_trip_ms // 2, send.frame.granted_bytes))

    def run(self, ms: int) -> float:
        """How many of the bytes that the network and the log allow were placed."""
        before = self.placed
        for _ in range(ms):
            self.now += 1
            while self._credits and self._credits[0][0] <= self.now:
                self.granted = self._credits.popleft()[1]
            size = max(0, min(self.bytes_per_ms, self.granted + MIB - self.sent))
            self.sent += size
            self._under_way.append((self.now + self.round_trip_ms // 2, size))
            while self._under_way and self._under_way[0][0] <= self.now:
                came = self._under_way.popleft()[1]
                self.arrived += came
                assert self.window.admits(came)
            self.most_waiting = max(self.most_waiting, self.arrived - self.placed)
            size = min(self.placed_per_ms, self.arrived - self.placed)
            if size:
                self.placed += size
                self._note(self.window.placed(size, self.now))
        return (self.placed - before) / (ms * min(self.bytes_per_ms, self.placed_per_ms))


@pytest.mark.parametrize("round_trip_ms", [1, 20, 80, 150])
def test_a_stream_carries_all_that_the_network_does(round_trip_ms: int) -> None:
    path = Path(WindowBudget(GROWTH), round_trip_ms, 800_000)
    path.run(10 * round_trip_ms)
    assert path.run(2_000) > 0.99


@pytest.mark.parametrize("round_trip_ms", [80, 200, 300])
def test_a_window_that_is_used_up_grows_in_one_step(round_trip_ms: int) -> None:
    """A round trip for the first credit, one in which all of it comes at once; then the window has its size."""
    path = Path(WindowBudget(GROWTH), round_trip_ms, 500_000)
    path.run(2 * round_trip_ms)
    assert path.run(round_trip_ms) > 0.9


def test_a_window_is_found_too_small_later_too() -> None:
    """What another stream gives back is taken in one step, after one round."""
    budget = WindowBudget(GROWTH)
    first, second = Path(budget, 200, 800_000), Path(budget, 200, 800_000)
    first.run(1_000)
    second.run(1_000)
    first.window.close()
    second.run(2 * 200)
    assert second.run(200) > 0.99


def test_without_growth_a_window_limits_it() -> None:
    fixed = Path(WindowBudget(0), 80, 800_000)
    fixed.run(800)
    assert 0.45 < fixed.run(2_000) < 0.55
    assert fixed.window.capacity_bytes == BEGIN


def test_a_window_is_no_larger_than_the_budget_and_twice_what_is_under_way() -> None:
    budget = WindowBudget(GROWTH)
    near, slow, far = (
        Path(budget, 1, 800_000),
        Path(budget, 80, 300_000),
        Path(budget, 400, 800_000),
    )
    near.run(2_000)
    assert near.window.capacity_bytes == BEGIN
    slow.run(2_000)
    assert BEGIN < slow.window.capacity_bytes <= 2 * 80 * 300_000 + BEGIN // 4
    far.run(4_000)
    assert budget.taken_bytes == GROWTH
    assert far.window.capacity_bytes + slow.window.capacity_bytes == 2 * BEGIN + GROWTH
    for path in (near, slow, far):
        path.window.close()
    assert budget.taken_bytes == 0


def test_a_log_that_is_slow_lets_few_bytes_wait() -> None:
    """Not the whole budget: as much as would be under way."""
    path = Path(WindowBudget(GROWTH), 80, 2_000_000, placed_per_ms=500_000)
    path.run(5_000)
    assert path.window.capacity_bytes <= 2 * 80 * 500_000 + BEGIN // 4
    assert path.most_waiting < path.window.capacity_bytes
    assert path.run(2_000) > 0.99


def test_a_round_trip_that_seemed_long_lets_a_window_grow_a_little() -> None:
    path = Path(WindowBudget(GROWTH), 10, 400_000, opened_after_ms=3_000)
    path.run(3_000)
    assert path.window.capacity_bytes < 3 * BEGIN


def test_what_a_stream_needs_no_longer_others_get() -> None:
    budget = WindowBudget(GROWTH)
    first, second = Path(budget, 200, 800_000), Path(budget, 200, 800_000)
    first.run(3_000)
    assert budget.taken_bytes == GROWTH
    first.bytes_per_ms = 20_000
    first.run(4 * TOO_LARGE_MS)
    assert (first.window.capacity_bytes, budget.taken_bytes) == (BEGIN, 0)
    second.run(3_000)
    assert second.window.capacity_bytes == BEGIN + GROWTH
    assert first.run(1_000) > 0.99


def test_a_short_pause_takes_nothing_away_and_a_window_grows_again_while_it_shrinks() -> None:
    budget = WindowBudget(GROWTH)
    path = Path(budget, 200, 800_000)
    path.run(3_000)
    path.bytes_per_ms = 100_000
    path.run(TOO_LARGE_MS // 2)
    path.bytes_per_ms = 800_000
    path.run(400)
    assert path.run(1_000) > 0.99 and budget.taken_bytes == GROWTH
    path.bytes_per_ms = 10_000
    while path.window.capacity_bytes > BEGIN:
        path.run(100)
    assert 0 < budget.taken_bytes < GROWTH  # of which some is under way
    path.bytes_per_ms = 800_000
    path.run(3_000)
    assert (path.window.capacity_bytes, budget.taken_bytes) == (BEGIN + GROWTH, GROWTH)
    assert path.run(1_000) > 0.99


def test_a_stream_that_was_closed_takes_nothing() -> None:
    budget = WindowBudget(GROWTH)
    path = Path(budget, 80, 800_000)
    path.run(500)
    path.window.close()
    path.run(500)
    assert budget.taken_bytes == 0


def test_a_few_chunks_after_a_silence_let_no_window_grow() -> None:
    """A live tail: no credit was used up, so nothing waited for any."""
    budget = WindowBudget(GROWTH)
    window = CreditWindow(StreamSender(1), BEGIN, None, budget, round_trip_ms=3_000)
    window.open(0)
    for now in (100, 2_900, 2_901, 2_902, 2_903, 2_904):
        assert window.admits(MIB)
        window.placed(MIB, now)
    assert (window.capacity_bytes, budget.taken_bytes) == (BEGIN, 0)
