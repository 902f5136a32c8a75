"""A real node under load, scraped: what it says is what its clients did, and what lies on its disk."""

import itertools
import json
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench import frames
from tests.process.ledger import Ledger, create_topic
from tests.process.nodes import BrokerProcess
from tests.process.scrapes import Scrape, get, health

PARTITIONS = 3
TOPIC = "kafka_server_brokertopicmetrics_"
REQUEST = "kafka_network_requestmetrics_"
SETTINGS = {"metrics.listener": "127.0.0.1:0", "log.format": "json"}


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[BrokerProcess]:
    process = BrokerProcess(tmp_path, SETTINGS)
    process.start()
    yield process
    if process.is_running():
        process.kill()


def sizes_on_disk(node: BrokerProcess, topic: str) -> dict[int, int]:
    return {
        partition: sum(
            path.stat().st_size for path in (node.data / f"{topic}-{partition}").glob("*.log")
        )
        for partition in range(PARTITIONS)
    }


def test_the_numbers_are_what_clients_did_and_what_the_disk_holds(watched: BrokerProcess) -> None:
    metrics = watched.told["metrics"]
    create_topic(watched.address, "flights", PARTITIONS)
    before = Scrape(metrics)
    pages: list[Scrape] = []
    done = threading.Event()

    def scrape() -> None:
        while not done.is_set():
            pages.append(Scrape(metrics))

    scraper = threading.Thread(target=scrape)
    scraper.start()
    ledger = Ledger(watched.address, "flights", PARTITIONS)
    ledger.start()
    ledger.wait_for(20_000)
    ledger.close()
    done.set()
    scraper.join()
    after = Scrape(metrics)
    written = len(ledger.acknowledged)
    on_disk = sizes_on_disk(watched, "flights")
    assert after.value(TOPIC + "messagesin_total", topic="flights") == written
    assert after.value(TOPIC + "bytesin_total", topic="flights") == sum(on_disk.values())
    assert after.total("kafka_log_log_logendoffset", topic="flights") == written
    for partition, size in on_disk.items():
        labels = {"topic": "flights", "partition": str(partition)}
        assert after.value("kafka_log_log_size", **labels) == size
    produced = after.total(REQUEST + "requests_total", request="Produce")
    assert after.value(REQUEST + "totaltimems_count", request="Produce") == produced > 0
    parts = ("requestqueue", "local", "remote", "responsequeue", "responsesend")
    spent = [after.value(f"{REQUEST}{part}timems_sum", request="Produce") for part in parts]
    total = after.value(REQUEST + "totaltimems_sum", request="Produce")
    assert sum(spent) == pytest.approx(total, abs=0.01)  # each is written to the microsecond
    of_clients = {"listener": "PLAINTEXT", "networkProcessor": "0"}
    opened, closed = (
        after.value(f"kafka_server_socket_server_metrics_connection_{what}_total", **of_clients)
        for what in ("creation", "close")
    )
    still = after.value("kafka_server_socket_server_metrics_connection_count", **of_clients)
    assert opened - closed == still and opened >= 2
    # A client may name several partitions in one request: each has an error code of its own.
    named = after.value(TOPIC + "totalproducerequests_total", topic="flights")
    assert after.value(REQUEST + "errors_total", request="Produce", error="NONE") == named
    assert before.total(REQUEST + "requests_total", request="Produce") == 0
    assert len(pages) > 1
    for earlier, later in itertools.pairwise(pages):
        fell = [key for key, value in earlier.counters().items() if later.counters()[key] < value]
        assert fell == []


def test_what_a_consumer_is_sent_is_counted_to_the_byte(watched: BrokerProcess) -> None:
    metrics = watched.told["metrics"]
    create_topic(watched.address, "t", PARTITIONS)
    ledger = Ledger(watched.address, "t", PARTITIONS)
    ledger.start()
    ledger.wait_for(3_000)
    ledger.close()
    before = Scrape(metrics)
    ask = frames.fetch("t", {0: 0}, max_wait_ms=0, max_bytes=1 << 24, partition_max_bytes=1 << 24)
    exchange(watched, ask, times=3)
    after = Scrape(metrics)
    sent = after.value(TOPIC + "bytesout_total", topic="t") - before.value(
        TOPIC + "bytesout_total", topic="t"
    )
    assert sent == 3 * sizes_on_disk(watched, "t")[0]
    labels = {"request": "FetchConsumer", "version": "11"}
    assert after.value(REQUEST + "requests_total", **labels) == 3
    exchange(watched, frames.api_versions(), times=100)
    labels = {"request": "ApiVersions", "version": "0"}
    assert Scrape(metrics).value(REQUEST + "requests_total", **labels) == 100


def exchange(node: BrokerProcess, request: bytes, times: int) -> None:
    with socket.create_connection(node.bootstrap, timeout=20) as connection:
        stream = connection.makefile("rb")
        for _ in range(times):
            connection.sendall(request)
            (size,) = struct.unpack(">i", stream.read(4))
            assert len(stream.read(size)) == size


def test_a_node_says_that_it_is_well_and_that_it_was_restarted(watched: BrokerProcess) -> None:
    metrics = watched.told["metrics"]
    assert get(metrics, "/health/live") == (200, '{"live": true}\n')
    status, said = health(metrics, "/health/ready")
    assert (status, said["ready"], said["why"]) == (200, True, [])
    assert health(metrics) == (200, {"live": True, **said})
    first = Scrape(metrics)
    assert first.value("kafka_controller_kafkacontroller_activecontrollercount") == 1
    assert first.value("process_open_fds") > 3
    assert watched.stop() == 0
    watched.start()
    second = Scrape(watched.told["metrics"])
    started = "process_start_time_seconds"
    assert second.value(started) > first.value(started)


def test_every_line_of_a_json_log_is_an_object(watched: BrokerProcess) -> None:
    create_topic(watched.address, "t", 1)
    with socket.create_connection(watched.bootstrap, timeout=20) as connection:
        connection.sendall(b"\xff\xff\xff\xff")  # no legal length: the node closes and says why
        assert connection.recv(1) == b""
    assert watched.stop() == 0
    lines = [json.loads(line) for line in watched.log().splitlines()]
    assert {"time", "level", "logger", "node", "message"} <= set(lines[0])
    assert any(line["level"] == "WARNING" and "closing" in line["message"] for line in lines)
