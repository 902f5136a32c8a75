"""Who is voted for, when, and what leaves before the vote is durable: nothing."""

import pytest

from brokers.effects import Ask, Reply, SaveState
from brokers.errors import KafkaError
from brokers.events import AskFailure
from brokers.quorum.election_state import ElectionState
from brokers.quorum.messages import only_partition
from brokers.wire.messages.api_keys import ApiKey
from tests.unit.brokers.quorum.quorums import NOW, Member, directory, log, replied, saved


def test_a_lone_voter_needs_nobody_and_waits_for_nothing() -> None:
    member = Member(voters=1)
    state = saved(member.effects)
    assert (state.leader_epoch, state.voted_id, state.voted_directory) == (1, 1, directory(1))
    assert member.raft.leading_epoch is None, "its vote is not durable yet"
    member.save()
    assert member.raft.leading_epoch == 1 and not member.raft.is_settled
    member.sync()
    assert member.raft.is_settled and member.raft.high_watermark == 1
    assert member.asked(ApiKey.VOTE) == [] and member.raft.deadline is None


def test_a_member_asks_whether_it_would_win_before_it_begins_an_election() -> None:
    member = Member()
    assert member.effects == [] and member.raft.deadline < NOW + 500
    asks = member.asked(ApiKey.VOTE, member.wait_until_due())
    assert [ask.peer.node_id for ask in asks] == [2, 3]
    questions = [only_partition(ask.message.topics) for ask in asks]
    assert all(each.pre_vote and each.replica_epoch == 0 for each in questions)
    assert saved(member.effects) is None, "nothing has happened yet"

    effects = member.vote(asks[0], granted=True)
    state = saved(effects)
    assert (state.leader_epoch, state.voted_id) == (1, 1)
    assert member.asked(ApiKey.VOTE, effects) == [], "it asks for votes once its own is durable"
    asks = member.asked(ApiKey.VOTE, member.save())
    assert not any(only_partition(ask.message.topics).pre_vote for ask in asks)
    member.vote(asks[1], granted=True, leader_epoch=1)
    assert member.raft.leading_epoch == 1


def test_a_vote_is_answered_once_it_is_durable() -> None:
    member = Member()
    effects = member.ask_for_vote(5)
    assert [type(effect) for effect in effects] == [SaveState]
    assert saved(effects) == ElectionState(-1, 5, 2, directory(2))
    answer = replied(member.save())
    assert answer.vote_granted and answer.leader_epoch == 5


def test_one_vote_an_epoch_and_the_same_answer_to_the_same_candidate() -> None:
    member = Member()
    member.ask_for_vote(5)
    member.save()
    assert not replied(member.ask_for_vote(5, candidate=3)).vote_granted
    assert replied(member.ask_for_vote(5)).vote_granted
    member.ask_for_vote(6, candidate=3)
    assert replied(member.save()).vote_granted


def test_a_candidate_that_comes_back_with_another_disk_is_another_one() -> None:
    state = ElectionState(leader_epoch=5, voted_id=2, voted_directory=directory(7))
    assert not replied(Member(state=state).ask_for_vote(5)).vote_granted


def test_a_vote_survives_its_voter() -> None:
    state = ElectionState(leader_epoch=5, voted_id=3, voted_directory=directory(3))
    assert not replied(Member(state=state).ask_for_vote(5)).vote_granted
    assert replied(Member(state=state).ask_for_vote(5, candidate=3)).vote_granted


@pytest.mark.parametrize(
    ("last", "granted"),
    [((3, 10), True), ((3, 11), True), ((4, 1), True), ((3, 9), False), ((2, 99), False)],
)
def test_only_a_log_that_holds_everything_is_voted_for(
    last: tuple[int, int], granted: bool
) -> None:
    for pre_vote in (True, False):
        member = Member(of=log((1, 0), (3, 5), end=10))
        effects = member.ask_for_vote(5, last=last, pre_vote=pre_vote)
        assert replied([*effects, *member.save()]).vote_granted is granted


def test_a_log_that_is_ahead_of_the_vote_file_has_lost_it_and_votes_for_nobody_in_its_epoch() -> (
    None
):
    member = Member(of=log((4, 0), end=10))
    assert member.raft.leader_epoch == 4
    assert not replied(member.ask_for_vote(4, last=(4, 10))).vote_granted
    member.ask_for_vote(5, last=(4, 10))
    assert replied(member.save()).vote_granted


def test_an_old_epoch_is_told_of_the_new_one() -> None:
    member = Member(state=ElectionState(leader_epoch=7))
    answer = replied(member.ask_for_vote(6))
    assert (answer.error_code, answer.leader_epoch, answer.vote_granted) == (
        KafkaError.FENCED_LEADER_EPOCH,
        7,
        False,
    )


def test_a_member_that_hears_from_its_leader_keeps_it() -> None:
    member = Member()
    member.hear_begin(3)
    member.save()
    assert replied(member.ask_for_vote(3, candidate=3, pre_vote=True)).vote_granted, "not heard yet"
    leader = Member().elect()
    answer = replied(leader.ask_for_vote(1, last=(9, 9), pre_vote=True))
    assert not answer.vote_granted and answer.leader_id == 1


def test_a_pre_vote_is_no_vote() -> None:
    member = Member()
    assert replied(member.ask_for_vote(0, pre_vote=True)).vote_granted
    assert replied(member.ask_for_vote(0, candidate=3, pre_vote=True)).vote_granted
    assert saved(member.effects) is None


def test_answers_to_an_earlier_question_do_not_count() -> None:
    member = Member(voters=5)
    first = member.asked(ApiKey.VOTE, member.wait_until_due())
    member.wait(5_000)
    member.vote(first[0], granted=True)
    member.vote(first[1], granted=True)
    assert saved(member.effects) is None, "two of five that were asked before, and itself"


def test_who_does_not_answer_is_asked_again_soon() -> None:
    member = Member()
    first = member.asked(ApiKey.VOTE, member.wait_until_due())
    member.answer(first[0], None, AskFailure.REFUSED)
    (again,) = member.asked(ApiKey.VOTE, member.wait(20))
    assert again.peer == first[0].peer


def test_a_lost_election_is_tried_again_later_and_later() -> None:
    member = Member()
    waits = []
    for _ in range(6):
        before = member.now
        asks = member.asked(ApiKey.VOTE, member.wait_until_due())
        waits.append(member.now - before)
        for ask in asks:
            member.vote(ask, granted=False)
    assert waits[-1] > waits[1] and waits[-1] <= 1_000


def test_a_higher_epoch_in_an_answer_ends_the_election() -> None:
    member = Member()
    asks = member.asked(ApiKey.VOTE, member.wait_until_due())
    member.vote(asks[0], granted=False, leader_epoch=9)
    assert member.raft.leader_epoch == 9 and saved(member.effects).leader_epoch == 9


def test_an_answer_that_knows_the_leader_ends_the_question() -> None:
    member = Member()
    asks = member.asked(ApiKey.VOTE, member.wait_until_due())
    member.vote(asks[0], granted=False, leader_epoch=9, leader_id=3)
    assert member.raft.leader.node_id == 3


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"cluster_id": "another"}, KafkaError.INCONSISTENT_CLUSTER_ID),
        ({"topics": []}, KafkaError.INVALID_REQUEST),
    ],
)
def test_nonsense_is_refused(more: dict, error: KafkaError) -> None:
    (reply,) = Member().ask_for_vote(5, **more)
    assert isinstance(reply, Reply) and reply.message.error_code == error


def test_a_request_for_another_voter_is_refused() -> None:
    assert replied(Member().ask_for_vote(5, voter_id=3)).error_code == KafkaError.INVALID_VOTER_KEY


def test_an_observer_neither_stands_nor_votes() -> None:
    member = Member(node_id=9, may_vote=False)
    member.wait(10_000)
    assert member.asked(ApiKey.VOTE) == []
    (reply,) = member.ask_for_vote(5, voter_id=9)
    assert reply.message.error_code == KafkaError.INVALID_REQUEST


def test_what_is_said_after_a_vote_waits_for_it_in_order() -> None:
    member = Member()
    member.ask_for_vote(5)
    assert not [each for each in member.fetch(0, 0) if isinstance(each, Reply | Ask)]
    answers = [each for each in member.save() if isinstance(each, Reply)]
    assert [answer.ticket for answer in answers] == [1, 2]
