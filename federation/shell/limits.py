"""What a node's settings allow those who reach its listeners, for the parts that keep to it."""

from brokers.config.broker_config import BrokerConfig
from brokers.connection_quotas import ConnectionLimits
from linker.frames import CHUNK_BYTES_MAX
from linker.node_limits import NodeLimits
from linker.peer_limits import CommandLimits, StreamLimits, WatchLimits


def chunk_bytes_max(config: BrokerConfig) -> int:
    """No batch is longer than a request that a producer may send, and a chunk holds at least one."""
    return max(config.socket_request_max_bytes, CHUNK_BYTES_MAX)


def node_limits(config: BrokerConfig) -> NodeLimits:
    return NodeLimits(
        window_growth_max=config.link_window_growth_max_bytes,
        chunk_bytes_max=chunk_bytes_max(config),
        per_second=config.link_io_max_bytes_per_second,
        topics=config.link_max_topics,
        watch=WatchLimits(
            subscriptions=config.link_max_subscriptions,
            subscriptions_per_stream=config.link_max_subscriptions_per_stream,
            name_bytes=config.link_watched_max_bytes,
        ),
    )


def stream_limits(config: BrokerConfig) -> StreamLimits:
    return StreamLimits(
        total=config.link_max_streams,
        per_ip=config.link_max_streams_per_ip,
        connections=config.link_max_connections,
    )


def command_limits(config: BrokerConfig) -> CommandLimits:
    return CommandLimits(
        total=config.admin_max_commands,
        per_ip=config.admin_max_commands_per_ip,
        connections=config.admin_max_connections,
        request_bytes=config.admin_request_max_bytes,
        queued_bytes=config.admin_queued_max_bytes,
    )


def connection_limits(config: BrokerConfig) -> ConnectionLimits:
    """Of `rest.listener` and of `metrics.listener`, each."""
    return ConnectionLimits(
        total=config.http_max_connections, per_ip=config.http_max_connections_per_ip
    )
