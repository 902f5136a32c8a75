"""The measures of a region of three nodes; three replicas of everything, all of them in sync when a measure begins.

Sizes are bytes of record batches, CPU seconds and memory those of all three nodes. What was written is counted or read
back afterwards.
"""

import json
import os
import signal
import subprocess
import sys
import time
from statistics import median

from tests.bench import client, processes, topics
from tests.bench.client import LARGE, SMALL, Figures, Lost
from tests.bench.clusters import NODES, Cluster, bootstrap
from tests.bench.work import Size

TIMEOUT_S = 60
QUIET_S = (
    1.0  # the producer is well under way before its leader is taken away, and after it has another
)
MANY, MANY_TOPICS = 3000, 30


def warm(cluster: Cluster, size: Size) -> None:
    """About as much as a node of one-node regions sees before it is measured."""
    produce(cluster, size, partitions=12)
    produce(cluster, size, partitions=12)
    produce(cluster, size, records=SMALL)


def produce(cluster: Cluster, size: Size, *, partitions: int = 1, records: int = LARGE) -> Figures:
    """acks=all with three replicas; a quarter of the batches of a single node's measure."""
    batches = (size.large_batches if records == LARGE else size.small_batches) // 4
    address = cluster.members()[0].address
    topic = client.fresh_topic(address, partitions, NODES)
    meter = processes.Meter([member.pid for member in cluster.members()])
    wanted = ("--partitions", partitions, "--records", records, "--batches", batches)
    figures = client.throughput(client.run("load", "produce", address, topic, *wanted), meter)
    client.settle(address, topic, partitions, batches * records)
    return figures


def start(cluster: Cluster, size: Size) -> Figures:
    """Three nodes from nothing running to every one knowing all."""
    cluster.stop()
    return {"seconds": cluster.up()}


def start_full(cluster: Cluster, size: Size) -> Figures:
    """The same with 3,000 partitions of three replicas, until the last of them is in sync and answers."""
    address = cluster.members()[0].address
    names = [client.fresh_topic(address, MANY // MANY_TOPICS, NODES) for _ in range(MANY_TOPICS)]
    cluster.stop()
    began = time.perf_counter()
    cluster.up()
    for name in names:
        topics.await_complete(address, name, MANY // MANY_TOPICS, NODES)
    seconds = time.perf_counter() - began
    for name in names:
        topics.delete(address, name)
    return {"seconds": seconds}


def gaps(
    cluster: Cluster, size: Size, *, how: signal.Signals, is_idempotent: bool = False
) -> Figures:
    """The leader is ended by `how`, several times, while a producer goes on."""
    found = [_gap(cluster, how, ["--idempotent"] * is_idempotent) for _ in range(size.gaps)]
    lost = sum(one["lost"] for one in found)
    if lost:
        raise Lost(f"{lost:.0f} acknowledged records are gone")
    longest = [one["longest_s"] for one in found]
    return {
        "p50_s": median(longest),
        "max_s": max(longest),
        "refused": sum(one["refused"] for one in found),
        "doubled": sum(one["doubled"] for one in found),
    }


def _gap(cluster: Cluster, how: signal.Signals, options: list[str]) -> Figures:
    address = cluster.members()[0].address
    topic = client.fresh_topic(address, 1, NODES)
    command = [sys.executable, "-m", "tests.bench.gap", "--bootstrap", bootstrap(cluster)]
    with subprocess.Popen(
        [*command, "--topic", topic, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as producer:
        assert producer.stdin and producer.stdout
        if producer.stdout.readline().strip() != "going":
            raise RuntimeError("the producer never got going")
        time.sleep(QUIET_S)
        ended = _end_leader(cluster, address, topic, how)
        _led_again(cluster, topic, ended)
        time.sleep(QUIET_S)
        producer.stdin.close()
        said: Figures = json.loads(producer.stdout.read())
    cluster.forget(ended)
    cluster.start(ended)
    topics.delete(cluster.members()[0].address, topic)
    return said


def _end_leader(cluster: Cluster, address: str, topic: str, how: signal.Signals) -> int:
    leader = topics.leaders(address, topic).nodes[0]
    (pid,) = (member.pid for member in cluster.members() if member.id == leader)
    os.kill(pid, how)
    return leader


def _led_again(cluster: Cluster, topic: str, ended: int) -> None:
    (other, *_) = (member.address for member in cluster.members() if member.id != ended)
    deadline = time.monotonic() + TIMEOUT_S
    while topics.leaders(other, topic).nodes.get(0, ended) == ended:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{topic} has no other leader after {TIMEOUT_S} s")
        time.sleep(0.01)
