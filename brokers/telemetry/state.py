"""The gauges of this node as text. Between two pieces the node may go on: what is counted later is a little younger."""

from collections.abc import Iterable, Iterator

from brokers.ids import Instant, TopicPartition
from brokers.metadata.configs.config_keys import TOPIC_KEYS
from brokers.metadata.configs.effective_configs import topic_config_synonyms
from brokers.metadata.image.image import PartitionImage
from brokers.node.parts import Parts
from brokers.partition.replica import Replica
from brokers.telemetry.exposition import family, head, labelled, sample
from brokers.telemetry.gauges import AGREED, CONTROLLER, HELD, LED, LOG, NODE, Held
from brokers.telemetry.groups import groups_text
from brokers.telemetry.lag import lag_text
from brokers.telemetry.partition_counters import (
    CONTROLLER_COUNTERS,
    LEADER_COUNTERS,
    Counter,
    PartitionCounters,
)
from brokers.telemetry.region import region_text

OFFLINE_COUNT = "kafka_log_logmanager_offlinelogdirectorycount"
OFFLINE = "kafka_log_logmanager_logdirectoryoffline"
_MIN_ISR = TOPIC_KEYS["min.insync.replicas"]


def state_text(parts: Parts, changes: PartitionCounters, now: Instant) -> Iterator[str]:
    gauges = (*NODE, *CONTROLLER) if parts.config.is_controller else NODE
    for gauge in gauges:
        yield head(gauge.name, "gauge", gauge.about) + sample(gauge.name, gauge.read(parts))
    yield from region_text(parts, now)
    if parts.config.is_controller:
        yield from _agreed(parts)
        yield from _counted(CONTROLLER_COUNTERS, changes)
    if parts.config.is_broker:
        replicas = list(parts.partitions.all.items())
        yield from _held(parts, replicas)
        yield from _counted(LEADER_COUNTERS, changes)
        yield from groups_text(parts.groups.coordinator)
        yield from _directories(parts)
        yield from lag_text(replicas, parts.replication.lag_ms_max, now)
        yield from _partitions(parts, replicas)


def _directories(parts: Parts) -> Iterator[str]:
    log_dirs = parts.log_dirs.all
    offline = sum(bool(each.failure) for each in log_dirs)
    about = "Log directories that failed"
    yield from family(OFFLINE_COUNT, "gauge", about, iter([(offline, "")]))
    each_one = ((int(bool(each.failure)), labelled(logDirectory=each.path)) for each in log_dirs)
    yield from family(OFFLINE, "gauge", "1 where the log directory failed", each_one)


def _counted(counters: Iterable[Counter], changes: PartitionCounters) -> Iterator[str]:
    """What Kafka counts and times is a summary; here only its count is known."""
    for name, about, field in counters:
        timed = name.removesuffix("_count")
        yield head(timed, "counter" if timed == name else "summary", about)
        yield sample(name, getattr(changes, field))


def _agreed(parts: Parts) -> Iterator[str]:
    counts = [0] * len(AGREED)
    for topic in list(parts.raft.image.topics_by_name.values()):
        for placed in topic.partitions:
            for index, gauge in enumerate(AGREED):
                counts[index] += gauge.counts(placed)
            yield ""
    for gauge, count in zip(AGREED, counts, strict=True):
        yield from family(gauge.name, "gauge", gauge.about, iter([(count, "")]))


def _held(parts: Parts, replicas: list[tuple[TopicPartition, Replica]]) -> Iterator[str]:
    counts = [0] * len(HELD)
    min_isr: dict[str, int] = {}
    for partition, replica in replicas:
        placed = parts.raft.image.partition(partition)
        if placed is not None:
            name = partition.topic
            if name not in min_isr:
                min_isr[name] = _min_isr(parts, name)
            held = Held(parts.config.node_id, replica, placed, min_isr[name])
            for index, gauge in enumerate(HELD):
                counts[index] += gauge.amount(held)
        yield ""
    for gauge, count in zip(HELD, counts, strict=True):
        yield from family(gauge.name, "gauge", gauge.about, iter([(count, "")]))


def _min_isr(parts: Parts, topic: str) -> int:
    in_force = next(topic_config_synonyms(parts.raft.image, parts.config, topic, _MIN_ISR)).value
    assert in_force is not None
    return int(in_force)


def _partitions(parts: Parts, replicas: list[tuple[TopicPartition, Replica]]) -> Iterator[str]:
    """What is told of each. The labels of a partition are written once and used for every family."""
    logs: list[tuple[str, Replica]] = []
    led: list[tuple[str, PartitionImage]] = []
    for partition, replica in replicas:
        topic, index = partition
        labels = f'{{topic="{topic}",partition="{index}"}}'  # legal names need no escapes
        logs.append((labels, replica))
        placed = parts.raft.image.partition(partition)
        if placed is not None and placed.leader == parts.config.node_id:
            led.append((labels, placed))
        yield ""
    for name, about, tell in LED:
        yield head(name, "gauge", about)
        for labels, placed in led:
            yield f"{name}{labels} {tell(placed)}\n"
    for name, about, read in LOG:
        yield head(name, "gauge", about)
        for labels, replica in logs:
            if replica.log is not None:
                yield f"{name}{labels} {read(replica.log)}\n"
