"""Kafka's own log tool reads every file of ours and finds each index entry where the log has it.

`DumpLogSegments` opens what an entry points at and complains about a difference; `--index-sanity-check` is what a Kafka
broker does when it opens a log.
"""

import random
import subprocess
from pathlib import Path

import pytest

from brokers.log.config import LogConfig
from brokers.records.batch import stamp
from brokers.records.builder import NewRecord, build_batch
from brokers.shell.files import DiskFiles
from tests.bench.peer import jars
from tests.compat.java.conftest import WAIT_S, Tool
from tests.unit.brokers.records.batches import foreign_batch
from tests.unit.brokers.storage.driver import NOW, TP, Driver

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def batch_of(rng: random.Random, driver: Driver, number: int, sequence: int) -> bytearray:
    offset, leader_epoch = driver.log.log_end_offset, number // 100
    records = [
        NewRecord(
            b"k", rng.randbytes(40), ((b"h", b"v"),), NOW + 10 * number + rng.randrange(1_000)
        )
        for _ in range(rng.randrange(1, 20))
    ]
    if number % 2:
        batch = bytearray(foreign_batch(records, number // 2 % len(CODECS)))
        stamp(batch, 0, offset, leader_epoch)
        return batch
    return build_batch(
        records, timestamp=NOW, base_offset=offset, leader_epoch=leader_epoch,
        producer_id=77, producer_epoch=1, base_sequence=sequence,
    )  # fmt: skip


def marker_at(offset: int) -> bytearray:
    """The end of a transaction: key version 0, type 1 (commit); value version 0, coordinator epoch 0."""
    return build_batch(
        [NewRecord(bytes([0, 0, 0, 1]), bytes(6))], timestamp=NOW, base_offset=offset, leader_epoch=2,
        producer_id=77, producer_epoch=1, is_control=True, transactional=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed log of several segments with every codec, an idempotent producer and a transaction marker."""
    root = tmp_path_factory.mktemp("data")
    driver = Driver(DiskFiles(root), LogConfig(segment_bytes=40_000), index_interval_bytes=4_096)
    rng, sequence = random.Random(3), 0
    for number in range(300):
        batch = batch_of(rng, driver, number, sequence)
        before = driver.log.log_end_offset
        driver.append(batch)
        sequence += (driver.log.log_end_offset - before) if number % 2 == 0 else 0
    driver.append(marker_at(driver.log.log_end_offset))
    driver.stop()
    return root / str(TP)


def files(folder: Path, *suffixes: str) -> str:
    found = sorted(str(path) for path in folder.iterdir() if path.suffix in suffixes)
    assert len(found) >= 4 * len(suffixes) - 1
    return ",".join(found)


def dump(*words: str) -> str:
    """All that the tool prints: its complaints go to stderr, and it ends well all the same."""
    command = jars.java("org.apache.kafka.tools.DumpLogSegments", *words)
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=True)
    return done.stdout + done.stderr


def test_every_batch_is_read_to_its_records(tool: Tool, folder: Path) -> None:
    printed = dump("--deep-iteration", "--files", files(folder, ".log"))
    assert printed.count("isvalid: true") == 301
    assert "isvalid: false" not in printed
    assert "endTxnMarker: COMMIT" in printed
    for codec in CODECS:
        assert f"compresscodec: {codec}" in printed


def test_index_entries_point_at_what_they_say(tool: Tool, folder: Path) -> None:
    printed = dump("--files", files(folder, ".index", ".timeindex"))
    assert printed.count("offset:") > 40
    for complaint in ("mismatch", "not found", "out of order"):
        assert complaint not in printed.lower()
    checked = dump("--index-sanity-check", "--files", files(folder, ".index"))
    assert checked.count("passed sanity check") >= 4


def test_producer_snapshots_name_the_producer_and_its_newest_batch(
    tool: Tool, folder: Path
) -> None:
    printed = dump("--files", files(folder, ".snapshot"))
    lines = [line for line in printed.splitlines() if line.startswith("producerId: 77 ")]
    assert len(lines) >= 4
    assert all("producerEpoch: 1" in line for line in lines)


def test_the_tool_would_complain_about_entries_that_lead_astray(
    tool: Tool, folder: Path, tmp_path: Path
) -> None:
    name = "00000000000000000000"
    for suffix in (".log", ".index", ".timeindex"):
        content = bytearray((folder / f"{name}{suffix}").read_bytes())
        if suffix != ".log":
            content[3] ^= 1  # the first relative offset; the first timestamp
        (tmp_path / f"{name}{suffix}").write_bytes(content)
    paths = ",".join(str(tmp_path / f"{name}{suffix}") for suffix in (".index", ".timeindex"))
    printed = dump("--files", paths).lower()
    assert "mismatch" in printed
    assert printed.count("mismatch") + printed.count("not found") >= 2
