"""The configuration keys of topics (Kafka's TopicConfig) and the dynamic keys of brokers."""

import re
from collections.abc import Callable

from brokers.config import replica_placement
from brokers.metadata.configs.config_def import (
    INT64_MAX,
    ConfigKey,
    ConfigType,
    config_error,
    elements,
    shown,
)

DAY_MS = 86_400_000
MIB = 1 << 20


def topic_config_error(topic: str, name: str, value: str) -> str | None:
    """Why a value cannot be set for a topic, or None. Kafka's error is INVALID_CONFIG."""
    key = TOPIC_KEYS.get(name)
    if key is None:
        return f"Unknown topic config name: {shown(name)}"
    return config_error(key, topic, value)


def _any(topic: str, value: str) -> bool:
    return True


def _placement_error(value: str) -> str | None:
    try:
        replica_placement.parse(value)
    except replica_placement.PlacementError as problem:
        return str(problem)
    return None


def _zero_error(value: str) -> str | None:
    return None if float(value) > 0 else "expected a value above 0"


def _replicas_error(value: str) -> str | None:
    if value == "*" or all(_REPLICA.fullmatch(each) for each in elements(value)):
        return None
    return "expected * or PARTITION:BROKER,PARTITION:BROKER,..."


def _gzip_error(value: str) -> str | None:
    return None if int(value) in (-1, *range(1, 10)) else "expected -1, or a value from 1 to 9"


def _at_most(maximum: int) -> Callable[[str], str | None]:
    return lambda value: None if int(value) <= maximum else f"expected at most {maximum}"


_REPLICA = re.compile(r"[0-9]{1,10}:[0-9]{1,10}")
_BOOLEAN, _STRING, _INT = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.INT
_LONG, _DOUBLE, _LIST = ConfigType.LONG, ConfigType.DOUBLE, ConfigType.LIST

_KEYS = (
    ConfigKey(
        "cleanup.policy", _LIST, "delete",
        "What happens to old data: delete drops whole segments by age and size, compact keeps the last of each key.",
        choices=("compact", "delete"), is_supported=_any, broker_key="log.cleanup.policy",
    ),
    ConfigKey(
        "compression.gzip.level", _INT, "-1",
        "Level of gzip where the broker itself compresses: 1 to 9, or -1 for the library's own.",
        minimum=-1, validator=_gzip_error, is_supported=_any, broker_key="compression.gzip.level",
    ),
    ConfigKey(
        "compression.lz4.level", _INT, "9",
        "Level of lz4 where the broker itself compresses: 1 to 17; 9 is the fast compressor, others the high one.",
        minimum=1, validator=_at_most(17), is_supported=_any, broker_key="compression.lz4.level",
    ),
    ConfigKey(
        "compression.type", _STRING, "producer",
        "How batches are stored; producer keeps them as they came.",
        choices=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        is_supported=_any, broker_key="compression.type",
    ),
    ConfigKey(
        "compression.zstd.level", _INT, "3",
        "Level of zstd where the broker itself compresses: -131072 to 22.",
        minimum=-131_072, validator=_at_most(22), is_supported=_any, broker_key="compression.zstd.level",
    ),
    ConfigKey(
        "confluent.placement.constraints", _STRING, "",
        "Replica placement as JSON: how many replicas and observers each rack gets, and when observers are promoted.",
        validator=_placement_error, is_supported=_any, is_listed=False,
    ),
    ConfigKey(
        "delete.retention.ms", _LONG, str(DAY_MS),
        "How long compaction keeps a deletion marker.",
        is_supported=_any, broker_key="log.cleaner.delete.retention.ms",
    ),
    ConfigKey(
        "file.delete.delay.ms", _LONG, "60000",
        "How long the files of a deleted segment or log stay on the disk, renamed.",
        is_supported=_any, broker_key="log.segment.delete.delay.ms",
    ),
    ConfigKey(
        "flush.messages", _LONG, str(INT64_MAX),
        "Records after which an append is synced before it is acknowledged: 1 syncs every append, the default leaves it"
        " to the operating system.",
        minimum=1, is_supported=_any, broker_key="log.flush.interval.messages",
    ),
    ConfigKey(
        "flush.ms", _LONG, str(INT64_MAX),
        "Longest time that an append may wait for a sync.",
        is_supported=_any, broker_key="log.flush.interval.ms",
    ),
    ConfigKey(
        "follower.replication.throttled.replicas", _LIST, "",
        "Replicas whose replication is throttled on the follower's side.",
        validator=_replicas_error, is_supported=_any,
    ),
    ConfigKey(
        "index.interval.bytes", _INT, "4096",
        "Bytes of log between two entries of the offset index, in segments from then on.",
        is_supported=_any, broker_key="log.index.interval.bytes",
    ),
    ConfigKey(
        "internal.segment.bytes", _INT, str(1 << 30),
        "segment.bytes without its lower bound, for tests; never listed.",
        minimum=1, is_supported=_any, is_listed=False,
    ),
    ConfigKey(
        "leader.replication.throttled.replicas", _LIST, "",
        "Replicas whose replication is throttled on the leader's side.",
        validator=_replicas_error, is_supported=_any,
    ),
    ConfigKey(
        "local.retention.bytes", _LONG, "-2",
        "retention.bytes for what a tiered topic keeps on local disks; -2 takes that.", minimum=-2,
    ),
    ConfigKey(
        "local.retention.ms", _LONG, "-2",
        "retention.ms for what a tiered topic keeps on local disks; -2 takes that.", minimum=-2,
    ),
    ConfigKey(
        "max.compaction.lag.ms", _LONG, str(INT64_MAX),
        "Longest time that a record may escape compaction.",
        minimum=1, is_supported=_any, broker_key="log.cleaner.max.compaction.lag.ms",
    ),
    ConfigKey(
        "max.message.bytes", _INT, "1048588",
        "Largest batch that the topic takes, in bytes as sent.",
        is_supported=_any, broker_key="message.max.bytes",
    ),
    ConfigKey(
        "message.timestamp.after.max.ms", _LONG, "3600000",
        "How far ahead of the broker's clock a record's timestamp may lie.",
        is_supported=_any, broker_key="log.message.timestamp.after.max.ms",
    ),
    ConfigKey(
        "message.timestamp.before.max.ms", _LONG, str(INT64_MAX),
        "How far behind the broker's clock a record's timestamp may lie.",
        is_supported=_any, broker_key="log.message.timestamp.before.max.ms",
    ),
    ConfigKey(
        "message.timestamp.type", _STRING, "CreateTime",
        "Whether timestamps are the producer's (CreateTime) or the broker's (LogAppendTime).",
        choices=("CreateTime", "LogAppendTime"), is_supported=_any, broker_key="log.message.timestamp.type",
    ),
    ConfigKey(
        "min.cleanable.dirty.ratio", _DOUBLE, "0.5",
        "Share of a log that must be uncompacted before compaction looks at it.",
        is_supported=_any, broker_key="log.cleaner.min.cleanable.ratio",
    ),
    ConfigKey(
        "min.compaction.lag.ms", _LONG, "0",
        "How long a record is safe from compaction.",
        is_supported=_any, broker_key="log.cleaner.min.compaction.lag.ms",
    ),
    ConfigKey(
        "min.insync.replicas", _INT, "1",
        "Replicas that must hold a batch before acks=all is answered.",
        minimum=1, is_supported=_any, broker_key="min.insync.replicas", is_region_wide=True,
    ),
    ConfigKey(
        "preallocate", _BOOLEAN, "false",
        "Whether a new segment takes its full size on disk at once.",
        is_supported=_any, broker_key="log.preallocate",
    ),
    ConfigKey(
        "remote.log.copy.disable", _BOOLEAN, "false",
        "Whether a tiered topic stops copying segments to the object tier.",
    ),
    ConfigKey(
        "remote.log.delete.on.disable", _BOOLEAN, "false",
        "Whether data in the object tier goes when tiering is switched off.",
    ),
    ConfigKey(
        "remote.storage.enable", _BOOLEAN, "false",
        "Whether the topic is tiered.",
    ),
    ConfigKey(
        "retention.bytes", _LONG, "-1",
        "Bytes that each partition keeps at most; -1 is no limit.",
        minimum=-1, is_supported=_any, broker_key="log.retention.bytes",
    ),
    ConfigKey(
        "retention.ms", _LONG, str(7 * DAY_MS),
        "How long a sealed segment is kept after its newest record; -1 is for ever.",
        minimum=-1, is_supported=_any, broker_key="log.retention.ms",
    ),
    ConfigKey(
        "segment.bytes", _INT, str(1 << 30),
        "Size at which a segment is sealed.",
        minimum=1 * MIB, is_supported=_any, broker_key="log.segment.bytes",
    ),
    ConfigKey(
        "segment.index.bytes", _INT, str(10 * MIB),
        "Largest size of a segment's index files: one that is full seals its segment.",
        minimum=4, is_supported=_any, broker_key="log.index.size.max.bytes",
    ),
    ConfigKey(
        "segment.jitter.ms", _LONG, "0",
        "Random time taken off segment.ms, so that segments are not all sealed at once.",
        is_supported=_any, broker_key="log.roll.jitter.ms",
    ),
    ConfigKey(
        "segment.ms", _LONG, str(7 * DAY_MS),
        "Age at which a segment is sealed even if it is not full.",
        minimum=1, is_supported=_any, broker_key="log.roll.ms",
    ),
    ConfigKey(
        "unclean.leader.election.enable", _BOOLEAN, "false",
        "Whether a replica outside the in-sync set may lead when no other is left.",
        is_supported=_any, broker_key="unclean.leader.election.enable", is_region_wide=True,
    ),
)  # fmt: skip

_BROKER_KEYS = (
    ConfigKey(
        "follower.replication.throttled.rate", _LONG, str(INT64_MAX),
        "Bytes a second that this broker fetches at most for the replicas that topics name as throttled.",
        is_supported=_any,
    ),
    ConfigKey(
        "log.cleaner.backoff.ms", _LONG, "15000",
        "How long compaction rests when no log is dirty enough.", is_supported=_any,
    ),
    ConfigKey(
        "log.cleaner.dedupe.buffer.size", _LONG, str(128 * MIB),
        "Memory for the keys of the logs that are compacted at one time.", minimum=1 * MIB, is_supported=_any,
    ),
    ConfigKey(
        "log.cleaner.io.buffer.load.factor", _DOUBLE, "0.9",
        "Share of the memory for keys that is filled.", is_supported=_any, validator=_zero_error,
    ),
    ConfigKey(
        "log.cleaner.io.buffer.size", _INT, str(512 * 1024),
        "Memory for what compaction reads and writes.", is_supported=_any,
    ),
    ConfigKey(
        "log.cleaner.io.max.bytes.per.second", _DOUBLE, "1.7976931348623157E308",
        "Bytes a second that compaction reads and writes at most.", maximum=float("inf"), is_supported=_any,
        validator=_zero_error,
    ),
    ConfigKey(
        "log.cleaner.threads", _INT, "1",
        "How many logs are compacted at one time.", minimum=1, is_supported=_any,
    ),
    ConfigKey(
        "leader.replication.throttled.rate", _LONG, str(INT64_MAX),
        "Bytes a second that this broker sends at most to the replicas that topics name as throttled.",
        is_supported=_any,
    ),
    ConfigKey(
        "replica.alter.log.dirs.io.max.bytes.per.second", _LONG, str(INT64_MAX),
        "Bytes a second that this broker copies at most from one of its log directories to another.", is_supported=_any,
    ),
)  # fmt: skip

# Keys of a mirror topic that a region sets on its own, as they concern its brokers and disks: where replicas are, what
# is durable there, tiers. All other keys follow the source topic (`linker/config_values.py`).
INDEPENDENT_OF_SOURCE = (
    "confluent.placement.constraints",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "follower.replication.throttled.replicas",
    "index.interval.bytes",
    "internal.segment.bytes",
    "leader.replication.throttled.replicas",
    "local.retention.bytes",
    "local.retention.ms",
    "min.insync.replicas",
    "preallocate",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
    "remote.storage.enable",
    "unclean.leader.election.enable",
)

# The level's key of each compression.type that has levels.
LEVEL_KEYS = {codec: f"compression.{codec}.level" for codec in ("gzip", "lz4", "zstd")}

TOPIC_KEYS = {key.name: key for key in _KEYS}
# Broker keys that can be changed while brokers run: defaults of topics, and throttles.
DYNAMIC_BROKER_KEYS = {
    key.broker_key: key
    for key in _KEYS
    if key.broker_key is not None and key.is_supported is not None
} | {key.name: key for key in _BROKER_KEYS}
