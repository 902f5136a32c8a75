"""The page and the health of a node around a real broker on a disk in memory."""

import asyncio
import json
import random
import socket
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from brokers.config.broker_config import ConfigError, from_settings
from brokers.events import Disconnected, Request
from brokers.node.broker import Broker
from brokers.shell.binding import bind_http
from brokers.shell.clock import Clock
from brokers.shell.health import health
from brokers.shell.metrics import Metrics
from brokers.shell.node import Node
from brokers.shell.server import Server
from brokers.storage.storage import Storage
from brokers.wire.messages.fetch import FetchRequest
from tests.sim.files import ROOM, SimFiles
from tests.unit.brokers.shell.test_http import ask

CONFIG = from_settings({"node.id": 1, "log.dirs": "data", "metrics.listener": "127.0.0.1:0"})
DIRECTORY = "causeway_log_directory_"
PURGATORY = "kafka_server_delayedoperationpurgatory_purgatorysize"


class Around:
    """A node and its metrics; `get(path)` asks as Prometheus does."""

    def __init__(self) -> None:
        bound, self.config = bind_http(CONFIG, "metrics.listener")
        assert bound is not None
        self.broker = Broker(self.config, "A" * 22, random.Random(1))
        self.files = SimFiles()
        self.node = Node(self.broker, Storage(self.files), Clock())
        self.metrics = Metrics(self.node, self.broker.parts, bound, lambda _: iter(()))
        self.server = Server(self.config, self.metrics.feed, lambda: 0.0)
        self.node.serve(self.server)
        self.node.perform |= self.metrics.perform(self.server)

    async def get(self, path: str) -> tuple[int, str]:
        assert self.config.metrics_listener is not None
        port = int(self.config.metrics_listener.rpartition(":")[2])
        status, _, text = await asyncio.to_thread(ask, port, path)
        return status, text

    async def value(self, name: str, **labels: str) -> float | None:
        for family in text_string_to_metric_families((await self.get("/metrics"))[1]):
            for sample in family.samples:
                if (sample.name, sample.labels) == (name, labels):
                    return sample.value
        return None


def around(act: Callable[[Around], Any]) -> None:
    async def run() -> None:
        one = Around()
        await one.metrics.start()
        try:
            await act(one)
        finally:
            await one.metrics.stop()
            await one.node.stop()

    asyncio.run(run())


def test_a_node_is_alive_before_it_is_ready_and_says_why_it_is_not() -> None:
    async def act(one: Around) -> None:
        assert await one.get("/health/live") == (200, '{"live": true}\n')
        status, text = await one.get("/health/ready")
        why = ["the metadata of the region is not known yet"]
        assert (status, json.loads(text)) == (503, {"ready": False, "why": why, "warnings": []})
        assert await one.value("kafka_server_kafkaserver_brokerstate") == 1
        one.node.start()
        await one.node.ready
        well = {"ready": True, "why": [], "warnings": []}
        status, text = await one.get("/health/ready")
        assert (status, json.loads(text)) == (200, well)
        assert json.loads((await one.get("/health"))[1]) == {"live": True, **well}
        assert await one.value("kafka_server_kafkaserver_brokerstate") == 3

    around(act)


def test_a_node_whose_disk_is_nearly_full_is_ready_and_says_so() -> None:
    async def act(one: Around) -> None:
        one.files.full_after(1000)
        one.node.start()
        await one.node.ready
        status, text = await one.get("/health/ready")
        free = int(await one.value(DIRECTORY + "usable_bytes", logDirectory="data") or 0)
        assert 0 < free <= 1000
        warning = f"log directory data: producers are refused, {free} of {ROOM} bytes are free"
        assert (status, json.loads(text)["warnings"]) == (200, [warning])
        assert await one.value(DIRECTORY + "total_bytes", logDirectory="data") == ROOM
        assert await one.value(DIRECTORY + "watermark", logDirectory="data") == 3

    around(act)


def test_a_node_whose_core_raised_is_not_alive() -> None:
    async def act(one: Around) -> None:
        one.node.start()
        await one.node.ready
        one.node.feed("no event at all")
        status, text = await one.get("/health/live")
        assert (status, json.loads(text)) == (503, {"live": False})
        status, text = await one.get("/health")
        assert (status, "has stopped" in text) == (503, True)
        assert one.node.stopped.exception() is not None

    around(act)


def test_a_node_that_is_stopping_is_alive_and_not_ready() -> None:
    async def act(one: Around) -> None:
        one.node.start()
        await one.node.ready
        one.node.stopped.set_result(None)
        found = health(one.node, one.broker.parts)
        assert (found.live, found.ready, found.why) == (True, False, ("the node is stopping",))

    around(act)


def test_requests_that_wait_are_told_until_they_are_answered_or_their_client_leaves() -> None:
    long_poll = FetchRequest(max_wait_ms=60_000, min_bytes=1)

    async def act(one: Around) -> None:
        one.node.start()
        await one.node.ready
        for ticket in (1, 2):
            one.metrics.feed(Request(ticket, 1, 12, "c", "h", long_poll))
        assert await one.value(PURGATORY, delayedOperation="Fetch") == 2
        assert await one.value(PURGATORY, delayedOperation="Produce") == 0
        one.metrics.feed(Disconnected((1,)))
        assert await one.value(PURGATORY, delayedOperation="Fetch") == 1

    around(act)


def test_the_page_tells_of_the_process() -> None:
    async def act(one: Around) -> None:
        assert await one.value("process_resident_memory_bytes") > 1 << 20
        assert await one.value("process_cpu_seconds_total") > 0
        assert await one.value("python_gc_collections_total", generation="0") is not None

    around(act)


def test_a_node_without_a_metrics_listener_counts_nothing() -> None:
    async def run() -> None:
        config = from_settings({"node.id": 1, "log.dirs": "data"})
        assert bind_http(config, "metrics.listener") == (None, config)
        broker = Broker(config, "A" * 22, random.Random(1))
        node = Node(broker, Storage(SimFiles()), Clock())
        metrics = Metrics(node, broker.parts, None, lambda _: iter(()))
        server = Server(config, metrics.feed, lambda: 0.0)
        assert metrics.feed == node.feed
        assert metrics.perform(server) == {}
        await metrics.start()
        await metrics.stop()
        await node.stop()

    asyncio.run(run())


def test_a_port_in_use_is_refused_by_the_setting_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listener = f"127.0.0.1:{taken.getsockname()[1]}"
        settings = {"node.id": 1, "log.dirs": "data", "metrics.listener": listener}
        with pytest.raises(ConfigError, match=r"metrics.listener: can't listen"):
            bind_http(from_settings(settings), "metrics.listener")
