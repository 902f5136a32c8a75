"""Where readers of a log go on."""

from brokers.log.config import LogConfig
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import Driver


class CountedReads(SimFiles):
    """How often a file was read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    def read(self, path: str, position: int, size: int) -> bytes:
        self.reads += 1
        return super().read(path, position, size)


def test_all_readers_at_the_end_of_a_log_know_where_the_next_batch_begins() -> None:
    files = CountedReads()
    driver = Driver(files, LogConfig(), index_interval_bytes=1 << 20)
    for _ in range(40):
        driver.append_next()
        driver.read(driver.log.log_end_offset - 1)
    driver.append_next()
    files.reads = 0
    for _ in range(3):
        assert driver.read(40).next_offset == 41
    assert files.reads == 3, "one each: no reader looks for its batch from an index entry on"
