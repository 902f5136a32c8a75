"""gRPC's settings, for each end of links and of administration."""

from typing import Final, TypeAlias

from linker.peer_limits import CommandLimits, StreamLimits

Options: TypeAlias = tuple[tuple[str, int], ...]

MIB: Final = 1 << 20
REQUEST_BYTES_MAX: Final = 4 * MIB  # of a message that every `link.listener` takes, of any release
CALLS_MAX: Final = (
    100  # of one connection, at least (RFC 9113, 6.5.2); those beyond are not heard of
)
ENVELOPE_BYTES: Final = 1 * MIB  # of a frame, around its chunk
HTTP2_WINDOW_MAX: Final = (1 << 31) - 1  # RFC 9113, 6.9.1
OPEN_METHOD: Final = "/linker.wire.v1.Link/Open"

_KEEPALIVE: Final = (
    # A peer that is gone without closing is noticed within 15 s, on idle streams too.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
)

# gRPC would share a port with another node's server, and take half of its connections.
_PORT_OF_ITS_OWN: Final = (("grpc.so_reuseport", 0),)

# A connection that is not HTTP/2's, and one without a call, holds memory, and one of so many connections.
_NOT_IDLE: Final = (
    ("grpc.server_handshake_timeout_ms", 10_000),
    ("grpc.max_connection_idle_ms", 30_000),
)


def link_server_options(limits: StreamLimits) -> Options:
    """Of `link.listener`."""
    return (
        *_KEEPALIVE,
        *_PORT_OF_ITS_OWN,
        *_NOT_IDLE,
        ("grpc.http2.max_frame_size", 1 * MIB),
        ("grpc.max_concurrent_streams", max(limits.total, CALLS_MAX)),
        ("grpc.max_allowed_incoming_connections", limits.connections),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_receive_message_length", REQUEST_BYTES_MAX),
    )


def dial_options(chunk_bytes_max: int) -> Options:
    """Of a node that takes chunks of so many bytes."""
    largest = chunk_bytes_max + ENVELOPE_BYTES
    return (
        *_KEEPALIVE,
        ("grpc.http2.max_frame_size", 1 * MIB),
        ("grpc.max_receive_message_length", largest),
        # Every dial is a new attempt: the link decides on the pauses between them, not the channel.
        ("grpc.use_local_subchannel_pool", 1),
    )


def admin_server_options(limits: CommandLimits) -> Options:
    """Of `admin.listener`."""
    return (
        *_PORT_OF_ITS_OWN,
        *_NOT_IDLE,
        # Its windows would grow to megabytes, which come before anybody reads.
        ("grpc.http2.bdp_probe", 0),
        ("grpc.max_concurrent_streams", max(limits.total, CALLS_MAX)),
        ("grpc.max_allowed_incoming_connections", limits.connections),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_receive_message_length", limits.request_bytes),
    )


# The command line trusts the region it asks: facts of 10,000 partitions are larger than gRPC's default of 4 MB.
ADMINISTRATOR_OPTIONS: Final[Options] = (("grpc.max_receive_message_length", -1),)
