"""Consumers that read slowly, leave midway or never read: what they get is whole, and nobody else is worse off."""

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import psutil
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from tests.bench import answers, frames
from tests.bench.connection import Connection
from tests.process.ledger import create_topic
from tests.process.nodes import BrokerProcess
from tests.process.test_hostile import answers as still_answers

MIB = 1 << 20
NOW_MS = 1_700_000_000_000
TOPIC, PARTITIONS = "orders", 4
BATCH_BYTES = 250_000
RECEIVE_BUFFER = 16 * 1024


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[BrokerProcess]:
    """A node with 4 partitions of 4 segments, a little more than 1 MB each but the last, which is empty or short."""
    node = BrokerProcess(tmp_path, {"log.segment.bytes": MIB})
    node.start()
    create_topic(node.address, TOPIC, PARTITIONS)
    with Connection(node.address) as connection:
        for number in range(16 * PARTITIONS):
            batch = frames.batch([Random(number).randbytes(BATCH_BYTES)], NOW_MS)
            request = frames.produce(TOPIC, number % PARTITIONS, len(batch))
            answers.produced(connection.ask(request, batch))
    yield node
    if node.is_running():
        node.kill()


def request(partitions: int = PARTITIONS, offset: int = 0) -> bytearray:
    wanted = dict.fromkeys(range(partitions), offset)
    return frames.fetch(
        TOPIC, wanted, max_wait_ms=0, max_bytes=50 * MIB, partition_max_bytes=8 * MIB
    )


def connect(node: BrokerProcess) -> socket.socket:
    """Through a buffer so small that most of an answer waits in the node."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    connection.settimeout(20)
    connection.connect(node.bootstrap)
    return connection


def receive(connection: socket.socket, piece: int) -> memoryview:
    """An answer without length and correlation id, in pieces."""
    length, data = 4, bytearray()
    while len(data) < length:
        more = connection.recv(min(piece, length - len(data)))
        if not more:
            raise ConnectionError(f"closed after {len(data)} bytes")
        data += more
        if len(data) == 4:
            length += struct.unpack(">i", data)[0]
    return memoryview(data)[8:]


def first_segment(node: BrokerProcess, partition: int) -> Path:
    return node.data / f"{TOPIC}-{partition}" / ("0" * 20 + ".log")


def stored(node: BrokerProcess) -> list[bytes]:
    return [first_segment(node, partition).read_bytes() for partition in range(PARTITIONS)]


def records(answer: memoryview) -> list[bytes]:
    return [bytes(each.records) for each in answers.fetched(answer)]


def descriptors(node: BrokerProcess) -> int:
    return len(os.listdir(f"/proc/{node.pid}/fd"))


def test_a_slow_reader_gets_all_of_it_while_others_are_served(filled: BrokerProcess) -> None:
    expected = stored(filled)
    assert min(map(len, expected)) > MIB - BATCH_BYTES
    with connect(filled) as slow, Connection(filled.address) as quick:
        slow.sendall(request())
        slow.recv(1, socket.MSG_PEEK)
        assert records(quick.ask(request())) == expected
        assert still_answers(filled)
        assert records(receive(slow, 3_000)) == expected
        slow.sendall(request(1))
        assert records(receive(slow, 100_000)) == expected[:1]


def test_requests_behind_a_long_answer_are_answered_in_order(filled: BrokerProcess) -> None:
    expected = stored(filled)
    with connect(filled) as connection:
        connection.sendall(request(1) + frames.api_versions() + request(2) + frames.api_versions())
        assert records(receive(connection, 50_000)) == expected[:1]
        assert len(receive(connection, 50_000)) > 8
        assert records(receive(connection, 50_000)) == expected[:2]
        assert len(receive(connection, 50_000)) > 8


def test_many_readers_at_once_all_get_the_same(filled: BrokerProcess) -> None:
    expected = stored(filled)
    with ExitStack() as stack:
        readers = [stack.enter_context(connect(filled)) for _ in range(50)]
        for reader in readers:
            reader.sendall(request())
        for reader in readers:
            assert records(receive(reader, 1 << 16)) == expected


def test_readers_that_leave_midway_leave_nothing_behind(filled: BrokerProcess) -> None:
    with Connection(filled.address) as bystander:
        bystander.ask(request())
        before = descriptors(filled)
        for number in range(40):
            with connect(filled) as leaver:
                leaver.sendall(request())
                leaver.recv(1 + 20_000 * (number % 3))
                if number % 2:  # reset, not closed
                    leaver.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert records(bystander.ask(request())) == stored(filled)
        for _ in range(1_000):
            if descriptors(filled) <= before:
                break
            bystander.ask(frames.api_versions())
        assert descriptors(filled) <= before


def test_a_segment_that_is_deleted_while_it_is_sent_arrives_whole(filled: BrokerProcess) -> None:
    expected = stored(filled)
    admin = AdminClient({"bootstrap.servers": filled.address})
    with connect(filled) as reader:
        reader.sendall(request())
        reader.recv(1, socket.MSG_PEEK)
        everything = [TopicPartition(TOPIC, partition, 16) for partition in range(PARTITIONS)]
        for done in admin.delete_records(everything).values():
            assert done.result(20).low_watermark == 16
        assert not any(first_segment(filled, partition).exists() for partition in range(4))
        assert records(receive(reader, 1 << 16)) == expected


def test_a_topic_that_is_deleted_while_it_is_sent_arrives_whole(filled: BrokerProcess) -> None:
    expected = stored(filled)
    admin = AdminClient({"bootstrap.servers": filled.address})
    with connect(filled) as reader:
        reader.sendall(request())
        reader.recv(1, socket.MSG_PEEK)
        admin.delete_topics([TOPIC])[TOPIC].result(20)
        assert records(receive(reader, 1 << 16)) == expected


def test_a_file_that_loses_its_end_while_it_is_sent_ends_the_connection(
    filled: BrokerProcess,
) -> None:
    with connect(filled) as reader:
        reader.sendall(request(1))
        reader.recv(1, socket.MSG_PEEK)
        os.truncate(first_segment(filled, 0), 700_000)
        with pytest.raises(ConnectionError, match="closed after"):
            receive(reader, 1 << 16)
    assert "was cut before byte" in filled.log()
    assert still_answers(filled)


def test_clients_that_ask_and_never_read_cost_no_memory(filled: BrokerProcess) -> None:
    with ExitStack() as stack:
        resident = psutil.Process(filled.pid).memory_info().rss
        for _ in range(50):
            greedy = stack.enter_context(connect(filled))
            greedy.setblocking(False)
            _send_all_it_takes(greedy, bytes(request()) * 1_000)
        assert still_answers(filled)
        grown = psutil.Process(filled.pid).memory_info().rss - resident
        assert grown < 50 * 256 * 1024, f"{grown} bytes"


def _send_all_it_takes(connection: socket.socket, data: bytes) -> None:
    """Until neither socket buffer has room."""
    try:
        while True:
            connection.send(data)
    except BlockingIOError:
        return
