"""gRPC's settings between regions, the same at both ends."""

from typing import Final

from linker.frames import CHUNK_BYTES_MAX

MIB: Final = 1 << 20

# A destination limits chunks by credit, so HTTP/2's own windows must not be the limit: with gRPC's defaults a stream
# moves 45 MB/s at a round trip of 80 ms, with these 350 MB/s and more.
_CHANNEL_OPTIONS: Final = (
    ("grpc.http2.lookahead_bytes", 64 * MIB),
    ("grpc.http2.bdp_probe", 1),
    ("grpc.http2.max_frame_size", 1 * MIB),
    ("grpc.max_send_message_length", -1),
    # A peer that is gone without closing is noticed within 15 s, on idle streams too.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
)

_ENVELOPE_BYTES: Final = 1 * MIB  # of a frame, around its chunk


def channel_options(request_bytes_max: int) -> tuple[tuple[str, int], ...]:
    """Of a node whose `socket.request.max.bytes` this is: no batch is larger, and a chunk holds at least one."""
    largest = max(request_bytes_max, CHUNK_BYTES_MAX) + _ENVELOPE_BYTES
    return *_CHANNEL_OPTIONS, ("grpc.max_receive_message_length", largest)


def dial_options(request_bytes_max: int) -> tuple[tuple[str, int], ...]:
    """Every dial is a new attempt: the link decides on the pauses between them, not the channel."""
    return *channel_options(request_bytes_max), ("grpc.use_local_subchannel_pool", 1)


# The command line trusts the region it asks: facts of 10,000 partitions are larger than gRPC's default of 4 MB.
ADMINISTRATOR_OPTIONS: Final = (("grpc.max_receive_message_length", -1),)

OPEN_METHOD: Final = "/linker.wire.v1.Link/Open"
