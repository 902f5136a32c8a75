"""Kafka's own log tool and Java's consumer read every cleaned log."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from brokers.records.batch import stamp
from brokers.records.builder import NewRecord, build_batch
from brokers.shell.files import DiskFiles
from tests.compat.java.conftest import Tool
from tests.compat.java.test_dump_log import CODECS, dump, marker_at
from tests.process.asking import until
from tests.process.nodes import BrokerProcess
from tests.process.test_compaction import CLEANER, TIMEOUT_S, checkpoint, create, produced, read
from tests.unit.brokers.records.batches import foreign_batch
from tests.unit.brokers.storage.cleaning.keyed import COMPACT, headers, rolled
from tests.unit.brokers.storage.driver import NOW, TP, Driver


@pytest.fixture(scope="module")
def cleaned(tmp_path_factory: pytest.TempPathFactory) -> Driver:
    """A closed log, cleaned twice: every codec, deletion markers, empty batches of producers, a marker."""
    root = tmp_path_factory.mktemp("data")
    config = replace(COMPACT, segment_bytes=30_000)
    driver = Driver(DiskFiles(root), config, index_interval_bytes=1_024)
    rng = random.Random(5)
    for number in range(400):
        base = driver.log.log_end_offset
        made = [
            NewRecord(
                b"key-%d" % rng.randrange(300),
                None if rng.random() < 0.1 else rng.randbytes(60),
                ((b"h", b"v"),),
                NOW + 10 * number + rng.randrange(99),
            )
            for _ in range(rng.randrange(1, 12))
        ]
        if number % 2:
            batch = bytearray(foreign_batch(made, number // 2 % len(CODECS)))
            stamp(batch, 0, base, 1)
        else:
            batch = build_batch(
                made, timestamp=NOW, base_offset=base, leader_epoch=1,
                producer_id=number, producer_epoch=0, base_sequence=0,
            )  # fmt: skip
        driver.append(batch)
        if number == 200:
            driver.append(marker_at(driver.log.log_end_offset))
            rolled(driver)
            driver.clean()
    rolled(driver)
    driver.clean(now=NOW + 1)
    driver.digest()
    return driver


def test_every_batch_of_a_cleaned_log_is_read_to_its_records(tool: Tool, cleaned: Driver) -> None:
    folder = Path(cleaned.files.root) / str(TP)  # type: ignore[attr-defined]
    mine = headers(cleaned)
    assert {each.compression for each in mine} == set(range(5))
    assert any(each.record_count == 0 for each in mine)
    printed = dump("--deep-iteration", "--files", files_in(folder, ".log"))
    lines = printed.splitlines()
    batches = [line for line in lines if line.startswith("baseOffset: ")]
    assert len(batches) == len(mine) and "isvalid: false" not in printed
    assert all("isvalid: true" in line for line in batches)
    for line, header in zip(batches, mine, strict=True):
        last = header.next_offset - 1
        assert (
            f"baseOffset: {header.base_offset} lastOffset: {last} count: {header.record_count} "
            in line
        )
    horizons = [line for line in batches if "deleteHorizonMs: OptionalLong[" in line]
    assert len(horizons) == sum(each.attributes >> 6 & 1 for each in mine) > 5
    assert sum(line.startswith("|") for line in lines) == sum(each.record_count for each in mine)


def test_index_entries_of_a_cleaned_log_point_at_what_they_say(tool: Tool, cleaned: Driver) -> None:
    cleaned.stop()
    folder = Path(cleaned.files.root) / str(TP)  # type: ignore[attr-defined]
    printed = dump("--files", files_in(folder, ".index", ".timeindex"))
    assert printed.count("offset:") > 10
    for complaint in ("mismatch", "not found", "out of order"):
        assert complaint not in printed.lower()
    assert "passed sanity check" in dump(
        "--index-sanity-check", "--files", files_in(folder, ".index")
    )


def files_in(folder: Path, *suffixes: str) -> str:
    return ",".join(sorted(str(path) for path in folder.iterdir() if path.suffix in suffixes))


def test_javas_consumer_reads_what_is_left(tool: Tool, tmp_path: Path) -> None:
    node, rng = BrokerProcess(tmp_path, CLEANER), random.Random(6)
    node.start()
    try:
        create(node, "table", cleanup_policy="compact", internal_segment_bytes=60_000)
        written = [
            (b"key-%d" % rng.randrange(200), rng.randbytes(200).hex().encode())
            for _ in range(4_000)
        ]
        for number, codec in enumerate(("none", "gzip", "snappy", "lz4", "zstd")):
            part = written[number * 800 :][:800]
            produced(node, "table", [*part], codec)
        produced(node, "table", [(b"last", rng.randbytes(500).hex().encode())] * 150, "none")
        until(lambda: checkpoint(node, "table-0") >= len(written), TIMEOUT_S, node.log)
        # The last ones are still being cleaned.
        mine = [each for each in read(node, "table") if each[1] != b"last"]
        assert len(mine) < 1_500
        printed = tool(
            "org.apache.kafka.tools.consumer.ConsoleConsumer",
            "--bootstrap-server", node.address, "--topic", "table", "--from-beginning",
            "--max-messages", str(len(mine)), "--timeout-ms", "60000",
            "--formatter-property", "print.key=true", "--formatter-property", "print.offset=true",
        )  # fmt: skip
        theirs = [tuple(line.split("\t")) for line in printed.splitlines()]
        assert theirs == [
            (f"Offset:{offset}", key.decode(), value.decode()) for offset, key, value in mine
        ]
    finally:
        node.kill()
