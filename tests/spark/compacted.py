"""Two regions that hold one compacted partition, each cleaned as far as it got: written and cleaned by the product."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from brokers.log.config import LogConfig
from brokers.records.builder import NewRecord, build_batch
from brokers.shell.files import DiskFiles
from tests.unit.brokers.storage.driver import NOW, Driver

AT_ONCE = LogConfig(segment_bytes=2_000, compact=True, delete_expired=False, delete_retention_ms=0)
LATER = replace(AT_ONCE, delete_retention_ms=86_400_000)


class Put(NamedTuple):
    """A record at an offset; a value of None deletes its key."""

    offset: int
    key: bytes
    value: bytes | None


Records = Sequence[Put]


def history(count: int, keys: int = 7) -> list[Put]:
    """Every key again and again; every ninth record deletes."""
    return [
        Put(offset, b"key-%d" % (offset % keys), None if offset % 9 == 8 else b"v%d" % offset)
        for offset in range(count)
    ]


def written(
    folder: Path,
    records: Iterable[Put],
    *,
    rolls: Iterable[int] = (),
    cleanings: Mapping[int, LogConfig] | None = None,
    end: Callable[[Driver], None] = Driver.stop,
) -> Path:
    """One record a batch. Segments begin at `rolls`; before a record at one of the `cleanings` is appended, what is
    sealed is cleaned, twice, so that markers may go."""
    folder.mkdir()
    driver = Driver(DiskFiles(str(folder)), LATER)
    rolling, cleaning = set(rolls), dict(cleanings or {})
    for offset, key, value in records:
        batch = build_batch(
            [NewRecord(key, value)], timestamp=NOW + offset, base_offset=offset, leader_epoch=0
        )
        driver.append(batch, roll_first=offset in rolling)
        if offset in cleaning:
            driver.sync()
            driver.digest()
            for after in (1, 2):
                driver.clean(cleaning[offset], now=NOW + after)
                driver.digest()
                driver.log.cleaner_offset = 0  # the next one has all of it to do again
    end(driver)
    return folder
