"""What many mirror partitions cost two linked regions of three nodes: lying idle, failed over, restored, reversed.

Each partition holds a record and has three replicas in either region. There is a topic for each partition, up to 1,000;
above that, topics have more partitions. `..._growth` is a figure by that of 100 partitions, where they were measured
before in the same run.

- `created_s`, `filled_s`: topics in the source, and a record in each partition of them
- `made_s`: from asking for the mirrors of topics that are there to the last record in the last of them
- `idle_cpu_percent_a_node`: of the node that takes most; `idle_cpu_percent_total` is of everything
- `idle_wire_bytes_per_s`: between the regions, both directions
- `failover_first_s`, `failover_all_s`: from the start of the operator's command to the first write that a partition
  takes, and until each has taken one; `failover_answered_s` is until the command ends
- `restored_s`: the former source becomes a mirror of the other one, as long as the command takes
- `no_writer_s`: of a reversal, the longest time in which a partition took no record in either region. Where there are
  many, a hundred of them are looked at. They are written to in rounds with pauses; the figure has up to a round more.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Protocol, runtime_checkable

from tests.bench import client, topics, writable
from tests.bench.client import Figures, Unfinished
from tests.bench.processes import Meter
from tests.bench.systems import DESTINATION, SOURCE, Linked
from tests.bench.traffic import Traffic
from tests.bench.work import Size
from tests.bench.writable import Place, Writer

FEW = 100
TOPICS_MAX = 1000
LOOKED_AT = 100
TIMEOUT_S = 300


class Mirroring(Linked, Protocol):
    """Regions that mirror many topics at once."""

    def link_all(self, beginning: str) -> None:
        """Begins to copy all topics whose names begin so from west to east."""

    def unlink_all(self) -> None: ...


@runtime_checkable
class Deciding(Protocol):
    """Regions that can change places. Each command returns when the operator's does."""

    def fail_over(self, region: str) -> None: ...

    def restore(self, region: str, names: list[str]) -> None: ...

    def reverse(self, region: str) -> None: ...


class Mirrors:
    """The measure. Remembers the figures of FEW partitions, by system."""

    def __init__(self) -> None:
        self._few: dict[str, Figures] = {}

    def run(self, system: Mirroring, size: Size, *, partitions: int) -> Figures:
        found = _with_partitions(system, size, min(partitions, size.mirrors))
        if partitions == FEW:
            self._few[system.name] = found
            return found
        return found | growth(self._few.get(system.name, {}), found)


def growth(few: Figures, many: Figures) -> Figures:
    both = [figure for figure in few if few[figure] and figure in many]
    return {f"{figure}_growth": many[figure] / few[figure] for figure in both}


def _with_partitions(system: Mirroring, size: Size, partitions: int) -> Figures:
    """Raises Unfinished with the figures of the phases that have ended."""
    beginning = f"{client.fresh_name()}-of-{partitions}-"
    count = min(partitions, TOPICS_MAX)
    names = [f"{beginning}{number}" for number in range(count)]
    figures: Figures = {}
    try:
        for phase in _phases(system, size, beginning, names, partitions // count):
            figures |= phase()
    except Exception as error:
        raise Unfinished(figures, error) from error
    system.unlink_all()
    for region in (SOURCE, DESTINATION):
        topics.delete_many(system.region(region).bootstrap, names)
    return figures


def _phases(
    system: Mirroring, size: Size, beginning: str, names: list[str], partitions: int
) -> Iterator[Callable[[], Figures]]:
    yield partial(_fill, system, names, partitions)
    yield partial(_make, system, beginning, names, partitions)
    yield partial(_idle, system, size)
    if isinstance(system, Deciding):
        yield partial(_fail_over, system, names)
        yield partial(_restore, system, names)
        yield partial(_reverse, system, names)


def _fill(system: Mirroring, names: list[str], partitions: int) -> Figures:
    """Topics in west, with one record in each partition."""
    source = system.region(SOURCE)
    began = time.perf_counter()
    topics.create_many(source.bootstrap, names, partitions, source.replicas, timeout_s=TIMEOUT_S)
    created = time.perf_counter()
    with Writer(source.bootstrap, names) as writer:
        writable.until_taken(writer, lambda: None, TIMEOUT_S, at_rest=0)
    return {"created_s": created - began, "filled_s": time.perf_counter() - created}


def _make(system: Mirroring, beginning: str, names: list[str], partitions: int) -> Figures:
    destination = system.region(DESTINATION)
    began = time.perf_counter()
    system.link_all(beginning)
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        counted_from = time.monotonic()
        count = topics.count_all(destination.bootstrap, names)
        if count >= partitions * len(names):
            break
        if time.monotonic() > deadline:
            raise TimeoutError(f"{count} partitions are mirrored after {TIMEOUT_S} s")
        time.sleep(max(0.1, time.monotonic() - counted_from))
    return {"made_s": time.perf_counter() - began}


def _idle(system: Mirroring, size: Size) -> Figures:
    west, east = (system.region(name).pids for name in (SOURCE, DESTINATION))
    time.sleep(size.idle_s)  # what the mirrors' making left to do ends
    meters = [Meter([pid]) for pid in (*west, *east)]
    between = Meter(system.between())
    traffic, began = Traffic(west, (*east, *system.between())), time.monotonic()
    time.sleep(size.idle_s)
    wire, seconds = traffic.size(), time.monotonic() - began
    nodes = [100 * meter.cpu_s() / seconds for meter in meters]
    return {
        "idle_cpu_percent_a_node": max(nodes),
        "idle_cpu_percent_total": sum(nodes) + 100 * between.cpu_s() / seconds,
        "idle_wire_bytes_per_s": wire / seconds,
    }


def _fail_over(system: Mirroring, names: list[str]) -> Figures:
    assert isinstance(system, Deciding)
    with Writer(system.region(DESTINATION).bootstrap, names) as writer:
        began = time.perf_counter()
        with _commanded(system.fail_over, DESTINATION) as command:
            at = writable.until_taken(writer, lambda: _check(command), TIMEOUT_S)
        ended = command.result()
    return {
        "failover_first_s": min(at.values()) - began,
        "failover_all_s": max(at.values()) - began,
        "failover_answered_s": ended - began,
    }


def _restore(system: Mirroring, names: list[str]) -> Figures:
    assert isinstance(system, Deciding)
    began = time.perf_counter()
    system.restore(SOURCE, names)
    return {"restored_s": time.perf_counter() - began}


def _reverse(system: Mirroring, names: list[str]) -> Figures:
    """West, which mirrors east by now, and east change places."""
    assert isinstance(system, Deciding)
    before, after = (system.region(name).bootstrap for name in (DESTINATION, SOURCE))
    with Writer(before, names) as former, Writer(after, names) as latter:
        places = sorted(former.places)
        looked_at = set(places[:: max(1, len(places) // LOOKED_AT)])
        began = time.perf_counter()
        with _commanded(system.reverse, SOURCE) as command:
            gaps = _gaps(former, latter, looked_at, lambda: _check(command))
        ended = command.result()
    return {"no_writer_s": max(gaps.values()), "reversed_s": ended - began}


def _gaps(
    former: Writer, latter: Writer, places: set[Place], went_wrong: Callable[[], None]
) -> dict[Place, float]:
    """Of each place, seconds from the last record that the former writer took to the latter's first."""
    last = dict.fromkeys(places, time.perf_counter())
    gaps: dict[Place, float] = {}
    deadline = time.monotonic() + TIMEOUT_S
    while left := places - gaps.keys():
        round_began = time.perf_counter()
        last |= dict.fromkeys(former.attempt(left), time.perf_counter())
        taken = latter.attempt(left)
        gaps |= {place: time.perf_counter() - last[place] for place in taken}
        went_wrong()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(left)} partitions have no writer after {TIMEOUT_S} s")
        time.sleep(writable.pause_s(time.perf_counter() - round_began))
    return gaps


@contextmanager
def _commanded(command: Callable[[str], None], region: str) -> Iterator["Future[float]"]:
    """An operator's command under way; its result is when it ended."""

    def run() -> float:
        command(region)
        return time.perf_counter()

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(run)


def _check(command: "Future[float]") -> None:
    if command.done():
        command.result()
