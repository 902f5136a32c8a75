"""A node's own settings, read once from TOML; the keys are Kafka's names.

TOML's dotted keys spell them without quotes (`log.segment.bytes = 1073741824`); a key that is the beginning of
another one needs them where both are set (`"link.max.streams" = 40`). Unknown keys and values out of
range are refused, all of them in one `ConfigError`, and nothing is started.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PrivateAttr, ValidationError, field_validator

from brokers.config import endpoints, replica_placement
from brokers.config.config_checks import contradictions
from brokers.config.disk_settings import DiskSettings
from brokers.config.given_settings import similar, sort_out, verdict
from brokers.config.group_settings import GroupSettings
from brokers.config.kafka_keys import KeyVerdict
from brokers.config.link_limits import LinkLimits
from brokers.config.log_cleaner_settings import LogCleanerSettings
from brokers.config.log_settings import LogSettings
from brokers.config.operation_settings import OperationSettings
from brokers.config.peer_limits import PeerLimits
from brokers.config.quorum_settings import QuorumSettings
from brokers.ids import Peer

MIB = 1 << 20
DAY_MS = 86_400_000
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

Bytes32 = Annotated[int, Field(ge=1, le=INT32_MAX)]
Millis = Annotated[int, Field(ge=1, le=INT64_MAX)]
Limit = Annotated[int, Field(ge=-1, le=INT64_MAX)]  # -1: without limit


REPEATED = "given more than once; the last value counts"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class ConfigError(ValueError):
    """Everything that is wrong with a configuration, one line a problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class BrokerConfig(
    QuorumSettings,
    GroupSettings,
    LogSettings,
    DiskSettings,
    OperationSettings,
    LogCleanerSettings,
    LinkLimits,
    PeerLimits,
):
    """The settings of one node. Defaults are Kafka's unless the comment says why not."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    node_id: Annotated[int, Field(ge=0, le=INT32_MAX, alias="node.id")]
    # One directory or several, each on a disk of its own: one that fails takes only what lies in it.
    log_dirs: Annotated[str, Field(min_length=1, alias="log.dirs")]
    # Where the metadata log is; None: in the first of log.dirs. A node does not go on without this one.
    metadata_log_dir: Annotated[str | None, Field(min_length=1, alias="metadata.log.dir")] = None
    # How long the controller may not know that a directory failed, before the broker ends.
    log_dir_failure_timeout_ms: Annotated[Millis, Field(alias="log.dir.failure.timeout.ms")] = (
        30_000
    )
    cluster_id: Annotated[
        str | None, Field(alias="cluster.id", pattern=r"^[A-Za-z0-9_-]{1,64}$")
    ] = None
    process_roles: Annotated[str, Field(alias="process.roles")] = "broker,controller"
    # Where the same process serves other regions' links, and administration, over gRPC; a broker only advertises it.
    link_listener: Annotated[str | None, Field(alias="link.listener")] = None
    # Where other regions reach link.listener, if that is elsewhere: behind a proxy, or an address translation.
    link_advertised_listener: Annotated[str | None, Field(alias="link.advertised.listener")] = None
    admin_listener: Annotated[str | None, Field(alias="admin.listener")] = None
    # The address of /metrics and /health, over HTTP. None: they are not served.
    metrics_listener: Annotated[str | None, Field(alias="metrics.listener")] = None
    # Ours: requests that took so long are logged, each in a line; -1: none. Waiting that is asked for does not count.
    slow_request_log_ms: Annotated[Limit, Field(alias="slow.request.log.ms")] = -1
    # The address of REST v3, for links and mirror topics, over HTTP. None: it is not served.
    rest_listener: Annotated[str | None, Field(alias="rest.listener")] = None
    log_format: Annotated[Literal["text", "json"], Field(alias="log.format")] = "text"
    broker_rack: Annotated[str | None, Field(alias="broker.rack")] = None
    # Nodes on one machine fail together, so the replicas of a partition are kept on different hosts while they can.
    broker_host: Annotated[str | None, Field(alias="broker.host", min_length=1)] = None

    broker_heartbeat_interval_ms: Annotated[
        Bytes32, Field(alias="broker.heartbeat.interval.ms")
    ] = 2_000
    broker_session_timeout_ms: Annotated[Bytes32, Field(alias="broker.session.timeout.ms")] = 9_000

    auto_create_topics_enable: Annotated[bool, Field(alias="auto.create.topics.enable")] = True
    delete_topic_enable: Annotated[bool, Field(alias="delete.topic.enable")] = True
    num_partitions: Annotated[int, Field(ge=1, le=100_000, alias="num.partitions")] = 1
    default_replication_factor: Annotated[
        int, Field(ge=1, le=32_767, alias="default.replication.factor")
    ] = 1
    min_insync_replicas: Annotated[Bytes32, Field(alias="min.insync.replicas")] = 1
    unclean_leader_election_enable: Annotated[
        bool, Field(alias="unclean.leader.election.enable")
    ] = False
    auto_leader_rebalance_enable: Annotated[bool, Field(alias="auto.leader.rebalance.enable")] = (
        True
    )
    leader_imbalance_check_interval_seconds: Annotated[
        Bytes32, Field(alias="leader.imbalance.check.interval.seconds")
    ] = 300
    # Racks whose replicas lead where they can, the best first; replicas elsewhere come after them.
    leader_preference_racks: Annotated[str, Field(alias="leader.preference.racks")] = ""
    # Replica placement of topics that are created without one of their own, and without a replication factor.
    confluent_log_placement_constraints: Annotated[
        str, Field(alias="confluent.log.placement.constraints")
    ] = ""
    confluent_offsets_topic_placement_constraints: Annotated[
        str, Field(alias="confluent.offsets.topic.placement.constraints")
    ] = ""
    confluent_transaction_state_log_placement_constraints: Annotated[
        str, Field(alias="confluent.transaction.state.log.placement.constraints")
    ] = ""

    message_max_bytes: Annotated[int, Field(ge=0, le=INT32_MAX, alias="message.max.bytes")] = (
        1048588
    )
    socket_request_max_bytes: Annotated[Bytes32, Field(alias="socket.request.max.bytes")] = (
        100 * MIB
    )
    # -1: the system's own, which grows. A consumer far away is faster with that, one nearby costs half with this, and
    # with Kafka's 100 KiB somewhat more.
    socket_send_buffer_bytes: Annotated[
        int, Field(ge=-1, le=INT32_MAX, alias="socket.send.buffer.bytes")
    ] = 128 * 1024
    # -1: the system's own, which grows as a connection needs it; Kafka's 100 KiB hold back a producer far away.
    socket_receive_buffer_bytes: Annotated[
        int, Field(ge=-1, le=INT32_MAX, alias="socket.receive.buffer.bytes")
    ] = -1
    # Kafka's 50 refuse some of many clients that come at once, and a refused connection means a dead process here.
    socket_listen_backlog_size: Annotated[Bytes32, Field(alias="socket.listen.backlog.size")] = 1024
    max_connections: Annotated[Bytes32, Field(alias="max.connections")] = INT32_MAX
    max_connections_per_ip: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="max.connections.per.ip")
    ] = INT32_MAX
    # ADDRESS:COUNT,...: limits of single addresses instead of max.connections.per.ip
    max_connections_per_ip_overrides: Annotated[
        str, Field(alias="max.connections.per.ip.overrides")
    ] = ""
    max_request_partition_size_limit: Annotated[
        Bytes32, Field(alias="max.request.partition.size.limit")
    ] = 2_000
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
    log_message_timestamp_type: Annotated[
        Literal["CreateTime", "LogAppendTime"], Field(alias="log.message.timestamp.type")
    ] = "CreateTime"
    # What the orphan store of each log directory may hold; a tail that does not fit stops its truncation.
    orphan_store_max_bytes: Annotated[Limit, Field(alias="orphan.store.max.bytes")] = -1
    replica_lag_time_max_ms: Annotated[Millis, Field(alias="replica.lag.time.max.ms")] = 30_000
    replica_fetch_wait_max_ms: Annotated[Bytes32, Field(alias="replica.fetch.wait.max.ms")] = 500
    replica_fetch_min_bytes: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="replica.fetch.min.bytes")
    ] = 1
    replica_fetch_max_bytes: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="replica.fetch.max.bytes")
    ] = 1 * MIB
    replica_fetch_response_max_bytes: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="replica.fetch.response.max.bytes")
    ] = 10 * MIB
    # The longest pause after a failed fetch; the first attempts follow faster than in Kafka.
    replica_fetch_backoff_ms: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="replica.fetch.backoff.ms")
    ] = 1_000
    replica_socket_timeout_ms: Annotated[Bytes32, Field(alias="replica.socket.timeout.ms")] = 30_000
    num_replica_fetchers: Annotated[int, Field(ge=1, le=1_000, alias="num.replica.fetchers")] = 1
    replica_selector_class: Annotated[
        Literal["org.apache.kafka.common.replica.RackAwareReplicaSelector"] | None,
        Field(alias="replica.selector.class"),
    ] = None
    replica_high_watermark_checkpoint_interval_ms: Annotated[
        Millis, Field(alias="replica.high.watermark.checkpoint.interval.ms")
    ] = 5_000
    producer_id_expiration_ms: Annotated[Millis, Field(alias="producer.id.expiration.ms")] = DAY_MS
    metadata_max_idle_interval_ms: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="metadata.max.idle.interval.ms")
    ] = 500
    metadata_log_max_record_bytes_between_snapshots: Annotated[
        Millis, Field(alias="metadata.log.max.record.bytes.between.snapshots")
    ] = 20 * MIB

    _given: tuple[tuple[str, str], ...] = PrivateAttr(default=())
    _repeated: tuple[str, ...] = PrivateAttr(default=())

    @field_validator("process_roles")
    @classmethod
    def _roles(cls, value: str) -> str:
        roles = endpoints.names(value)
        if len(set(roles)) < len(roles) or not set(roles) <= {"broker", "controller"}:
            raise ValueError("give broker, controller, or broker,controller")
        return value

    @field_validator(
        "link_listener",
        "admin_listener",
        "metrics_listener",
        "rest_listener",
        "link_advertised_listener",
    )
    @classmethod
    def _endpoint(cls, value: str | None) -> str | None:
        if value is not None:
            endpoints.endpoint(value)
        return value

    @field_validator("max_connections_per_ip_overrides")
    @classmethod
    def _overrides(cls, value: str) -> str:
        endpoints.counts(value)
        return value

    @field_validator(
        "confluent_log_placement_constraints",
        "confluent_offsets_topic_placement_constraints",
        "confluent_transaction_state_log_placement_constraints",
    )
    @classmethod
    def _placement(cls, value: str) -> str:
        replica_placement.parse(value)
        return value

    # --- parsed settings ---

    @property
    def preferred_racks(self) -> tuple[str, ...]:
        return tuple(rack for rack in endpoints.names(self.leader_preference_racks) if rack)

    @property
    def directories(self) -> tuple[str, ...]:
        """`log.dirs`, one by one."""
        return endpoints.names(self.log_dirs)

    @property
    def metadata_directory(self) -> str:
        """Where the metadata log is."""
        return self.metadata_log_dir or self.directories[0]

    @property
    def is_broker(self) -> bool:
        return "broker" in endpoints.names(self.process_roles)

    @property
    def is_controller(self) -> bool:
        return "controller" in endpoints.names(self.process_roles)

    @property
    def is_alone(self) -> bool:
        """Whether this node is a whole region: it decides alone, and no other could ask it to."""
        return self.is_broker and self.decides_alone and self.controller_listener is None

    @property
    def hold_limits(self) -> tuple[int, int]:
        """Bytes, and the age in milliseconds, of what is kept for mirrors in other regions."""
        return self.link_retention_hold_max_bytes, self.link_retention_hold_max_ms

    @property
    def decides_alone(self) -> bool:
        """Whether it is the only one of the first voters."""
        return self.is_controller and [each.node_id for each in self.voters] == [self.node_id]

    @property
    def joins_others(self) -> bool:
        """Whether it names no voters, but other controllers than itself, which know them."""
        own = self.controller_address
        asks = any(
            where.port != own.port or where.host not in (own.host, *_LOOPBACK)
            for where in self.bootstrap_controllers
            if own is not None
        )
        return self.controller_quorum_voters is None and (asks or not self.is_controller)

    @property
    def voters(self) -> tuple[Peer, ...]:
        """The first voters of the quorum: this node alone where none are given.

        None, where this node has to ask others for the quorum.
        """
        if self.controller_quorum_voters is not None:
            return endpoints.voters(self.controller_quorum_voters)
        if not self.is_controller or self.joins_others:
            return ()
        own = self.controller_address or next(iter(self.listeners_by_name.values()))
        return (Peer(self.node_id, *own),)

    @property
    def connections_by_ip(self) -> Mapping[str, int]:
        """`max.connections.per.ip.overrides`, by address."""
        return endpoints.counts(self.max_connections_per_ip_overrides)

    def by_kafka_name(self) -> Iterator[tuple[str, Any, Any]]:
        """(Kafka's name, value, default) of every setting, for DescribeConfigs."""
        for name, field in type(self).model_fields.items():
            yield field.alias or name, getattr(self, name), field.get_default()

    @property
    def given(self) -> tuple[tuple[str, str], ...]:
        """The keys of the file that are not fields, with their values, but for secrets."""
        return self._given

    def warnings(self) -> Iterator[str]:
        """One sentence for each key of the file that has no effect, or is given more than once."""
        yield from (f"{name}: {REPEATED}" for name in self._repeated)
        for name, value in self._given:
            kind, why = verdict(name, FIELD_KEYS)
            if kind in (KeyVerdict.NO_EFFECT, KeyVerdict.UNKNOWN):
                yield f"{name}={value} has no effect: {why}"


FIELD_KEYS = frozenset(field.alias or name for name, field in BrokerConfig.model_fields.items())


def parse(text: str) -> BrokerConfig:
    """TOML -> BrokerConfig, or ConfigError with every problem."""
    return from_settings(from_toml(text))


def from_toml(text: str) -> dict[str, Any]:
    """TOML -> settings by Kafka's names; raises ConfigError."""
    try:
        return dict(_flatten(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        is_nested = "overwrite a value" in str(error)
        hint = "; a key that is the beginning of another one needs quotes" if is_nested else ""
        raise ConfigError([f"not TOML: {error}{hint}"]) from None


def from_settings(
    settings: Mapping[str, Any], *, takes_unknown: bool = False, repeated: Iterable[str] = ()
) -> BrokerConfig:
    """Kafka names -> BrokerConfig, or ConfigError with every problem.

    `takes_unknown`: keys that neither Kafka nor this release knows have no effect, as in Kafka; else they are refused.
    `repeated`: keys whose file gives them more than once, which a node warns of.
    """
    given = sort_out(settings, FIELD_KEYS, takes_unknown=takes_unknown)
    problems = list(given.problems)
    try:
        config = BrokerConfig.model_validate(given.fields)
    except ValidationError as error:
        raise ConfigError([*problems, *(_problem(item) for item in error.errors())]) from None
    if problems := [*problems, *contradictions(config)]:
        raise ConfigError(problems)
    config._given = tuple(given.others.items())
    config._repeated = tuple(repeated)
    return config


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _problem(error: Any) -> str:
    name = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"{name}: unknown setting{similar(name, FIELD_KEYS)}"
    if error["type"] == "missing":
        return f"{name}: required"
    return f"{name}: {error['msg']} (given {error['input']!r})"
