"""Whether somebody answers, however badly."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from federation.local.answering import accepts, answers_kafka


@contextmanager
def _listener(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server for one connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def _request(connection: socket.socket) -> tuple[int, int, int]:
    """(key, version, correlation id) of the frame that arrives."""
    received = connection.recv(1_000)
    size, key, version, correlation_id = struct.unpack(">ihhi", received[:12])
    assert size == len(received) - 4
    return key, version, correlation_id


def test_a_broker_that_answers_is_heard() -> None:
    def answer(connection: socket.socket) -> None:
        key, version, correlation_id = _request(connection)
        assert (key, version) == (18, 0)
        body = struct.pack(">ihi", correlation_id, 0, 0)
        connection.sendall(struct.pack(">i", len(body)))
        connection.sendall(body[:3])
        connection.sendall(body[3:])

    with _listener(answer) as address:
        assert answers_kafka(address)


@pytest.mark.parametrize(
    "reply",
    [b"", b"\0", b"HTTP/1.1 400 Bad Request\r\n\r\n", struct.pack(">i", -1), struct.pack(">i", 2**31 - 1),
     struct.pack(">iihi", 10, 1, 0, 0), struct.pack(">iihi", 10, 0, 35, 0), struct.pack(">ii", 4, 0)],
)  # fmt: skip
def test_whatever_else_answers_is_no_broker(reply: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        _request(connection)
        connection.sendall(reply)

    with _listener(answer) as address:
        assert not answers_kafka(address)


def test_silence_ends_with_a_timeout() -> None:
    heard = threading.Event()
    with _listener(lambda connection: assert_heard(heard)) as address:
        assert not answers_kafka(address, timeout_s=0.05)
        heard.set()


def assert_heard(heard: threading.Event) -> None:
    assert heard.wait(30)


def test_nobody_there_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    assert not answers_kafka(address)
    assert not accepts(address)


def test_a_listener_is_seen_without_a_word() -> None:
    with _listener(lambda connection: None) as address:
        assert accepts(address)
