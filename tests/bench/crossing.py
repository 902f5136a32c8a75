"""The measures of a link: a topic copied from one region to the other, in bulk and one record at a time.

CPU seconds and memory are both regions' and, where there is one, the process's between them.
"""

import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from tests.bench import client, memory, processes, space, topics
from tests.bench.client import LARGE, Figures
from tests.bench.processes import Meter
from tests.bench.systems import DESTINATION, SOURCE, Linked
from tests.bench.work import Size

PARTITIONS = 12
POLL_S = 0.01  # 12 offsets a hundred times a second cost either side next to nothing
TIMEOUT_S = 300


def catch_up(
    system: Linked, size: Size, page_cache: AbstractContextManager[None] | None = None
) -> Figures:
    """A link made while 2 GB (at full size) wait in 12 partitions, until the last record is in the other region.

    `mb_per_s` counts from the link's making, `moving_mb_per_s` from the first record that arrived, and
    `second_half_mb_per_s` from when half of them had. A record counts once it is on all replicas.
    `moving_busy_s_per_gb` is what all processors worked meanwhile, whoever for. `page_cache`: what it is while
    the topic is filled and the link copies; where nothing is said, memory is touched in between.
    """
    source, destination = system.region(SOURCE), system.region(DESTINATION)
    records, free = size.large_batches * LARGE, space.free()
    with page_cache or nullcontext():
        # What is written last is what the page cache keeps, so the source reads its log from there.
        topic = client.filled_topic(
            source.bootstrap, PARTITIONS, size.large_batches, replicas=source.replicas
        )
        if page_cache is None:
            memory.touch()  # the source's log took what was touched before
        else:
            os.sync()  # else the kernel writes that log out during some trials, and the regions wait for the disk
        crossed = _cross(system, topic, records)
    system.unlink(topic)
    size_mb = client.read_back(destination.bootstrap, topic, PARTITIONS, records)
    topics.delete(destination.bootstrap, topic)
    topics.delete(source.bootstrap, topic)
    space.await_free(free)
    return crossed.figures(records, size_mb)


class _Crossed(NamedTuple):
    """When, in seconds from the link's making, and what it had cost: `first` with the first record that arrived."""

    first_s: float
    half_s: float
    all_s: float
    late_records: int  # those after half_s
    first_cpu_s: float
    cpu_s: float
    busy_s: float  # since the first record
    peak_mb: float

    def figures(self, records: int, size_mb: float) -> Figures:
        late_mb = size_mb * self.late_records / records
        return {
            "mb_per_s": size_mb / self.all_s,
            "moving_mb_per_s": size_mb / (self.all_s - self.first_s),
            "second_half_mb_per_s": late_mb / (self.all_s - self.half_s),
            "first_record_s": self.first_s,
            "cpu_s_per_gb": self.cpu_s / size_mb * 1000,
            "moving_cpu_s_per_gb": (self.cpu_s - self.first_cpu_s) / size_mb * 1000,
            "moving_busy_s_per_gb": self.busy_s / size_mb * 1000,
            "peak_mb": self.peak_mb,
        }


def _cross(system: Linked, topic: str, records: int) -> _Crossed:
    source, destination = system.region(SOURCE), system.region(DESTINATION)
    meter = Meter(source.pids + destination.pids)
    began = time.perf_counter()
    with (
        ThreadPoolExecutor(1) as pool,
        topics.Watch(destination.bootstrap, topic, PARTITIONS) as watch,
    ):
        making = pool.submit(system.link, topic)
        _arrived(watch, 1, making)
        first_s = time.perf_counter() - began
        meter.add(system.between())
        first_cpu_s, first_busy_s = meter.cpu_s(), processes.busy_s()
        late_records = records - _arrived(watch, records // 2, making)
        half_s = time.perf_counter() - began
        _arrived(watch, records, making)
        all_s, cpu_s = time.perf_counter() - began, meter.cpu_s()
        busy_s, peak_mb = processes.busy_s() - first_busy_s, meter.peak_mb()
        making.result()
    return _Crossed(first_s, half_s, all_s, late_records, first_cpu_s, cpu_s, busy_s, peak_mb)


def _arrived(watch: topics.Watch, records: int, making: Future[None]) -> int:
    """How many records are in the destination, once there are so many; what went wrong in making the link is raised."""
    deadline = time.monotonic() + TIMEOUT_S
    while (arrived := watch.records()) < records:
        if making.done():
            making.result()
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"{watch.topic}: fewer than {records} records came across in {TIMEOUT_S} s"
            )
        time.sleep(POLL_S)
    return arrived


def one_at_a_time(system: Linked, size: Size) -> Figures:
    """50 records a second over a link that has just begun to work; each is on all replicas of either region."""
    source, destination = system.region(SOURCE), system.region(DESTINATION)
    topic = client.fresh_topic(source.bootstrap, 1, source.replicas)
    system.link(topic)
    wanted = ("--destination", destination.bootstrap, "--seconds", size.linked_s)
    said = client.run("latency", "linked", source.bootstrap, topic, *wanted)
    system.unlink(topic)
    topics.delete(destination.bootstrap, topic)
    topics.delete(source.bootstrap, topic)
    delays_ms = said["linked_ms"]
    late = client.percentiles(delays_ms[len(delays_ms) // 2 :])
    return client.percentiles(delays_ms) | {
        f"second_half_{name}": value for name, value in late.items()
    }
