"""A Kafka broker as far as an audit needs one: it serves one log, and misbehaves as it is told."""

import socket
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from brokers.wire import codec
from brokers.wire.message import Message
from brokers.wire.messages import fetch as wire
from brokers.wire.messages import log_dirs
from federation.audit.segments.checkpoints import Key
from tests.spark.generate import Made

Answered = Callable[[int, bytes], bytes]
"""From a correlation id and a right answer to the bytes that are sent."""


def framed(number: int, body: bytes) -> bytes:
    return struct.pack(">ii", len(body) + 4, number) + body


class Broker:
    """Answers as brokers do: whole batches from the one that holds the offset, the last one cut off at the limit.

    `errors` are error codes for the next fetches, `high_watermarks` those for the next ones; then the log's end.
    """

    def __init__(self, key: Key, made: Sequence[Made], *, max_bytes: int = 1 << 20) -> None:
        self.key, self.made, self.max_bytes = key, made, max_bytes
        self.log_start = made[0].base_offset
        self.errors: list[int] = []
        self.high_watermarks: list[int] = []
        self.answered: Answered = framed
        self.connections = self.fetches = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        host, port = self._listener.getsockname()
        self.address = f"{host}:{port}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()
        self.hang_up()

    def hang_up(self) -> None:
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                found, _ = self._listener.accept()
                self.connections += 1
                self._open.append(found)
                threading.Thread(target=self._serve, args=(found,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError, struct.error), connection, connection.makefile("rb") as stream:
            while True:
                (size,) = struct.unpack(">i", stream.read(4))
                request = stream.read(size)
                api_key, version, number, length = struct.unpack_from(">hhih", request)
                body = memoryview(request)[10 + length :]
                asked = codec.decode_request(api_key, version, body, 0)
                answer = (
                    self._fetch(asked) if isinstance(asked, wire.FetchRequest) else self._sizes()
                )
                chunks = codec.encode_response(api_key, version, answer)
                whole = b"".join(one for one in chunks if isinstance(one, bytes | memoryview))
                connection.sendall(self.answered(number, whole))

    def _fetch(self, request: wire.FetchRequest) -> Message:
        (topic,) = request.topics
        (asked,) = topic.partitions
        self.fetches += 1
        end = self.made[-1].next_offset
        watermark = self.high_watermarks.pop(0) if self.high_watermarks else end
        error = self.errors.pop(0) if self.errors else 0
        if not error and not self.log_start <= asked.fetch_offset <= watermark:
            error = 1
        there = [one for one in self.made if asked.fetch_offset < one.next_offset <= watermark]
        sizes = [len(one.encoded()) for one in there]
        limit = max(min(asked.partition_max_bytes, self.max_bytes), *sizes[:1], 0)
        records = b"" if error else b"".join(one.encoded() for one in there)[:limit]
        partition = wire.PartitionData(
            partition_index=asked.partition,
            error_code=error,
            high_watermark=watermark,
            log_start_offset=self.log_start,
            records=records,
        )
        response = wire.FetchableTopicResponse(topic=topic.topic, partitions=[partition])
        return wire.FetchResponse(responses=[response])

    def _sizes(self) -> Message:
        size = sum(len(one.encoded()) for one in self.made)
        partition = log_dirs.DescribeLogDirsPartition(
            partition_index=self.key[1], partition_size=size
        )
        topic = log_dirs.DescribeLogDirsTopic(name=self.key[0], partitions=[partition])
        found = log_dirs.DescribeLogDirsResult(log_dir="/data", topics=[topic])
        return log_dirs.DescribeLogDirsResponse(results=[found])
