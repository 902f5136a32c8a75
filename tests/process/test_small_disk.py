"""A small file system that fills for real: producers are refused before it is full, and taken again by themselves."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from federation.cli import main
from tests.process.asking import until
from tests.process.ledger import Ledger, check, create_topic, read_all
from tests.process.nodes import BrokerProcess
from tests.process.scrapes import Scrape, health

SIZE = 64 << 20
WARNED_BELOW, REFUSED_BELOW = SIZE * 60 // 100, SIZE * 40 // 100
VALUE = bytes(200_000)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here: this needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def node(tmp_path: Path, small: Path) -> Iterator[BrokerProcess]:
    """Its first log directory is on the small disk."""
    process = BrokerProcess(
        tmp_path,
        {
            "log.dirs": f"{small},{tmp_path / 'large'}",
            "metadata.log.dir": str(tmp_path / "large"),
            "metrics.listener": "127.0.0.1:0",
            "log.segment.bytes": 1 << 20,
            "log.segment.delete.delay.ms": 1_000,  # only then is there room
            "disk.watermark.warn.free.bytes": WARNED_BELOW,
            "disk.watermark.refuse.free.bytes": REFUSED_BELOW,
            "replica.high.watermark.checkpoint.interval.ms": 100,
        },
    )
    process.start()
    yield process
    if process.is_running():
        process.kill()


def _space(node: BrokerProcess, place: Path, what: str) -> float:
    name = f"causeway_log_directory_{what}"
    return Scrape(node.told["metrics"]).value(name, logDirectory=str(place))


def _described(node: BrokerProcess) -> tuple[int, str]:
    arguments = ["region", "describe", "--check", "--bootstrap-server", node.address]
    ran = CliRunner().invoke(main, arguments)
    return ran.exit_code, ran.output


def test_producers_wait_at_the_watermark_and_nothing_is_lost(
    node: BrokerProcess, small: Path
) -> None:
    create_topic(node.address, "orders", 2)
    assert sum((small / f"orders-{each}").is_dir() for each in (0, 1)) == 1
    create_topic(node.address, "filler", 2)
    (filled,) = (each for each in (0, 1) if (small / f"filler-{each}").is_dir())
    ledger = Ledger(node.address, "orders", 2)
    ledger.start()
    ledger.wait_for(200)
    assert _described(node)[0] == 0, _described(node)
    filler = Producer({"bootstrap.servers": node.address, "enable.idempotence": True})
    for _ in range(1_000):
        if "refuses producers" in node.log():
            break
        filler.produce("filler", VALUE, partition=filled)
        filler.flush(0.2)
    until(lambda: _space(node, small, "watermark") == 2, 20, node.log)
    assert REFUSED_BELOW * 0.8 < _space(node, small, "usable_bytes") <= REFUSED_BELOW * 1.1
    assert _space(node, small, "total_bytes") == SIZE
    status, said = health(node.told["metrics"], "/health/ready")
    assert (status, "producers are refused" in said["warnings"][0]) == (200, True)
    code, text = _described(node)
    assert (code, f"broker 1: {small}: producers are refused" in text) == (3, True)
    reached = {place for place, _ in read_all(node.address, "orders", 2)}
    assert reached == {0, 1}, "consumers are served"
    admin = AdminClient({"bootstrap.servers": node.address})
    admin.delete_records([TopicPartition("filler", filled, -1)])
    until(lambda: _space(node, small, "watermark") == 0, 20, node.log)
    assert filler.flush(20) == 0
    ledger.wait_for(len(ledger.acknowledged) + 500)
    ledger.close()
    check(ledger, read_all(node.address, "orders", 2))
    assert "offline" not in node.log()
    assert _described(node)[0] == 0, _described(node)


def test_a_watermark_above_the_disk_is_refused(node: BrokerProcess, small: Path) -> None:
    assert node.stop() == 0
    config = node.data.parent / "node.toml"
    key = "disk.watermark.warn.free.bytes"
    config.write_text(config.read_text().replace(f'"{key}" = {WARNED_BELOW}', f'"{key}" = {SIZE}'))
    command = [sys.executable, "-m", "brokers", "--config", str(config)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 2
    assert f"{key}: {SIZE} bytes can't be free in {small}, whose disk has {SIZE} in all" in (
        ran.stderr
    )
