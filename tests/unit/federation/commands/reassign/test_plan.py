"""Plans in Kafka's JSON: what is read, what is refused, who is throttled, what counts as done."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.ids import TopicPartition
from federation.commands.reassign.plan import (
    Move,
    PartitionReassignment,
    PlanError,
    TopicPartitionReplica,
    by_name,
    directories_of,
    keeping_replicas,
    moves,
    plan_text,
    progress,
    targets_of,
    throttled_brokers,
    throttled_replicas,
    topics_of,
)
from federation.commands.region.description import PartitionDescription

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


def entry(topic: str = "t", partition: Any = 0, replicas: Any = (1, 2), **more: Any) -> Any:
    return {"topic": topic, "partition": partition, "replicas": replicas, **more}


def text(*partitions: Any, version: int = 1) -> str:
    return json.dumps({"version": version, "partitions": list(partitions)})


def held(*replicas: int, topic: str = "t", partition: int = 0) -> PartitionDescription:
    return PartitionDescription(topic, partition, replicas[0], 1, replicas, replicas)


def test_what_is_written_is_read() -> None:
    targets = {T1: (3, 1), U0: (2,)}
    directories = {TopicPartitionReplica(T1, 1): "/b"}
    written = plan_text(targets, directories)
    first = '{"topic":"t","partition":1,"replicas":[3,1],"log_dirs":["any","/b"]}'
    assert written.startswith('{"version":1,"partitions":[' + first)
    assert targets_of(written) == targets
    assert list(targets_of(written)) == [T1, U0]
    assert directories_of(written) == directories


def test_log_dirs_may_be_left_out() -> None:
    written = text(entry(replicas=[4, 2]))
    assert targets_of(written) == {T0: (4, 2)}
    assert directories_of(written) == {}


@pytest.mark.parametrize(
    ("plan", "because"),
    [
        ("nonsense", "Invalid JSON"),
        (text(entry(), version=2), "version"),
        (text(), "partitions"),
        (text(entry(), entry(replicas=[3])), "t-0 is named twice"),
        (text(entry(replicas=[1, 1])), "names a broker twice"),
        (text(entry(replicas=[])), "replicas"),
        (text(entry(replicas=[-1])), "replicas"),
        (text(entry(partition=-1)), "partition"),
        (text(entry(partition="0")), "partition"),
        (text(entry(log_dirs=["any"])), "2 replicas and 1 log_dirs"),
        (text(entry(replica=[1])), "Extra inputs"),
    ],
)
def test_what_is_no_plan_is_refused(plan: str, because: str) -> None:
    with pytest.raises(PlanError, match=because):
        targets_of(plan)


def test_topics_to_move_are_named_once() -> None:
    assert topics_of('{"version": 1, "topics": [{"topic": "b"}, {"topic": "a"}]}') == ["b", "a"]
    for wrong in ('{"version":1,"topics":[]}', '{"version":1,"topics":[{"topic":"a"},{"topic":"a"}]}'):  # fmt: skip
        with pytest.raises(PlanError):
            topics_of(wrong)


def test_those_who_have_it_are_sources_and_those_who_lack_it_destinations() -> None:
    current = by_name([held(1, 2), held(1, 2, partition=1), held(2, 1, topic="u")])
    found = moves({T0: (2, 3, 4), T1: (2, 1)}, current, {})
    assert found == {T0: Move((1, 2), (3, 4))}


def test_what_is_on_the_move_already_is_throttled_too() -> None:
    current = by_name([held(3, 1, 2), held(9, 2, topic="u")])
    ongoing = {
        T0: PartitionReassignment((3, 1, 2), (3,), (2,)),
        U0: PartitionReassignment((9, 2), (9,), (2,)),
    }
    found = moves({T0: (4, 1)}, current, ongoing)
    assert found == {T0: Move((1, 2), (4,)), U0: Move((2,), (9,))}
    assert throttled_brokers(found) == [1, 2, 4, 9]


def test_throttles_name_every_partition_and_broker() -> None:
    found = {T0: Move((1, 2), (3,)), T1: Move((2,), (1, 3)), U0: Move((1,), (2,))}
    assert throttled_replicas(found) == {
        "t": {
            "leader.replication.throttled.replicas": "0:1,0:2,1:2",
            "follower.replication.throttled.replicas": "0:3,1:1,1:3",
        },
        "u": {
            "leader.replication.throttled.replicas": "0:1",
            "follower.replication.throttled.replicas": "0:2",
        },
    }


def test_a_plan_is_complete_where_the_replicas_are_those_it_names_in_its_order() -> None:
    current = by_name([held(2, 1), held(1, 2, partition=1)])
    targets = {T0: (2, 1), T1: (2, 1), U0: (1,)}
    done, otherwise, missing = progress(targets, current, ())
    assert (done.state, done.sentence) == ("complete", "Reassignment of partition t-0 is completed.")  # fmt: skip
    assert otherwise.state == missing.state == "not as planned"
    assert otherwise.sentence.endswith("t-1, but replica set is 1,2 rather than 2,1.")
    assert "there is no such partition" in missing.sentence
    moving = progress({T0: (2, 1)}, current, {T0: PartitionReassignment((), (), ())})[0]
    assert (moving.state, moving.is_complete) == ("in progress", False)


def test_proposals_are_dealt_so_that_replicas_stay() -> None:
    current = [(1, 2), (2, 3), (3, 1)]
    assert keeping_replicas(current, [(3, 2), (1, 3), (2, 1)]) == [(2, 1), (3, 2), (1, 3)]
    assert keeping_replicas([(1, 2), (3, 4)], [(4, 5), (5, 1)]) == [(5, 1), (4, 5)]
    assert keeping_replicas([(2, 1)], [(2, 1)]) == [(2, 1)]


ASSIGNMENTS = st.lists(
    st.lists(st.integers(1, 6), min_size=3, max_size=3, unique=True).map(tuple),
    min_size=1,
    max_size=8,
)


@given(ASSIGNMENTS, ASSIGNMENTS)
def test_what_is_dealt_is_what_was_proposed(
    current: list[tuple[int, ...]], proposed: list[tuple[int, ...]]
) -> None:
    count = min(len(current), len(proposed))
    found = keeping_replicas(current[:count], proposed[:count])
    assert sorted(found) == sorted(proposed[:count])
    again = keeping_replicas(proposed[:count], found)
    assert [{*each} for each in again] == [{*each} for each in proposed[:count]]
