"""A follower takes exactly what continues its log, and finds where its history parts from its leader's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.effects import Append, Roll, TrimLog, TruncateLog
from brokers.errors import KafkaError, Refusal
from brokers.partition import follower
from brokers.partition.replica import Replica
from tests.unit.brokers.partition.replicas import NOW, batch
from tests.unit.brokers.partition.test_replica import holding, log, place, placed


def following(end: int = 0, start: int = 0, epochs: tuple[tuple[int, int], ...] = ()) -> Replica:
    replica, _ = holding(placed(leader=2, leader_epoch=9))
    replica.opened(log(end, start, epochs=epochs), NOW)
    return replica


def copied(base_offset: int, count: int = 1, leader_epoch: int = 3) -> bytes:
    return bytes(batch(count, base_offset=base_offset, leader_epoch=leader_epoch))


def refused(replica: Replica, data: bytes, leader_epoch: int = 9) -> KafkaError:
    assert replica.log is not None
    before = replica.log.log_end_offset
    with pytest.raises(Refusal) as caught:
        follower.append_fetched(replica, data, leader_epoch, NOW)
    assert replica.log.log_end_offset == before
    return caught.value.error


def test_batches_are_stored_as_they_are() -> None:
    replica = following(5)
    data = copied(5, 2) + copied(7, 3, leader_epoch=4)
    taken = follower.append_fetched(replica, data, 9, NOW)
    assert taken.appended
    [append] = [effect for effect in taken.effects if isinstance(effect, Append)]
    assert b"".join(append.buffers) == data
    assert replica.log is not None
    assert replica.log.log_end_offset == 10
    assert replica.log.epochs.entries == ((3, 5), (4, 7))


@pytest.mark.parametrize(("told", "known"), [(-1, 9), (4, 9), (30, 30)])
def test_a_gap_is_known_as_far_as_the_leader_says(told: int, known: int) -> None:
    replica = following(5)
    assert replica.log is not None
    follower.append_fetched(replica, copied(5), 9, NOW, told)
    assert replica.log.completeness.complete_from == 0
    follower.append_fetched(replica, copied(8), 9, NOW, told)
    lacks = replica.log.completeness
    assert (lacks.complete_from, lacks.markers_from) == (known, 9)


def test_what_does_not_follow_or_is_damaged_is_refused() -> None:
    replica = following(5)
    assert refused(replica, copied(4)) is KafkaError.CORRUPT_MESSAGE
    assert refused(replica, copied(5, 2) + copied(6)) is KafkaError.CORRUPT_MESSAGE
    damaged = bytearray(copied(5))
    damaged[-1] ^= 1
    assert refused(replica, bytes(damaged)) is KafkaError.CORRUPT_MESSAGE
    wrong = bytearray(copied(5))
    wrong[16] = 1
    assert refused(replica, bytes(wrong)) is KafkaError.INVALID_RECORD


def test_batches_of_a_later_leader_epoch_are_left_out() -> None:
    replica = following(5)
    taken = follower.append_fetched(
        replica, copied(5, 2, 3) + copied(7, 1, 4) + copied(8, 1, 3), 3, NOW
    )
    assert taken.appended
    assert replica.log is not None and replica.log.log_end_offset == 7
    taken = follower.append_fetched(replica, copied(7, 1, 4), 3, NOW)
    assert (taken.appended, taken.effects) == (False, [])


def test_an_empty_log_begins_with_the_batch_that_holds_its_start() -> None:
    replica = following(13, start=13)
    taken = follower.append_fetched(replica, copied(12, 4), 9, NOW)
    assert [type(effect) for effect in taken.effects][:2] == [Roll, TrimLog]
    assert replica.log is not None
    assert (replica.log.log_start_offset, replica.log.log_end_offset) == (12, 16)


@pytest.mark.parametrize(
    ("epochs", "end", "answer", "cut"),
    [
        (((1, 0), (3, 10)), 20, (3, 15), 15),  # same epoch, the leader has less of it
        (((1, 0), (3, 10)), 12, (3, 15), 12),  # nothing to cut
        (
            ((1, 0), (3, 10)),
            20,
            (2, 8),
            10,
        ),  # we don't know 2: where 1 ends here; the next fetch tells more
        (((1, 0), (3, 10)), 20, (1, 5), 5),
        (((1, 0), (3, 10)), 20, (1, 12), 10),
        (((3, 10),), 20, (1, 5), 5),  # older than all we know: our first known epoch, or less
        ((), 20, (2, 5), 5),
    ],
)
def test_where_a_follower_cuts(
    epochs: tuple[tuple[int, int], ...], end: int, answer: tuple[int, int], cut: int
) -> None:
    assert follower.truncation_offset(log(end, epochs=epochs), *answer) == cut


@given(
    ours=st.lists(st.integers(1, 3), min_size=1, max_size=6),
    theirs=st.lists(st.integers(1, 3), min_size=1, max_size=6),
    common=st.integers(0, 6),
    seed=st.randoms(use_true_random=False),
)
def test_rounds_of_cutting_end_at_the_common_history(
    ours: list[int], theirs: list[int], common: int, seed: object
) -> None:
    """Two logs whose records are (leader epoch); an epoch is written by one leader only, so equal ones agree."""
    shared = [number // 2 for number in range(common)]
    last = shared[-1] if shared else 0
    mine = shared + [last + 1 + 2 * number for number, size in enumerate(ours) for _ in range(size)]
    leaders = shared + [
        last + 2 + 2 * number for number, size in enumerate(theirs) for _ in range(size)
    ]
    leader_log = log(len(leaders), epochs=_starts(leaders))
    for _ in range(20):
        own = log(len(mine), epochs=_starts(mine))
        epoch, end = leader_log.epochs.end_offset_for(own.epochs.latest, len(leaders))
        if not mine or (epoch == own.epochs.latest and end >= len(mine)):
            break
        if epoch < 0:
            mine = mine[: own.epochs.entries[-1][1]]  # the leader never knew our latest epoch
        else:
            mine = mine[: follower.truncation_offset(own, epoch, end)]
    assert mine == leaders[: len(mine)]
    assert len(mine) >= len(shared)


def _starts(records: list[int]) -> tuple[tuple[int, int], ...]:
    found: dict[int, int] = {}
    for offset, epoch in enumerate(records):
        found.setdefault(epoch, offset)
    return tuple(found.items())


def test_one_left_behind_begins_anew_where_its_leader_does() -> None:
    replica = following(5)
    effects = follower.on_out_of_range(replica, 40, 90, NOW)
    assert [type(effect) for effect in effects] == [Roll, TrimLog]
    assert replica.log is not None
    assert (replica.log.log_end_offset, replica.high_watermark) == (40, 40)


def test_one_whose_latest_epoch_its_leader_never_knew_gives_that_up() -> None:
    replica = following(20, epochs=((1, 0), (3, 10)))
    assert follower.on_out_of_range(replica, 0, 15, NOW) == [
        TruncateLog(replica.partition, 10, ((1, 0), (3, 10)))
    ]


def test_without_epochs_it_goes_back_to_what_is_committed() -> None:
    replica = following(20)
    assert follower.on_out_of_range(replica, 0, 15, NOW) == [TruncateLog(replica.partition, 15, ())]


def test_an_empty_log_that_begins_above_the_end_of_its_leaders_begins_anew_there() -> None:
    replica = following(20)
    assert replica.log is not None
    replica.log.restart_at(30)
    cut = TruncateLog(replica.partition, 15, (), begins_anew=True)
    assert follower.on_out_of_range(replica, 15, 15, NOW) == [cut]


def test_one_that_gives_up_all_that_it_has_begins_where_its_leader_does() -> None:
    """Else it would lack what its leader has below the records that were deleted here."""
    replica = following(20, epochs=((5, 12),))
    assert replica.log is not None
    replica.log.trim(12)
    cut = TruncateLog(replica.partition, 7, ((5, 12),), begins_anew=True)
    assert follower.on_out_of_range(replica, 7, 7, NOW) == [cut]


def test_the_leaders_log_start_is_followed_up_to_what_is_committed() -> None:
    replica = following(20)
    replica.update_leader_high_watermark(10, NOW)
    follower.follow_log_start(replica, 15)
    assert replica.log is not None and replica.log.log_start_offset == 10
    place(replica, placed(leader=2, leader_epoch=9, partition_epoch=5))
    assert follower.follow_log_start(replica, 7) == []
