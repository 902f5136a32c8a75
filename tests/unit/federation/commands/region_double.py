"""A region's administration on loopback that answers as it is told, and remembers what it was asked."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from click.testing import CliRunner, Result

from federation.cli import main
from federation.local.layout import Federation, Region, save
from linker.wire.administration import METHODS, SERVICE_PREFIX


class RegionDouble(grpc.GenericRpcHandler):  # type: ignore[type-arg]
    """`replies` maps a method to a reply, or to several given in turn (the last stays). Its release does not know the
    methods in `unknown`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.replies: dict[str, list[Any]] = {}
        self.unknown: set[str] = set()
        self.asked: list[tuple[str, Any]] = []

    def service(self, handler_call_details: Any) -> Any:
        method = handler_call_details.method.removeprefix(SERVICE_PREFIX)
        if method in self.unknown:
            return None

        def answer(request: bytes, _: Any) -> bytes:
            self.asked.append((method, METHODS[method][0].FromString(request)))
            replies = self.replies[method]
            reply = replies.pop(0) if len(replies) > 1 else replies[0]
            return bytes(reply.SerializeToString())

        return grpc.unary_unary_rpc_method_handler(answer)

    def run(self, *arguments: str) -> Result:
        """The command, spoken to this region."""
        where = ["--dir", str(self.directory), "--region", "east"]
        return CliRunner().invoke(main, [*arguments, *where])


@contextmanager
def region_double(directory: Path) -> Iterator[RegionDouble]:
    double = RegionDouble(directory)
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers((double,))
    port = server.add_insecure_port("127.0.0.1:0")
    region = Region(name="east", bootstrap="127.0.0.1:1", admin=f"127.0.0.1:{port}", nodes=())
    save(directory, Federation((region,)))
    server.start()
    try:
        yield double
    finally:
        server.stop(None).wait()
