"""The gauges of this node as text. The node may run between two pieces, so they are not of one instant."""

from collections.abc import Callable, Iterable, Iterator

from brokers.ids import Instant, TopicPartition
from brokers.membership.log_dirs import OwnDirectory
from brokers.metadata.configs.config_keys import TOPIC_KEYS
from brokers.metadata.configs.effective_configs import topic_config_synonyms
from brokers.metadata.image.image import PartitionImage
from brokers.node.parts import Parts
from brokers.partition.replica import Replica
from brokers.telemetry.cleaner import cleaner_text
from brokers.telemetry.exposition import family, head, labelled, sample
from brokers.telemetry.gauges import (
    CONTROLLER,
    LEADER,
    LOG,
    NODE,
    PARTITION,
    REPLICA,
    HostedReplica,
)
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
_SPACE_PREFIX = "causeway_log_directory_"
SPACE: tuple[tuple[str, str, Callable[[OwnDirectory], int]], ...] = (
    (
        "total_bytes",
        "Size of the disk",
        lambda each: 0 if each.volume is None else each.volume.total_bytes,
    ),
    (
        "usable_bytes",
        "Bytes of the disk that are free for this process",
        lambda each: 0 if each.volume is None else each.volume.usable_bytes,
    ),
    (
        "watermark",
        "Watermark that the free space is below: 1 warns, 2 refuses producers, 0 none",
        lambda each: int(each.level),
    ),
)
_MIN_ISR = TOPIC_KEYS["min.insync.replicas"]


def state_text(parts: Parts, changes: PartitionCounters, now: Instant) -> Iterator[str]:
    gauges = (*NODE, *CONTROLLER) if parts.config.is_controller else NODE
    for gauge in gauges:
        yield head(gauge.name, "gauge", gauge.about) + sample(gauge.name, gauge.read(parts))
    yield from region_text(parts, now)
    if parts.config.is_controller:
        yield from _partition_gauges(parts)
        yield from _counters(CONTROLLER_COUNTERS, changes)
    if parts.config.is_broker:
        replicas = list(parts.partitions.all.items())
        yield from _replica_gauges(parts, replicas)
        yield from _counters(LEADER_COUNTERS, changes)
        yield from groups_text(parts.groups, now)
        yield from cleaner_text(parts, now)
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
    yield from _space([each for each in log_dirs if each.volume is not None])


def _space(log_dirs: list[OwnDirectory]) -> Iterator[str]:
    """Of the directories that could be measured."""
    for name, about, read in SPACE:
        samples = ((read(each), labelled(logDirectory=each.path)) for each in log_dirs)
        yield from family(_SPACE_PREFIX + name, "gauge", about, samples)


def _counters(counters: Iterable[Counter], changes: PartitionCounters) -> Iterator[str]:
    """Counters. Where Kafka also times what it counts, the family is a summary, of which only the count is given."""
    for name, about, field in counters:
        timed = name.removesuffix("_count")
        yield head(timed, "counter" if timed == name else "summary", about)
        yield sample(name, getattr(changes, field))


def _partition_gauges(parts: Parts) -> Iterator[str]:
    counts = [0] * len(PARTITION)
    for topic in list(parts.raft.image.topics_by_name.values()):
        for image in topic.partitions:
            for index, gauge in enumerate(PARTITION):
                counts[index] += gauge.counts(image)
            yield ""
    for gauge, count in zip(PARTITION, counts, strict=True):
        yield from family(gauge.name, "gauge", gauge.about, iter([(count, "")]))


def _replica_gauges(parts: Parts, replicas: list[tuple[TopicPartition, Replica]]) -> Iterator[str]:
    counts = [0] * len(REPLICA)
    min_isr: dict[str, int] = {}
    for partition, replica in replicas:
        image = parts.raft.image.partition(partition)
        if image is not None:
            name = partition.topic
            if name not in min_isr:
                min_isr[name] = _min_isr(parts, name)
            hosted = HostedReplica(parts.config.node_id, replica, image, min_isr[name])
            for index, gauge in enumerate(REPLICA):
                counts[index] += gauge.amount(hosted)
        yield ""
    for gauge, count in zip(REPLICA, counts, strict=True):
        yield from family(gauge.name, "gauge", gauge.about, iter([(count, "")]))


def _min_isr(parts: Parts, topic: str) -> int:
    effective = next(topic_config_synonyms(parts.raft.image, parts.config, topic, _MIN_ISR)).value
    assert effective is not None
    return int(effective)


def _partitions(parts: Parts, replicas: list[tuple[TopicPartition, Replica]]) -> Iterator[str]:
    """The gauges with one sample a partition. Its labels are formatted once, for all families."""
    logs: list[tuple[str, Replica]] = []
    led: list[tuple[str, PartitionImage]] = []
    for partition, replica in replicas:
        topic, index = partition
        labels = f'{{topic="{topic}",partition="{index}"}}'  # legal names need no escapes
        logs.append((labels, replica))
        image = parts.raft.image.partition(partition)
        if image is not None and image.leader == parts.config.node_id:
            led.append((labels, image))
        yield ""
    for name, about, value in LEADER:
        yield head(name, "gauge", about)
        for labels, image in led:
            yield f"{name}{labels} {value(image)}\n"
    for name, about, read in LOG:
        yield head(name, "gauge", about)
        for labels, replica in logs:
            if replica.log is not None:
                yield f"{name}{labels} {read(replica.log)}\n"
