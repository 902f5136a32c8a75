"""Every topic configuration key that Kafka has: type, default, range, and which values this release honours.

A key whose behaviour does not exist yet is listed with its default, like in Kafka, and any other value is refused:
a setting that is accepted works.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from brokers.config import replica_placement
from brokers.ids import INTERNAL_TOPICS

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
DAY_MS = 86_400_000
MIB = 1 << 20
BLANKS = " \t\n\r\v\f"  # what may surround a number that Python reads
VALUE_BYTES_MAX = 32_767  # a string of a metadata record, as Kafka reads it
_SHOWN_MAX = 1_000  # characters of a value, in what is said of it: an answer takes no longer string than a record


class ConfigType(IntEnum):
    """The codes of DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One key. `flaw(value)` says what is wrong with a value beyond its type. `honours(topic, value)` says whether this
    release does what a well-formed `value` asks for; None: only the default is honoured. `broker_key` is the node
    setting that gives the default; with `is_regions` it is one for all brokers, because the controller goes by it."""

    name: str
    type: ConfigType
    default: str
    documentation: str
    minimum: float = 0
    choices: tuple[str, ...] = ()
    flaw: Callable[[str], str | None] | None = None
    honours: Callable[[str, str], bool] | None = None
    broker_key: str | None = None
    is_regions: bool = False
    is_listed: bool = True


def problem(topic: str, name: str, value: str) -> str | None:
    """Why a value cannot be set for a topic, or None. Kafka answers it as INVALID_CONFIG."""
    key = TOPIC_KEYS.get(name)
    if key is None:
        return f"Unknown topic config name: {_shown(name)}"
    return config_error(key, topic, value)


def config_error(key: ConfigKey, topic: str, value: str) -> str | None:
    """The same for a key that is known; a broker's setting has the topic ""."""
    name = key.name
    if len(value.encode()) > VALUE_BYTES_MAX:
        return f"Invalid value for configuration {name}: longer than {VALUE_BYTES_MAX} bytes"
    trimmed = value.strip(BLANKS)
    if why := _malformed(key, trimmed):
        return f"Invalid value {_shown(value)} for configuration {name}: {_shown(why)}"
    if _same(key, value, key.default) or (key.honours and key.honours(topic, trimmed)):
        return None
    return f"{name}={_shown(value)} is not supported by this release; {_alternative(key)}"


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."


def elements(value: str) -> list[str]:
    """The members of a list value."""
    return [part.strip() for part in value.split(",") if part.strip()]


def _malformed(key: ConfigKey, value: str) -> str | None:
    return _mistyped(key, value) or (key.flaw(value) if key.flaw is not None else None)


def _mistyped(key: ConfigKey, value: str) -> str | None:
    match key.type:
        case ConfigType.BOOLEAN:
            return None if value.lower() in ("true", "false") else "expected true or false"
        case ConfigType.INT | ConfigType.LONG:
            return _not_whole(key, value)
        case ConfigType.DOUBLE:
            return _not_a_ratio(value)
        case ConfigType.STRING:
            known = not key.choices or value in key.choices
        case ConfigType.LIST:
            known = not key.choices or (
                bool(elements(value)) and set(elements(value)) <= set(key.choices)
            )
    return None if known else f"expected one of {', '.join(key.choices)}"


def _not_whole(key: ConfigKey, value: str) -> str | None:
    maximum = INT32_MAX if key.type is ConfigType.INT else INT64_MAX
    digits = value.removeprefix("-")
    # Twenty digits hold any 64-bit number; more would only cost time to convert.
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        return "expected a whole number"
    if not key.minimum <= int(value) <= maximum:
        return f"expected a value from {int(key.minimum)} to {maximum}"
    return None


def _not_a_ratio(value: str) -> str | None:
    try:
        return None if 0 <= float(value) <= 1 else "expected a value from 0 to 1"
    except ValueError:
        return "expected a number"


def _same(key: ConfigKey, value: str, default: str) -> bool:
    if key.type is ConfigType.LIST:
        return elements(value) == elements(default)
    if key.type in (ConfigType.INT, ConfigType.LONG):
        return int(value) == int(default)
    if key.type is ConfigType.DOUBLE:
        return float(value) == float(default)
    return value.strip().lower() == default.lower()


def _alternative(key: ConfigKey) -> str:
    match key.name:
        case "cleanup.policy":
            return "use delete"
        case "flush.messages":
            return f"use 1 (sync before every acknowledgement) or {key.default} (leave it to the system)"
        case _:
            return f"leave it at {key.default or 'nothing'}"


def _any(topic: str, value: str) -> bool:
    return True


def _not_a_placement(value: str) -> str | None:
    try:
        replica_placement.parse(value)
    except replica_placement.PlacementError as problem:
        return str(problem)
    return None


def _not_replicas(value: str) -> str | None:
    if value == "*" or all(_REPLICA.fullmatch(each) for each in elements(value)):
        return None
    return "expected * or PARTITION:BROKER,PARTITION:BROKER,..."


def _internal_only(topic: str, value: str) -> bool:
    return topic in INTERNAL_TOPICS and elements(value) == ["compact"]


def _every_message(topic: str, value: str) -> bool:
    return int(value) == 1


_REPLICA = re.compile(r"[0-9]{1,10}:[0-9]{1,10}")
_BOOLEAN, _STRING, _INT = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.INT
_LONG, _DOUBLE, _LIST = ConfigType.LONG, ConfigType.DOUBLE, ConfigType.LIST

_KEYS = (
    ConfigKey(
        "cleanup.policy", _LIST, "delete",
        "What happens to old data: delete drops whole segments by age and size, compact keeps the last of each key.",
        choices=("compact", "delete"), honours=_internal_only, broker_key="log.cleanup.policy",
    ),
    ConfigKey(
        "compression.gzip.level", _INT, "-1",
        "Level of gzip where the broker itself compresses.", minimum=-1,
    ),
    ConfigKey(
        "compression.lz4.level", _INT, "9",
        "Level of lz4 where the broker itself compresses.", minimum=1,
    ),
    ConfigKey(
        "compression.type", _STRING, "producer",
        "How batches are stored; producer keeps them as they came.",
        choices=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"), broker_key="compression.type",
    ),
    ConfigKey(
        "compression.zstd.level", _INT, "3",
        "Level of zstd where the broker itself compresses.", minimum=-131_072,
    ),
    ConfigKey(
        "confluent.placement.constraints", _STRING, "",
        "Replica placement as JSON: how many replicas and observers each rack gets, and when observers are promoted.",
        flaw=_not_a_placement, honours=_any, is_listed=False,
    ),
    ConfigKey(
        "delete.retention.ms", _LONG, str(DAY_MS),
        "How long compaction keeps a deletion marker.",
    ),
    ConfigKey(
        "file.delete.delay.ms", _LONG, "60000",
        "How long files of a dropped segment stay on disk.",
    ),
    ConfigKey(
        "flush.messages", _LONG, str(INT64_MAX),
        "1 syncs every append to the disk before it is acknowledged; the default leaves it to the operating system.",
        minimum=1, honours=_every_message, broker_key="log.flush.interval.messages",
    ),
    ConfigKey(
        "flush.ms", _LONG, str(INT64_MAX),
        "Longest time that an append may wait for a sync.",
    ),
    ConfigKey(
        "follower.replication.throttled.replicas", _LIST, "",
        "Replicas whose replication is throttled on the follower's side.",
        flaw=_not_replicas, honours=_any,
    ),
    ConfigKey(
        "index.interval.bytes", _INT, "4096",
        "Bytes of log between two entries of the offset index.", broker_key="log.index.interval.bytes",
    ),
    ConfigKey(
        "internal.segment.bytes", _INT, str(1 << 30),
        "segment.bytes without its lower bound, for tests; never listed.",
        minimum=1, honours=_any, is_listed=False,
    ),
    ConfigKey(
        "leader.replication.throttled.replicas", _LIST, "",
        "Replicas whose replication is throttled on the leader's side.",
        flaw=_not_replicas, honours=_any,
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
        "Longest time that a record may escape compaction.", minimum=1,
    ),
    ConfigKey(
        "max.message.bytes", _INT, "1048588",
        "Largest batch that the topic takes, in bytes as sent.",
        honours=_any, broker_key="message.max.bytes",
    ),
    ConfigKey(
        "message.timestamp.after.max.ms", _LONG, "3600000",
        "How far ahead of the broker's clock a record's timestamp may lie.",
        honours=_any, broker_key="log.message.timestamp.after.max.ms",
    ),
    ConfigKey(
        "message.timestamp.before.max.ms", _LONG, str(INT64_MAX),
        "How far behind the broker's clock a record's timestamp may lie.",
        honours=_any, broker_key="log.message.timestamp.before.max.ms",
    ),
    ConfigKey(
        "message.timestamp.type", _STRING, "CreateTime",
        "Whether timestamps are the producer's (CreateTime) or the broker's (LogAppendTime).",
        choices=("CreateTime", "LogAppendTime"), honours=_any, broker_key="log.message.timestamp.type",
    ),
    ConfigKey(
        "min.cleanable.dirty.ratio", _DOUBLE, "0.5",
        "Share of a log that must be uncompacted before compaction looks at it.",
    ),
    ConfigKey(
        "min.compaction.lag.ms", _LONG, "0",
        "How long a record is safe from compaction.",
    ),
    ConfigKey(
        "min.insync.replicas", _INT, "1",
        "Replicas that must hold a batch before acks=all is answered.",
        minimum=1, honours=_any, broker_key="min.insync.replicas", is_regions=True,
    ),
    ConfigKey(
        "preallocate", _BOOLEAN, "false",
        "Whether a new segment takes its full size on disk at once.",
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
        minimum=-1, honours=_any, broker_key="log.retention.bytes",
    ),
    ConfigKey(
        "retention.ms", _LONG, str(7 * DAY_MS),
        "How long a sealed segment is kept after its newest record; -1 is for ever.",
        minimum=-1, honours=_any, broker_key="log.retention.ms",
    ),
    ConfigKey(
        "segment.bytes", _INT, str(1 << 30),
        "Size at which a segment is sealed.",
        minimum=1 * MIB, honours=_any, broker_key="log.segment.bytes",
    ),
    ConfigKey(
        "segment.index.bytes", _INT, str(10 * MIB),
        "Largest size of a segment's index files.", minimum=4,
    ),
    ConfigKey(
        "segment.jitter.ms", _LONG, "0",
        "Random time taken off segment.ms, so that segments are not all sealed at once.",
    ),
    ConfigKey(
        "segment.ms", _LONG, str(7 * DAY_MS),
        "Age at which a segment is sealed even if it is not full.",
        minimum=1, honours=_any, broker_key="log.roll.ms",
    ),
    ConfigKey(
        "unclean.leader.election.enable", _BOOLEAN, "false",
        "Whether a replica outside the in-sync set may lead when no other is left.",
        honours=_any, broker_key="unclean.leader.election.enable", is_regions=True,
    ),
)  # fmt: skip

_BROKER_KEYS = (
    ConfigKey(
        "follower.replication.throttled.rate", _LONG, str(INT64_MAX),
        "Bytes a second that this broker fetches at most for the replicas that topics name as throttled.", honours=_any,
    ),
    ConfigKey(
        "leader.replication.throttled.rate", _LONG, str(INT64_MAX),
        "Bytes a second that this broker sends at most to the replicas that topics name as throttled.", honours=_any,
    ),
    ConfigKey(
        "replica.alter.log.dirs.io.max.bytes.per.second", _LONG, str(INT64_MAX),
        "Bytes a second that this broker copies at most from one of its log directories to another.", honours=_any,
    ),
)  # fmt: skip

TOPIC_KEYS = {key.name: key for key in _KEYS}
# Node settings that can be changed while brokers run: those that are a topic's default, and throttles.
DYNAMIC_BROKER_KEYS = {
    key.broker_key: key for key in _KEYS if key.broker_key is not None and key.honours is not None
} | {key.name: key for key in _BROKER_KEYS}
