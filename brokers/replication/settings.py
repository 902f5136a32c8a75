"""The replication settings of a node. Names and defaults are Kafka's."""

from dataclasses import dataclass

from brokers.config.broker_config import BrokerConfig

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationSettings:
    fetchers: int = 1  # num.replica.fetchers
    wait_ms_max: int = 500  # replica.fetch.wait.max.ms
    bytes_min: int = 1  # replica.fetch.min.bytes
    partition_bytes_max: int = MIB  # replica.fetch.max.bytes
    response_bytes_max: int = 10 * MIB  # replica.fetch.response.max.bytes
    backoff_ms_max: int = 1_000  # replica.fetch.backoff.ms
    socket_timeout_ms: int = 30_000  # replica.socket.timeout.ms
    lag_ms_max: int = 30_000  # replica.lag.time.max.ms
    session_ms: int = 9_000  # broker.session.timeout.ms
    rack_aware: bool = False  # replica.selector.class


def settings_of(config: BrokerConfig) -> ReplicationSettings:
    return ReplicationSettings(
        fetchers=config.num_replica_fetchers,
        wait_ms_max=config.replica_fetch_wait_max_ms,
        bytes_min=config.replica_fetch_min_bytes,
        partition_bytes_max=config.replica_fetch_max_bytes,
        response_bytes_max=config.replica_fetch_response_max_bytes,
        backoff_ms_max=config.replica_fetch_backoff_ms,
        socket_timeout_ms=config.replica_socket_timeout_ms,
        lag_ms_max=config.replica_lag_time_max_ms,
        session_ms=config.broker_session_timeout_ms,
        rack_aware=config.replica_selector_class is not None,
    )
