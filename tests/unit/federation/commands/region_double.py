"""A region's administration on loopback that answers as it is told, and remembers what it was asked."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from click.testing import CliRunner, Result

from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from brokers.wire.messages.metadata import MetadataResponse
from federation.cli import main
from federation.local.layout import Federation, Region, save
from linker.wire.administration import METHODS, SERVICE_PREFIX
from tests.unit.federation.commands.broker_double import BrokerDouble, broker_double


class RegionDouble(grpc.GenericRpcHandler):  # type: ignore[type-arg]
    """`replies` maps a method to a reply, or to several given in turn (the last stays). Its release does not know the
    methods in `unknown`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.replies: dict[str, list[Any]] = {}
        self.unknown: set[str] = set()
        self.asked: list[tuple[str, Any]] = []
        self.admin = ""  # its address
        self.cluster = DescribeClusterResponse()

    def add_silent_broker(self, broker: int) -> None:
        """Nobody listens where it says that it is."""
        self.cluster.brokers.append(
            DescribeClusterBroker(broker_id=broker, host="127.0.0.1", port=1)
        )

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
    """A region whose first node does not answer."""
    double = RegionDouble(directory)
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers((double,))
    admin = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    double.admin = admin
    with _second_node(admin, double.cluster) as second:
        bootstrap = f"127.0.0.1:1,{second.bootstrap}"
        region = Region(name="east", bootstrap=bootstrap, admin="127.0.0.1:1", nodes=())
        save(directory, Federation((region,)))
        server.start()
        try:
            yield double
        finally:
            server.stop(None).wait()


@contextmanager
def _second_node(admin: str, cluster: DescribeClusterResponse) -> Iterator[BrokerDouble]:
    """A broker that says where it and its administration listen."""
    listener = DescribeConfigsResourceResult(name="admin.listener", value=admin)
    configs = DescribeConfigsResponse(results=[DescribeConfigsResult(configs=[listener])])
    answers = {
        ApiKey.DESCRIBE_CLUSTER: (0, lambda _: cluster),
        ApiKey.DESCRIBE_CONFIGS: (1, lambda _: configs),
        ApiKey.METADATA: (8, lambda _: MetadataResponse()),
    }
    with broker_double(answers) as double:
        host, _, port = double.bootstrap.rpartition(":")
        cluster.brokers = [DescribeClusterBroker(broker_id=2, host=host, port=int(port))]
        yield double
