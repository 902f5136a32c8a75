"""What tests of cleanings share: a log with a few records, and what is left of it."""

from brokers.log.config import LogConfig
from brokers.records.batch import BatchHeader, iter_headers
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import open_batch
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import NOW, Driver

DAY = 86_400_000
COMPACT = LogConfig(segment_bytes=2_000, compact=True, delete_expired=False)


def keyed(
    driver: Driver, *pairs: tuple[bytes | None, bytes | None], timestamp: int = NOW, **fields: int
) -> int:
    """Appends one batch of these records -> its base offset."""
    base = driver.log.log_end_offset
    records = [NewRecord(key, value) for key, value in pairs]
    fields.setdefault("leader_epoch", 0)
    driver.append(build_batch(records, timestamp=timestamp, base_offset=base, **fields))
    return base


def rolled(driver: Driver) -> None:
    """Everything so far is in sealed segments."""
    base = driver.log.log_end_offset
    batch = build_batch(
        [NewRecord(b"active", b"")], timestamp=NOW, base_offset=base, leader_epoch=0
    )
    driver.append(batch, roll_first=True)
    driver.sync()
    driver.digest()


def headers(driver: Driver) -> list[BatchHeader]:
    return [header for _, header in iter_headers(driver.read_all())]


def records(driver: Driver) -> list[tuple[int, bytes | None, bytes | None]]:
    data = driver.read_all()
    return [
        (record.offset, record.key, record.value)
        for at, header in iter_headers(data)
        for record in open_batch(data[at : at + header.length])
        if not header.is_control
    ]


def sealed(driver: Driver) -> list[tuple[int, bytes | None, bytes | None]]:
    """Without the record of the active segment."""
    return [each for each in records(driver) if each[1] != b"active"]


def new(config: LogConfig = COMPACT, **fields: object) -> Driver:
    return Driver(SimFiles(), config, **fields)  # type: ignore[arg-type]
