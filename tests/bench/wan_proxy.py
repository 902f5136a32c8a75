"""The proxy between two regions, as a process, and what it does by itself: its rate, and its round trip."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import NamedTuple

from tests.bench import processors

PROBE_BYTES = 512 << 20
PIECE_BYTES = 1 << 20
PING, PINGS, PING_PAUSE_S = b"ping", 50, 0.02
TIMEOUT_S = 300


class Proxy(NamedTuple):
    """A running process, and where it listens."""

    pid: int
    ports: tuple[int, ...]


class Distance(NamedTuple):
    """What the proxy puts between the regions; 0 bytes a second: it limits nothing. `processor`: that it has alone."""

    round_trip_ms: float
    bytes_per_second: int = 0
    processor: int | None = None


@contextmanager
def running(
    distance: Distance, targets: Sequence[str], ports: Sequence[int] = ()
) -> Iterator[Proxy]:
    """Without `ports`: wherever there is room."""
    command = [sys.executable, "-m", "tests.process.delay_proxies", "--shared", "--to", *targets]
    command += ["--delay-ms", str(distance.round_trip_ms / 2), "--port", *map(str, ports)]
    command += ["--bytes-per-second", str(distance.bytes_per_second)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        if distance.processor is not None:
            processors.confine(process.pid, distance.processor)
        try:
            yield Proxy(process.pid, tuple(map(int, process.stdout.readline().split())))
        finally:
            process.stdin.close()  # which ends it


@contextmanager
def _connected(distance: Distance) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a connection through a proxy of its own."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        target = f"127.0.0.1:{server.getsockname()[1]}"
        with (
            running(distance, (target,)) as proxy,
            socket.create_connection(("127.0.0.1", *proxy.ports), TIMEOUT_S) as near,
        ):
            far, _ = server.accept()
            with far:
                far.settimeout(TIMEOUT_S)
                yield near, far


def round_trip_ms(distance: Distance) -> float:
    """Of one message to and fro, both ends idle otherwise; the median of many."""
    took = []
    with _connected(distance) as ends:
        for end in ends:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(PINGS):
            began = time.perf_counter()
            for sender, receiver in (ends, ends[::-1]):
                sender.sendall(PING)
                receiver.recv(len(PING))
            took.append((time.perf_counter() - began) * 1000)
            time.sleep(PING_PAUSE_S)
    return median(took)


def rate(distance: Distance) -> float:
    """MB/s of one connection, from the first byte that arrives."""
    with _connected(distance) as (near, far):
        thread = threading.Thread(target=_send, args=(near,))
        thread.start()
        found = _receive(far)
        thread.join()
    return found


def _send(near: socket.socket) -> None:
    piece = bytes(PIECE_BYTES)
    for _ in range(PROBE_BYTES // PIECE_BYTES):
        near.sendall(piece)


def _receive(far: socket.socket) -> float:
    buffer = bytearray(PIECE_BYTES)
    received = far.recv_into(buffer)
    began, rest = time.perf_counter(), PROBE_BYTES - received
    while rest:
        received = far.recv_into(buffer)
        if not received:
            raise ConnectionError("the proxy closed the connection")
        rest -= received
    return PROBE_BYTES / 1e6 / (time.perf_counter() - began)
