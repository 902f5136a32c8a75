"""A client of a region's administration, for commands: blocking, one request at a time."""

import asyncio
from types import TracebackType
from typing import Any

import grpc

from linker.shell import older_nodes
from linker.shell.discovery import ADMIN_LISTENER, discover
from linker.shell.options import ADMINISTRATOR_OPTIONS
from linker.wire.v1 import admin_pb2_grpc

QUICK_SECONDS = 35.0  # the source of a link has `request.timeout.ms` to answer, by default 30 s
FAILOVER_SECONDS = 300.0  # one request can cut thousands of partitions
FIND_SECONDS = (
    5.0  # for each address: a process that is stopped accepts connections and never answers
)


class Unreachable(Exception):
    """The region's administration does not answer."""


class UnknownMethod(Unreachable):
    """It answers, and its release does not know the method. `hint`: what an operator can do."""

    def __init__(self, endpoint: str, method: str) -> None:
        super().__init__(f"{older_nodes.because(endpoint, method)} ({older_nodes.CODE})")
        self.hint = older_nodes.hint(method)


class Administrator:
    """`ask("DescribeLink", request)` returns the reply. `endpoint` is a region's `admin.listener`."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._channel = grpc.insecure_channel(endpoint, options=ADMINISTRATOR_OPTIONS)
        self._stub: Any = admin_pb2_grpc.AdminStub(self._channel)  # type: ignore[no-untyped-call]

    def __enter__(self) -> "Administrator":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._channel.close()

    def ask(self, method: str, request: Any, timeout_seconds: float = QUICK_SECONDS) -> Any:
        """Raises Unreachable; a refusal is in the reply's `error`."""
        try:
            return getattr(self._stub, method)(request, timeout=timeout_seconds)
        except grpc.RpcError as error:
            call: Any = error  # the error is a Call too, which the stubs do not say
            if call.code() is grpc.StatusCode.UNIMPLEMENTED:
                raise UnknownMethod(self._endpoint, method) from error
            raise Unreachable(f"{self._endpoint} does not answer: {call.details()}") from error


def find_endpoint(bootstrap_server: str, timeout_seconds: float = FIND_SECONDS) -> str:
    """The `admin.listener` behind the first Kafka address that answers; raises `DiscoveryError`."""
    addresses = bootstrap_server.split(",")
    return asyncio.run(discover(addresses, ADMIN_LISTENER, timeout_seconds))
