"""Controllers that listen elsewhere than the voters' record says, all of them maybe: the settings know better."""

from dataclasses import replace

from brokers.events import AskFailure
from brokers.ids import Peer
from brokers.quorum.voters import QuorumEndpoint, VoterSet
from brokers.wire.messages.api_keys import ApiKey
from tests.unit.brokers.quorum.quorums import Member, directory, voter_set
from tests.unit.brokers.quorum.test_log_fetcher import response


def recorded_elsewhere(member: Member) -> Member:
    """The log says who votes, and where they listened then."""
    member.raft.voters.restore(
        VoterSet(
            replace(
                each,
                directory=directory(each.id),
                endpoints=(QuorumEndpoint("CONTROLLER", f"old-{each.id}", 9093),),
            )
            for each in voter_set(1, 2, 3)
        )
    )
    return member


def hosts(asks: list) -> list[str]:
    return [each.peer.host for each in asks]


def test_a_voter_that_is_not_where_the_record_says_is_asked_where_the_settings_say() -> None:
    member = recorded_elsewhere(Member())
    first = member.asked(ApiKey.VOTE, member.wait_until_due())
    assert hosts(first) == ["old-2", "old-3"]
    for ask in first:
        member.answer(ask, None, AskFailure.REFUSED)
    second = member.asked(ApiKey.VOTE, member.wait(20))
    assert hosts(second) == ["host-2", "host-3"]
    member.vote(second[0], granted=True)
    member.save()
    third = member.asked(ApiKey.VOTE)[len(first) + len(second) :]
    assert hosts(third) == ["host-2", "host-3"], "where it answered it is asked again"


def test_a_leader_that_moved_is_found_by_its_followers() -> None:
    member = recorded_elsewhere(Member())
    member.hear_begin(3)
    asks = member.asked(ApiKey.FETCH, member.save())
    assert hosts(asks) == ["old-2"]
    asks = member.asked(ApiKey.FETCH, member.answer(asks[0], None, AskFailure.REFUSED))
    assert hosts(asks) == ["host-2"] and member.raft.leader == Peer(2, "host-2", 9093)


def test_once_a_leader_answers_the_record_comes_first_again() -> None:
    """Settings that nobody has corrected must not cost an election a timeout."""
    member = recorded_elsewhere(Member())
    for ask in member.asked(ApiKey.VOTE, member.wait_until_due()):
        member.answer(ask, None, AskFailure.REFUSED)
    member.hear_begin(3)
    (ask,) = member.asked(ApiKey.FETCH, member.save())
    member.answer(ask, response())
    member.answer(member.asked(ApiKey.FETCH)[-1], response())
    before = len(member.effects)
    member.wait(2_000)
    assert hosts(member.asked(ApiKey.VOTE, member.effects[before:])) == ["old-2", "old-3"]


def test_an_observer_looks_at_both_places() -> None:
    member = recorded_elsewhere(Member(node_id=9, may_vote=False))
    asked = set()
    for _ in range(10):
        ask = member.asked(ApiKey.FETCH)[-1]
        asked.add(ask.peer.host)
        member.answer(ask, None, AskFailure.REFUSED)
        member.wait(20)
    both = (f"{place}-{voter}" for place in ("old", "host") for voter in (1, 2, 3))
    assert asked == set(both)


def test_who_is_where_the_record_says_is_looked_for_nowhere_else() -> None:
    member = Member()
    for ask in member.asked(ApiKey.VOTE, member.wait_until_due()):
        member.answer(ask, None, AskFailure.REFUSED)
    assert hosts(member.asked(ApiKey.VOTE, member.wait(20))) == ["host-2", "host-3"]
