"""The log of the core is made of values: neither side sees what the other changes."""

from hypothesis import given

from brokers.log.log import Log
from brokers.log.producers import ProducerStates
from brokers.log.recovered import RecoveredLog, RecoveredSegment
from brokers.records.batch import APPEND_TIME
from tests.unit.brokers.log.test_log import append
from tests.unit.brokers.log.test_producers import PID, after, header
from tests.unit.brokers.log.test_snapshots import states
from tests.unit.brokers.storage.driver import TOPIC_ID, TP, batch_at

FOUND = RecoveredLog(
    TOPIC_ID,
    (RecoveredSegment(10, 700, 5, 9, True), RecoveredSegment(20, 30, 8, 11)),
    log_start_offset=12,
    log_end_offset=24,
    high_watermark_checkpoint=23,
    epochs=((1, 12), (4, 20)),
    producers=after(header(7, 3, offset=20)).entries,
)


def test_a_log_is_what_recovery_found() -> None:
    log = Log.of(TP, FOUND)
    assert (log.partition, log.topic_id, log.size) == (TP, TOPIC_ID, 730)
    assert (log.log_start_offset, log.log_end_offset, log.written_offset) == (12, 24, 24)
    assert log.high_watermark_checkpoint == 23 and log.epochs.entries == FOUND.epochs
    assert log.producers.entries == FOUND.producers
    assert [segment.is_sealed for segment in log.segments] == [True, False]
    assert log.segments[0].newest == 9 and log.segments[1].base_offset == 20


def test_two_logs_of_one_recovery_share_nothing() -> None:
    one, other = Log.of(TP, FOUND), Log.of(TP, FOUND)
    append(one, batch_at(24, leader_epoch=6, producer_id=PID, producer_epoch=1, base_sequence=0))
    assert one.log_end_offset == 25 and one.epochs.latest == 6 and one.segments[-1].size > 30
    assert other.log_end_offset == 24 and other.epochs.entries == FOUND.epochs
    assert other.segments[-1].size == 30 and other.producers.entries == FOUND.producers


@given(states)
def test_producers_as_values_are_the_producers(given_states: ProducerStates) -> None:
    again = ProducerStates.of(given_states.entries)
    assert list(again) == list(given_states) and again.entries == given_states.entries


def test_when_a_batch_was_appended_is_still_known() -> None:
    """A snapshot does not say it, the batches do."""
    made = after(header(0, offset=3, attributes=APPEND_TIME))
    assert ProducerStates.of(made.entries).entries[0].batches[0].append_time == 77


def test_a_sealed_segment_is_known_by_its_offset_and_its_size() -> None:
    log = Log.of(TP, FOUND._replace(segments=(RecoveredSegment(10, 700), RecoveredSegment(20))))
    for base_offset, size in ((10, 699), (11, 700), (20, 0)):
        log.on_sealed(base_offset, size)
        assert [segment.is_sealed for segment in log.segments] == [False, False]
    log.on_sealed(10, 700)
    assert [segment.is_sealed for segment in log.segments] == [True, False]
