import pytest

from brokers.effects import Append, FlushLog, Roll, SaveEpochs, TrimLog
from brokers.ids import TopicPartition
from brokers.log.config import DAY_MS, LogConfig
from brokers.log.log import Log
from brokers.log.segments import Segment
from brokers.log.snapshots import decode_snapshot
from brokers.records.batch import parse_header
from tests.unit.brokers.storage.driver import NOW, TOPIC_ID, TP, batch_at

BATCH = len(batch_at(0))
CONFIG = LogConfig(segment_bytes=3 * BATCH, segment_ms=1_000)


def empty_log() -> Log:
    return Log(TP, TOPIC_ID, segments=[Segment(0)], log_start_offset=0, log_end_offset=0)


def append(log: Log, *batches: bytearray, now: int = NOW, config: LogConfig = CONFIG, **options):
    headers = [parse_header(batch) for batch in batches]
    return log.append(headers, batches, now, config=config, sync=False, **options)


def kinds(effects: list) -> list[str]:
    return [type(effect).__name__ for effect in effects]


def test_the_first_batch_of_an_epoch_is_preceded_by_its_entry() -> None:
    log = empty_log()
    effects = append(log, batch_at(0, 2))
    assert kinds(effects) == ["SaveEpochs", "Append"]
    assert effects[0] == SaveEpochs(TP, ((0, 0),))
    assert kinds(append(log, batch_at(2, leader_epoch=0))) == ["Append"]
    assert kinds(append(log, batch_at(3, leader_epoch=4))) == ["Roll", "SaveEpochs", "Append"]
    assert log.epochs.entries == ((0, 0), (4, 3))


def test_several_epochs_in_one_append_are_saved_at_once() -> None:
    log = empty_log()
    batches = [batch_at(offset, leader_epoch=epoch) for offset, epoch in enumerate([1, 1, 3])]
    effects = append(log, *batches)
    assert effects[0] == SaveEpochs(TP, ((1, 0), (3, 2)))


def test_the_end_moves_when_decided_and_what_is_written_when_told() -> None:
    log = empty_log()
    batch = batch_at(0, 3)
    effects = append(log, batch)
    assert effects[-1] == Append(TP, (parse_header(batch),), (batch,), False)
    assert (log.log_end_offset, log.written_offset) == (3, 0)
    log.on_written(3)
    log.on_written(2)
    assert log.written_offset == 3


def test_offsets_that_come_again_are_a_fault_of_ours() -> None:
    log = empty_log()
    append(log, batch_at(0, 3))
    with pytest.raises(AssertionError):
        append(log, batch_at(2))


def test_a_mirror_may_leave_the_holes_of_its_source() -> None:
    log = empty_log()
    append(log, batch_at(5, 2), batch_at(10))
    assert log.log_end_offset == 11
    assert [segment.base_offset for segment in log.segments] == [0]


def test_a_full_segment_is_rolled_before_the_batch_that_would_not_fit() -> None:
    log = empty_log()
    for offset in range(3):
        assert "Roll" not in kinds(append(log, batch_at(offset)))
    effects = append(log, batch_at(3))
    assert kinds(effects) == ["Roll", "Append"]
    assert effects[0].base_offset == 3
    assert [(segment.base_offset, segment.size) for segment in log.segments] == [
        (0, 3 * BATCH),
        (3, BATCH),
    ]
    assert log.size == 4 * BATCH


def test_an_old_segment_is_rolled_and_an_empty_one_never() -> None:
    log = empty_log()
    assert "Roll" not in kinds(append(log, batch_at(0), now=NOW + 99_999))
    assert "Roll" not in kinds(append(log, batch_at(1), now=NOW + 99_999 + 1_000))
    assert "Roll" in kinds(append(log, batch_at(2), now=NOW + 99_999 + 1_001))


def test_a_source_decides_where_its_mirror_rolls() -> None:
    log = empty_log()
    for offset in range(10):
        effects = append(log, batch_at(offset), roll_first=offset == 5)
        assert ("Roll" in kinds(effects)) == (offset == 5)
    assert [segment.base_offset for segment in log.segments] == [0, 5]


def test_a_mirror_told_to_roll_an_empty_segment_has_nothing_to_seal() -> None:
    assert "Roll" not in kinds(append(empty_log(), batch_at(0), roll_first=True))


def test_offsets_too_far_for_an_index_begin_a_new_segment_whatever_was_asked() -> None:
    log = empty_log()
    append(log, batch_at(0))
    effects = append(log, batch_at(2**31), roll_first=False)
    assert effects[0].base_offset == 2**31
    far = empty_log()
    assert append(far, batch_at(2**40), roll_first=False)[0].base_offset == 2**40


def test_a_roll_carries_the_producers_as_of_its_offset() -> None:
    log = empty_log()
    fields = {"producer_id": 5, "producer_epoch": 0}
    append(log, batch_at(0, 2, base_sequence=0, **fields))
    effects = append(log, batch_at(2, base_sequence=2, **fields), roll_first=True)
    [(producer_id, producer)] = list(decode_snapshot(effects[0].producers))
    assert (producer_id, producer.next_sequence) == (5, 2)
    assert dict(log.producers)[5].next_sequence == 3


def test_a_roll_forgets_no_producer_whatever_its_age() -> None:
    log = empty_log()
    fields = {"producer_id": 5, "producer_epoch": 0}
    append(log, batch_at(0, 2, base_sequence=0, **fields))
    effects = append(
        log, batch_at(2), now=NOW + 7 * DAY_MS, roll_first=True
    )  # the broker says when
    assert len(decode_snapshot(effects[0].producers)) == len(log.producers) == 1


def test_an_epoch_begins_even_without_data_and_only_once() -> None:
    log = empty_log()
    assert log.begin_epoch(3) == [SaveEpochs(TP, ((3, 0),))]
    assert log.begin_epoch(3) == []
    append(log, batch_at(0, 2, leader_epoch=3))
    assert log.begin_epoch(5) == [SaveEpochs(TP, ((3, 0), (5, 2)))]


def filled_log(batches: int = 7, per_segment: int = 2) -> Log:
    """Segments of two batches each, the last with one; batch n has timestamp NOW + n."""
    log = empty_log()
    for offset in range(batches):
        batch = batch_at(offset, timestamp=NOW + offset)
        append(log, batch, roll_first=offset % per_segment == 0 and offset > 0)
    log.on_written(batches)
    return log


def test_trimming_drops_whole_segments_and_never_moves_back() -> None:
    log = filled_log()
    assert log.trim(3) == [TrimLog(TP, 3), SaveEpochs(TP, ((0, 3),))]
    assert [segment.base_offset for segment in log.segments] == [2, 4, 6]
    assert log.trim(3) == []
    assert log.trim(1) == []
    assert log.log_start_offset == 3


def test_what_clients_have_deleted_is_known_as_long_as_nothing_else_moves_the_log_start() -> None:
    log = filled_log()
    assert not log.records_were_deleted(0, 0)
    log.delete_records(1)
    log.delete_records(3)
    assert log.records_were_deleted(0, 3)
    assert log.records_were_deleted(2, 3)
    assert not log.records_were_deleted(3, 3)
    log.trim(5)  # as retention does
    assert not log.records_were_deleted(2, 5)
    log.delete_records(6)
    assert log.records_were_deleted(5, 6)
    assert not log.records_were_deleted(2, 6), "a part of it was not"


def test_a_log_trimmed_to_its_end_begins_a_new_segment_once() -> None:
    log = filled_log()
    effects = log.trim(7)
    assert kinds(effects) == ["Roll", "TrimLog", "SaveEpochs"]
    assert effects[0].base_offset == 7
    assert [(segment.base_offset, segment.size) for segment in log.segments] == [(7, 0)]
    assert log.epochs.entries == ((0, 7),)
    with pytest.raises(AssertionError):
        log.trim(8)


def test_a_restart_leaves_an_empty_log_at_the_offset() -> None:
    log = filled_log()
    effects = log.restart_at(100)
    assert kinds(effects) == ["Roll", "TrimLog", "SaveEpochs"]
    assert (log.log_start_offset, log.written_offset, log.log_end_offset) == (100, 100, 100)
    assert [(segment.base_offset, segment.size) for segment in log.segments] == [(100, 0)]
    assert log.begin_epoch(7) == [SaveEpochs(TP, ((7, 100),))]
    with pytest.raises(AssertionError):
        filled_log().restart_at(6)


def test_an_empty_log_may_go_on_at_a_lower_offset() -> None:
    log = filled_log()
    log.restart_at(100)
    log.begin_epoch(7)
    assert kinds(log.restart_at(98)) == ["Roll", "TrimLog", "SaveEpochs"]
    assert (log.log_start_offset, log.written_offset, log.log_end_offset) == (98, 98, 98)
    assert [(segment.base_offset, segment.size) for segment in log.segments] == [(98, 0)]
    assert log.epochs.entries == ()


@pytest.mark.parametrize(
    ("retention_ms", "now", "start"),
    [
        (-1, NOW + 10**9, None),
        (100, NOW + 100, None),
        (100, NOW + 101, None),  # the newest of the first segment is of NOW + 1
        (100, NOW + 102, 2),
        (100, NOW + 104, 4),
        (100, NOW + 106, 6),
        (100, NOW + 107, 7),  # even the active segment
        (0, NOW + 2, 2),
    ],
)
def test_retention_by_time_takes_segments_whose_newest_record_is_too_old(
    retention_ms: int, now: int, start: int | None
) -> None:
    config = LogConfig(retention_ms=retention_ms)
    assert filled_log().retention(now, config, 7) == start


@pytest.mark.parametrize(
    ("batches_kept", "start"),
    [(0, 7), (1, 6), (2, 4), (3, 4), (4, 2), (5, 2), (6, None), (7, None), (99, None)],
)
def test_retention_by_size_keeps_at_least_that_much(batches_kept: int, start: int | None) -> None:
    config = LogConfig(retention_ms=-1, retention_bytes=batches_kept * BATCH)
    assert filled_log().retention(NOW, config, 7) == start


def test_retention_respects_the_high_watermark_and_cleanup_policy() -> None:
    everything = LogConfig(retention_ms=0)
    assert filled_log().retention(NOW + 99, everything, 3) == 2
    assert filled_log().retention(NOW + 99, everything, 1) is None
    kept = LogConfig(retention_ms=0, delete_expired=False)
    assert filled_log().retention(NOW + 99, kept, 7) is None


def test_retention_stops_at_the_first_segment_that_stays() -> None:
    log = empty_log()
    for offset, timestamp in enumerate([NOW, NOW + 500, NOW]):
        append(log, batch_at(offset, timestamp=timestamp), roll_first=offset > 0)
    config = LogConfig(retention_ms=100)
    assert log.retention(NOW + 200, config, 3) == 1


def test_an_empty_log_has_nothing_to_expire() -> None:
    assert empty_log().retention(NOW, LogConfig(retention_ms=0, retention_bytes=0), 0) is None


def test_records_without_timestamps_expire_by_when_they_came() -> None:
    log = empty_log()
    append(log, batch_at(0, timestamp=-1))
    assert log.retention(NOW + 100, LogConfig(retention_ms=100), 1) is None
    assert log.retention(NOW + 101, LogConfig(retention_ms=100), 1) == 1


def test_a_roll_effect_is_what_storage_expects() -> None:
    log = filled_log(2)
    [roll, *_] = log.trim(2)
    assert roll == Roll(TP, 2, log.snapshot())


def test_bytes_of_segments_are_known_after_they_were_deleted() -> None:
    log = filled_log()  # segments at 0, 2, 4 and 6, of two batches but for the last
    assert log.bytes_between(2, 6) == 4 * BATCH
    assert log.bytes_between(4, 7) == 3 * BATCH, "up to the end of the log"
    log.trim(5)
    assert log.bytes_between(0, 4) == 4 * BATCH
    assert log.bytes_between(2, 6) == 4 * BATCH
    assert log.bytes_between(1, 4) == -1, "no segment begins there"
    assert log.bytes_between(0, 5) == -1
    assert log.bytes_between(8, 9) == -1


# --- flush.messages, flush.ms, segment.jitter.ms ---


def test_an_append_is_synced_after_so_many_records() -> None:
    log, config = empty_log(), LogConfig(flush_messages=5)
    assert [log.syncs(config, 2, NOW) for _ in range(6)] == [False, False, True, False, False, True]
    assert [log.syncs(config, 7, NOW), log.syncs(config, 1, NOW)] == [True, False]
    assert all(log.syncs(LogConfig(flush_messages=1), 1, NOW) for _ in range(3))
    assert not any(log.syncs(LogConfig(), 10**9, NOW) for _ in range(3))


def test_what_waits_for_flush_ms_is_flushed_once() -> None:
    log, config = empty_log(), LogConfig(flush_ms=100)
    assert log.flush(config, NOW) == []
    assert not log.syncs(config, 1, NOW) and not log.syncs(config, 1, NOW + 90)
    assert log.flush(config, NOW + 99) == []
    assert log.flush(config, NOW + 100) == [FlushLog(TP)]
    assert log.flush(config, NOW + 500) == [], "nothing was appended since"
    log.syncs(config, 1, NOW + 600)
    assert log.flush(config, NOW + 650) == [] and log.flush(config, NOW + 700) == [FlushLog(TP)]


def test_a_sync_by_number_ends_the_wait_for_time() -> None:
    log, config = empty_log(), LogConfig(flush_ms=100, flush_messages=2)
    assert [log.syncs(config, 1, NOW), log.syncs(config, 1, NOW)] == [False, True]
    assert log.flush(config, NOW + 1_000) == []


def ages_at_roll(jitter_ms: int, logs: int = 40) -> list[int]:
    """How old the first segment of each log is when it is rolled."""
    config = LogConfig(segment_ms=1_000, segment_jitter_ms=jitter_ms)
    ages = []
    for number in range(logs):
        partition = TopicPartition("t", number)
        log = Log(partition, TOPIC_ID, segments=[Segment(0)], log_start_offset=0, log_end_offset=0)
        append(log, batch_at(0), config=config)
        age = 0
        while "Roll" not in kinds(
            append(log, batch_at(log.log_end_offset), now=NOW + age, config=config)
        ):
            age += 50
        ages.append(age)
    return ages


def test_jitter_rolls_segments_early_each_at_its_own_time() -> None:
    assert set(ages_at_roll(0)) == {1_050}
    ages = ages_at_roll(500)
    assert min(ages) > 500 and max(ages) <= 1_050 and len(set(ages)) > 4
    assert ages == ages_at_roll(500), "a restart changes nothing"
    assert min(ages_at_roll(10**9)) >= 0


# --- index.interval.bytes, segment.index.bytes ---


@pytest.mark.parametrize(
    ("interval", "index_bytes", "batches"), [(0, 60, 5), (BATCH, 60, 9), (0, 4, 1)]
)
def test_a_segment_whose_index_is_full_is_sealed(
    interval: int, index_bytes: int, batches: int
) -> None:
    """Five entries of the time index are 60 bytes; the last is for the segment's end. The first batch gets none."""
    log = empty_log()
    config = LogConfig(index_interval_bytes=interval, segment_index_bytes=index_bytes)
    offsets = [
        offset
        for offset in range(20)
        if "Roll" in kinds(append(log, batch_at(offset), config=config))
    ]
    assert offsets[0] == batches and offsets[1] == 2 * batches


def test_a_new_segment_has_the_index_interval_of_then() -> None:
    log = empty_log()
    append(log, batch_at(0), config=CONFIG)
    config = LogConfig(segment_bytes=BATCH, index_interval_bytes=77)
    roll, *_ = append(log, batch_at(1), config=config)
    assert isinstance(roll, Roll) and roll.index_interval_bytes == 77


def test_where_segments_begin_and_how_big_they_are_follows_every_change() -> None:
    log = empty_log()

    def are_known() -> bool:
        found = [(each.base_offset, each.size) for each in log.segments]
        return list(zip(log.segment_bases, log.segment_sizes, strict=True)) == found

    assert are_known()
    for offset in range(10):
        append(log, batch_at(offset))
        assert are_known()
    assert log.segment_bases == (0, 3, 6, 9)
    log.on_cleaned(0, 6, BATCH, NOW)
    assert are_known()
    assert log.segment_bases == (0, 6, 9)
    log.on_cleaned(6, 9, 7, NOW)
    assert are_known()
    log.trim(9)
    assert are_known()
    log.trim(10)
    assert are_known()
    log.restart_at(50)
    assert are_known()
    assert log.segment_bases == (50,)
