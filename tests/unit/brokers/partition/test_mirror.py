"""A mirror takes exactly what continues it, from its writer only, and changes no byte of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.effects import Append, Roll, SaveEpochs, TrimLog
from brokers.errors import KafkaError, Refusal
from brokers.ids import OFFSET_MAX
from brokers.partition import mirror
from brokers.partition.replica import Replica
from brokers.records.batch import pack_header, parse_header, renew_crc
from tests.unit.brokers.partition.replicas import NOW, batch, open_replica

LINK = "west-east"


def copied(base_offset: int, count: int = 1, leader_epoch: int = 0) -> bytes:
    """A batch as the source's log holds it."""
    return bytes(batch(count, base_offset=base_offset, leader_epoch=leader_epoch))


def fewer(base_offset: int, offsets: int) -> bytes:
    """A batch whose records are all removed."""
    data = bytearray(copied(base_offset, offsets))
    header = parse_header(data)._replace(record_count=0)
    pack_header(data, header)
    renew_crc(data, 0, header.length)
    return bytes(data)


def refused(replica: Replica, offset: int, data: bytes, writer: str = LINK) -> KafkaError:
    assert replica.log is not None
    before = replica.log.log_end_offset
    with pytest.raises(Refusal) as caught:
        mirror.place(replica, writer, offset, data, roll=False, complete_from=0, now=NOW)
    assert replica.log.log_end_offset == before
    return caught.value.error


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=8))
def test_batches_land_at_their_own_offsets_gaps_of_the_source_included(
    plan: list[tuple[int, int]],
) -> None:
    replica = open_replica(writer=LINK)
    end = 0
    for gap, count in plan:
        data = copied(end + gap, count)
        next_offset, effects = mirror.place(
            replica, LINK, end, data, roll=False, complete_from=end + gap + count, now=NOW
        )
        appended = [effect for effect in effects if isinstance(effect, Append)]
        assert [bytes(b"".join(effect.buffers)) for effect in appended] == [data]
        end += gap + count
        assert next_offset == end


def test_what_does_not_continue_the_log_is_refused() -> None:
    replica = open_replica(writer=LINK)
    mirror.place(replica, LINK, 0, copied(0, 5), roll=False, complete_from=0, now=NOW)
    assert refused(replica, 0, copied(0, 5)) is KafkaError.OFFSET_OUT_OF_RANGE
    assert refused(replica, 7, copied(7)) is KafkaError.OFFSET_OUT_OF_RANGE
    assert refused(replica, 5, copied(4)) is KafkaError.OFFSET_OUT_OF_RANGE
    assert refused(replica, 5, copied(6) + copied(5)) is KafkaError.OFFSET_OUT_OF_RANGE


def test_only_the_writer_places_and_only_while_it_is() -> None:
    replica = open_replica(writer=LINK)
    assert refused(replica, 0, copied(0), writer="other") is KafkaError.POLICY_VIOLATION
    replica.begin_leader_epoch(4, None)
    assert refused(replica, 0, copied(0)) is KafkaError.POLICY_VIOLATION


def test_damage_and_torn_ranges_are_refused() -> None:
    replica = open_replica(writer=LINK)
    damaged = bytearray(copied(0))
    damaged[-1] ^= 1
    assert refused(replica, 0, bytes(damaged)) is KafkaError.CORRUPT_MESSAGE
    assert refused(replica, 0, copied(0) + copied(1)[:-1]) is KafkaError.CORRUPT_MESSAGE
    assert refused(replica, 0, b"") is KafkaError.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    ("base_offset", "last_offset_delta"), [(0, -1), (0, -7), (-3, 5), (2**63 - 2, 5), (2**62, 0)]
)
def test_a_batch_that_no_log_could_hold_is_refused(
    base_offset: int, last_offset_delta: int
) -> None:
    replica = open_replica(writer=LINK)
    damaged = bytearray(copied(0))
    header = parse_header(damaged)._replace(
        base_offset=base_offset, last_offset_delta=last_offset_delta
    )
    pack_header(damaged, header)
    renew_crc(damaged, 0, header.length)
    assert refused(replica, 0, bytes(damaged)) is KafkaError.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    ("delta", "count", "attributes"),
    [(10**9, 10**9, 0), (10, -1, 0), (3, 5, 0), (10**6, 10**6, 0), (0, 1, 5), (0, 1, 7)],
)
def test_a_header_that_can_t_be_true_is_refused_under_a_checksum_that_holds(
    delta: int, count: int, attributes: int
) -> None:
    replica = open_replica(writer=LINK)
    lying = bytearray(copied(0))
    header = parse_header(lying)._replace(
        last_offset_delta=delta, record_count=count, attributes=attributes
    )
    pack_header(lying, header)
    renew_crc(lying, 0, header.length)
    assert refused(replica, 0, bytes(lying)) is KafkaError.CORRUPT_MESSAGE


@pytest.mark.parametrize("complete_from", [10, 30])
@pytest.mark.parametrize("count", [0, 1, 9])
def test_a_compacted_batch_has_fewer_records_than_offsets(count: int, complete_from: int) -> None:
    replica = open_replica(writer=LINK)
    compacted = bytearray(copied(0, 10))
    header = parse_header(compacted)._replace(record_count=count)
    pack_header(compacted, header)
    renew_crc(compacted, 0, header.length)
    next_offset, _ = mirror.place(
        replica, LINK, 0, compacted, roll=False, complete_from=complete_from, now=NOW
    )
    assert next_offset == 10
    # What has replaced the others may lie anywhere below.
    assert replica.require_log().completeness.complete_from == complete_from


@pytest.mark.parametrize(
    ("data", "complete_from"),
    [
        (copied(6), 5),  # offset 5 is missing, which was not compacted
        (copied(5) + copied(8, 2), 8),
        (fewer(5, 3), 7),
    ],
)
def test_records_that_compaction_did_not_remove_are_lost_at_the_source(
    data: bytes, complete_from: int
) -> None:
    replica = open_replica(writer=LINK)
    mirror.place(replica, LINK, 0, copied(0, 5), roll=False, complete_from=0, now=NOW)
    with pytest.raises(Refusal, match="lost there") as caught:
        mirror.place(replica, LINK, 5, data, roll=False, complete_from=complete_from, now=NOW)
    assert caught.value.error is KafkaError.INVALID_RECORD
    end = 10 if len(data) > len(copied(6)) * 1.5 else 8
    mirror.place(replica, LINK, 5, data, roll=False, complete_from=end, now=NOW)


def test_a_leader_epoch_above_the_partitions_waits_until_that_has_risen() -> None:
    replica = open_replica(writer=LINK, leader_epoch=1)
    assert refused(replica, 0, copied(0, leader_epoch=2)) is KafkaError.UNKNOWN_LEADER_EPOCH
    replica.begin_leader_epoch(2, LINK)
    mirror.place(replica, LINK, 0, copied(0, leader_epoch=2), roll=False, complete_from=0, now=NOW)


def test_a_mirror_rolls_where_its_source_did_and_nowhere_else() -> None:
    replica = open_replica(writer=LINK)
    mirror.place(replica, LINK, 0, copied(0), roll=False, complete_from=0, now=NOW)
    _, effects = mirror.place(replica, LINK, 1, copied(1), roll=True, complete_from=0, now=NOW)
    assert [effect.base_offset for effect in effects if isinstance(effect, Roll)] == [1]


def test_skipping_goes_forward_only() -> None:
    replica = open_replica(writer=LINK)
    mirror.place(replica, LINK, 0, copied(0, 5), roll=False, complete_from=0, now=NOW)
    with pytest.raises(Refusal):
        mirror.skip_to(replica, LINK, 4)
    with pytest.raises(Refusal):
        mirror.skip_to(replica, LINK, OFFSET_MAX + 1)
    mirror.skip_to(replica, LINK, 100)
    assert replica.log is not None
    assert (replica.log.log_start_offset, replica.log.log_end_offset) == (100, 100)


def test_an_empty_mirror_begins_with_the_batch_that_holds_its_start() -> None:
    replica = open_replica(writer=LINK)
    mirror.skip_to(replica, LINK, 30)
    assert refused(replica, 30, copied(20, 10)) is KafkaError.OFFSET_OUT_OF_RANGE
    assert refused(replica, 30, copied(28, 8) + copied(34)) is KafkaError.OFFSET_OUT_OF_RANGE
    data = copied(28, 8) + copied(36)
    next_offset, effects = mirror.place(
        replica, LINK, 30, data, roll=False, complete_from=0, now=NOW
    )
    assert [type(effect) for effect in effects] == [Roll, TrimLog, SaveEpochs, Append]
    log = replica.require_log()
    assert (log.log_start_offset, next_offset) == (30, 37)
    assert [segment.base_offset for segment in log.segments] == [28]
    assert log.epochs.entries == ((0, 30),)
    assert refused(replica, 37, copied(36, 2)) is KafkaError.OFFSET_OUT_OF_RANGE


def test_whoever_waits_for_a_log_that_is_cut_hears_of_it_and_does_not_find_the_old_one() -> None:
    replica = open_replica(writer=LINK)
    mirror.place(replica, LINK, 0, copied(0, 5), roll=False, complete_from=0, now=NOW)
    found: list[bool] = []
    replica.delayed.for_growth(1, lambda size, now: found.append(replica.log is None) or [])
    mirror.truncate(replica, LINK, 2, NOW)
    assert found == [True]
