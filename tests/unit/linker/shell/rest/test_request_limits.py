"""Requests over HTTP: as many, and as long, as commands over gRPC may be."""

import asyncio
import json
from typing import Any

from linker.peer_limits import CommandLimits
from linker.shell.command_quotas import CommandQuotas
from linker.shell.rest.request_limits import RequestLimit
from tests.unit.linker.shell.test_command_quotas import settle

LIMITS = CommandLimits(total=3, per_ip=1, request_bytes=10, queued_bytes=20)


class Client:
    """Of one address. `released` lets the application answer."""

    def __init__(
        self, limited: RequestLimit, ip: str, body: bytes = b"", *, goes_away: bool = False
    ) -> None:
        self._goes_away = goes_away  # after the first half of a body
        headers = [(b"content-length", str(len(body)).encode())] if body else []
        scope = {"type": "http", "client": (ip, 1), "headers": headers}
        self._body = body
        self.sent: list[Any] = []
        self.task = asyncio.ensure_future(limited(scope, self._receive, self._send))

    async def _receive(self) -> Any:
        if not self._goes_away:
            return {"type": "http.request", "body": self._body, "more_body": False}
        if not self._body:
            return {"type": "http.disconnect"}
        body, self._body = self._body, b""
        return {"type": "http.request", "body": body[: len(body) // 2], "more_body": True}

    async def _send(self, message: Any) -> None:
        self.sent.append(message)

    async def answer(self) -> tuple[int, str]:
        await self.task
        return self.sent[0]["status"], self.sent[1]["body"].decode()


def play(*peers: tuple[str, bytes]) -> list[tuple[int, str]]:
    """Answers of requests that come at once, by address and body; the application echoes once all are there."""

    async def run() -> list[tuple[int, str]]:
        released = asyncio.Event()

        async def app(_: Any, receive: Any, send: Any) -> None:
            await released.wait()
            body = (await receive())["body"]
            await send({"type": "http.response.start", "status": 200})
            await send({"type": "http.response.body", "body": body})

        limited = RequestLimit(app, LIMITS, CommandQuotas(LIMITS))
        clients = [Client(limited, *peer) for peer in peers]
        await settle()
        released.set()
        return [await client.answer() for client in clients]

    return asyncio.run(run())


def test_who_has_a_request_under_way_is_refused_another_and_others_are_answered() -> None:
    first, second, other = play(("a", b""), ("a", b""), ("b", b"body"))
    assert first == (200, "") and other == (200, "body")
    status, text = second
    assert status == 429
    assert json.loads(text)["message"] == (
        "1 commands of this address are under way here (admin.max.commands.per.ip)"
    )


def test_a_body_is_as_long_as_a_command_may_be() -> None:
    whole, longer = play(("a", b"1" * 10), ("b", b"1" * 11))
    assert whole == (200, "1" * 10)
    assert longer[0] == 413 and "longer than 10 bytes" in longer[1]


def test_half_a_body_of_a_client_that_went_away_is_no_request() -> None:
    """It was answered as if it were all."""

    async def run() -> tuple[int, str]:
        async def app(*_: Any) -> None:
            raise AssertionError("the application was asked")

        limited = RequestLimit(app, LIMITS, CommandQuotas(LIMITS))
        return await Client(limited, "a", b"12", goes_away=True).answer()

    status, text = asyncio.run(run())
    assert status == 408 and "went away" in text


def test_a_request_that_is_under_way_when_the_node_stops_is_told_so() -> None:
    """The node's log had a stack trace for each."""

    async def run() -> tuple[int, str]:
        async def app(*_: Any) -> None:
            await asyncio.Event().wait()

        client = Client(RequestLimit(app, LIMITS, CommandQuotas(LIMITS)), "a")
        await settle()
        client.task.cancel()
        return await client.answer()

    assert asyncio.run(run())[0] == 503
