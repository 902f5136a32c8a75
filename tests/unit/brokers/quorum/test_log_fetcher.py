"""A follower: what it asks for, what it does with the answer, what it refuses to do."""

import pytest

from brokers.effects import Append, Changed, SaveEpochs, TruncateLog
from brokers.events import AskFailure
from brokers.ids import Peer
from brokers.quorum.control_records import MetadataLogError
from brokers.quorum.ids import METADATA_TOPIC_ID, SnapshotId
from brokers.quorum.messages import only_partition
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from brokers.wire.messages.fetch import SnapshotId as WireSnapshotId
from tests.unit.brokers.quorum.quorums import NOW, Member, appended, log
from tests.unit.brokers.quorum.snapshots import part


def follower(leader_epoch: int = 5, **more: object) -> Member:
    member = Member(**more)
    member.hear_begin(leader_epoch)
    member.save()
    return member


def response(**fields: object) -> FetchResponse:
    data = PartitionData(**fields)
    return FetchResponse(
        responses=[FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[data])]
    )


def batch(base_offset: int, leader_epoch: int, count: int = 1) -> bytes:
    records = [NewRecord(None, b"x")] * count
    return bytes(
        build_batch(records, timestamp=5, base_offset=base_offset, leader_epoch=leader_epoch)
    )


def last_fetch(member: Member) -> object:
    return only_partition(member.asked(ApiKey.FETCH)[-1].message.topics)


def test_it_asks_for_what_it_does_not_have_and_says_where_its_history_ends() -> None:
    member = follower(of=log((2, 0), (3, 5), end=10))
    asked = last_fetch(member)
    assert (asked.fetch_offset, asked.last_fetched_epoch, asked.current_leader_epoch) == (10, 3, 5)
    assert member.asked(ApiKey.FETCH)[-1].peer.node_id == 2


def test_it_asks_on_once_what_came_is_on_its_disk() -> None:
    member = follower()
    (ask,) = member.asked(ApiKey.FETCH)
    effects = member.answer(ask, response(records=batch(0, 5) + batch(1, 5), high_watermark=1))
    (append,) = [each for each in effects if isinstance(each, Append)]
    assert append.sync and [header.base_offset for header in append.headers] == [0, 1]
    assert member.asked(ApiKey.FETCH, effects) == [], "to ask for more is to say that it has this"
    assert member.raft.high_watermark == 1
    assert member.asked(ApiKey.FETCH, member.sync()) != [] and last_fetch(member).fetch_offset == 2


def test_an_observer_need_not_sync_what_it_never_vouches_for() -> None:
    member = Member(node_id=9, may_vote=False)
    (ask,) = member.asked(ApiKey.FETCH)
    effects = member.answer(ask, response(records=batch(0, 0)))
    (append,) = [each for each in effects if isinstance(each, Append)]
    assert not append.sync


def test_the_high_watermark_is_at_most_what_is_here_and_never_goes_down() -> None:
    member = follower()
    member.answer(member.asked(ApiKey.FETCH)[-1], response(records=batch(0, 5), high_watermark=50))
    assert member.raft.high_watermark == 1
    member.sync()
    member.answer(member.asked(ApiKey.FETCH)[-1], response(high_watermark=0))
    assert member.raft.high_watermark == 1


def test_batches_of_a_later_epoch_or_out_of_order_are_left_out() -> None:
    member = follower()
    records = batch(0, 5) + batch(1, 6)
    effects = member.answer(member.asked(ApiKey.FETCH)[-1], response(records=records))
    (append,) = [each for each in effects if isinstance(each, Append)]
    assert len(append.headers) == 1
    member.sync()
    again = member.answer(
        member.asked(ApiKey.FETCH)[-1], response(records=batch(0, 5) + batch(3, 5))
    )
    (append,) = [each for each in again if isinstance(each, Append)]
    assert append.headers[0].base_offset == 3, "what is here already is passed over"


def damaged(base_offset: int, leader_epoch: int) -> bytes:
    found = bytearray(batch(base_offset, leader_epoch))
    found[-1] ^= 1
    return bytes(found)


def told_of_damage(effects: list[object]) -> list[str]:
    return [each.why for each in effects if isinstance(each, Changed) and each.to == "behind"]


@pytest.mark.parametrize(
    "records", [damaged(0, 5), batch(0, 5)[:-1], b"x" * 80], ids=["bit", "cut", "nonsense"]
)
def test_damage_on_the_way_is_asked_for_again_and_told_once(records: bytes) -> None:
    """One bad disk, the leader's, must not end every node of the region."""
    member = follower()
    effects = member.answer(
        member.asked(ApiKey.FETCH)[-1], response(records=records, high_watermark=1)
    )
    (why,) = told_of_damage(effects)
    assert "node 2" in why and appended(effects) == [] and member.asked(ApiKey.FETCH, effects) == []
    again = member.wait(500)
    assert last_fetch(member).fetch_offset == 0
    effects = member.answer(member.asked(ApiKey.FETCH, again)[-1], response(records=records))
    assert told_of_damage(effects) == []
    member.wait(500)
    effects = member.answer(member.asked(ApiKey.FETCH)[-1], response(records=batch(0, 5)))
    assert len(appended(effects)) == 1


def test_what_comes_before_the_damage_is_taken() -> None:
    member = follower()
    records = batch(0, 5) + damaged(1, 5)
    effects = member.answer(
        member.asked(ApiKey.FETCH)[-1], response(records=records, high_watermark=2)
    )
    assert [len(each.headers) for each in appended(effects)] == [1]
    assert member.raft.high_watermark == 1
    member.sync()
    assert last_fetch(member).fetch_offset == 1


def test_a_leader_that_sends_only_damage_is_replaced_like_one_that_is_silent() -> None:
    member = follower()
    while member.now < NOW + 2_000:
        assert member.asked(ApiKey.VOTE) == []
        member.answer(member.asked(ApiKey.FETCH)[-1], response(records=damaged(0, 5)))
        member.wait(500)
    assert member.asked(ApiKey.VOTE) != []


def test_an_observer_goes_on_though_the_leader_sends_damage() -> None:
    member = Member(node_id=9, may_vote=False)
    for _ in range(3):
        member.answer(member.asked(ApiKey.FETCH)[-1], response(records=damaged(0, 0)))
        member.wait(500)
    effects = member.answer(member.asked(ApiKey.FETCH)[-1], response(records=batch(0, 0)))
    assert len(appended(effects)) == 1


@pytest.mark.parametrize(
    ("diverging", "cut"),
    [
        ((3, 8), 8),  # the same epoch ended earlier there
        ((3, 20), None),  # or goes on: then nothing parts
        ((2, 7), 5),  # epoch 3 is not known there, and begins at 5 here
        ((1, 2), 2),
        ((0, 9), 0),
    ],
)
def test_it_cuts_by_epochs(diverging: tuple[int, int], cut: int | None) -> None:
    member = follower(of=log((1, 0), (2, 3), (3, 5), end=10))
    epoch, end = diverging
    message = response(diverging_epoch=EpochEndOffset(epoch=epoch, end_offset=end))
    if cut is None:
        with pytest.raises(MetadataLogError):
            member.answer(member.asked(ApiKey.FETCH)[-1], message)
        return
    effects = member.answer(member.asked(ApiKey.FETCH)[-1], message)
    (truncate,) = [each for each in effects if isinstance(each, TruncateLog)]
    assert truncate.offset == cut and member.raft.log is None
    left = log((1, 0), end=cut)
    again = member.take(member.raft.on_opened(left, member.now))
    assert member.asked(ApiKey.FETCH, again) and last_fetch(member).fetch_offset == cut


def test_an_epoch_whose_records_a_crash_took_is_forgotten() -> None:
    member = follower(of=log((1, 0), (3, 10), end=10))
    message = response(diverging_epoch=EpochEndOffset(epoch=1, end_offset=12))
    effects = member.answer(member.asked(ApiKey.FETCH)[-1], message)
    assert [each.entries for each in effects if isinstance(each, SaveEpochs)] == [((1, 0),)]
    assert last_fetch(member).last_fetched_epoch == 1


def test_a_leader_that_wants_committed_records_cut_is_not_followed() -> None:
    member = follower(of=log((1, 0), end=10))
    member.answer(member.asked(ApiKey.FETCH)[-1], response(high_watermark=8))
    message = response(diverging_epoch=EpochEndOffset(epoch=1, end_offset=7))
    with pytest.raises(MetadataLogError, match="all below 8 is committed"):
        member.answer(member.asked(ApiKey.FETCH)[-1], message)


def test_requests_wait_while_the_log_is_being_cut() -> None:
    member = follower(of=log((1, 0), end=10))
    message = response(diverging_epoch=EpochEndOffset(epoch=1, end_offset=7))
    member.answer(member.asked(ApiKey.FETCH)[-1], message)
    assert member.ask_for_vote(9, last=(1, 7)) == [] and member.raft.deadline is None
    member.take(member.raft.on_opened(log((1, 0), end=7), member.now))
    assert member.raft.leader_epoch == 9


def test_a_leader_that_is_gone_is_not_waited_for() -> None:
    member = follower()
    (first,) = member.asked(ApiKey.FETCH)
    (second,) = member.asked(ApiKey.FETCH, member.answer(first, None, AskFailure.CLOSED))
    member.answer(second, None, AskFailure.REFUSED)
    member.wait(200)
    assert member.asked(ApiKey.VOTE), "another leader is sought at once"


def test_a_leader_that_is_silent_is_waited_for_as_long_as_set() -> None:
    member = follower()
    member.wait(1_999)
    assert member.asked(ApiKey.VOTE) == []
    member.wait(1)
    assert member.asked(ApiKey.VOTE) != []


def test_who_is_asked_in_error_says_who_leads() -> None:
    member = follower()
    told = LeaderIdAndEpoch(leader_id=3, leader_epoch=6)
    member.answer(member.asked(ApiKey.FETCH)[-1], response(error_code=74, current_leader=told))
    assert (member.raft.leader.node_id, member.raft.leader_epoch) == (3, 6)


def test_an_observer_asks_one_voter_after_another_until_it_knows() -> None:
    member = Member(node_id=9, may_vote=False)
    asked = []
    for _ in range(3):
        ask = member.asked(ApiKey.FETCH)[-1]
        asked.append(ask.peer.node_id)
        member.answer(ask, None, AskFailure.REFUSED)
        member.wait(20)
    assert sorted(asked) == [1, 2, 3]
    told = LeaderIdAndEpoch(leader_id=3, leader_epoch=6)
    member.answer(member.asked(ApiKey.FETCH)[-1], response(error_code=6, current_leader=told))
    member.save()
    assert member.asked(ApiKey.FETCH)[-1].peer.node_id == 3


def test_a_snapshot_is_fetched_piece_by_piece_and_the_log_begins_behind_it() -> None:
    member = follower(of=log((1, 0), end=10))
    message = response(snapshot_id=WireSnapshotId(end_offset=50, epoch=4), high_watermark=60)
    member.answer(member.asked(ApiKey.FETCH)[-1], message)
    member.answer(member.asked(ApiKey.FETCH_SNAPSHOT)[-1], part(b"abc", position=0, size=5))
    assert only_partition(member.asked(ApiKey.FETCH_SNAPSHOT)[-1].message.topics).position == 3
    member.answer(member.asked(ApiKey.FETCH_SNAPSHOT)[-1], part(b"de", position=3, size=5))
    assert member.raft.fetched_snapshot == (SnapshotId(50, 4), b"abcde")
    count = len(member.asked(ApiKey.FETCH))
    member.wait(600)
    assert len(member.asked(ApiKey.FETCH)) == count, "what came is kept first"
    member.take(member.raft.install(SnapshotId(50, 4), None, member.now))
    assert member.raft.fetched_snapshot is None and member.raft.high_watermark == 50
    asked = last_fetch(member)
    assert (asked.fetch_offset, asked.last_fetched_epoch) == (50, 4)


def test_a_snapshot_in_place_of_what_is_committed_here_is_refused() -> None:
    member = follower(of=log((1, 0), end=10))
    member.answer(member.asked(ApiKey.FETCH)[-1], response(high_watermark=10))
    message = response(snapshot_id=WireSnapshotId(end_offset=9, epoch=1))
    with pytest.raises(MetadataLogError, match="differs"):
        member.answer(member.asked(ApiKey.FETCH)[-1], message)


def test_a_damaged_snapshot_is_fetched_again_after_a_while_and_from_its_beginning() -> None:
    member = follower(of=log((1, 0), end=10))
    offer = response(snapshot_id=WireSnapshotId(end_offset=50, epoch=4), high_watermark=60)
    member.answer(member.asked(ApiKey.FETCH)[-1], offer)
    member.answer(member.asked(ApiKey.FETCH_SNAPSHOT)[-1], part(b"abc", position=0, size=3))
    again = member.take(member.raft.reject(member.now))
    assert member.raft.fetched_snapshot is None
    member.answer(member.asked(ApiKey.FETCH, again)[-1], offer)
    assert member.asked(ApiKey.FETCH_SNAPSHOT, member.wait(999)) == []
    (ask,) = member.asked(ApiKey.FETCH_SNAPSHOT, member.wait(1))
    assert only_partition(ask.message.topics).position == 0


def test_a_leader_without_the_snapshot_that_it_offers_is_not_asked_without_end() -> None:
    member = follower(of=log((1, 0), end=10))
    offer = response(snapshot_id=WireSnapshotId(end_offset=50, epoch=4), high_watermark=60)
    member.answer(member.asked(ApiKey.FETCH)[-1], offer)
    (ask,) = member.asked(ApiKey.FETCH_SNAPSHOT)
    effects = member.answer(ask, part(b"", position=0, size=0, error=98))
    effects = member.answer(member.asked(ApiKey.FETCH, effects)[-1], offer)
    assert member.asked(ApiKey.FETCH_SNAPSHOT, effects) == []
    assert member.asked(ApiKey.FETCH_SNAPSHOT, member.wait(20)) != []


BOOTSTRAP = (Peer(-2, "one", 9093), Peer(-3, "two", 9093))


def test_one_that_knows_no_voters_asks_the_bootstrap_controllers_in_turn() -> None:
    member = Member(0, node_id=9, may_vote=False, bootstrap=BOOTSTRAP)
    ask = member.asked(ApiKey.FETCH)[-1]
    member.answer(ask, None, AskFailure.REFUSED)
    member.wait(20)
    other = member.asked(ApiKey.FETCH)[-1]
    assert {ask.peer, other.peer} == set(BOOTSTRAP)
    told = LeaderIdAndEpoch(leader_id=3, leader_epoch=6)
    message = response(error_code=6, current_leader=told)
    message.node_endpoints = [NodeEndpoint(node_id=3, host="three", port=9093)]
    member.answer(other, message)
    member.save()
    assert member.asked(ApiKey.FETCH)[-1].peer == Peer(3, "three", 9093)


def test_a_bootstrap_controller_that_leads_says_which_node_it_is() -> None:
    member = Member(0, node_id=9, may_vote=False, bootstrap=BOOTSTRAP[:1])
    told = LeaderIdAndEpoch(leader_id=3, leader_epoch=0)
    member.answer(member.asked(ApiKey.FETCH)[-1], response(current_leader=told))
    assert member.raft.leader == Peer(3, "one", 9093)


def test_a_leader_that_does_not_say_who_it_is_is_not_followed() -> None:
    member = Member(0, node_id=9, may_vote=False, bootstrap=BOOTSTRAP[:1])
    member.answer(member.asked(ApiKey.FETCH)[-1], response())
    assert member.raft.leader is None
    member.wait(100)
    assert len(member.asked(ApiKey.FETCH)) == 2
