"""Appends that are written behind: nothing overtakes them, nothing is told too early, whoever needs them gets them."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from brokers.effects import CloseLog, SaveHighWatermarks
from brokers.events import LogFailed, Written
from brokers.log.config import LogConfig
from brokers.records.batch import parse_header
from brokers.storage.logs.writing import Write
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import TP, Driver, batch_at
from tests.unit.brokers.storage.test_machine import LogAgainstModel


def behind() -> Driver:
    return Driver(SimFiles(), LogConfig(segment_bytes=10_000), writes_behind=True)


def test_it_is_told_when_it_is_written_and_can_then_be_read() -> None:
    driver = behind()
    batch = batch_at(0, 3)
    assert driver.append(batch, behind=True) == []
    assert list(driver.storage.unwritten) == [TP]
    assert driver.read(0, bound=3).next_offset == 0
    write = driver.storage.begin_write(TP)
    assert driver.storage.unwritten == {}
    write.run()
    assert driver.read(0, bound=3).next_offset == 0
    assert driver.end_write(write) == [Written(TP, 3)]
    assert bytes(driver.read(0).data) == bytes(batch)


def test_those_that_wait_are_written_together() -> None:
    driver = behind()
    driver.append(batch_at(0), behind=True)
    first = driver.storage.begin_write(TP)
    driver.append(batch_at(1), behind=True)
    driver.append(batch_at(2), behind=True)
    assert driver.end_write(first) == [Written(TP, 1)]
    assert driver.end_write(driver.storage.begin_write(TP)) == [Written(TP, 3)]


def test_one_to_be_synced_is_told_after_the_sync() -> None:
    driver = behind()
    driver.append(batch_at(0), sync=True, behind=True)
    assert driver.storage.unsynced == {}
    assert driver.end_write(driver.storage.begin_write(TP)) == []
    assert driver.sync() == [Written(TP, 1)]


def test_one_that_must_be_written_at_once_waits_for_those_before_it() -> None:
    driver = behind()
    driver.append(batch_at(0), behind=True)
    write = driver.storage.begin_write(TP)
    driver.append(batch_at(1), behind=True)
    assert driver.append(batch_at(2)) == [Written(TP, 1), Written(TP, 2), Written(TP, 3)]
    write.run()
    assert driver.end_write(write) == []
    assert len(driver.read_all()) == 3 * len(batch_at(0))


def test_without_a_host_for_it_and_below_its_size_every_write_is_done_at_once() -> None:
    assert Driver(SimFiles()).append(batch_at(0), behind=True) == [Written(TP, 1)]
    driver = behind()
    driver.storage._writes._from_bytes = 2 * len(batch_at(0))
    assert driver.append(batch_at(0), behind=True) == [Written(TP, 1)]
    assert driver.append(batch_at(1), batch_at(2), behind=True) == []


def test_what_the_disk_refuses_takes_the_log_offline_and_what_waits_behind_it_is_gone() -> None:
    driver = behind()
    driver.append(batch_at(0), behind=True)
    write = driver.storage.begin_write(TP)
    driver.append(batch_at(1), behind=True)
    driver.files.full_after(10)
    write.run()
    [failed] = driver.end_write(write)
    assert isinstance(failed, LogFailed)
    assert "the disk is full" in failed.reason
    assert driver.storage.unwritten == {}
    driver.files.full_after(None)
    driver.open()
    assert driver.log.log_end_offset == 0


def test_a_log_that_is_given_up_is_written_no_more() -> None:
    driver = behind()
    driver.append(batch_at(0), behind=True)
    write = driver.storage.begin_write(TP)
    driver.files.break_at("checkpoint")
    driver.storage.abandon()
    driver.files.break_at("")
    write.run()
    assert driver.storage.end_write(TP, write) == []
    driver.start()
    assert driver.log.log_end_offset == 0


def test_closing_and_opening_wait_for_it() -> None:
    driver = behind()
    driver.append(batch_at(0), behind=True)
    driver.storage.begin_write(TP)
    driver.append(batch_at(1), behind=True)
    assert driver.perform([CloseLog(TP, delete=False)]) == [Written(TP, 1), Written(TP, 2)]
    driver.open()
    driver.append(batch_at(2), behind=True)
    driver.storage.begin_write(TP)
    driver.open()
    assert driver.log.log_end_offset == 3


class WritesBehindAgainstModel(LogAgainstModel):
    """The same machine; appends may be on their way whenever something else happens."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver(self.disk, LogConfig(segment_bytes=1_500), writes_behind=True)
        self.write: Write | None = None

    @property
    def _is_settled(self) -> bool:
        return not self.driver.storage._writes.has(TP)

    @rule(data=st.data(), number=st.integers(1, 3), sync=st.booleans())
    def append_behind(self, data: st.DataObject, number: int, sync: bool) -> None:
        offset = self.log.log_end_offset + data.draw(st.sampled_from([0, 0, 5]))
        batches = []
        for _ in range(number):
            batches.append(self._build(data, offset))
            offset = parse_header(batches[-1]).next_offset
        roll_first = data.draw(st.sampled_from([None, None, True, False]))
        written = self.log.written_offset
        self.driver.append(*batches, sync=sync, behind=True, roll_first=roll_first)
        self._note(*batches)
        assert written <= self.log.written_offset < self.log.log_end_offset
        assert not self._is_settled

    @precondition(lambda self: self.write is None and TP in self.driver.storage.unwritten)
    @rule(at_once=st.booleans())
    def begin_write(self, at_once: bool) -> None:
        self.write = self.driver.storage.begin_write(TP)
        if at_once:
            self.write.run()

    @precondition(lambda self: self.write is not None)
    @rule()
    def end_write(self) -> None:
        write, self.write = self.write, None
        write.run()
        self.driver.end_write(write)
        assert self.driver.failure == ""

    @rule()
    def sync(self) -> None:
        self.driver.sync()
        self.synced = max(self.synced, self.driver.storage._logs[TP].synced_offset)
        if self._is_settled:
            assert self.log.written_offset == self.log.log_end_offset

    @rule(data=st.data(), sync=st.booleans())
    def append(self, data: st.DataObject, sync: bool) -> None:
        batch = self._build(data, self.log.log_end_offset)
        self.driver.append(batch, sync=sync)
        self._note(batch)
        assert self._is_settled

    @rule(runs=st.booleans())
    def the_process_is_killed(self, runs: bool) -> None:
        if self.write is not None and runs:
            self.write.run()
        written, self.write = self.log.written_offset, None
        self.driver.start()
        assert all("leader epochs above" in repair for repair in self.driver.repairs)
        assert self.log.log_end_offset >= written
        self._forget_above(self.log.log_end_offset)
        self._check_recovered()

    @rule()
    def the_node_is_shut_down(self) -> None:
        end = self.log.log_end_offset
        super().the_node_is_shut_down()
        assert self.log.log_end_offset == end

    @rule(seed=st.integers(0, 2**32))
    def the_power_goes(self, seed: int) -> None:
        self.write = None
        super().the_power_goes(seed)

    @rule(data=st.data(), room=st.integers(0, 700))
    def the_disk_fills_up(self, data: st.DataObject, room: int) -> None:
        super().the_disk_fills_up(data, room)
        assert self._is_settled

    @rule()
    def checkpoint(self) -> None:
        self.driver.perform([SaveHighWatermarks({TP: self.log.written_offset})])

    @rule()
    def save_behind(self) -> None:
        """Sometime after a checkpoint."""
        self.driver.follow(self.driver.save_behind())

    @invariant()
    def the_core_and_the_disk_agree_on_segments(self) -> None:
        if self._is_settled:
            super().the_core_and_the_disk_agree_on_segments()


WritesBehindAgainstModel.TestCase.settings = settings(
    max_examples=100, stateful_step_count=40, suppress_health_check=list(HealthCheck)
)
test_a_log_that_is_written_behind_survives_what_it_promised_to = WritesBehindAgainstModel.TestCase
