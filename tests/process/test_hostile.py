"""Clients that announce and do not send, send garbage, or send batches that lie: refused, the node unharmed."""

import socket
import struct
from contextlib import ExitStack
from random import Random

import psutil
import pytest

from tests.bench import frames
from tests.process.asking import exactly
from tests.process.ledger import create_topic
from tests.process.nodes import BrokerProcess

MIB = 1 << 20
NONE, CORRUPT_MESSAGE, INVALID_RECORD = 0, 2, 87
NOW_MS = 1_700_000_000_000


def connect(node: BrokerProcess) -> socket.socket:
    return socket.create_connection(node.bootstrap, timeout=20)


def ask(connection: socket.socket, request: bytes) -> bytes:
    connection.sendall(request)
    return receive(connection)


def receive(connection: socket.socket) -> bytes:
    (length,) = struct.unpack(">i", exactly(connection, 4))
    return exactly(connection, length)


def answers(node: BrokerProcess) -> bool:
    """Whether the node still serves somebody else."""
    with connect(node) as connection:
        return len(ask(connection, frames.frame(frames.API_VERSIONS, 0))) > 8


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_200_announcements_of_100_mib_cost_nothing(node: BrokerProcess) -> None:
    resident = psutil.Process(node.pid).memory_info().rss
    with ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(connect(node)).sendall(struct.pack(">i", 100 * MIB))
        assert answers(node)
        grown = psutil.Process(node.pid).memory_info().rss - resident
        assert grown < 32 * MIB, f"{grown} bytes"


@pytest.mark.parametrize("length", [-1, -(1 << 31), 100 * MIB + 1, (1 << 31) - 1])
def test_an_illegal_frame_length_closes_the_connection(node: BrokerProcess, length: int) -> None:
    with connect(node) as connection:
        connection.sendall(struct.pack(">i", length))
        assert is_closed(connection)
    assert answers(node)


@pytest.mark.parametrize("key", [-1, 4, 999])
def test_an_unknown_api_closes_the_connection(node: BrokerProcess, key: int) -> None:
    with connect(node) as connection:
        connection.sendall(frames.frame(key, 0))
        assert is_closed(connection)
    assert answers(node)


def test_garbage_closes_only_its_own_connection(node: BrokerProcess, rng: Random) -> None:
    with connect(node) as bystander:
        for size in (0, 1, 7, 100, 5000):
            with connect(node) as connection:
                connection.sendall(struct.pack(">i", size) + rng.randbytes(size))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 16):
                    pass
        assert len(ask(bystander, frames.frame(frames.API_VERSIONS, 0))) > 8


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(node: BrokerProcess) -> None:
    with connect(node) as connection:
        answer = ask(connection, frames.frame(frames.API_VERSIONS, 99))
        assert struct.unpack(">ihihhh", answer) == (0, 35, 1, 18, 0, 4)
        assert len(ask(connection, frames.frame(frames.API_VERSIONS, 0))) > 8


def _error_of(connection: socket.socket, data: bytes) -> int:
    answer = ask(connection, bytes(frames.produce("orders", 0, len(data))) + data)
    at = 4 + 4 + 2 + len("orders") + 4 + 4  # correlation, topics, name, partitions, index
    code: int = struct.unpack_from(">h", answer, at)[0]
    return code


def test_a_batch_that_lies_is_refused_the_connection_kept_and_the_log_untouched(
    node: BrokerProcess,
) -> None:
    create_topic(node.address, "orders", 1)
    good = frames.batch([b"x" * 100], NOW_MS)
    log = node.data / "orders-0" / ("0" * 20 + ".log")
    with connect(node) as connection:
        assert _error_of(connection, good) == NONE
        held = log.read_bytes()
        flipped = good[:-1] + bytes([good[-1] ^ 1])
        old_magic = good[:16] + b"\1" + good[17:]
        assert _error_of(connection, flipped) == CORRUPT_MESSAGE
        assert _error_of(connection, old_magic) == INVALID_RECORD
        assert _error_of(connection, good[:-1]) == CORRUPT_MESSAGE
        assert _error_of(connection, good + good) == INVALID_RECORD
        assert _error_of(connection, b"") == INVALID_RECORD
        assert log.read_bytes() == held
        assert _error_of(connection, good) == NONE
        assert len(log.read_bytes()) == 2 * len(held)


def test_a_request_sent_byte_by_byte_is_answered(node: BrokerProcess) -> None:
    with connect(node) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in bytes(frames.frame(frames.API_VERSIONS, 0)):
            connection.sendall(bytes([byte]))
        assert len(receive(connection)) > 8
