"""How many requests there may be, and how large and slow each: FastAPI reads a body whole."""

import asyncio
from typing import Any

from linker.peer_limits import CommandLimits
from linker.shell.command_quotas import CommandQuotas, LateRequest, QuotaExceeded
from linker.shell.rest.schemas import ErrorData

_OF_A_BODY = (b"content-length", b"transfer-encoding")


class RequestLimit:
    """An ASGI application around another. Commands over gRPC have the same quotas.

    A longer body is answered with 413, one that takes longer with 408, what there is no room for with 429, and what is
    still under way when the node stops with 503.
    """

    def __init__(self, app: Any, limits: CommandLimits, quotas: CommandQuotas) -> None:
        self._app = app
        self._bytes_max = limits.request_bytes
        self._quotas = quotas

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        ip = scope["client"][0] if scope.get("client") else ""
        try:
            with self._quotas.command(ip):
                await self._answer(ip, scope, receive, send)
        except QuotaExceeded as error:
            await _refuse(send, 429, str(error))
        except LateRequest as error:
            await _refuse(send, 408, str(error))
        except (
            asyncio.CancelledError
        ):  # by uvicorn, which would log it as an error of this application
            await _refuse(send, 503, "the node stops")

    async def _answer(self, ip: str, scope: Any, receive: Any, send: Any) -> None:
        if not any(name in _OF_A_BODY for name, _ in scope["headers"]):
            await self._app(scope, receive, send)
            return
        async with self._quotas.request(ip, lambda: self._body(receive)) as body:
            if body is None:
                await _refuse(send, 413, f"the request is longer than {self._bytes_max} bytes")
            else:
                await self._app(scope, _replay(body, receive), send)

    async def _body(self, receive: Any) -> bytes | None:
        """None for one that is too long. Raises LateRequest for one whose client went away before it was whole."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise LateRequest("the client went away before the request was whole")
            body += message.get("body", b"")
            if len(body) > self._bytes_max:
                return None
            if not message.get("more_body", False):
                return bytes(body)


def _replay(body: bytes, receive: Any) -> Any:
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def replay() -> Any:
        return next(messages, None) or await receive()

    return replay


async def _refuse(send: Any, status: int, because: str) -> None:
    data = ErrorData(error_code=status, message=because, error="INVALID_REQUEST")
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data.model_dump_json().encode()})
