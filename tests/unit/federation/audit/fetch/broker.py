"""A Kafka broker as far as an audit needs one: alone in its region, with one log. It misbehaves as it is told."""

import socket
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from brokers.wire import codec
from brokers.wire.message import Message
from brokers.wire.messages import api_versions, fetch, log_dirs, metadata, partition_offsets
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.compaction import Compaction

Answered = Callable[[int, bytes], bytes]
"""From a correlation id and a right answer to the bytes that are sent."""

API_VERSIONS, DESCRIBE_LOG_DIRS, EARLIEST = 18, 35, -2
SERVED = {1: (4, 11), 2: (1, 7), 3: (0, 12), API_VERSIONS: (0, 3)}


def framed(number: int, body: bytes) -> bytes:
    return struct.pack(">ii", len(body) + 4, number) + body


class StoredBatch(Protocol):
    """A batch of the log."""

    @property
    def base_offset(self) -> int: ...
    @property
    def next_offset(self) -> int: ...
    def encoded(self) -> bytes: ...


class Broker:
    """Answers as brokers do: whole batches from the one that holds the offset, the last one cut off at the limit.

    `errors` are error codes for the next fetches, `high_watermarks` those for the next ones; then the log's end.
    `compaction` is what it says of the log, None of an earlier release.
    """

    def __init__(self, key: Key, made: Sequence[StoredBatch], *, max_bytes: int = 1 << 20) -> None:
        self.key, self.made, self.max_bytes = key, made, max_bytes
        self.log_start = made[0].base_offset
        self.errors: list[int] = []
        self.high_watermarks: list[int] = []
        self.compaction: Compaction | None = Compaction()
        self.log_dirs_version = 4
        self.answered: Answered = framed
        self.connections = self.fetches = 0
        self._answers: dict[type[Message], Callable[[Any], Message]] = {
            api_versions.ApiVersionsRequest: self._api_versions,
            metadata.MetadataRequest: self._metadata,
            partition_offsets.ListOffsetsRequest: self._offsets,
            fetch.FetchRequest: self._fetch,
            log_dirs.DescribeLogDirsRequest: self._log_dirs,
        }
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._host, self._port = self._listener.getsockname()
        self.address = f"{self._host}:{self._port}"
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
                if api_key == DESCRIBE_LOG_DIRS and version > self.log_dirs_version:
                    return  # as brokers do with a version that they don't know
                tags = b"\0" if version >= codec.first_flexible(api_key) else b""
                body = memoryview(request)[10 + length + len(tags) :]
                asked = codec.decode_request(api_key, version, body, 0)
                chunks = codec.encode_response(api_key, version, self._answers[type(asked)](asked))
                parts = (one for one in chunks if isinstance(one, bytes | memoryview))
                head = b"" if api_key == API_VERSIONS else tags
                connection.sendall(self.answered(number, b"".join((head, *parts))))

    @property
    def _end(self) -> int:
        return self.made[-1].next_offset

    def _fetch(self, request: fetch.FetchRequest) -> Message:
        (topic,) = request.topics
        (asked,) = topic.partitions
        self.fetches += 1
        watermark = self.high_watermarks.pop(0) if self.high_watermarks else self._end
        error = self.errors.pop(0) if self.errors else 0
        if not error and not self.log_start <= asked.fetch_offset <= watermark:
            error = 1
        there = [one for one in self.made if asked.fetch_offset < one.next_offset <= watermark]
        sizes = [len(one.encoded()) for one in there]
        limit = max(min(asked.partition_max_bytes, self.max_bytes), *sizes[:1], 0)
        records = b"" if error else b"".join(one.encoded() for one in there)[:limit]
        partition = fetch.PartitionData(
            partition_index=asked.partition,
            error_code=error,
            high_watermark=watermark,
            log_start_offset=self.log_start,
            records=records,
        )
        response = fetch.FetchableTopicResponse(topic=topic.topic, partitions=[partition])
        return fetch.FetchResponse(responses=[response])

    def _log_dirs(self, _: log_dirs.DescribeLogDirsRequest) -> Message:
        size, index = sum(len(one.encoded()) for one in self.made), self.key[1]
        log = log_dirs.DescribeLogDirsPartition(partition_index=index, partition_size=size)
        if self.compaction is not None:
            log.complete_from, log.markers_from = self.compaction
        copy = log_dirs.DescribeLogDirsPartition(partition_index=index, is_future_key=True)
        topic = log_dirs.DescribeLogDirsTopic(name=self.key[0], partitions=[log, copy])
        found = log_dirs.DescribeLogDirsResult(log_dir="/data", topics=[topic])
        return log_dirs.DescribeLogDirsResponse(results=[found])

    def _api_versions(self, _: api_versions.ApiVersionsRequest) -> Message:
        served = {**SERVED, DESCRIBE_LOG_DIRS: (1, self.log_dirs_version)}
        return api_versions.ApiVersionsResponse(
            api_keys=[
                api_versions.ApiVersion(api_key=key, min_version=first, max_version=last)
                for key, (first, last) in served.items()
            ]
        )

    def _metadata(self, _: metadata.MetadataRequest) -> Message:
        broker = metadata.MetadataResponseBroker(node_id=1, host=self._host, port=self._port)
        partition = metadata.MetadataResponsePartition(
            partition_index=self.key[1], leader_id=1, replica_nodes=[1], isr_nodes=[1]
        )
        topic = metadata.MetadataResponseTopic(name=self.key[0], partitions=[partition])
        return metadata.MetadataResponse(brokers=[broker], topics=[topic], controller_id=1)

    def _offsets(self, request: partition_offsets.ListOffsetsRequest) -> Message:
        (topic,) = request.topics
        (asked,) = topic.partitions
        offset = self.log_start if asked.timestamp == EARLIEST else self._end
        found = partition_offsets.ListOffsetsPartitionResponse(
            partition_index=asked.partition_index, offset=offset, leader_epoch=0
        )
        response = partition_offsets.ListOffsetsTopicResponse(name=topic.name, partitions=[found])
        return partition_offsets.ListOffsetsResponse(topics=[response])
