"""A follower asks each leader once for everything, says only what changed, and asks on when the disk has what came."""

from uuid import UUID

import pytest

from brokers.effects import Ask, Changed, TruncateLog
from brokers.errors import KafkaError
from brokers.events import AskFailure
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.image.image import ImageDelta
from brokers.wire.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from tests.unit.brokers.partition.replicas import batch
from tests.unit.brokers.replication.hosting import TOPIC, TOPIC_ID, Node, listed

SESSION = 77


def following(partitions: int = 3, **settings: int) -> Node:
    """Node 1 follows broker 2."""
    node = Node(partitions, **settings)
    node.place(2)
    return node


def answer(
    node: Node, ask: Ask, *items: PartitionData, session: int = SESSION, error: int = 0
) -> None:
    topics = [FetchableTopicResponse(topic_id=TOPIC_ID, partitions=list(items))] if items else []
    node.answer(ask, FetchResponse(error_code=error, session_id=session, responses=topics))


def part(index: int, records: bytes = b"", **fields: object) -> PartitionData:
    values = {"high_watermark": 0, "log_start_offset": 0, **fields}
    return PartitionData(partition_index=index, records=records, **values)


def copied(base_offset: int, count: int = 1, leader_epoch: int = 1) -> bytes:
    return bytes(batch(count, base_offset=base_offset, leader_epoch=leader_epoch))


def test_one_request_asks_for_all_that_a_step_brought() -> None:
    node = following()
    [ask] = node.asks
    assert (ask.peer.node_id, ask.channel, ask.api_key, ask.api_version) == (2, "replica-0", 1, 18)
    assert set(listed(ask)) == {0, 1, 2}
    message = ask.message
    assert (message.session_id, message.session_epoch) == (0, 0)
    assert (message.replica_state.replica_id, message.replica_state.replica_epoch) == (1, 10)
    assert (message.cluster_id, message.max_wait_ms, message.min_bytes) == ("region", 500, 1)


def test_afterwards_only_what_changed_is_said() -> None:
    node = following()
    answer(node, node.asks[0], part(0), part(1, copied(0, 3), high_watermark=2), part(2))
    ask = node.asks[1]
    assert (ask.message.session_id, ask.message.session_epoch) == (SESSION, 1)
    [item] = listed(ask).values()
    assert (item.partition, item.fetch_offset, item.last_fetched_epoch) == (1, 3, 1)
    assert item.high_watermark == 2
    assert node.replica(1).high_watermark == 2
    answer(node, ask)
    assert listed(node.asks[2]) == {}
    assert node.asks[2].message.session_epoch == 2


def test_nothing_is_asked_before_what_came_is_stored() -> None:
    node = following()
    node.stores = False
    answer(node, node.asks[0], part(0, copied(0, 2)), part(1, copied(0, 4)), part(2))
    assert len(node.asks) == 1
    node.written(0, 2)
    assert len(node.asks) == 1
    node.written(1, 3)
    assert len(node.asks) == 1
    node.written(1, 4)
    assert {item.fetch_offset for item in listed(node.asks[1]).values()} == {2, 4}


def test_a_log_that_fails_holds_nobody_up_and_is_forgotten_until_it_is_back() -> None:
    node = following()
    node.stores = False
    answer(node, node.asks[0], part(0, copied(0)), part(1), part(2))
    node.run(node.replica(0).failed("the disk is full", node.now))
    [forgotten] = node.asks[1].message.forgotten_topics_data
    assert (forgotten.topic_id, forgotten.partitions) == (TOPIC_ID, [0])


@pytest.mark.parametrize("why", ["leads now", "is no more"])
def test_one_that_leaves_before_it_is_stored_holds_nobody_up(why: str) -> None:
    node = following()
    node.stores = False
    answer(node, node.asks[0], part(0, copied(0)), part(1), part(2))
    assert len(node.asks) == 1
    if why == "leads now":
        led = node.image.topics_by_name[TOPIC].partitions[0]
        placed = led._replace(leader=1, leader_epoch=2, partition_epoch=2)
        node.run(node.replication.apply_partition(node.replica(0), placed, None, node.now))
    else:
        node.replication.remove_replica(node.replica(0))
        node.run([])
    [forgotten] = node.asks[1].message.forgotten_topics_data
    assert forgotten.partitions == [0]
    answer(node, node.asks[1], part(1, copied(0)))
    node.written(1, 1)
    assert set(listed(node.asks[2])) == {1}


def test_a_lost_session_is_begun_anew_at_once_and_a_leader_that_loses_each_is_left_alone() -> None:
    node = following()
    answer(node, node.asks[0], part(0))
    answer(node, node.asks[1], error=KafkaError.FETCH_SESSION_ID_NOT_FOUND)
    again = node.asks[2]
    assert (again.message.session_id, again.message.session_epoch) == (SESSION, 0)
    assert set(listed(again)) == {0, 1, 2}
    answer(node, again, error=KafkaError.FETCH_SESSION_ID_NOT_FOUND)
    assert len(node.asks) == 3
    node.wait(40)
    assert len(node.asks) == 4


def test_a_leader_without_sessions_is_told_everything_each_time() -> None:
    node = following()
    answer(node, node.asks[0], part(0), session=0)
    assert set(listed(node.asks[1])) == {0, 1, 2}
    assert node.asks[1].message.session_epoch == 0


@pytest.mark.parametrize("failure", [AskFailure.REFUSED, AskFailure.TIMEOUT, AskFailure.CLOSED])
def test_a_leader_that_can_not_be_asked_is_tried_again_ever_later(failure: AskFailure) -> None:
    node = following(backoff_ms_max=100)
    waits = []
    for _ in range(5):
        node.answer(node.asks[-1], None, failure)
        asked, waited = len(node.asks), 0
        while len(node.asks) == asked:
            node.wait(5)
            waited += 5
        waits.append(waited)
    assert waits == [20, 40, 80, 100, 100]
    told = [effect for effect in node.others if isinstance(effect, Changed)]
    assert [(each.to, each.why) for each in told] == [("interrupted", failure.value)]
    assert node.asks[-1].message.session_epoch == 0


def test_a_partition_that_is_refused_is_left_out_for_a_while() -> None:
    node = following()
    answer(
        node, node.asks[0], part(0, error_code=KafkaError.NOT_LEADER_OR_FOLLOWER), part(1), part(2)
    )
    assert node.asks[1].message.forgotten_topics_data[0].partitions == [0]
    node.wait(20)
    assert set(listed(node.asks[2])) == {0}


def test_a_diverging_history_is_cut_and_the_next_request_says_so() -> None:
    node = following(1)
    answer(node, node.asks[0], part(0, copied(0, 4, 0)))
    item = part(0, diverging_epoch=EpochEndOffset(epoch=0, end_offset=3), high_watermark=3)
    answer(node, node.asks[1], item)
    assert TruncateLog(node.replica().partition, 3, ((0, 0),)) in node.others
    assert listed(node.asks[2])[0].fetch_offset == 3
    told = [effect.to for effect in node.others if isinstance(effect, Changed)]
    assert told == ["cut from 3 on"]


def test_a_follower_left_behind_begins_where_its_leader_does() -> None:
    node = following(1)
    error = KafkaError.OFFSET_OUT_OF_RANGE
    answer(node, node.asks[0], part(0, error_code=error, log_start_offset=40, high_watermark=90))
    [item] = listed(node.asks[1]).values()
    assert (item.fetch_offset, item.log_start_offset) == (40, 40)


def test_a_trim_is_followed_and_reported_back() -> None:
    node = following(1)
    answer(node, node.asks[0], part(0, copied(0, 9), high_watermark=9))
    answer(node, node.asks[1], part(0, high_watermark=9, log_start_offset=5))
    assert listed(node.asks[2])[0].log_start_offset == 5


def test_damage_is_not_stored_and_is_asked_for_again_later() -> None:
    node = following(1)
    data = bytearray(copied(0))
    data[-1] ^= 1
    answer(node, node.asks[0], part(0, bytes(data)))
    assert node.replica().log.log_end_offset == 0
    assert [effect.to for effect in node.others if isinstance(effect, Changed)] == ["not copied"]
    node.wait(20)
    assert listed(node.asks[-1])[0].fetch_offset == 0


def test_what_is_said_under_an_earlier_leadership_is_not_believed() -> None:
    node = following(1)
    node.place(2, 2)
    first, second = node.asks
    assert second.channel == "replica-0-new"
    answer(node, first, part(0, copied(0, 3), high_watermark=3))
    assert node.replica().log.log_end_offset == 0
    answer(node, second, part(0, copied(0, 2, 2)))
    assert node.replica().log.log_end_offset == 2


def test_an_answer_that_comes_after_the_leader_changed_there_and_back_means_nothing() -> None:
    """Found by simulation: its batches would have left a hole."""
    node = following(1)
    answer(node, node.asks[0], part(0, copied(0, 5)))
    late = node.asks[1]
    node.place(3, 2)
    node.run(node.replica().truncate(2))
    node.place(2, 3)
    node.wait(600)
    answer(node, late, part(0, copied(5, 1)))
    assert node.replica().log.log_end_offset == 2


def test_what_is_added_while_a_request_waits_is_asked_for_in_a_second_one_at_once() -> None:
    node = following(2)
    answer(node, node.asks[0], part(0), part(1))
    node.place(3, 2)  # both leave for broker 3
    node.asks.clear()
    node.place(2, 3)  # and come back while the request to broker 2 still waits
    [ask] = node.asks
    assert ask.channel == "replica-0-new"
    assert set(listed(ask)) == {0, 1}
    assert ask.message.max_wait_ms < 500  # so that the two soon come to an end together


def test_two_lanes_become_one_when_both_have_ended() -> None:
    node = following(1)
    answer(node, node.asks[0], part(0))
    main = node.asks[1]
    node.place(3, 2)
    node.place(2, 3)
    second = node.asks[-1]
    node.wait(second.message.max_wait_ms)
    answer(node, second, part(0))
    assert node.asks[-1] is second  # what waits is about to end: it is waited for
    answer(node, main)
    assert node.asks[-1].channel == "replica-0"
    assert set(listed(node.asks[-1])) == {0}


def test_what_is_on_its_way_to_the_disk_changes_lanes_once_it_is_there() -> None:
    node = following(2)
    answer(node, node.asks[0], part(0), part(1))
    main = node.asks[1]
    led = node.image.topics_by_name[TOPIC].partitions[0]
    anew = led._replace(leader_epoch=2, partition_epoch=2)
    node.run(node.replication.apply_partition(node.replica(0), anew, None, node.now))
    node.stores = False
    answer(node, node.asks[2], part(0, copied(0, leader_epoch=2)))
    answer(node, main)
    assert listed(node.asks[3]) == {}
    node.written(0, 1)
    [item] = listed(node.asks[4]).values()
    assert (node.asks[4].channel, item.partition, item.fetch_offset) == ("replica-0-new", 0, 1)
    node.wait(node.asks[4].message.max_wait_ms)
    answer(node, node.asks[4])
    answer(node, node.asks[3])
    assert (node.asks[5].channel, listed(node.asks[5])[0].fetch_offset) == ("replica-0", 1)


def test_appends_of_an_own_leadership_are_stored_before_another_leader_is_asked() -> None:
    node = Node(1)
    node.stores = False
    node.place(1)
    node.append()
    node.place(2, 2)
    assert node.asks == []
    node.written(0, 1)
    assert listed(node.asks[0])[0].fetch_offset == 1


def test_partitions_are_spread_over_fetchers_and_stay_with_theirs() -> None:
    node = Node(20, fetchers=3)
    node.place(2)
    by_channel = {ask.channel: set(listed(ask)) for ask in node.asks}
    assert set(by_channel) == {"replica-0", "replica-1", "replica-2"}
    assert sum(map(len, by_channel.values())) == 20


def test_nobody_is_asked_where_nobody_leads_or_the_leader_is_unknown() -> None:
    node = Node(1)
    node.place(-1)
    del node.image.brokers[3]
    node.place(3, 2)
    assert node.asks == []
    node.broker(3)
    node.run(node.replication.apply_delta(ImageDelta(brokers_changed=(3,)), node.now))
    assert [ask.peer.node_id for ask in node.asks] == [3]


def test_catching_up_is_held_back_to_its_rate_and_being_in_sync_is_not() -> None:
    node = Node(1)
    node.place(2, isr=(2,))
    size = len(copied(0, 3))
    topic, broker = (ResourceType.TOPIC, TOPIC), (ResourceType.BROKER, "1")
    node.image.configs[topic] = {"follower.replication.throttled.replicas": "0:1"}
    node.image.configs[broker] = {"follower.replication.throttled.rate": str(size // 2)}
    node.run(node.replication.apply_delta(ImageDelta(topic_configs_changed=(TOPIC,)), node.now))
    answer(node, node.asks[0], part(0, copied(0, 3)))
    assert len(node.asks) == 1
    node.wait(990)
    assert len(node.asks) == 1
    node.wait(60)
    assert listed(node.asks[1])[0].fetch_offset == 3
    node.place(2, isr=(1, 2), partition_epoch=2)
    answer(node, node.asks[1], part(0, copied(3, 3)))
    assert listed(node.asks[2])[0].fetch_offset == 6


@pytest.mark.parametrize(
    ("resource", "key", "value"),
    [
        ((ResourceType.BROKER, "1"), "follower.replication.throttled.rate", "1000000000"),
        ((ResourceType.TOPIC, TOPIC), "follower.replication.throttled.replicas", ""),
    ],
    ids=["a higher rate", "the partition is named no more"],
)
def test_another_throttle_counts_at_once(
    resource: tuple[ResourceType, str], key: str, value: str
) -> None:
    """One that was far too low would otherwise hold a reassignment up for days after it was mended."""
    node = Node(1)
    node.place(2, isr=(2,))
    topic, broker = (ResourceType.TOPIC, TOPIC), (ResourceType.BROKER, "1")
    changed = ImageDelta(topic_configs_changed=(TOPIC,))
    node.image.configs[topic] = {"follower.replication.throttled.replicas": "0:1"}
    node.image.configs[broker] = {"follower.replication.throttled.rate": "1"}
    node.run(node.replication.apply_delta(changed, node.now))
    answer(node, node.asks[0], part(0, copied(0, 3)))
    node.wait(60_000)
    node.run(node.replication.apply_delta(changed, node.now))
    assert len(node.asks) == 1
    node.image.configs[resource] = {key: value}
    node.run(node.replication.apply_delta(changed, node.now))
    assert listed(node.asks[1])[0].fetch_offset == 3


def test_ten_thousand_quiet_partitions_take_no_part_in_a_round() -> None:
    node = following(10_000)
    answer(node, node.asks[0], *(part(index) for index in range(10_000)))
    for _ in range(3):
        ask = node.asks[-1]
        assert ask.message.topics == [] and ask.message.forgotten_topics_data == []
        answer(node, ask)
    assert node.asks[-1].message.session_id == SESSION
    assert UUID(bytes=node.replica(9_999).topic_id) == TOPIC_ID


@pytest.mark.parametrize("failure", [AskFailure.CLOSED, AskFailure.REFUSED])
def test_a_leader_whose_process_is_gone_is_not_named_until_it_answers(failure: AskFailure) -> None:
    node = following(2)
    node.answer(node.asks[0], None, failure)
    assert all(node.replica(index).knows_no_leader for index in (0, 1))
    node.wait(40)
    answer(node, node.asks[1])
    assert not any(node.replica(index).knows_no_leader for index in (0, 1))


def test_a_new_leader_is_named_at_once() -> None:
    node = following(1)
    node.answer(node.asks[0], None, AskFailure.REFUSED)
    node.place(3, leader_epoch=2)
    assert not node.replica(0).knows_no_leader


def test_where_the_controller_sees_more_for_seconds_its_word_counts() -> None:
    node = following(1)
    believed = []
    for _ in range(10):
        node.answer(node.asks[-1], None, AskFailure.REFUSED)
        believed.append(not node.replica(0).knows_no_leader)
        node.wait(1_500)
    assert believed == [False] * 8 + [True] * 2


def test_a_leader_that_is_just_silent_is_named() -> None:
    node = following(1)
    node.answer(node.asks[0], None, AskFailure.TIMEOUT)
    assert not node.replica(0).knows_no_leader


def test_bytes_from_every_leader_are_counted() -> None:
    node = following()
    answer(node, node.asks[0], part(0, copied(0, 3)), part(2, copied(0)))
    node.place(3, leader_epoch=2)
    answer(node, node.asks[-1], part(1, copied(0, 2, leader_epoch=2)))
    wanted = len(copied(0, 3)) + len(copied(0)) + len(copied(0, 2))
    assert node.replication.bytes_in == wanted
