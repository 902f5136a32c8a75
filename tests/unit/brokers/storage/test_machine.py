"""A log and its disk against a model that is a list of batches, through kills, power cuts and full disks.

Nothing that was reported as synced is lost to a power cut, nothing that was reported as written to a kill; nothing is
invented: what a log holds after recovery is a prefix of what was handed to it.
"""

import random
from typing import NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from brokers.effects import SaveHighWatermarks
from brokers.errors import KafkaError
from brokers.log.config import LogConfig
from brokers.records.batch import iter_headers, parse_header
from brokers.records.record import open_batch
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import NOW, TP, Driver, batch_at


class Kept(NamedTuple):
    """One batch of the model."""

    offset: int
    next_offset: int
    data: bytes


class LogAgainstModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.disk = SimFiles()
        self.driver = Driver(self.disk, LogConfig(segment_bytes=1_500))
        self.batches: list[Kept] = []  # everything appended and not lost, trimmed or not
        self.synced = 0
        self.sequences: dict[int, int] = {}

    @property
    def log(self):
        return self.driver.log

    def _note(self, *batches: bytearray) -> None:
        for batch in batches:
            header = parse_header(batch)
            self.batches.append(Kept(header.base_offset, header.next_offset, bytes(batch)))

    def _in_log(self, bound: int | None = None) -> list[Kept]:
        bound = self.log.log_end_offset if bound is None else bound
        return [
            batch
            for batch in self.batches
            if batch.next_offset > self.log.log_start_offset and batch.next_offset <= bound
        ]

    def _build(self, data: st.DataObject, offset: int) -> bytearray:
        count = data.draw(st.integers(1, 4))
        producer = data.draw(st.sampled_from([-1, -1, 11, 12]))
        fields = {}
        if producer >= 0:
            fields = {"producer_id": producer, "producer_epoch": 0}
            fields["base_sequence"] = self.sequences.get(producer, 0)
            self.sequences[producer] = fields["base_sequence"] + count
        return batch_at(
            offset,
            count,
            size=data.draw(st.sampled_from([1, 50, 400])),
            timestamp=NOW + data.draw(st.integers(-20, 20)),
            leader_epoch=max(0, self.log.epochs.latest),
            **fields,
        )

    @rule(data=st.data(), number=st.integers(1, 3), sync=st.booleans())
    def append(self, data: st.DataObject, number: int, sync: bool) -> None:
        offset = self.log.log_end_offset + data.draw(st.sampled_from([0, 0, 0, 5]))
        batches = []
        for _ in range(number):
            batches.append(self._build(data, offset))
            offset = parse_header(batches[-1]).next_offset
        roll_first = data.draw(st.sampled_from([None, None, True, False]))
        self.driver.append(*batches, sync=sync, roll_first=roll_first)
        self._note(*batches)
        assert self.driver.failure == ""
        if sync:
            assert TP in self.driver.storage.unsynced
            assert self.log.written_offset < self.log.log_end_offset

    @rule()
    def sync(self) -> None:
        self.driver.sync()
        assert self.log.written_offset == self.log.log_end_offset
        self.synced = max(self.synced, self.driver.storage._logs[TP].synced_offset)

    @rule()
    def checkpoint(self) -> None:
        self.driver.perform([SaveHighWatermarks({TP: self.log.written_offset})])

    @rule(step=st.integers(1, 3))
    def begin_epoch(self, step: int) -> None:
        self.driver.perform(self.log.begin_epoch(self.log.epochs.latest + step))

    @rule(part=st.floats(0, 1))
    def trim(self, part: float) -> None:
        start, end = self.log.log_start_offset, self.log.written_offset
        self.driver.perform(self.log.trim(start + int(part * (end - start))))

    @precondition(lambda self: self.log.written_offset == self.log.log_end_offset)
    @rule(distance=st.integers(0, 20))
    def restart_further_on(self, distance: int) -> None:
        self.driver.perform(self.log.restart_at(self.log.log_end_offset + distance))

    @rule(part=st.floats(0, 1))
    def truncate(self, part: float) -> None:
        start, end = self.log.log_start_offset, self.log.log_end_offset
        offset = start + int(part * (end - start))
        epochs = self.log.epochs.entries
        # Batches with gaps between them are those of a compacted log. It is a new replica then, and so it is where
        # nothing is left but deleted records.
        is_below = self.log.segments[0].base_offset < offset == start
        begins_anew = is_below or offset < self.log.completeness.complete_from
        self.driver.perform(self.log.truncate(offset))
        if offset == end:
            kept = end
        else:
            batches = () if begins_anew else (batch.next_offset for batch in self.batches)
            kept = max([each for each in batches if each <= offset], default=start)
            assert self.driver.repairs == () or self.log.log_end_offset == start
            assert max(start, kept) <= self.log.log_end_offset <= offset
            self.synced = self.log.log_end_offset
            self._forget_above(self._known_anew() if begins_anew else self.log.log_end_offset)
            self._check_recovered()
        assert set(self.log.epochs.entries) <= {(epoch, max(at, start)) for epoch, at in epochs}
        assert all(at <= max(start, kept) for _, at in self.log.epochs.entries)

    def _known_anew(self) -> int:
        """Up to where the producers are known of a log that begins anew: a snapshot from below its start may be left,
        of what it has in common with its leader."""
        start = self.log.log_start_offset
        survived = [batch.next_offset for batch in self.batches if batch.next_offset <= start]
        return next(each for each in [-1, *survived] if self._producers_are_those_below(each))

    @rule(
        at=st.floats(0, 1),
        until=st.floats(0, 1),
        size_max=st.sampled_from([0, 100, 700, 10_000]),
        at_least_one=st.booleans(),
    )
    def read(self, at: float, until: float, size_max: int, at_least_one: bool) -> None:
        start, end = self.log.log_start_offset, self.log.written_offset
        offset, bound = (start + int(part * (end - start)) for part in (at, until))
        found = self.driver.read(offset, bound, size_max, at_least_one=at_least_one)
        wanted = [batch for batch in self._in_log(bound) if batch.next_offset > offset]
        got = [header for _, header in iter_headers(found.data)]
        assert b"".join(batch.data for batch in wanted[: len(got)]) == bytes(found.data)
        assert found.error == KafkaError.NONE
        assert found.next_offset == (got[-1].next_offset if got else offset)
        fits = wanted and (at_least_one or len(wanted[0].data) <= size_max)
        assert bool(got) == bool(fits), (offset, bound, size_max)
        if len(got) > 1:
            assert len(found.data) <= size_max

    @rule(distance=st.integers(1, 5))
    def read_outside(self, distance: int) -> None:
        end = self.driver.storage._logs[TP].next_offset
        for offset in (self.log.log_start_offset - distance, end + distance):
            assert self.driver.read(offset, end).error == KafkaError.OFFSET_OUT_OF_RANGE

    @rule(moment=st.integers(-22, 22), until=st.floats(0, 1))
    def find_timestamp(self, moment: int, until: float) -> None:
        start, end = self.log.log_start_offset, self.log.written_offset
        bound = start + int(until * (end - start))
        records = [
            (record.offset, record.timestamp)
            for batch in self._in_log(bound)
            for record in open_batch(batch.data)
            if record.offset >= start
        ]
        later = [record for record in records if record[1] >= NOW + moment]
        assert self.driver.find(NOW + moment, bound) == (later[0] if later else (-1, -1))
        newest = max(records, key=lambda record: (record[1], -record[0]), default=(-1, -1))
        assert self.driver.find(-3, bound) == newest

    @rule()
    def the_process_is_killed(self) -> None:
        before = self._shape()
        start = self.log.log_start_offset
        self.driver.start()
        assert self.driver.repairs == ()
        assert (self._shape(), self.log.log_start_offset) == (before, start)
        self._check_recovered()

    @rule()
    def the_node_is_shut_down(self) -> None:
        before = self._shape()
        self.driver.stop()
        syncs = self.disk.syncs
        self.driver.start()
        assert self.driver.repairs == ()
        assert self._shape() == before
        assert self.disk.syncs == syncs
        self.synced = self.log.log_end_offset
        self._check_recovered()

    @rule(seed=st.integers(0, 2**32))
    def the_power_goes(self, seed: int) -> None:
        on_disk = [batch.next_offset for batch in self.batches if batch.next_offset <= self.synced]
        floor, epochs = max([self.log.log_start_offset, *on_disk]), self.log.epochs.entries
        self.disk.crash(random.Random(seed))
        self.driver.start()
        end = self.log.log_end_offset
        assert end >= floor, f"synced to {floor}, recovered to {end}"
        kept = tuple(entry for entry in epochs if entry[1] <= end)
        self._check_epochs(dict(kept), end)
        if end == self.log.log_start_offset:
            # Records that were deleted before they were synced: their producers may be forgotten with them.
            survived = [batch.next_offset for batch in self.batches if batch.next_offset <= end]
            ends = [self.synced, *(offset for offset in survived if offset > self.synced)]
            end = next(each for each in ends if self._producers_are_those_below(each))
        self._forget_above(end)
        self._check_recovered()

    def _check_epochs(self, before: dict[int, int], end: int) -> None:
        """After a power cut: epochs without data may be gone, or those be back that they took the place of; and how far
        before its data one began may be.
        """
        found, batches = dict(self.log.epochs.entries), self._in_log(end)
        for epoch, start in found.items():
            began = before.get(epoch, start)
            assert epoch in before or start in before.values()
            assert began <= start
            assert not any(began <= batch.offset < start for batch in batches)
        assert {parse_header(batch.data).leader_epoch for batch in batches} <= found.keys()

    @rule(data=st.data(), room=st.integers(0, 700))
    def the_disk_fills_up(self, data: st.DataObject, room: int) -> None:
        written = self.log.written_offset
        self.disk.full_after(room)
        batches = [self._build(data, self.log.log_end_offset)]
        batches.append(self._build(data, parse_header(batches[0]).next_offset))
        self.driver.append(*batches)
        self.disk.full_after(None)
        self._note(*batches)
        if not self.driver.failure:
            return
        assert "full" in self.driver.failure
        assert self.driver.read(0).error == KafkaError.KAFKA_STORAGE_ERROR
        self.driver.open()
        assert self.driver.failure == ""
        assert self.log.log_end_offset >= written
        self._forget_above(self.log.log_end_offset)
        self._check_recovered()

    def _shape(self) -> list[tuple[int, int, int]]:
        """Segments with data; not one that was cut to below the log start, which goes when the log is next opened."""
        segments, start = list(self.log.segments), self.log.log_start_offset
        while len(segments) > 1 and segments[1].base_offset <= start:
            segments.pop(0)
        return [
            (segment.base_offset, segment.size, segment.max_timestamp)
            for segment in segments
            if segment.size
        ]

    def _forget_above(self, end: int) -> None:
        self.batches = [batch for batch in self.batches if batch.next_offset <= end]
        for producer in self.sequences:
            self.sequences[producer] = 0
            for batch in self.batches:
                header = parse_header(batch.data)
                if header.producer_id == producer:
                    self.sequences[producer] = header.last_sequence + 1

    def _check_recovered(self) -> None:
        assert self._producers_are_those_below(self.log.log_end_offset)
        assert self.log.written_offset == self.log.log_end_offset
        assert self.log.high_watermark_checkpoint <= self.log.log_end_offset

    def _producers_are_those_below(self, end: int) -> bool:
        """Whether of each producer the last five batches are known: no retry may be stored again."""
        remembered: dict[int, list[tuple[int, int, int]]] = {}
        for batch in self.batches:
            header = parse_header(batch.data)
            if header.producer_id >= 0 and header.next_offset <= end:
                seen = remembered.setdefault(header.producer_id, [])
                seen.append((header.base_sequence, header.base_offset, header.next_offset))
        return {
            producer_id: [(seen[0], seen[2], seen[3]) for seen in producer.batches]
            for producer_id, producer in self.log.producers
        } == {producer_id: seen[-5:] for producer_id, seen in remembered.items()}

    @invariant()
    def the_log_holds_the_models_batches(self) -> None:
        wanted = b"".join(batch.data for batch in self._in_log(self.log.written_offset))
        if self.log.written_offset == self.log.log_end_offset:
            assert self.driver.read_all() == wanted

    @invariant()
    def the_core_and_the_disk_agree_on_segments(self) -> None:
        disk = self.driver.storage._logs[TP].segments
        assert [(segment.base_offset, segment.size) for segment in self.log.segments] == [
            (segment.base_offset, segment.size) for segment in disk
        ]
        assert all(segment.max_timestamp >= 0 for segment in self.log.segments if segment.size)


LogAgainstModel.TestCase.settings = settings(
    max_examples=100,
    stateful_step_count=40,
    suppress_health_check=list(HealthCheck),
)
test_a_log_survives_what_it_promised_to = LogAgainstModel.TestCase
