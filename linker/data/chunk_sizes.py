"""How long the chunks are that a source sends on one stream."""

from typing import Final, NamedTuple

from brokers.errors import KafkaError
from brokers.region import HighWatermarkRead
from linker.events import Stream, is_dialed
from linker.frames import CHUNK_BYTES_MAX, CHUNK_BYTES_MIN, Hello
from linker.protocol_versions import SPLITS_FROM

# Before version 8, where the source dials: `link.listener` takes 4 MiB with what is around it.
WHOLE_BYTES_MAX: Final = (4 << 20) - (64 << 10)
ANY_BYTES: Final = 1 << 62
_DIAL: Final = "upgrade the destination, or let it dial (connection.mode=OUTBOUND there)"
_RAISE: Final = "raise socket.request.max.bytes of its nodes, and restart them"


class ChunkSizes(NamedTuple):
    """Bytes of batches: chunks have the `wanted` ones, and one batch that is longer comes whole, up to `longest`."""

    wanted: int
    longest: int = ANY_BYTES
    advice: str = _RAISE  # to an operator whose batch is longer

    def unsendable(self, read: HighWatermarkRead) -> str:
        """Why what was read cannot be sent; empty if it can."""
        size = len(read.data)
        if read.error is KafkaError.NONE and not size:
            return f"{read.partition} holds nothing at {read.offset}, below its high watermark"
        if size > self.longest:
            return (
                f"{read.partition} has a batch of {size} bytes at offset {read.offset}, and the destination takes"
                f" {self.longest}: {self.advice}"
            )
        return ""


def sizes_for(hello: Hello, version: int, stream: Stream) -> ChunkSizes:
    """As the destination wants them, within what this end allows and the stream carries."""
    wanted = min(max(hello.chunk_bytes, CHUNK_BYTES_MIN), CHUNK_BYTES_MAX)
    if version < SPLITS_FROM and is_dialed(stream):
        return ChunkSizes(wanted, WHOLE_BYTES_MAX, _DIAL)
    return ChunkSizes(wanted, hello.chunk_bytes_max or ANY_BYTES)
