"""A node's own settings, read once from TOML; the keys are Kafka's names.

TOML's dotted keys spell them without quotes (`log.segment.bytes = 1073741824`). Unknown keys and values out of
range are refused, all of them in one `ConfigError`, and nothing is started.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

MIB = 1 << 20
DAY_MS = 86_400_000
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

_LISTENER = re.compile(r"^PLAINTEXT://(?P<host>[^:/\[\]]*|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})$")
_ENDPOINT = re.compile(r"^(?P<host>[^:/\[\]]*|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})$")

Bytes32 = Annotated[int, Field(ge=1, le=INT32_MAX)]
Millis = Annotated[int, Field(ge=1, le=INT64_MAX)]
Limit = Annotated[int, Field(ge=-1, le=INT64_MAX)]  # -1: without limit


class ConfigError(ValueError):
    """Everything that is wrong with a configuration, one line a problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class BrokerConfig(BaseModel):
    """What one node may be told. Defaults are Kafka's unless the comment says why not."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    node_id: Annotated[int, Field(ge=0, le=INT32_MAX, alias="node.id")]
    log_dirs: Annotated[str, Field(min_length=1, alias="log.dirs")]
    cluster_id: Annotated[
        str | None, Field(alias="cluster.id", pattern=r"^[A-Za-z0-9_-]{1,64}$")
    ] = None
    listeners: str = "PLAINTEXT://127.0.0.1:9092"
    advertised_listeners: Annotated[str | None, Field(alias="advertised.listeners")] = None
    # Where the same process serves links and administration over gRPC; a broker only advertises it.
    admin_listener: Annotated[str | None, Field(alias="admin.listener")] = None
    broker_rack: Annotated[str | None, Field(alias="broker.rack")] = None

    auto_create_topics_enable: Annotated[bool, Field(alias="auto.create.topics.enable")] = True
    num_partitions: Annotated[int, Field(ge=1, le=100_000, alias="num.partitions")] = 1
    default_replication_factor: Annotated[Literal[1], Field(alias="default.replication.factor")] = 1
    offsets_topic_num_partitions: Annotated[
        int, Field(ge=1, le=10_000, alias="offsets.topic.num.partitions")
    ] = 50

    message_max_bytes: Annotated[int, Field(ge=0, le=INT32_MAX, alias="message.max.bytes")] = (
        1048588
    )
    socket_request_max_bytes: Annotated[Bytes32, Field(alias="socket.request.max.bytes")] = (
        100 * MIB
    )
    max_connections: Annotated[Bytes32, Field(alias="max.connections")] = INT32_MAX
    connections_max_idle_ms: Annotated[Millis, Field(alias="connections.max.idle.ms")] = 600_000
    fetch_max_bytes: Annotated[int, Field(ge=1024, le=INT32_MAX, alias="fetch.max.bytes")] = (
        55 * MIB
    )

    log_segment_bytes: Annotated[
        int, Field(ge=1 * MIB, le=INT32_MAX, alias="log.segment.bytes")
    ] = 1 << 30
    log_roll_ms: Annotated[Millis, Field(alias="log.roll.ms")] = 7 * DAY_MS
    log_retention_ms: Annotated[Limit, Field(alias="log.retention.ms")] = 7 * DAY_MS
    log_retention_bytes: Annotated[Limit, Field(alias="log.retention.bytes")] = -1
    log_retention_check_interval_ms: Annotated[
        Millis, Field(alias="log.retention.check.interval.ms")
    ] = 300_000
    log_index_interval_bytes: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="log.index.interval.bytes")
    ] = 4096
    # 1: every append is acknowledged after its fsync; the maximum, Kafka's default: the page cache is trusted.
    log_flush_interval_messages: Annotated[
        Literal[1, 9223372036854775807], Field(alias="log.flush.interval.messages")
    ] = 9223372036854775807
    log_message_timestamp_type: Annotated[
        Literal["CreateTime", "LogAppendTime"], Field(alias="log.message.timestamp.type")
    ] = "CreateTime"
    replica_high_watermark_checkpoint_interval_ms: Annotated[
        Millis, Field(alias="replica.high.watermark.checkpoint.interval.ms")
    ] = 5_000
    producer_id_expiration_ms: Annotated[Millis, Field(alias="producer.id.expiration.ms")] = DAY_MS
    metadata_log_max_record_bytes_between_snapshots: Annotated[
        Millis, Field(alias="metadata.log.max.record.bytes.between.snapshots")
    ] = 20 * MIB

    group_initial_rebalance_delay_ms: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="group.initial.rebalance.delay.ms")
    ] = 3_000
    group_min_session_timeout_ms: Annotated[
        Bytes32, Field(alias="group.min.session.timeout.ms")
    ] = 6_000
    group_max_session_timeout_ms: Annotated[
        Bytes32, Field(alias="group.max.session.timeout.ms")
    ] = 1_800_000
    group_max_size: Annotated[Bytes32, Field(alias="group.max.size")] = INT32_MAX
    offset_metadata_max_bytes: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="offset.metadata.max.bytes")
    ] = 4096
    offsets_retention_minutes: Annotated[Bytes32, Field(alias="offsets.retention.minutes")] = 10_080
    offsets_retention_check_interval_ms: Annotated[
        Millis, Field(alias="offsets.retention.check.interval.ms")
    ] = 600_000

    @field_validator("listeners", "advertised_listeners")
    @classmethod
    def _one_plaintext_listener(cls, value: str | None) -> str | None:
        if value is not None and not _LISTENER.match(value):
            raise ValueError("give one listener as PLAINTEXT://HOST:PORT")
        return value

    @field_validator("admin_listener")
    @classmethod
    def _endpoint(cls, value: str | None) -> str | None:
        if value is not None and not _ENDPOINT.match(value):
            raise ValueError("give HOST:PORT")
        return value

    @property
    def listen_address(self) -> tuple[str, int]:
        """Host and port to bind; port 0 takes any free one."""
        return host_and_port(self.listeners)

    @property
    def advertised_address(self) -> tuple[str, int]:
        """Host and port that clients are told."""
        return host_and_port(self.advertised_listeners or self.listeners)

    def by_kafka_name(self) -> Iterator[tuple[str, Any, Any]]:
        """(Kafka's name, value, default) of every setting, for DescribeConfigs."""
        for name, field in type(self).model_fields.items():
            yield field.alias or name, getattr(self, name), field.get_default()


def host_and_port(listener: str) -> tuple[str, int]:
    """The address in `PLAINTEXT://HOST:PORT` or `HOST:PORT`."""
    host, _, port = listener.removeprefix("PLAINTEXT://").rpartition(":")
    return host.strip("[]"), int(port)


def parse(text: str) -> BrokerConfig:
    """TOML -> BrokerConfig, or ConfigError with every problem."""
    try:
        settings = dict(_flatten(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([f"not TOML: {error}"]) from None
    return from_settings(settings)


def from_settings(settings: Mapping[str, Any]) -> BrokerConfig:
    """Kafka names -> BrokerConfig, or ConfigError with every problem."""
    try:
        config = BrokerConfig.model_validate(settings)
    except ValidationError as error:
        raise ConfigError([_problem(item) for item in error.errors()]) from None
    if problems := list(_contradictions(config)):
        raise ConfigError(problems)
    return config


def _contradictions(config: BrokerConfig) -> Iterator[str]:
    for name, port in (
        ("listeners", config.listen_address[1]),
        ("advertised", config.advertised_address[1]),
    ):
        if port > 65_535:
            yield f"{name}: port {port} is above 65535"
    if config.group_min_session_timeout_ms > config.group_max_session_timeout_ms:
        yield "group.min.session.timeout.ms: above group.max.session.timeout.ms"
    if "," in config.log_dirs:
        yield "log.dirs: give one directory; several are not supported"


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _problem(error: Any) -> str:
    name = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"{name}: unknown setting"
    if error["type"] == "missing":
        return f"{name}: required"
    return f"{name}: {error['msg']} (given {error['input']!r})"
