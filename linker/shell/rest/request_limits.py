"""How large and how slow a request may be. FastAPI reads a body whole, so it must not be endless."""

import asyncio
from typing import Any, Final

from linker.shell.rest.schemas import ErrorData

BODY_BYTES_MAX: Final = 4 << 20  # as a command over gRPC has
BODY_SECONDS: Final = 10.0


class BodyLimit:
    """An ASGI application around another. A longer body is answered with 413, one that takes longer with 408."""

    def __init__(self, app: Any, bytes_max: int = BODY_BYTES_MAX) -> None:
        self._app = app
        self._bytes_max = bytes_max

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await self._body(receive)
        except TimeoutError:
            await _refuse(send, 408, "the request did not come in time")
            return
        if body is None:
            await _refuse(send, 413, f"the request is longer than {self._bytes_max} bytes")
            return
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def replay() -> Any:
            return next(messages, None) or await receive()

        await self._app(scope, replay, send)

    async def _body(self, receive: Any) -> bytes | None:
        """None for one that is too long."""
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self._bytes_max:
                return None
            if not message.get("more_body", False):
                return bytes(body)


async def _refuse(send: Any, status: int, because: str) -> None:
    data = ErrorData(error_code=status, message=because, error="INVALID_REQUEST")
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data.model_dump_json().encode()})
