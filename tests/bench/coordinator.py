"""`python -m tests.bench.coordinator`: one node of ours and one of Kafka's load the same committed offsets, in turn.

Groups commit, again and again, offsets of some partitions; the batches are written to `__consumer_offsets` as the
coordinator would write them. Then a node is started with them, and the time is taken until it has answered an
OffsetFetch of every group with the last offset. The load itself is what the node says of its partitions, summed up:
Kafka in its log, without the time that a partition waited for its thread; ours in /metrics (Kafka's
partition-load-time), where the waiting is included. Medians of `--repeat` starts.
"""

import argparse
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeAlias

from rich.console import Console

from brokers.telemetry.groups import LOAD_TIME
from tests.bench import answers, frames, memory, processes
from tests.bench.connection import Connection
from tests.bench.group_records import OFFSETS_TOPIC, TOPIC, Commits, group_names, java_hash
from tests.bench.peer import jars
from tests.bench.peer.kafka import Kafka
from tests.bench.systems import SOURCE
from tests.process.nodes import BrokerProcess
from tests.process.scrapes import Scrape

OFFSETS_PARTITIONS = 50  # offsets.topic.num.partitions
WINDOW = 32  # requests in flight
TIMEOUT_S = 300
FULL = "full"
KAFKA_LOADED = re.compile(
    rf"Finished loading of metadata from {OFFSETS_TOPIC}-\d+ .*? in (\d+)ms where (\d+)ms"
)
progress = Console(stderr=True, soft_wrap=True, highlight=False)


class Shape(NamedTuple):
    """Each of `groups` commits the offsets of `partitions`, `rounds` times."""

    groups: int
    partitions: int
    rounds: int


class Node(NamedTuple):
    """One node that can be started again with its data."""

    name: str
    start: Callable[[], float]  # when its process was started
    stop: Callable[[], object]
    address: Callable[[], str]
    pid: Callable[[], int]
    data: Path
    load_ms: Callable[[], float]  # of all partitions of `__consumer_offsets`, since its start


Maker: TypeAlias = Callable[[Path], Node]


class Started(NamedTuple):
    """Seconds since the start of the process, of the load alone, and CPU seconds."""

    loaded_s: float  # until it has answered for every group
    load_s: float  # as the node measures it
    cpu_s: float  # of all its processes
    slowest_answer_s: float  # of the questions that it was asked meanwhile


class Measured(NamedTuple):
    """Medians of the starts of a node, and the slowest answer of all."""

    name: str
    loaded_s: float
    load_s: float
    cpu_s: float
    slowest_answer_s: float
    log_mb: float

    def __str__(self) -> str:
        return (
            f"{self.name:9} load {self.load_s:6.2f} s; every group is answered {self.loaded_s:6.2f} s after the start, "
            f"{self.cpu_s:5.1f} CPU-s; slowest answer {1_000 * self.slowest_answer_s:.0f} ms, log {self.log_mb:.0f} MB"
        )


def ours(directory: Path) -> Node:
    directory.mkdir(parents=True, exist_ok=True)
    process = BrokerProcess(directory, {"metrics.listener": "127.0.0.1:0"})

    def load_ms() -> float:
        return OFFSETS_PARTITIONS * Scrape(process.told["metrics"]).value(f"{LOAD_TIME}_avg")

    def start() -> float:
        began = time.perf_counter()
        process.start()
        return began

    return Node(
        "causeway", start, process.stop, lambda: process.address, lambda: process.pid, process.data,
        load_ms,
    )  # fmt: skip


def kafka(directory: Path) -> Node:
    peer = Kafka(directory)
    is_up = False
    logged = 0  # by earlier starts

    def load_ms() -> float:
        times = KAFKA_LOADED.findall(peer.log(SOURCE)[logged:])
        assert len(times) == OFFSETS_PARTITIONS, times
        return sum(float(taken) - float(waited) for taken, waited in times)

    def start() -> float:
        nonlocal is_up, logged
        logged = len(peer.log(SOURCE))
        began = time.perf_counter()
        if is_up:
            peer.start(SOURCE)
        else:
            peer.up((SOURCE,))
            is_up = True
        return began

    def region_address() -> str:
        return peer.region(SOURCE).bootstrap

    return Node(
        "kafka", start, lambda: peer.stop(SOURCE), region_address,
        lambda: peer.region(SOURCE).pids[0], directory / SOURCE, load_ms,
    )  # fmt: skip


def batches(shape: Shape) -> Iterator[tuple[int, bytes]]:
    """(partition of `__consumer_offsets`, batch) of every commit; the last offset of each is `shape.rounds`."""
    now = int(time.time() * 1000)
    partitions = range(shape.partitions)
    groups = [
        (java_hash(name) % OFFSETS_PARTITIONS, Commits(name, partitions, now))
        for name in group_names(shape.groups)
    ]
    for offset in range(1, shape.rounds + 1):
        for place, commits in groups:
            yield place, commits.batch(offset)


def fill(node: Node, shape: Shape) -> None:
    with running(node), Connection(node.address()) as connection:
        for place, batch in batches(shape):
            if connection.in_flight >= WINDOW:
                answers.produced(connection.receive())
            request = frames.produce(OFFSETS_TOPIC, place, len(batch), frames.ADMIN_CLIENT_ID)
            connection.send(request, batch)
        while connection.in_flight:
            answers.produced(connection.receive())


def await_groups(node: Node, began: float, groups: list[str], wanted: int) -> Started:
    """Asks for one group after the other, each until it is answered with the wanted offset."""
    slowest, deadline = 0.0, time.perf_counter() + TIMEOUT_S
    rest = groups[::-1]
    while rest:
        assert time.perf_counter() < deadline, f"{node.name} does not answer for {rest[-1]}"
        with suppress(OSError), Connection(node.address(), timeout_s=TIMEOUT_S) as connection:
            while rest:
                asked = time.perf_counter()
                answer = connection.ask(frames.offset_fetch(rest[-1], TOPIC, 0))
                slowest = max(slowest, time.perf_counter() - asked)
                code, offset = answers.committed(answer)
                if code == answers.NONE:
                    assert offset == wanted, f"{node.name}: {rest[-1]} has {offset}, not {wanted}"
                    rest.pop()
    taken = time.perf_counter() - began
    used = sum(sum(each.cpu_times()[:2]) for each in processes.family([node.pid()]))
    return Started(taken, node.load_ms() / 1000, used, slowest)


@contextmanager
def running(node: Node) -> Iterator[None]:
    node.start()
    try:
        yield
    finally:
        node.stop()


def create_topics(node: Node, shape: Shape) -> None:
    """The topic whose offsets are committed, and `__consumer_offsets`, all partitions led once."""
    with running(node), Connection(node.address()) as connection:
        answer = connection.ask(frames.create_topic(TOPIC, shape.partitions))
        for topic, code in answers.created(answer):
            answers.expect(code, f"create {topic}")
        connection.ask(frames.find_coordinator("any"))
        for topic, partitions in ((TOPIC, shape.partitions), (OFFSETS_TOPIC, OFFSETS_PARTITIONS)):
            while len(answers.leaders(connection.ask(frames.metadata(topic))).nodes) < partitions:
                time.sleep(0.05)


def write(make: Maker, directory: Path, shape: Shape) -> None:
    """The directory of one system with the commits; what is there is left as it is."""
    if (directory / FULL).exists():
        return
    shutil.rmtree(directory, ignore_errors=True)  # of a run that was ended
    written = directory / f"{FULL}.part"
    create_topics(make(written), shape)
    fill(make(written), shape)
    written.rename(directory / FULL)


def started(node: Node, groups: list[str], wanted: int) -> Started:
    memory.touch()
    began = node.start()
    try:
        found = await_groups(node, began, groups, wanted)
    finally:
        node.stop()
    progress.print(f"{node.name}, offset {wanted}: {found}")
    return found


def measure(directories: Mapping[Maker, Path], shape: Shape, repeat: int) -> list[Measured]:
    """In turn, while nothing else of this runs."""
    groups = group_names(shape.groups)
    found: dict[Maker, list[Started]] = {make: [] for make in directories}
    for _ in range(repeat):
        for make, directory in directories.items():
            found[make].append(started(make(directory / FULL), groups, shape.rounds))
    return [
        summed_up(make(directory / FULL), found[make]) for make, directory in directories.items()
    ]


def summed_up(node: Node, found: list[Started]) -> Measured:
    logs = node.data.glob(f"{OFFSETS_TOPIC}-*/*.log")
    size = sum(each.stat().st_size for each in logs) / 1e6
    loaded, load, cpu, slowest = zip(*found, strict=True)
    return Measured(node.name, median(loaded), median(load), median(cpu), max(slowest), size)


def main() -> None:
    options = _options()
    shape = Shape(options.groups, options.partitions, options.rounds)
    makers: list[Maker] = [ours]
    if not options.no_peer:
        jars.fetch()
        makers.append(kafka)
    processes.end_in_order_on_sigterm()
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="causeway-coordinator-")
        root = options.data or Path(stack.enter_context(temporary))
        root /= "-".join(map(str, shape))
        directories = {make: root / make.__name__ for make in makers}
        for make, directory in directories.items():
            write(make, directory, shape)
        if options.only_write:
            return
        found = measure(directories, shape, options.repeat)
    if options.json:
        print(json.dumps([each._asdict() for each in found]))
        return
    for each in found:
        print(each)
    if len(found) > 1:
        first, second = found
        load, loaded = first.load_s / second.load_s, first.loaded_s / second.loaded_s
        print(f"ratio     load {load:.2f}, from the start {loaded:.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--partitions", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--no-peer", action="store_true", help="ours alone")
    parser.add_argument("--data", type=Path, help="keep the data there, and use what is there")
    parser.add_argument("--only-write", action="store_true", help="with --data: measure later")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
