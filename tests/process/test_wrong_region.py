"""Links whose address leads to another region than they expect: they try again, and their node's log stays short."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from linker.errors import LinkError
from linker.frames import Hello, Refused, Welcome
from linker.protocol_versions import SPOKEN
from linker.shell.options import OPEN_METHOD
from linker.wire import frames
from tests.process.asking import until
from tests.process.commands import causeway
from tests.process.nodes import NodeProcess

EXPECTED, FOUND = "west", "elsewhere"
STAYS, ENDS, REFUSES = "stays", "ends", "refuses"  # the links, by what is answered to them
TRIES, TIMEOUT_S = 6, 30
TOLD_MAX = 3  # lines of the log about a link, however often it has tried


class WrongRegion(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # the class itself takes none
    """The source's end of streams. `opened`: how many, by link."""

    def __init__(self) -> None:
        self.opened: Counter[str] = Counter()

    def was_tried(self) -> bool:
        return min(self.opened[link] for link in (STAYS, ENDS, REFUSES)) >= TRIES

    def service(self, handler_call_details: Any) -> Any:
        assert handler_call_details.method == OPEN_METHOD
        return grpc.stream_stream_rpc_method_handler(self._open)

    def _open(self, requests: Iterator[bytes], _: Any) -> Iterator[bytes]:
        hello = frames.decode(next(requests))
        assert isinstance(hello, Hello) and hello.expected_cluster_id == EXPECTED
        self.opened[hello.link_name] += 1
        if hello.link_name == REFUSES:
            because = f"this is region {FOUND}, the link expects {EXPECTED}"
            error = LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR.value
            yield frames.encode(Refused(error, because))
            return
        yield frames.encode(Welcome(FOUND, SPOKEN.newest, 1))
        if hello.link_name == STAYS:
            for _ in requests:  # until the link has closed the stream
                pass


@pytest.fixture
def wrong() -> Iterator[tuple[WrongRegion, str]]:
    """With its address."""
    region = WrongRegion()
    with ThreadPoolExecutor() as threads:
        server = grpc.server(threads)
        server.add_generic_rpc_handlers((region,))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        yield region, f"127.0.0.1:{port}"
        server.stop(None).wait()


@contextmanager
def running(directory: Path, **settings: str) -> Iterator[NodeProcess]:
    directory.mkdir()
    node = NodeProcess(
        directory, {name.replace("_", "."): value for name, value in settings.items()}
    )
    node.start()
    try:
        yield node
        assert node.stop() == 0
    finally:
        if node.is_running():
            node.kill()


def described(node: NodeProcess, link: str) -> Any:
    return causeway("link", "describe", link, "--bootstrap-server", node.address, timeout=TIMEOUT_S)


def test_a_link_that_is_answered_by_another_region_tries_again_and_says_so_once(
    wrong: tuple[WrongRegion, str], tmp_path: Path
) -> None:
    region, address = wrong
    with (
        running(tmp_path / FOUND, link_advertised_listener=address) as there,
        running(tmp_path / "east") as east,
    ):
        for link in (STAYS, ENDS, REFUSES):
            causeway(
                "link", "create", link, "--bootstrap-server", east.address,
                "--source-bootstrap-server", there.address, "--source-cluster", EXPECTED,
                "--config", "retry.backoff.ms=50", "--no-validate", timeout=TIMEOUT_S,
            )  # fmt: skip
        until(region.was_tried, TIMEOUT_S, lambda: region.opened)
        for link in (STAYS, ENDS, REFUSES):
            found = described(east, link)
            assert found["link_state"] == "FAILED"
            assert found["link_error"] == "INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR"
            assert FOUND in found["link_error_message"]
    lines = east.log().splitlines()
    for link in (STAYS, ENDS, REFUSES):
        told = [line for line in lines if f"link {link}" in line]
        assert any(FOUND in line for line in told)
        assert len(told) <= TOLD_MAX, told
    assert "never retrieved" not in east.log()
    assert "Traceback" not in east.log()
