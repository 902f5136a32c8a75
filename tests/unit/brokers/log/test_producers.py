import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import KafkaError
from brokers.log.producers import (
    BATCHES_REMEMBERED,
    EXPIRATION_MS,
    Accept,
    Duplicate,
    ProducerStates,
)
from brokers.records.batch import APPEND_TIME, CONTROL, TRANSACTIONAL, BatchHeader

PID = 4_000
INT32_MAX = 2**31 - 1


def header(
    sequence: int,
    count: int = 1,
    *,
    offset: int = 0,
    epoch: int = 0,
    pid: int = PID,
    attributes: int = 0,
) -> BatchHeader:
    return BatchHeader(
        offset, 100, 0, 2, 0, attributes, count - 1, 0, 77, pid, epoch, sequence, count
    )  # fmt: skip


def after(*headers: BatchHeader) -> ProducerStates:
    states = ProducerStates()
    for each in headers:
        states.update(each, 1_000)
    return states


def test_a_batch_without_producer_is_always_accepted_and_leaves_no_trace() -> None:
    states = after(header(-1, pid=-1))
    assert states.check(header(-1, pid=-1)) == Accept()
    assert len(states) == 0


@pytest.mark.parametrize("sequence", [0, 1, 500, INT32_MAX])
def test_an_unknown_producer_may_begin_anywhere(sequence: int) -> None:
    assert after().check(header(sequence)) == Accept()


@pytest.mark.parametrize(
    ("sequence", "epoch", "verdict"),
    [
        (13, 5, Accept()),  # continues 10..12
        (14, 5, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (12, 5, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (0, 5, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (13, 4, KafkaError.INVALID_PRODUCER_EPOCH),
        (0, 4, KafkaError.INVALID_PRODUCER_EPOCH),
        (0, 6, Accept()),  # a new epoch begins at 0
        (13, 6, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (10, 6, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER),
    ],
)
def test_the_next_batch_is_the_only_one_that_continues(
    sequence: int, epoch: int, verdict: object
) -> None:
    states = after(header(10, 3, epoch=5))
    assert states.check(header(sequence, 2, epoch=epoch)) == verdict


def test_each_of_the_last_five_batches_is_recognised_and_the_sixth_is_not() -> None:
    batches = [header(number * 2, 2, offset=100 + number * 2) for number in range(7)]
    states = after(*batches)
    assert BATCHES_REMEMBERED == 5
    for retried in batches[2:]:
        offset = retried.base_offset
        assert states.check(retried) == Duplicate(offset, offset + 2, -1)
    for forgotten in batches[:2]:
        assert states.check(forgotten) == KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize("count", [1, 3])
def test_a_retry_with_another_length_is_no_duplicate(count: int) -> None:
    states = after(header(0, 2), header(2, 2))
    assert states.check(header(0, count)) == KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_wrap_from_the_largest_to_zero() -> None:
    states = after(header(INT32_MAX - 1, 2, offset=10))
    assert states.check(header(0)) == Accept()
    states = after(header(INT32_MAX, 3, offset=10))  # 2^31 - 1, 0, 1
    assert states.check(header(2)) == Accept()
    assert states.check(header(INT32_MAX, 3)) == Duplicate(10, 13, -1)
    assert states.check(header(0)) == KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_duplicate_of_an_append_time_batch_is_answered_with_that_time() -> None:
    states = after(header(0, offset=9, attributes=APPEND_TIME))
    assert states.check(header(0)) == Duplicate(9, 10, 77)


def test_a_new_epoch_forgets_the_batches_of_the_old() -> None:
    states = after(header(0, 5), header(0, 2, epoch=1, offset=5))
    assert states.check(header(0, 2, epoch=1)) == Duplicate(5, 7, -1)
    assert states.check(header(2, epoch=1)) == Accept()
    assert states.check(header(0, 5)) == KafkaError.INVALID_PRODUCER_EPOCH


def test_producers_do_not_disturb_one_another() -> None:
    states = after(header(0, 2), header(7, 1, pid=PID + 1))
    assert states.check(header(2)) == Accept()
    assert states.check(header(8, pid=PID + 1)) == Accept()


def test_a_transaction_is_open_from_its_first_batch_to_its_marker() -> None:
    states = after(header(0, offset=5))
    assert states.first_open_transaction() is None
    states.update(header(0, offset=9, pid=1, attributes=TRANSACTIONAL), 0)
    states.update(header(1, offset=10, pid=1, attributes=TRANSACTIONAL), 0)
    states.update(header(0, offset=8, pid=2, attributes=TRANSACTIONAL), 0)
    assert states.first_open_transaction() == 8
    states.update(header(-1, offset=11, pid=2, attributes=TRANSACTIONAL | CONTROL), 0)
    assert states.first_open_transaction() == 9
    assert states.check(header(1, pid=2)) == Accept()
    assert states.check(header(2, pid=1)) == Accept()


def test_a_marker_of_a_new_epoch_fences_the_old_one() -> None:
    states = after(header(0), header(-1, epoch=1, attributes=TRANSACTIONAL | CONTROL))
    assert states.check(header(1)) == KafkaError.INVALID_PRODUCER_EPOCH
    assert states.check(header(0, epoch=1)) == Accept()
    assert states.check(header(3, epoch=1)) == KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_the_silent_are_forgotten_but_not_within_a_transaction() -> None:
    states = after(header(0), header(0, pid=1, attributes=TRANSACTIONAL))
    states.update(header(0, pid=2), 2_000)
    states.expire(1_000 + EXPIRATION_MS - 1)
    assert len(states) == 3
    states.expire(1_000 + EXPIRATION_MS)
    assert [producer_id for producer_id, _ in states] == [1, 2]
    assert states.check(header(99)) == Accept()


@given(st.integers(0, INT32_MAX), st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_a_client_that_never_skips_is_never_refused_and_its_retries_never_stored(
    first: int, counts: list[int]
) -> None:
    states, sequence, offset, sent = ProducerStates(), first, 0, []
    for count in counts:
        batch = header(sequence, count, offset=offset)
        assert states.check(batch) == Accept()
        states.update(batch, 0)
        sent.append(batch)
        offset += count
        sequence = (sequence + count) % 2**31
        for retried in sent[-BATCHES_REMEMBERED:]:
            assert states.check(retried) == Duplicate(retried.base_offset, retried.next_offset, -1)
