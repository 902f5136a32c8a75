"""The listener for operators, over real sockets: answers, refusals, and time left for others while it answers."""

import asyncio
import http.client
import itertools
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from time import perf_counter
from typing import Any

from brokers.connection_quotas import CONNECTIONS
from brokers.shell.http import (
    CONNECTIONS_RESERVED,
    HEADERS_SECONDS,
    SLICE_SECONDS,
    HttpResponse,
    HttpServer,
)

ROUTES = {
    "/text": lambda: HttpResponse(["one ", "two\n"]),
    "/down": lambda: HttpResponse(["{}"], "application/json", 503),
}


def serve(
    routes: dict[str, Callable[[], HttpResponse]],
    act: Callable[[int], Any],
    always: tuple[str, ...] = (),
    headers_seconds: float = HEADERS_SECONDS,
) -> Any:
    """What `act(port)` returns, run in a thread while the server serves on its loop."""

    async def run() -> Any:
        server = HttpServer(routes, always, headers_seconds)
        bound = socket.create_server(("127.0.0.1", 0))
        await server.start(bound)
        try:
            return await asyncio.to_thread(act, bound.getsockname()[1])
        finally:
            await server.stop()

    return asyncio.run(run())


def ask(port: int, path: str, method: str = "GET") -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path)
    response = connection.getresponse()
    found = (response.status, response.headers["Content-Type"], response.read().decode())
    connection.close()
    return found


def test_a_path_is_answered_with_its_status_and_type() -> None:
    assert serve(ROUTES, lambda port: ask(port, "/text?x=1")) == (
        200, "text/plain; charset=utf-8", "one two\n",
    )  # fmt: skip
    assert serve(ROUTES, lambda port: ask(port, "/down")) == (503, "application/json", "{}")


def test_what_is_not_there_or_not_read_is_refused_with_what_is() -> None:
    status, _, text = serve(ROUTES, lambda port: ask(port, "/other"))
    assert (status, "/text, /down" in text) == (404, True)
    assert serve(ROUTES, lambda port: ask(port, "/text", "POST"))[0] == 405
    assert serve(ROUTES, lambda port: ask(port, "/text", "HEAD"))[::2] == (200, "")


def test_a_connection_serves_one_request_after_another() -> None:
    def act(port: int) -> list[bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        texts = []
        for _ in range(3):
            connection.request("GET", "/text")
            texts.append(connection.getresponse().read())
        connection.close()
        return texts

    assert serve(ROUTES, act) == [b"one two\n"] * 3


def test_who_does_not_read_keeps_nobody_waiting() -> None:
    def act(port: int) -> tuple[int, str, str]:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
            connection.recv(1)
            return ask(port, "/text")

    routes = {**ROUTES, "/endless": lambda: HttpResponse(itertools.repeat("x" * 65_536))}
    assert serve(routes, act)[0] == 200


def test_nonsense_costs_its_sender_the_connection_and_nobody_else() -> None:
    def act(port: int) -> tuple[bytes, int]:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(b"\x00\x00\x00\x20nonsense\r\n\r\n")
            answer = connection.recv(100)
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(b"GET /text HTTP/1.1\r\nX: " + b"x" * 100_000)
            connection.recv(100)
        return answer, ask(port, "/text")[0]

    assert serve(ROUTES, act) == (b"", 200)


def half_request(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(b"GET /text HTTP/1.1\r\n")
    return connection


def test_half_requests_make_room_for_whole_ones() -> None:
    """200 of them kept everybody out for a minute."""

    def act(port: int) -> tuple[int, bytes, int]:
        with ExitStack() as kept:
            halves = [kept.enter_context(half_request(port)) for _ in range(200)]
            status = ask(port, "/text")[0]
            halves[-1].sendall(b"Host: x\r\nConnection: close\r\n\r\n")
            last = halves[-1].recv(12)
            closed = sum(ended(half) for half in halves[: 201 - CONNECTIONS.per_ip])
            return status, last, closed

    assert serve(ROUTES, act) == (200, b"HTTP/1.1 200", 201 - CONNECTIONS.per_ip)


def ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_some_connections_are_kept_for_what_is_always_answered() -> None:
    routes = {
        **ROUTES,
        "/up": lambda: HttpResponse(["up"]),
        "/endless": lambda: HttpResponse(itertools.repeat("x" * 65_536)),
    }

    def act(port: int) -> tuple[int, int, int]:
        with ExitStack() as kept:
            for _ in range(CONNECTIONS.per_ip):
                endless = kept.enter_context(socket.create_connection(("127.0.0.1", port)))
                endless.sendall(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
                endless.recv(1)
            urgent, other = ask(port, "/up")[0], ask(port, "/text")[0]
            for _ in range(CONNECTIONS_RESERVED):
                more = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
                kept.callback(more.close)
                more.request("GET", "/text")
                refused = more.getresponse()
                assert (refused.status, refused.read()[:8]) == (503, b"Too many")
            return urgent, other, ask(port, "/up")[0]

    assert serve(routes, act, always=("/up",)) == (200, 503, 200)


def test_a_long_answer_is_made_in_slices_between_which_others_have_their_turn() -> None:
    turns = 0

    def busy() -> Iterator[str]:
        for number in range(20):
            until = perf_counter() + SLICE_SECONDS
            while perf_counter() < until:
                pass
            yield f"{number} after {turns} turns\n"

    async def run() -> list[int]:
        loop = asyncio.get_running_loop()

        def turn() -> None:
            nonlocal turns
            turns += 1
            loop.call_soon(turn)

        server = HttpServer({"/busy": lambda: HttpResponse(busy())})
        bound = socket.create_server(("127.0.0.1", 0))
        await server.start(bound)
        turn()
        _, _, text = await asyncio.to_thread(ask, bound.getsockname()[1], "/busy")
        await server.stop()
        return [int(line.split()[2]) for line in text.splitlines()]

    seen = asyncio.run(run())
    assert len(set(seen)) == len(seen) == 20


def test_headers_that_do_not_end_in_time_end_the_connection() -> None:
    """However often a part of them comes."""

    def act(port: int) -> float:
        began = perf_counter()
        with socket.create_connection(("127.0.0.1", port), timeout=0.05) as connection:
            connection.sendall(b"GET /text HTTP/1.1\r\n")
            while not _is_closed(connection):
                with suppress(ConnectionError):
                    connection.sendall(b"X-Slow: y\r\n")
        return perf_counter() - began

    assert 0.3 <= serve(ROUTES, act, headers_seconds=0.3) < 5
    assert HEADERS_SECONDS <= 10


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True
