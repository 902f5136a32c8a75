"""What a region of three nodes pays for many partitions: to make them, to change something, to have them lie idle.

Each figure is taken with few partitions and with many; `..._growth` is the one divided by the other. All partitions
have three replicas. Before each, what was deleted is given time to be forgotten: for a minute ext4 takes no inode that
was just freed, and looks past them one by one (`recently_deleted` in its allocator), so whoever came second would pay
for the first one's files.
"""

import time

from tests.bench import client, processes, topics
from tests.bench.client import Figures
from tests.bench.clusters import NODES, Cluster
from tests.bench.knowing import all_lead
from tests.bench.work import Size

FEW, A_TOPIC = 100, 100
TIMEOUT_S = 900
CHANGES = 9


def scale(cluster: Cluster, size: Size) -> Figures:
    """Figures at `size.partitions` of them, and how they have grown since FEW."""
    few = _with_partitions(cluster, size, FEW)
    many = _with_partitions(cluster, size, size.partitions)
    return many | {f"{figure}_growth": many[figure] / few[figure] for figure in few}


def _with_partitions(cluster: Cluster, size: Size, partitions: int) -> Figures:
    address, pids = cluster.members()[0].address, [member.pid for member in cluster.members()]
    names = [f"scale-{partitions}-{number}" for number in range(partitions // A_TOPIC)]
    time.sleep(size.forgets_s)
    began = time.perf_counter()
    for name in names:
        topics.request(address, name, A_TOPIC, NODES)
    for name in names:
        topics.await_complete(address, name, A_TOPIC, NODES, timeout_s=TIMEOUT_S)
    figures = {"create_s": time.perf_counter() - began}
    time.sleep(size.idle_s)
    meter, began = processes.Meter(pids), time.monotonic()
    time.sleep(size.idle_s)
    figures["idle_cpu_percent"] = 100 * meter.cpu_s() / (time.monotonic() - began)
    figures["resident_mb"] = processes.resident_mb(pids)
    figures["change_ms"] = sorted(_change_ms(cluster) for _ in range(CHANGES))[CHANGES // 2]
    for name in names:
        topics.delete(address, name)
    return figures


def _change_ms(cluster: Cluster) -> float:
    """A topic of one partition: from asking for it to every node naming its leader."""
    addresses = [member.address for member in cluster.members()]
    began = time.perf_counter()
    topic = client.fresh_name()
    topics.request(addresses[0], topic, 1, NODES)
    all_lead(addresses, topic)
    took = 1000 * (time.perf_counter() - began)
    topics.delete(addresses[0], topic)
    return took
