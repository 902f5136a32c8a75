"""Runs the client programs as processes, makes and counts their topics, and turns what they say into figures."""

import itertools
import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import numpy

from tests.bench import topics
from tests.bench.processes import Meter

Figures = dict[str, float]
LARGE, SMALL = (
    1000,
    15,
)  # records of 1 KB in a 1 MB batch, and in one of the Java producer's default 16 KB

_serial = itertools.count(1)


class Lost(Exception):
    """Something that was acknowledged isn't there: the figures of such a run are worth nothing."""


class Unfinished(Exception):
    """A measure has ended early, because of its `__cause__`. `figures` are those that it had by then."""

    def __init__(self, figures: Figures, because: Exception) -> None:
        super().__init__(f"{type(because).__name__}: {because}")
        self.figures = figures


def run(program: str, verb: str, bootstrap: str, topic: str, *words: object) -> dict[str, Any]:
    """What a client program printed; raises with its complaint when it failed."""
    command = [
        sys.executable,
        "-m",
        f"tests.bench.{program}",
        verb,
        "--bootstrap",
        bootstrap,
        "--topic",
        topic,
    ]
    done = subprocess.run([*command, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{program} {verb} {topic}: {done.stderr.strip().splitlines()[-1:]}")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def fresh_name() -> str:
    return f"bench-{next(_serial)}"


def fresh_topic(
    bootstrap: str, partitions: int, replicas: int = 1, configs: Mapping[str, str] | None = None
) -> str:
    topic = fresh_name()
    topics.create(bootstrap, topic, partitions, replicas, configs)
    return topic


def filled_topic(bootstrap: str, partitions: int, large_batches: int, replicas: int = 1) -> str:
    """A topic with so many 1 MB batches in it, which are counted."""
    topic = fresh_topic(bootstrap, partitions, replicas)
    if large_batches:
        run(
            "load",
            "produce",
            bootstrap,
            topic,
            "--partitions",
            partitions,
            "--batches",
            large_batches,
        )
    holds(bootstrap, topic, partitions, large_batches * LARGE)
    return topic


def holds(bootstrap: str, topic: str, partitions: int, expected: int) -> None:
    """Raises Lost unless `topic` holds exactly `expected` records."""
    found = topics.count(bootstrap, topic, partitions)
    if found != expected:
        raise Lost(f"{topic} at {bootstrap} holds {found} records, {expected} were acknowledged")


def read_back(bootstrap: str, topic: str, partitions: int, expected: int) -> float:
    """Counts a topic, reads all of it and holds each batch to its checksum; megabytes of batches.

    Raises Lost, or RuntimeError with what the reader found.
    """
    holds(bootstrap, topic, partitions, expected)
    wanted = ("--partitions", partitions, "--expect", expected, "--check")
    return float(run("load", "consume", bootstrap, topic, *wanted)["bytes"]) / 1e6


def settle(bootstrap: str, topic: str, partitions: int, expected: int) -> None:
    """Reads a topic back for the last time and deletes it."""
    read_back(bootstrap, topic, partitions, expected)
    topics.delete(bootstrap, topic)


def throughput(said: dict[str, Any], meter: Meter) -> Figures:
    """Figures of a client that says how many bytes took how many seconds."""
    gigabytes = said["bytes"] / 1e9
    return {
        "mb_per_s": said["bytes"] / 1e6 / said["seconds"],
        "cpu_s_per_gb": meter.cpu_s() / gigabytes,
        "peak_mb": meter.peak_mb(),
        "client_cpu_s_per_gb": said["client_cpu_s"] / gigabytes,
    }


def percentiles(delays_ms: list[float]) -> Figures:
    p50, p99 = numpy.percentile(delays_ms, [50, 99])
    return {"p50_ms": float(p50), "p99_ms": float(p99), "worst_ms": max(delays_ms)}
