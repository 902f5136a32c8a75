"""In-sync sets grow and shrink by Kafka's rules, and the high watermark never passes whoever might lead next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import KafkaError
from brokers.partition.isr_state import INELIGIBLE_RETRY_MS, IsrState, PendingIsr
from brokers.partition.remote_replica import LastFetch

LAG = 1_000
NOW = 50_000


class Brokers:
    """Who may join: live brokers by their epochs."""

    def __init__(self) -> None:
        self.epochs = {2: 20, 3: 30, 4: 40}

    def is_isr_eligible(self, broker: int, broker_epoch: int) -> bool:
        return self.epochs.get(broker) == broker_epoch


def leading(
    isr: tuple[int, ...] = (1, 2, 3),
    observers: tuple[int, ...] = (),
    epoch_start: int = 0,
    brokers: Brokers | None = None,
) -> IsrState:
    known = brokers or Brokers()
    progress = IsrState(
        1, 5, eligible=known.is_isr_eligible, lag_ms_max=LAG, epoch_start=epoch_start
    )
    replicas = (1, 2, 3, *observers)
    assert progress.update(9, replicas, isr, observers, NOW)
    return progress


def fetch(progress: IsrState, broker: int, offset: int, end: int, now: int = NOW) -> None:
    assert progress.fetched(broker, offset, 0, end, broker * 10, LastFetch(now), now)


def members(proposal: PendingIsr | None) -> tuple[int, ...] | None:
    return None if proposal is None else proposal.members


def test_nothing_is_committed_before_every_member_was_heard_of() -> None:
    progress = leading()
    assert progress.committed_offset(10, 10, 1, NOW) == -1
    fetch(progress, 2, 8, 10)
    fetch(progress, 3, 9, 10)
    assert progress.committed_offset(10, 10, 1, NOW) == 8
    assert progress.committed_offset(7, 10, 1, NOW) == 7  # what the leader's own disk has


def test_it_is_followed_once_every_replica_that_may_be_elected_has_fetched() -> None:
    progress = leading(isr=(1, 2))
    assert not progress.is_followed
    fetch(progress, 2, 8, 10)
    assert progress.is_followed
    fetch(progress, 3, 10, 10)
    assert members(progress.expansion(8, NOW)) == (1, 2, 3)
    assert progress.is_followed
    assert progress.update(10, (1, 2, 3), (1,), (), NOW)
    assert progress.is_followed
    assert not leading().is_followed  # in another leader epoch nobody has


def test_too_few_in_sync_freeze_the_high_watermark() -> None:
    progress = leading(isr=(1,))
    assert progress.committed_offset(10, 10, 2, NOW) is None
    assert progress.committed_offset(10, 10, 1, NOW) == 10


def test_no_more_are_asked_for_than_there_are_replicas_but_observers_do_not_count() -> None:
    assert leading().min_isr(5) == 3
    assert leading(observers=(4,)).min_isr(5) == 3
    assert leading(observers=(4,)).min_isr(2) == 2


def test_one_that_keeps_up_counts_before_it_has_joined() -> None:
    progress = leading(isr=(1, 2))
    fetch(progress, 2, 10, 10)
    fetch(progress, 3, 9, 9)
    assert progress.committed_offset(10, 10, 1, NOW) == 9
    assert progress.committed_offset(10, 10, 1, NOW + LAG + 1) == 10  # too slow to be waited for


def test_an_observer_that_the_answer_to_a_proposal_promoted_is_heard_of_from_the_image() -> None:
    """The decision on a shrink promotes it: answer and image tell of the same partition epoch."""
    progress = leading((1, 2), observers=(4,))
    fetch(progress, 4, 10, 10)
    proposal = progress.shrink(10, NOW + LAG + 1)
    assert proposal is not None
    progress.on_response(proposal, KafkaError.NONE, 10, (1,), NOW)
    assert progress.expansion(10, NOW) is None
    assert not progress.update(10, (1, 2, 3, 4), (1,), (), NOW)
    assert members(progress.expansion(10, NOW)) == (1, 4)


def test_an_observer_that_was_sent_back_keeps_nobody_else_out() -> None:
    """A proposal with it would be refused as a whole, again and again."""
    brokers = Brokers()
    progress = leading((1,), brokers=brokers)
    progress.update(10, (1, 2, 3, 4), (1,), (), NOW)
    fetch(progress, 2, 10, 10)
    proposal = progress.expansion(10, NOW)
    assert proposal is not None
    progress.on_response(proposal, KafkaError.NONE, 11, (1, 2), NOW)
    fetch(progress, 3, 10, 10)
    fetch(progress, 4, 10, 10)
    under_way = progress.expansion(10, NOW)
    assert members(under_way) == (1, 2, 3, 4)
    assert not progress.update(11, (1, 2, 3, 4), (1, 2), (4,), NOW)
    assert progress.proposal is under_way
    later = NOW + INELIGIBLE_RETRY_MS
    progress.on_response(under_way, KafkaError.INELIGIBLE_REPLICA, -1, (), NOW)
    assert members(progress.expansion(10, later)) == (1, 2, 3)


@pytest.mark.parametrize("case", ["observer", "another life", "gone"])
def test_one_that_may_not_join_is_not_waited_for(case: str) -> None:
    brokers = Brokers()
    progress = leading((1, 2), observers=(4,), brokers=brokers)
    fetch(progress, 2, 10, 10)
    other = 4 if case == "observer" else 3
    fetch(progress, other, 9, 9)
    brokers.epochs = {2: 20, 3: 31, 4: 40} if case == "another life" else brokers.epochs
    brokers.epochs = {2: 20, 4: 40} if case == "gone" else brokers.epochs
    assert progress.committed_offset(10, 10, 1, NOW) == 10
    fetch(progress, other, 10, 10)
    assert progress.expansion(10, NOW) is None


def test_whoever_has_what_is_committed_and_where_the_leadership_began_is_asked_for() -> None:
    progress = leading(isr=(1,), epoch_start=7)
    fetch(progress, 2, 6, 10)
    assert progress.expansion(5, NOW) is None
    fetch(progress, 2, 7, 10)
    assert progress.expansion(8, NOW) is None
    proposal = progress.expansion(7, NOW)
    assert proposal is not None
    assert proposal.isr == ((1, -1), (2, 20))
    assert (proposal.leader_epoch, proposal.partition_epoch) == (5, 9)


def test_one_that_has_stopped_asking_is_not_asked_for() -> None:
    progress = leading(isr=(1,))
    fetch(progress, 2, 10, 10)
    assert progress.expansion(10, NOW + LAG + 1) is None
    assert members(progress.expansion(10, NOW + LAG)) == (1, 2)


def test_one_proposal_at_a_time_counts_both_sets() -> None:
    progress = leading(isr=(1, 2))
    fetch(progress, 2, 10, 10)
    fetch(progress, 3, 10, 10)
    proposal = progress.expansion(10, NOW)
    assert members(proposal) == (1, 2, 3)
    assert progress.maximal_isr == (1, 2, 3) and progress.isr == (1, 2)
    assert progress.expansion(10, NOW) is None
    assert progress.shrink(99, NOW + 9 * LAG) is None
    # 3 stops, and still counts: the controller may have let it in.
    fetch(progress, 2, 20, 20, NOW + 9 * LAG)
    assert progress.committed_offset(20, 20, 1, NOW + 9 * LAG) == 10


def test_a_shrink_counts_those_that_are_to_go_until_they_are_gone() -> None:
    progress = leading()
    later = NOW + LAG + 1
    fetch(progress, 2, 20, 20, later)
    fetch(progress, 3, 10, 20)
    proposal = progress.shrink(20, later)
    assert members(proposal) == (1, 2)
    assert progress.committed_offset(20, 20, 1, later) == 10
    assert proposal is not None
    assert not progress.on_response(proposal, KafkaError.NONE, 10, (1, 2), later)
    assert progress.committed_offset(20, 20, 1, later) == 20


def test_the_leader_never_asks_to_be_rid_of_itself() -> None:
    progress = leading()
    assert members(progress.shrink(20, NOW + LAG + 1)) == (1,)


@pytest.mark.parametrize(
    ("error", "again", "pending"),
    [
        (KafkaError.NONE, False, False),
        (KafkaError.OPERATION_NOT_ATTEMPTED, False, False),
        (KafkaError.INELIGIBLE_REPLICA, False, False),
        (KafkaError.INVALID_UPDATE_VERSION, False, True),
        (KafkaError.FENCED_LEADER_EPOCH, False, True),
        (KafkaError.INVALID_REQUEST, False, True),
        (KafkaError.NEW_LEADER_ELECTED, False, True),
        (KafkaError.UNKNOWN_TOPIC_ID, False, True),
        (KafkaError.REQUEST_TIMED_OUT, True, True),
        (KafkaError.NOT_CONTROLLER, True, True),
    ],
)
def test_what_an_answer_does_to_a_proposal(error: KafkaError, again: bool, pending: bool) -> None:
    progress = leading(isr=(1, 2))
    fetch(progress, 3, 10, 10)
    proposal = progress.expansion(10, NOW)
    assert proposal is not None
    assert progress.on_response(proposal, error, 10, (1, 2, 3), NOW) is again
    assert (progress.proposal is not None) is pending
    assert progress.isr == ((1, 2, 3) if error is KafkaError.NONE else (1, 2))


def test_one_that_was_called_ineligible_is_asked_for_again_after_a_while() -> None:
    progress = leading(isr=(1, 2))
    fetch(progress, 3, 10, 10)
    proposal = progress.expansion(10, NOW)
    assert proposal is not None
    progress.on_response(proposal, KafkaError.INELIGIBLE_REPLICA, -1, (), NOW)
    assert progress.expansion(10, NOW + INELIGIBLE_RETRY_MS - 1) is None
    assert members(progress.expansion(10, NOW + INELIGIBLE_RETRY_MS)) == (1, 2, 3)


def test_the_image_ends_a_proposal_and_its_answer_then_means_nothing() -> None:
    progress = leading(isr=(1, 2))
    fetch(progress, 3, 10, 10)
    proposal = progress.expansion(10, NOW)
    assert proposal is not None
    assert not progress.update(9, (1, 2, 3), (1, 2), (), NOW)
    assert progress.proposal is proposal
    assert progress.update(10, (1, 2, 3), (1,), (), NOW)
    assert (progress.isr, progress.proposal) == ((1,), None)
    progress.on_response(proposal, KafkaError.NONE, 11, (1, 2, 3), NOW)
    assert progress.isr == (1,)


def test_a_stranger_is_not_noted() -> None:
    assert not leading().fetched(9, 1, 0, 1, 90, LastFetch(), NOW)


@given(st.data())
def test_the_high_watermark_is_at_or_below_every_member_of_the_maximal_set(
    data: st.DataObject,
) -> None:
    progress = leading(isr=data.draw(st.sampled_from([(1,), (1, 2), (1, 2, 3)])))
    now, end, epoch, high_watermark = NOW, 10, 9, 0
    for _ in range(data.draw(st.integers(1, 25))):
        now += data.draw(st.integers(0, LAG))
        match data.draw(st.sampled_from(["append", "fetch", "fetch", "join", "shrink", "answer"])):
            case "append":
                progress.before_append(end)
                end += 1
            case "fetch":
                broker = data.draw(st.sampled_from([2, 3]))
                known = max(0, progress.followers[broker].log_end_offset)
                fetch(progress, broker, data.draw(st.integers(known, end)), end, now)
            case "join":
                progress.expansion(high_watermark, now)
            case "shrink":
                progress.shrink(end, now)
            case "answer" if progress.proposal is not None:
                epoch += 1
                error = data.draw(st.sampled_from([KafkaError.NONE, KafkaError.INELIGIBLE_REPLICA]))
                isr = progress.proposal.members
                progress.on_response(progress.proposal, error, epoch, isr, now)
        reached = progress.committed_offset(end, end, 2, now)
        if reached is None:
            assert len(progress.isr) < 2
            continue
        high_watermark = max(high_watermark, reached)
        ends = [
            progress.followers[each].log_end_offset for each in progress.maximal_isr if each > 1
        ]
        assert reached <= min([end, *ends])
        assert 1 in progress.isr
