"""What a leader answers to who fetches, and what that commits."""

import pytest

from brokers.effects import ReadRange, Reply
from brokers.errors import KafkaError
from brokers.events import RangeRead
from brokers.ids import METADATA_PARTITION
from brokers.quorum.ids import SnapshotId
from tests.unit.brokers.quorum.quorums import Member, appended, log, replied


def leader(voters: int = 3, **more: object) -> Member:
    return Member(voters, **more).elect()


def reads(effects: list) -> list[ReadRange]:
    return [each for each in effects if isinstance(each, ReadRange)]


def test_a_majority_commits_and_the_leaders_own_disk_counts_once_synced() -> None:
    member = leader()
    member.fetch(1, 1)
    assert member.raft.high_watermark == 0, "one of three has it on its disk"
    member.sync()
    assert member.raft.high_watermark == 1


def test_records_of_an_earlier_epoch_are_not_committed_by_counting() -> None:
    member = leader(5, of=log((1, 0), end=10))
    member.sync()
    for replica in (2, 3, 4, 5):
        member.fetch(10, 1, replica=replica)
    assert member.raft.high_watermark == 0, "all have ten records of epoch 1"
    member.fetch(11, 2, replica=2)
    assert member.raft.high_watermark == 0
    member.fetch(11, 2, replica=3)
    assert member.raft.high_watermark == 11


def test_who_does_not_vote_does_not_count() -> None:
    member = leader()
    member.sync()
    member.fetch(1, 1, replica=9)
    assert member.raft.high_watermark == 0


def test_a_fetch_is_answered_from_the_log() -> None:
    member = leader(of=log((1, 0), end=10))
    (read,) = reads(member.fetch(4, 1))
    assert (read.offset, read.bound, read.at_least_one) == (4, 11, True)
    data = bytes(appended(member.effects)[0].buffers[0])
    answer = replied(
        member.take(member.raft.on_read(RangeRead(read.ticket, METADATA_PARTITION, data, 11), 0))
    )
    assert bytes(answer.records) == data and answer.error_code == 0


def test_who_has_everything_waits_for_more_or_for_its_time() -> None:
    member = leader()
    assert member.fetch(1, 1) == []
    (change,) = appended(member.effects)
    batch = bytearray(change.buffers[0])
    batch[:8] = (1).to_bytes(8, "big")
    effects = member.take(member.raft.append(batch, member.now))
    assert [read.offset for read in reads(effects)] == [1]
    member.fetch(2, 1)
    answer = replied(member.wait(500))
    assert bytes(answer.records) == b""


def test_news_of_what_is_committed_does_not_wait() -> None:
    member = leader()
    member.fetch(1, 1)
    answer = replied(member.sync())
    assert answer.high_watermark == 1


def test_a_member_that_asks_anew_has_given_up_its_last_question() -> None:
    member = leader()
    member.fetch(1, 1)
    (reply,) = [each for each in member.fetch(1, 1) if isinstance(each, Reply)]
    assert reply.ticket == 1


@pytest.mark.parametrize(
    ("offset", "last_epoch", "told"),
    [
        (10, 2, None),
        (7, 2, None),
        (10, 1, (1, 5)),  # beyond where epoch 1 ended here
        (5, 1, None),
        (12, 3, (3, 11)),  # beyond the end
        (9, 0, (0, 0)),  # before anything that is here
    ],
)
def test_another_history_is_told_where_it_parts(
    offset: int, last_epoch: int, told: tuple[int, int] | None
) -> None:
    member = leader(of=log((1, 0), (2, 5), end=10))
    assert member.raft.leader_epoch == 3
    effects = member.fetch(offset, last_epoch)
    if told is None:
        assert reads(effects) or not effects
    else:
        answer = replied(effects)
        assert (answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset) == told
        assert bytes(answer.records) == b""


@pytest.mark.parametrize(
    ("offset", "last_epoch", "is_sent"),
    [(0, 0, True), (60, 2, True), (50, 2, True), (55, 1, True), (70, 2, False), (90, 4, False)],
)
def test_who_is_before_the_start_or_of_an_older_history_gets_the_snapshot(
    offset: int, last_epoch: int, is_sent: bool
) -> None:
    snapshot = SnapshotId(70, 2)
    member = leader(of=log((2, 60), (4, 80), end=95, start=60), snapshot=snapshot)
    effects = member.fetch(offset, last_epoch)
    if is_sent:
        told = replied(effects).snapshot_id
        assert (told.end_offset, told.epoch) == snapshot
    else:
        assert reads(effects)


@pytest.mark.parametrize(
    ("leader_epoch", "error"),
    [(0, KafkaError.FENCED_LEADER_EPOCH), (2, KafkaError.UNKNOWN_LEADER_EPOCH)],
)
def test_another_epoch_is_told_which_it_is(leader_epoch: int, error: KafkaError) -> None:
    answer = replied(leader().fetch(1, 1, leader_epoch=leader_epoch))
    assert answer.error_code == error
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (1, 1)


def test_who_waits_for_a_leader_that_has_resigned_hears_of_it() -> None:
    member = leader()
    member.sync()
    member.fetch(1, 1, high_watermark=1)
    member.fetch(1, 1, high_watermark=1)
    effects = member.take(member.raft.leave(member.now))
    assert replied(effects).error_code == KafkaError.NOT_LEADER_OR_FOLLOWER


def test_a_leader_that_nobody_asks_resigns() -> None:
    member = leader()
    member.sync()
    for _ in range(8):
        member.wait(500)
        member.fetch(1, 1, high_watermark=1)
    assert member.raft.leading_epoch == 1
    for _ in range(7):
        member.wait(500)
    assert member.raft.leading_epoch is None


def test_who_merely_reads_sees_what_is_committed() -> None:
    member = leader()
    assert member.fetch(0, 0, replica=-1) == []
    member.sync()
    (read,) = reads(member.fetch(1, 1))
    assert read.offset == 0 and read.bound == 1
