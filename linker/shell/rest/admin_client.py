"""Asks the administration of this broker, which passes on what only the link coordinator can answer."""

from collections.abc import Callable
from typing import Any, Final, Protocol

import grpc.aio
from fastapi import Request

from linker.shell.rest.errors import RequestRefused, bad_request, refusal, unavailable
from linker.shell.rest.schemas import ResourceCollectionMetadata, ResourceMetadata
from linker.wire.administration import METHODS, MalformedRequest

PREFIX: Final = "/kafka/v3/clusters"


class AdminHandler(Protocol):
    """`AdminServer.administer`."""

    async def __call__(
        self, method: str, request: bytes, forwarded_from: str | None, peer: str
    ) -> bytes: ...


class AdminClient:
    """`cluster_id` is this region's."""

    def __init__(self, administer: AdminHandler, cluster_id: str) -> None:
        self._administer = administer
        self.cluster_id = cluster_id

    async def ask(self, http: Request, method: str, message: Any) -> Any:
        """The reply of `method` to a request of admin.proto. Raises RequestRefused, which has its `error`."""
        reply = await self._reply(http, method, message)
        if reply.HasField("error"):
            raise refusal(reply.error)
        return reply

    async def _reply(self, http: Request, method: str, message: Any) -> Any:
        peer = _address(http.client.host, http.client.port) if http.client is not None else ""
        try:
            data = await self._administer(method, message.SerializeToString(), None, peer)
        except MalformedRequest as error:
            raise bad_request(str(error)) from error
        except grpc.aio.AioRpcError as error:
            because = f"the link coordinator does not answer: {error.details()}"
            raise unavailable(because) from error
        return METHODS[method][2].FromString(data)

    def at(self, http: Request, path: str) -> ResourceMetadata:
        """Of the resource at this path below the cluster's."""
        return ResourceMetadata(self=f"{http.base_url}{PREFIX[1:]}/{self.cluster_id}{path}")

    def here(self, http: Request) -> ResourceCollectionMetadata:
        """Of the collection that is asked for."""
        return ResourceCollectionMetadata(self=str(http.url))


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def texts(make: Callable[[], Any]) -> Any:
    """What `make` makes; protobuf refuses texts that are not UTF-8. Raises RequestRefused."""
    try:
        return make()
    except (ValueError, UnicodeEncodeError) as error:
        raise bad_request(f"a text that cannot be sent: {error}") from error


__all__ = ["PREFIX", "AdminClient", "AdminHandler", "RequestRefused", "texts"]
