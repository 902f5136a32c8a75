"""The measures of one region: each does one piece of work on a system, once, and answers its figures.

Sizes are bytes of record batches (of values for librdkafka), 1 GB = 10^9 bytes; CPU seconds and memory are the
servers'. Whatever was written is read back afterwards, with its checksums.
"""

import time
from dataclasses import dataclass

from tests.bench import client, processes, topics
from tests.bench.client import LARGE, SMALL, Figures
from tests.bench.systems import DESTINATION, SOURCE, System

ROUND_TRIPS_MS = (0, 20, 80, 200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much work a measure does."""

    large_batches: int
    small_batches: int
    stock_records: int
    latencies: int
    linked_s: float
    idle_s: float
    gaps: int
    partitions: int
    mirrors: int  # partitions at most
    wide_batches: int  # over a wide area
    wide_s: float
    forgets_s: float  # a file system's memory of many files that were deleted
    round_trips_ms: tuple[int, ...] = ROUND_TRIPS_MS  # over a wide area


FULL = Size(
    large_batches=2000,
    small_batches=40_000,
    stock_records=1_000_000,
    latencies=3000,
    linked_s=20,
    idle_s=10,
    gaps=10,
    partitions=10_000,
    mirrors=10_000,
    wide_batches=4000,
    wide_s=10,
    forgets_s=75,
)
QUICK = Size(
    large_batches=300,
    small_batches=6000,
    stock_records=150_000,
    latencies=500,
    linked_s=5,
    idle_s=3,
    gaps=2,
    partitions=1000,
    mirrors=300,
    wide_batches=300,
    wide_s=3,
    forgets_s=0,
)


def start(system: System, size: Size) -> Figures:
    """From the start of a node's process to its first answer."""
    return {"seconds": system.restart(SOURCE)}


def idle(system: System, size: Size) -> Figures:
    """A node that was just started and has nothing to do."""
    system.restart(SOURCE)
    pids = system.region(SOURCE).pids
    time.sleep(size.idle_s)  # the start's own work ends
    meter, began = processes.Meter(pids), time.monotonic()
    time.sleep(size.idle_s)
    percent = 100 * meter.cpu_s() / (time.monotonic() - began)
    return {"cpu_percent": percent, "resident_mb": processes.resident_mb(pids)}


def warm(system: System, size: Size) -> None:
    """2 GB and more (at full size) into each region and out again, so that the JVM has compiled what it runs."""
    for name in (SOURCE, DESTINATION):
        _produce(system, 12, LARGE, size.large_batches, region=name)
        _produce(system, 1, SMALL, size.small_batches // 2, region=name)
        consume(system, size, partitions=12, region=name)
    latency("acknowledged", system, size)
    latency("read", system, size)


def produce(
    system: System, size: Size, *, partitions: int = 1, records: int = LARGE, connections: int = 1
) -> Figures:
    batches = size.large_batches if records == LARGE else size.small_batches
    return _produce(system, partitions, records, batches, connections=connections)


def _produce(
    system: System,
    partitions: int,
    records: int,
    batches: int,
    *,
    connections: int = 1,
    region: str = SOURCE,
) -> Figures:
    where = system.region(region)
    topic = client.fresh_topic(where.bootstrap, partitions)
    meter = processes.Meter(where.pids)
    wanted = ("--partitions", partitions, "--records", records, "--batches", batches)
    said = client.run(
        "load", "produce", where.bootstrap, topic, *wanted, "--connections", connections
    )
    figures = client.throughput(said, meter)
    client.settle(where.bootstrap, topic, partitions, batches * records)
    return figures


def recompress(codec: str, system: System, size: Size) -> Figures:
    """Uncompressed batches of text into a topic that has a codec of its own; MB are those that were sent."""
    where, partitions = system.region(SOURCE), 4
    topic = client.fresh_topic(where.bootstrap, partitions, configs={"compression.type": codec})
    batches = size.large_batches // 2
    meter = processes.Meter(where.pids)
    wanted = ("--partitions", partitions, "--records", LARGE, "--batches", batches)
    several = ("--connections", partitions, "--text")
    said = client.run("load", "produce", where.bootstrap, topic, *wanted, *several)
    figures = client.throughput(said, meter)
    client.settle(where.bootstrap, topic, partitions, batches * LARGE)
    return figures


def consume(system: System, size: Size, *, partitions: int, region: str = SOURCE) -> Figures:
    """Reads what was written just before, so it comes from the page cache."""
    where = system.region(region)
    topic = client.filled_topic(where.bootstrap, partitions, size.large_batches)
    expect = size.large_batches * LARGE
    meter = processes.Meter(where.pids)
    wanted = ("--partitions", partitions, "--expect", expect)
    figures = client.throughput(
        client.run("load", "consume", where.bootstrap, topic, *wanted), meter
    )
    topics.delete(where.bootstrap, topic)
    return figures


def stock(verb: str, system: System, size: Size, *, partitions: int) -> Figures:
    """librdkafka produces, or consumes what was produced before."""
    where = system.region(SOURCE)
    batches = size.stock_records // LARGE if verb == "consume" else 0
    topic = client.filled_topic(where.bootstrap, partitions, batches)
    meter = processes.Meter(where.pids)
    wanted = ("--partitions", partitions, "--count", size.stock_records)
    figures = client.throughput(client.run("stock", verb, where.bootstrap, topic, *wanted), meter)
    client.settle(where.bootstrap, topic, partitions, size.stock_records)
    return figures


def latency(kind: str, system: System, size: Size) -> Figures:
    """One record at a time, until `kind`: acknowledged, or read by a waiting consumer."""
    where = system.region(SOURCE)
    topic = client.fresh_topic(where.bootstrap, 1)
    said = client.run("latency", kind, where.bootstrap, topic, "--count", size.latencies)
    client.settle(where.bootstrap, topic, 1, size.latencies)
    return client.percentiles(said[f"{kind}_ms"])
