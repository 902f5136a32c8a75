"""The wide area that tests put between regions: what passes through it, and what does not."""

import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.process.delay_proxy import BACK, CUBIC, THERE, DelayProxy, Line, shared_lines
from tests.process.precise_timer import LATE_MAX

TIMEOUT_S = 30
BYTES = 6 << 20


class Far:
    """What the proxy leads to: sends back all that it gets."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._echo, args=(connection,), daemon=True).start()

    def _echo(self, connection: socket.socket) -> None:
        with connection:
            try:
                while data := connection.recv(1 << 16):
                    connection.sendall(data)
            except OSError:
                return

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()


@contextmanager
def proxy(**options: Any) -> Iterator[DelayProxy]:
    far = Far()
    made = DelayProxy("127.0.0.1", far.port, **options).start()
    try:
        yield made
    finally:
        made.stop()
        far.close()


def connect(to: DelayProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", to.port), TIMEOUT_S)


def receive(connection: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        data = connection.recv(1 << 20)
        assert data, "the connection has ended"
        found += data
    return bytes(found)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"delay_ms": 20},
        {"bytes_per_second": 40 << 20},
        {"shared": shared_lines(40 << 20)},
    ],
    ids=["at once", "delayed", "limited", "limited together"],
)
def test_what_is_sent_arrives_as_it_was_in_both_directions(
    options: dict[str, Any], rng: random.Random
) -> None:
    data = rng.randbytes(BYTES)
    with proxy(**options) as wide, connect(wide) as near:
        sending = threading.Thread(target=near.sendall, args=(data,))
        sending.start()
        assert receive(near, BYTES) == data
        sending.join()


def test_nothing_arrives_before_its_delay() -> None:
    with proxy(delay_ms=10) as wide, connect(wide) as near:
        for _ in range(20):
            since = time.monotonic()
            near.sendall(b"said")
            assert receive(near, 4) == b"said"
            assert time.monotonic() - since > 0.020 - 4 * LATE_MAX


def test_what_passes_is_sent_with_linux_default_congestion_control() -> None:
    choices = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    if not choices.exists() or CUBIC not in choices.read_bytes().split():
        pytest.skip("this kernel has no cubic")
    with proxy() as wide, connect(wide) as near:
        near.sendall(b"said")
        assert receive(near, 4) == b"said"
        (passage,) = wide.passages
        for end in passage.ends:
            chosen = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
            assert chosen.rstrip(b"\0") == CUBIC


def test_bytes_leave_a_line_one_after_the_other() -> None:
    line = Line(100)
    assert [line.left_at(50, now) for now in (0, 0, 0.25, 5)] == [0.5, 1, 1.5, 5.5]
    assert [Line(0).left_at(50, now) for now in (0, 5)] == [0, 5]


@pytest.mark.parametrize("shared", [None, shared_lines(100)], ids=["each", "all"])
def test_a_line_is_one_connections_or_all_connections(shared: dict[str, Line] | None) -> None:
    one, other = (DelayProxy("127.0.0.1", 1, bytes_per_second=100, shared=shared) for _ in range(2))
    assert (one.line(THERE) is one.line(THERE)) == (shared is not None)
    assert (one.line(THERE) is other.line(THERE)) == (shared is not None)
    assert one.line(THERE) is not one.line(BACK)


def test_a_process_has_a_proxy_for_each_address() -> None:
    fars = Far(), Far()
    command = [sys.executable, "-m", "tests.process.delay_proxies", "--delay-ms", "1", "--to"]
    command += [f"127.0.0.1:{far.port}" for far in fars]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        ports = [int(port) for port in process.stdout.readline().split()]
        assert len(set(ports)) == len(fars)
        for port, far in zip(ports, fars, strict=True):
            with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as near:
                near.sendall(b"said")
                assert receive(near, 4) == b"said"
            far.close()
            with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as near:
                assert near.recv(1) == b""  # it leads there, and to no other
        process.stdin.close()
    assert process.returncode == 0


def test_an_end_is_heard_of_after_what_came_before_it() -> None:
    with proxy(delay_ms=10) as wide:
        with connect(wide) as near:
            near.sendall(b"said")
            assert receive(near, 4) == b"said"
        with connect(wide) as again:
            again.sendall(b"again")
            assert receive(again, 5) == b"again"


@pytest.mark.parametrize("ways", [(THERE,), (BACK,), (THERE, BACK)])
def test_a_cut_is_silent_and_mending_resets_what_stood(ways: tuple[str, ...]) -> None:
    with proxy() as wide, connect(wide) as near:
        near.sendall(b"before")
        assert receive(near, 6) == b"before"
        wide.cut(*ways)
        near.sendall(b"lost")
        near.settimeout(0.2)
        with pytest.raises(TimeoutError):
            near.recv(1)
        near.settimeout(TIMEOUT_S)
        wide.mend()
        with pytest.raises(ConnectionResetError):
            near.recv(1)
        with connect(wide) as again:
            again.sendall(b"after")
            assert receive(again, 5) == b"after"


def test_who_connects_to_nobody_is_let_go() -> None:
    far = Far()
    far.close()
    wide = DelayProxy("127.0.0.1", far.port).start()
    try:
        with connect(wide) as near:
            assert near.recv(1) == b""
    finally:
        wide.stop()


def test_a_port_that_is_taken_is_an_error() -> None:
    command = [sys.executable, "-m", "tests.process.delay_proxies", "--to", "127.0.0.1:1", "--port"]
    with proxy() as other:
        late = DelayProxy("127.0.0.1", 1)
        late.port = other.port
        with pytest.raises(OSError, match="ddress already in use"):
            late.start()
        command += [str(other.port)]
        ran = subprocess.run(command, input="", capture_output=True, text=True, timeout=TIMEOUT_S)
    assert ran.returncode and "ddress already in use" in ran.stderr
