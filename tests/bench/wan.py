"""`python -m tests.bench.wan`: a link through a proxy that delays, at round trips of 0, 20, 80 and 200 ms.

Two regions of one node on this machine. The link's traffic goes through `tests.process.delay_proxy`, in a process of
its own; `link.advertised.listener` of the source names it. At each round trip:

- `mb_per_s`: 1 GB in 12 partitions, from the first record that arrives to the last; `alone` is without the proxy
- `proxy_mb_per_s`: the proxy's own rate, one TCP connection, both ends idle otherwise
- `record_ms`: one record at a time on an idle link, from before it is sent to when a consumer of the mirror has it
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvloop
from rich.console import Console
from rich.table import Table

from tests.bench import client, memory, topics
from tests.bench.client import LARGE
from tests.bench.connection import Connection
from tests.bench.processes import free_port
from tests.process.commands import causeway
from tests.process.ledger import create_topic
from tests.process.nodes import NodeProcess

ROUND_TRIPS_MS = (0, 20, 80, 200)
PARTITIONS = 12
LINK = "wan"
PATIENCE_S = 300
PROBE_BYTES = 512 << 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.wan", description=__doc__)
    parser.add_argument("--batches", type=int, default=1000, help="of 1 MB")
    parser.add_argument("--seconds", type=float, default=15, help="of one record at a time")
    parser.add_argument("--round-trips", type=float, nargs="+", default=ROUND_TRIPS_MS)
    parser.add_argument("--config", action="append", default=[], help="of the link")
    parser.add_argument("--out", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    memory.touch()
    found = [_measure(None, options)]
    found += [_measure(round_trip, options) for round_trip in options.round_trips]
    _show(found)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "wan.json").write_text(json.dumps(found, indent=1))
    return 0


def _measure(round_trip_ms: float | None, options: argparse.Namespace) -> dict[str, Any]:
    figures: dict[str, Any] = {"round_trip_ms": round_trip_ms}
    with (
        tempfile.TemporaryDirectory(prefix="causeway-wan-") as place,
        _pair(Path(place), round_trip_ms) as (west, east),
    ):
        if round_trip_ms is not None:
            figures["proxy_mb_per_s"] = asyncio.run(_proxy_rate(round_trip_ms))
        topic = client.filled_topic(west.address, PARTITIONS, options.batches)
        _link(west, east, options.config)
        figures |= _catch_up(east, topic, options.batches * LARGE)
        create_topic(west.address, "one", 1)
        _mirror(east, "one")
        wanted = ("--destination", east.address, "--seconds", options.seconds)
        said = client.run("latency", "linked", west.address, "one", *wanted)
        delays = sorted(said["linked_ms"])
        figures |= {f"record_{name}": value for name, value in client.percentiles(delays).items()}
    return figures


@contextmanager
def _pair(place: Path, round_trip_ms: float | None) -> Iterator[tuple[NodeProcess, NodeProcess]]:
    """West, whose link endpoint other regions reach through the proxy; and east."""
    listener = f"127.0.0.1:{free_port()}"
    settings = {"link.listener": listener, "cluster.id": "west"}
    proxy = _proxy(listener, round_trip_ms) if round_trip_ms is not None else None
    if proxy is not None:
        settings["link.advertised.listener"] = f"127.0.0.1:{proxy.stdout.readline().strip()}"  # type: ignore[union-attr]
    nodes = []
    for name, more in (("west", settings), ("east", {"cluster.id": "east"})):
        (place / name).mkdir()
        nodes.append(NodeProcess(place / name, more))
    try:
        for node in nodes:
            node.start()
        yield nodes[0], nodes[1]
    finally:
        for node in nodes:
            node.stop()
        if proxy is not None:
            proxy.communicate()


def _proxy(target: str, round_trip_ms: float) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.process.delay_proxy", "--to", target]
    command += ["--delay-ms", str(round_trip_ms / 2)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _link(west: NodeProcess, east: NodeProcess, configs: list[str]) -> None:
    given = [word for one in configs for word in ("--config", one)]
    _ask(east, "link", "create", LINK, "--source-bootstrap-server", west.address, *given)


def _mirror(east: NodeProcess, topic: str) -> None:
    _ask(east, "mirror", "create", topic, "--link", LINK)


def _ask(node: NodeProcess, *arguments: str) -> Any:
    return causeway(*arguments, "--bootstrap-server", node.address, timeout=PATIENCE_S)


def _catch_up(east: NodeProcess, topic: str, records: int) -> dict[str, float]:
    _mirror(east, topic)
    with Connection(east.address) as connection:
        first = _wait(connection, topic, 1)
        last = _wait(connection, topic, records)
    size_mb = client.read_back(east.address, topic, PARTITIONS, records)
    return {"mb_per_s": size_mb / (last - first), "size_mb": size_mb}


def _wait(connection: Connection, topic: str, records: int) -> float:
    deadline = time.monotonic() + PATIENCE_S
    while sum(topics.ends(connection, topic, PARTITIONS).values()) < records:
        if time.monotonic() > deadline:
            raise TimeoutError(f"fewer than {records} records of {topic} in {PATIENCE_S} s")
        time.sleep(0.01)
    return time.perf_counter()


async def _proxy_rate(round_trip_ms: float) -> float:
    """MB/s of one connection through a proxy of its own, from the first byte that arrives."""
    done: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    async def sink(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received, began = 0, 0.0
        while data := await reader.read(1 << 20):
            began = began or time.perf_counter()
            received += len(data)
        done.set_result(received / 1e6 / (time.perf_counter() - began))
        writer.close()

    server = await asyncio.start_server(sink, "127.0.0.1", 0, limit=8 << 20)
    target = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    proxy = _proxy(target, round_trip_ms)
    assert proxy.stdout is not None
    port = int(await asyncio.to_thread(proxy.stdout.readline))
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    piece = bytes(1 << 20)
    for _ in range(PROBE_BYTES >> 20):
        writer.write(piece)
        await writer.drain()
    writer.close()
    rate = await done
    server.close()
    await asyncio.to_thread(proxy.communicate)
    return rate


def _show(found: list[dict[str, Any]]) -> None:
    table = Table("Round trip", "MB/s", "of alone", "proxy MB/s", "record p50 ms", "p99 ms")
    alone = found[0]["mb_per_s"]
    for one in found:
        round_trip = one["round_trip_ms"]
        table.add_row(
            "no proxy" if round_trip is None else f"{round_trip:g} ms",
            f"{one['mb_per_s']:.0f}",
            f"{one['mb_per_s'] / alone:.2f}",
            f"{one['proxy_mb_per_s']:.0f}" if "proxy_mb_per_s" in one else "",
            f"{one['record_p50_ms']:.1f}",
            f"{one['record_p99_ms']:.1f}",
        )
    Console().print(table)


if __name__ == "__main__":
    uvloop.install()
    sys.exit(main())
