"""A leader answers its followers: at once with data, soon with a high watermark, with nothing about what is quiet."""

import pytest

from brokers.errors import KafkaError
from brokers.log.epochs import EpochHistory
from tests.unit.brokers.replication.hosting import Node, items


@pytest.fixture
def node() -> Node:
    """Leads three partitions; broker 2 and 3 follow."""
    node = Node(3)
    node.place(1)
    return node


def begun(node: Node, broker: int = 2) -> int:
    """A session in which everything has been told."""
    answer = node.replies[node.fetch({0: 0, 1: 0, 2: 0}, broker=broker)]
    assert set(items(answer)) == {0, 1, 2}
    return answer.session_id


def test_a_first_request_is_answered_at_once_with_all_it_names(node: Node) -> None:
    answer = node.replies[node.fetch({0: 0, 2: 0})]
    assert (answer.error_code, set(items(answer))) == (0, {0, 2})
    assert answer.session_id > 0


def test_quiet_partitions_are_waited_for_and_left_out(node: Node) -> None:
    session = begun(node)
    ticket = node.fetch(session=(session, 1))
    assert ticket not in node.replies
    node.wait(499)
    assert ticket not in node.replies
    node.wait(1)
    assert items(node.replies[ticket]) == {}


def test_an_append_is_sent_at_once_before_it_is_written(node: Node) -> None:
    node.stores = False
    session = begun(node)
    ticket = node.fetch(session=(session, 1))
    node.append(1)
    answer = items(node.replies[ticket])
    assert list(answer) == [1]
    assert len(answer[1].records) == 10
    assert node.replica(1).log.written_offset == 0


def test_appends_of_one_step_travel_together(node: Node) -> None:
    session = begun(node)
    ticket = node.fetch(session=(session, 1))
    node.replica(0).delayed.moved()
    for index in (0, 2):
        node.replica(index).log.log_end_offset = 3
        node.replica(index).delayed.moved()
    node.run([])
    assert set(items(node.replies[ticket])) == {0, 2}


def test_a_high_watermark_waits_for_data_to_ride_with_but_not_for_long(node: Node) -> None:
    session = begun(node)
    node.append(0)
    first = node.fetch(session=(session, 1))
    assert list(items(node.replies[first])) == [0]
    second = node.fetch({0: 1}, session=(session, 2))
    begun(node, broker=3)
    node.fetch({0: 1}, broker=3)
    assert node.replica(0).high_watermark == 1
    assert second not in node.replies
    node.wait(20)
    answer = items(node.replies[second])
    assert (list(answer), answer[0].high_watermark, answer[0].records) == ([0], 1, b"")


def test_with_consumers_on_followers_it_does_not_wait() -> None:
    node = Node(1, rack_aware=True)
    node.place(1, isr=(1, 2), replicas=(1, 2))
    session = node.replies[node.fetch({0: 0})].session_id
    node.append()
    node.fetch(session=(session, 1))
    ticket = node.fetch({0: 1}, session=(session, 2))
    assert items(node.replies[ticket])[0].high_watermark == 1


def test_what_a_follower_says_it_knows_is_believed(node: Node) -> None:
    """It may have been told while it was cutting its log."""
    session = begun(node)
    node.append(0)
    node.fetch(session=(session, 1))
    for broker in (2, 3):
        node.fetch({0: 1}, broker=broker, wait_ms=0)
    again = node.fetch({0: 1}, session=(session, 2), high_watermark=0)
    node.wait(20)
    assert items(node.replies[again])[0].high_watermark == 1
    quiet = node.fetch({0: 1}, session=(session, 3), high_watermark=1)
    node.wait(100)
    assert quiet not in node.replies


def test_a_request_commits_and_lets_its_sender_into_the_set(node: Node) -> None:
    node.place(1, isr=(1, 2), partition_epoch=2)
    node.append(0)
    node.fetch({0: 1}, broker=2)
    node.fetch({0: 1}, broker=3)
    assert node.replica(0).high_watermark == 1
    [(request, _)] = node.controls
    [asked] = request.topics[0].partitions
    assert [(each.broker_id, each.broker_epoch) for each in asked.new_isr_with_epochs] == [
        (1, 10), (2, 20), (3, 30)
    ]  # fmt: skip
    assert (request.broker_id, request.broker_epoch) == (1, 10)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"broker": 9}, KafkaError.NOT_LEADER_OR_FOLLOWER),
        ({"broker_epoch": 19}, KafkaError.NOT_LEADER_OR_FOLLOWER),
        ({"leader_epoch": 0}, KafkaError.FENCED_LEADER_EPOCH),
        ({"leader_epoch": 2}, KafkaError.UNKNOWN_LEADER_EPOCH),
        ({"last_epoch": 7}, KafkaError.OFFSET_OUT_OF_RANGE),
    ],
)
def test_whom_a_leader_refuses(node: Node, fields: dict, error: KafkaError) -> None:
    item = items(node.replies[node.fetch({0: 0}, **fields)])[0]
    assert item.error_code is error
    leadership = node.replica(0).leadership
    assert leadership is not None and leadership.isr_state.followers[2].log_end_offset == -1


@pytest.mark.parametrize(("complete_from", "told"), [(0, -1), (2, -1), (9, 9)])
def test_batches_come_with_up_to_where_the_log_was_compacted(
    node: Node, complete_from: int, told: int
) -> None:
    node.append(0, count=2)
    node.append(0, count=2)
    log = node.replica(0).log
    assert log is not None
    log.completeness.complete_from = complete_from
    item = items(node.replies[node.fetch({0: 2})])[0]
    assert len(item.records) > 0 and item.complete_from == told


def test_of_a_log_that_is_cut_while_it_is_read_it_is_what_that_log_lacks(node: Node) -> None:
    """As that of a mirror is in a restore: what was read is sent all the same."""
    node.append(0, count=4)
    log = node.replica(0).log
    assert log is not None
    log.completeness.complete_from = 9
    node.on_read = lambda: node.replica(0).truncate(2)
    item = items(node.replies[node.fetch({0: 2})])[0]
    assert node.replica(0).log is None
    assert len(item.records) > 0 and item.complete_from == 9


def test_an_offset_that_is_not_there_comes_with_where_the_log_is(node: Node) -> None:
    item = items(node.replies[node.fetch({0: 5})])[0]
    assert item.error_code is KafkaError.OFFSET_OUT_OF_RANGE
    assert (item.high_watermark, item.log_start_offset) == (0, 0)


def test_a_follower_with_another_history_is_told_where_and_is_no_further(node: Node) -> None:
    node.append(0, count=4)
    node.place(1, 5, partition_epoch=5)
    item = items(node.replies[node.fetch({0: 6}, leader_epoch=5, last_epoch=3)])[0]
    assert (item.diverging_epoch.epoch, item.diverging_epoch.end_offset) == (1, 4)
    assert item.records == b""
    leadership = node.replica(0).leadership
    assert leadership is not None and leadership.isr_state.followers[2].log_end_offset == -1


@pytest.mark.parametrize(
    ("last_epoch", "offset", "told"), [(0, 7, (0, 3)), (1, 9, (1, 3)), (1, 3, None), (2, 11, None)]
)
def test_of_epochs_older_than_all_it_knows_a_compacted_log_has_nothing(
    node: Node, last_epoch: int, offset: int, told: tuple[int, int] | None
) -> None:
    """All of [3, 10) was removed before this log was copied: a follower may have other records there."""
    node.append(0, count=12)
    node.place(1, 5, partition_epoch=5)
    log = node.replica(0).log
    assert log is not None
    log.log_start_offset, log.epochs = 3, EpochHistory([(2, 10)])
    item = items(node.replies[node.fetch({0: offset}, leader_epoch=5, last_epoch=last_epoch)])[0]
    found = item.diverging_epoch
    assert (None if found is None else (found.epoch, found.end_offset)) == told
    assert item.error_code == 0


def test_a_lost_leadership_is_told_at_once_with_the_new_leader(node: Node) -> None:
    session = begun(node)
    ticket = node.fetch(session=(session, 1))
    node.place(3, 2)
    answer = items(node.replies[ticket])
    assert {item.error_code for item in answer.values()} == {KafkaError.FENCED_LEADER_EPOCH}
    assert {item.current_leader.leader_id for item in answer.values()} == {3}


def test_another_region_is_refused(node: Node) -> None:
    ticket = node.fetch({0: 0}, cluster_id="elsewhere")
    assert node.replies[ticket].error_code is KafkaError.INCONSISTENT_CLUSTER_ID


def test_a_session_that_is_not_known_is_refused(node: Node) -> None:
    ticket = node.fetch(session=(77, 5))
    assert node.replies[ticket].error_code is KafkaError.FETCH_SESSION_ID_NOT_FOUND


def test_what_is_forgotten_is_not_spoken_of(node: Node) -> None:
    session = begun(node)
    ticket = node.fetch(session=(session, 1), forget=[1])
    node.append(1)
    assert ticket not in node.replies
    node.append(0)
    assert list(items(node.replies[ticket])) == [0]


def test_a_follower_that_forgets_a_partition_is_not_in_touch_by_what_else_it_asks_for() -> None:
    """Its directory failed: it is out of the in-sync set, and neither asked for again nor waited for."""
    node = Node(1)
    node.place(1)
    session = node.replies[node.fetch({0: 0})].session_id
    node.fetch(session=(session, 1), forget=[0])
    node.wait(60_000)
    node.fetch(session=(session, 2))
    node.place(1, isr=(1, 3), partition_epoch=2)
    assert node.controls == []
    node.append()
    node.fetch({0: 1}, broker=3)
    assert node.replica().high_watermark == 1


def test_a_partition_that_was_moved_to_another_session_is_asked_for_there(node: Node) -> None:
    old = begun(node)
    node.fetch({1: 0}, session=(0, 0))
    node.fetch(session=(old, 1), forget=[1])
    node.place(1, isr=(1, 3), partition_epoch=2)
    [(request, _)] = node.controls
    assert {each.partition_index for each in request.topics[0].partitions} == {0, 1, 2}


def test_the_budget_is_shared_and_what_had_to_wait_comes_next(node: Node) -> None:
    session = begun(node)
    for index in range(3):
        node.append(index, count=5)
    first = node.replies[node.fetch(session=(session, 1), max_bytes=60)]
    sizes = {index: len(item.records) for index, item in items(first).items()}
    assert sum(sizes.values()) >= 60 and len([size for size in sizes.values() if size]) == 2
    stored = {index: size // 10 for index, size in sizes.items() if size}
    second = node.replies[node.fetch(stored, session=(session, 2), max_bytes=60)]
    [left] = {0, 1, 2} - set(stored)
    assert len(items(second)[left].records) == 50


def test_a_client_that_goes_leaves_nothing_behind(node: Node) -> None:
    session = begun(node)
    ticket = node.fetch(session=(session, 1))
    node.abandoned.pop(ticket)()
    node.append(0)
    node.wait(1_000)
    assert ticket not in node.replies
    assert node.timers.deadline is None


def test_a_thousand_quiet_partitions_are_not_looked_at() -> None:
    node = Node(1_000)
    node.place(1)
    session = node.replies[node.fetch(dict.fromkeys(range(1000), 0))].session_id
    looked = 0

    def counted(name: object, default: object = None) -> object:
        nonlocal looked
        looked += 1
        return dict.get(node.partitions, name, default)

    class Counting(dict):
        get = staticmethod(counted)

    node.partitions = Counting(node.partitions)
    node.fetch(session=(session, 1))
    node.wait(500)
    assert looked == 0
    node.fetch(session=(session, 2))
    node.append(17)
    assert looked < 5
