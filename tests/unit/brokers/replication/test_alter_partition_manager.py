"""What partitions want of the controller goes in one request at a time, and is asked again where nobody answered."""

from typing import Any

import pytest

from brokers.effects import Changed
from brokers.errors import KafkaError, Refusal
from brokers.log.config import LogConfig
from brokers.metadata.image.image import ImageDelta
from brokers.partition.leadership import LATE_EXPANSION
from brokers.wire.messages.replication import (
    AlterPartitionResponse,
    AlterPartitionResponsePartition,
    AlterPartitionResponseTopic,
)
from tests.unit.brokers.replication.hosting import TOPIC_ID, Node, items

ALL = {0: 0, 1: 0, 2: 0}


def leading(isr: tuple[int, ...] = (1, 2)) -> Node:
    node = Node(3)
    node.place(1, isr=isr)
    return node


def asked(node: Node, number: int = -1) -> dict[int, list[int]]:
    """Partition -> the set asked for, in a request to the controller."""
    message: Any = node.controls[number][0]
    return {
        item.partition_index: [member.broker_id for member in item.new_isr_with_epochs]
        for topic in message.topics
        for item in topic.partitions
    }


def answer(node: Node, response: object) -> None:
    node.run(node.controls[-1][1](response, node.now))


def decided(
    node: Node, error: int = 0, isr: tuple[int, ...] = (1, 2, 3), epoch: int = 2
) -> AlterPartitionResponse:
    items = [
        AlterPartitionResponsePartition(
            partition_index=index, error_code=error, isr=list(isr), partition_epoch=epoch
        )
        for index in asked(node)
    ]
    topic = AlterPartitionResponseTopic(topic_id=TOPIC_ID, partitions=items)
    return AlterPartitionResponse(topics=[topic])


def test_all_partitions_of_a_step_go_together() -> None:
    node = leading()
    node.fetch(ALL, broker=3)
    assert asked(node) == {index: [1, 2, 3] for index in range(3)}
    answer(node, decided(node))
    assert [node.replica(index).leadership.isr_state.isr for index in range(3)] == [(1, 2, 3)] * 3
    assert len(node.controls) == 1


def test_what_comes_meanwhile_waits_for_the_answer() -> None:
    node = leading()
    node.fetch({0: 0}, broker=3)
    node.fetch({1: 0}, broker=3)
    assert len(node.controls) == 1
    answer(node, decided(node))
    assert asked(node) == {1: [1, 2, 3]}


def test_an_error_that_only_a_later_release_knows_is_no_decision() -> None:
    node = leading()
    node.fetch({0: 0}, broker=3)
    answer(node, decided(node, error=32_000))
    assert len(node.controls) == 2 and asked(node) == {0: [1, 2, 3]}


def test_without_an_answer_the_same_is_asked_again() -> None:
    node = leading()
    node.fetch({0: 0}, broker=3)
    for lost in (
        Refusal(KafkaError.REQUEST_TIMED_OUT, "nobody leads"),
        AlterPartitionResponse(error_code=KafkaError.STALE_BROKER_EPOCH),
    ):
        before = len(node.controls)
        answer(node, lost)
        assert len(node.controls) == before
        node.wait(50)
        assert asked(node) == {0: [1, 2, 3]}


def test_what_a_partition_does_not_want_any_more_is_not_asked_again() -> None:
    node = leading()
    node.fetch({0: 0, 1: 0}, broker=3)
    node.place(1, isr=(1, 2, 3), partition_epoch=5)
    answer(node, Refusal(KafkaError.REQUEST_TIMED_OUT, ""))
    node.wait(1_000)
    assert len(node.controls) == 1


def test_one_that_was_ineligible_is_proposed_again_without_asking_for_anything() -> None:
    node = leading()
    node.fetch({0: 0}, broker=3)
    answer(node, decided(node, KafkaError.INELIGIBLE_REPLICA))
    assert len(node.controls) == 1
    node.wait(100)
    assert asked(node) == {0: [1, 2, 3]}
    assert len(node.controls) == 2


def test_one_that_the_answer_leaves_out_is_proposed_again() -> None:
    node = leading()
    node.fetch({0: 0}, broker=3)
    answer(node, AlterPartitionResponse())
    node.wait(100)
    assert asked(node) == {0: [1, 2, 3]}
    assert len(node.controls) == 2


def test_one_that_the_image_lets_in_joins_though_its_partitions_are_quiet() -> None:
    node = leading()
    node.broker(3, fenced=True)
    node.fetch(ALL, broker=3)
    assert node.controls == []
    node.broker(3)
    node.run(node.replication.apply_delta(ImageDelta(brokers_changed=(3,)), node.now))
    assert asked(node) == {index: [1, 2, 3] for index in range(3)}


def test_a_late_word_of_an_earlier_life_does_not_keep_the_next_one_out() -> None:
    """Found by simulation: it overwrote what the next life had said, which did not say it twice."""
    node = leading()
    node.fetch(ALL, broker=3, broker_epoch=40)
    late = node.replies[node.fetch(ALL, broker=3, broker_epoch=30)]
    assert {item.error_code for item in items(late).values()} == {KafkaError.NOT_LEADER_OR_FOLLOWER}
    node.broker(3, epoch=40)
    node.run(node.replication.apply_delta(ImageDelta(brokers_changed=(3,)), node.now))
    assert asked(node) == {index: [1, 2, 3] for index in range(3)}


def test_one_that_is_let_in_while_the_controller_is_asked_for_another_joins_afterwards() -> None:
    """Found by simulation: the image brought what had been asked for, and nobody else was thought of again."""
    node = leading(isr=(1,))
    node.broker(3, fenced=True)
    node.fetch(ALL, broker=3)
    node.fetch(ALL, broker=2)
    assert asked(node) == {index: [1, 2] for index in range(3)}
    node.broker(3)
    node.run(node.replication.apply_delta(ImageDelta(brokers_changed=(3,)), node.now))
    answer(node, decided(node, error=KafkaError.INVALID_UPDATE_VERSION))
    node.place(1, isr=(1, 2), partition_epoch=2)
    assert asked(node) == {index: [1, 2, 3] for index in range(3)}


def test_an_observer_that_the_answer_to_a_proposal_promoted_joins_though_its_partitions_are_quiet() -> (
    None
):
    """Found by simulation: the answer tells the in-sync set, the image of the same decision who observes no more."""
    node = Node(1, lag_ms_max=1_000)
    node.replication.start(node.now)
    node.place(1, isr=(1, 2), observers=(3,))
    node.append()
    node.fetch({0: 0}, broker=2)
    node.wait(900)
    node.fetch({0: 1}, broker=3)
    node.wait(600)
    assert asked(node) == {0: [1]}
    answer(node, decided(node, isr=(1,)))
    assert len(node.controls) == 1
    node.place(1, isr=(1,), partition_epoch=2)
    assert asked(node) == {0: [1, 3]}


def test_one_that_was_silent_when_the_image_let_it_in_joins_once_it_is_heard_of_again() -> None:
    """Found by simulation: its session went on, in which it has nothing new to say of what it has."""
    node = Node(3, lag_ms_max=1_000)
    node.place(1, isr=(1, 2))
    node.broker(3, fenced=True)
    session = node.replies[node.fetch(ALL, broker=3)].session_id
    node.wait(1_001)
    node.broker(3)
    node.run(node.replication.apply_delta(ImageDelta(brokers_changed=(3,)), node.now))
    assert node.controls == []
    node.fetch(broker=3, session=(session, 1))
    assert asked(node) == {index: [1, 2, 3] for index in range(3)}


def test_members_that_fall_behind_leave() -> None:
    node = Node(1, lag_ms_max=1_000)
    node.place(1)
    node.replication.start(node.now)
    node.append()
    node.fetch({0: 1}, broker=2, wait_ms=0)
    node.wait(900)
    assert node.controls == []
    node.wait(700)
    assert asked(node) == {0: [1, 2]}


@pytest.mark.parametrize(("offset", "wanted"), [(1, [1, 2]), (0, [1])])
def test_one_that_came_up_while_the_controller_put_it_out_joins_again(
    offset: int, wanted: list[int]
) -> None:
    """Found by simulation: it had come up for long when the image told of what was asked before."""
    node = Node(1, lag_ms_max=1_000)
    node.place(1, isr=(1, 2))
    node.replication.start(node.now)
    node.append()
    node.wait(1_600)
    assert asked(node) == {0: [1]}
    node.fetch({0: offset}, broker=2)
    answer(node, decided(node, error=KafkaError.INVALID_UPDATE_VERSION))
    node.place(1, isr=(1,), partition_epoch=2)
    assert asked(node) == {0: wanted}


def test_what_the_controller_refused_is_counted_by_partition() -> None:
    node = leading()
    node.fetch(ALL, broker=3)
    answer(node, Refusal(KafkaError.REQUEST_TIMED_OUT, "nobody has answered"))
    assert node.replication.failed_isr_updates == 0
    node.wait(1_000)
    answer(node, decided(node, error=KafkaError.INELIGIBLE_REPLICA))
    assert node.replication.failed_isr_updates == 3
    node.wait(1_000)
    node.fetch({0: 0}, broker=3)
    answer(node, decided(node))
    assert node.replication.failed_isr_updates == 3


def test_whom_no_event_made_it_ask_for_is_asked_for_when_the_leader_looks_around() -> None:
    node = leading()
    node.replication.start(node.now)
    node.broker(3, fenced=True)
    node.fetch(ALL, broker=3)
    assert node.controls == []
    node.broker(3)  # let in, and by some mistake nobody tells
    node.wait(node.replication.lag_ms_max // 2)
    assert asked(node) == {index: [1, 2, 3] for index in range(3)}
    late = [each for each in node.others if isinstance(each, Changed)]
    assert [each.to for each in late] == [LATE_EXPANSION] * 3
    answer(node, decided(node))
    node.wait(node.replication.lag_ms_max // 2)
    assert len(node.controls) == 1


def test_a_slow_follower_is_not_asked_for_when_the_leader_looks_around() -> None:
    """Nothing can be committed without it, so it has all that is; it'd come in and be put out, for ever."""
    node = Node(1)
    node.place(1)
    node.replication.start(node.now)
    node.replica().config = LogConfig(min_insync_replicas=3)
    node.append()
    half_ms = node.replication.lag_ms_max // 2
    for _ in range(3):
        node.fetch({0: 1}, broker=2)
        node.wait(half_ms - 1)
        node.fetch({0: 0}, broker=3)  # in touch, and behind
        node.wait(1)
    assert asked(node)[0] == [1, 2]
    answer(node, decided(node, isr=(1, 2)))
    node.wait(half_ms)
    assert len(node.controls) == 1


def test_the_shortest_lag_that_may_be_set_leaves_time_between_two_looks() -> None:
    node = Node(1, lag_ms_max=1)
    node.replication.start(node.now)
    assert node.timers.deadline is not None and node.timers.deadline > node.now
