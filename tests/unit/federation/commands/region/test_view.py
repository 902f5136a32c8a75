"""`causeway region`: what it asks brokers old and new, what it prints, and how it ends."""

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from brokers.wire.messages.metadata import (
    Cursor,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from brokers.wire.messages.quorum import (
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
    DescribeQuorumResponseTopic,
    QuorumReplicaState,
)
from federation.cli import main
from federation.local.layout import Federation, Region, save
from tests.unit.federation.commands.broker_double import Answers, broker_double

OBSERVED = (
    '{"version": 1, "replicas": [{"count": 1, "constraints": {"rack": "a"}}],'
    ' "observers": [{"count": 1, "constraints": {"rack": "b"}}]}'
)
SETTINGS = {
    "orders": {"min.insync.replicas": "2"},
    "seen": {"min.insync.replicas": "1", "confluent.placement.constraints": OBSERVED},
    "odd": {"confluent.placement.constraints": "no placement of ours"},
}


def partition(index: int, leader: int, replicas: list[int], isr: list[int], **more: Any) -> Any:
    return DescribeTopicPartitionsResponsePartition(
        partition_index=index,
        leader_id=leader,
        leader_epoch=7,
        replica_nodes=replicas,
        isr_nodes=isr,
        eligible_leader_replicas=more.get("elr", []),
        last_known_elr=[],
        error_code=0 if leader >= 0 else 5,
        observers=more.get("observers"),
    )


def topic(name: str, *partitions: Any, internal: bool = False) -> Any:
    return DescribeTopicPartitionsResponseTopic(
        name=name, partitions=list(partitions), is_internal=internal
    )


ORDERS = topic(
    "orders",
    partition(0, 1, [1, 2, 3], [1, 2, 3]),
    partition(1, 2, [1, 2, 3], [2, 3]),
    partition(2, 3, [1, 2, 3], [3]),
    partition(3, -1, [1, 2, 3], [], elr=[2]),
)
SEEN = topic("seen", partition(0, 1, [1, 2], [1]))
ODD = topic("odd", partition(0, 1, [1], [1]))
OFFSETS = topic("__consumer_offsets", partition(0, 1, [1], [1]), internal=True)


def cluster(request: Any) -> DescribeClusterResponse:
    """Whoever does not know of fencing has no such field."""
    fenced = bool(request.include_fenced_brokers)
    return DescribeClusterResponse(
        cluster_id="region-one",
        controller_id=9,
        brokers=[
            DescribeClusterBroker(broker_id=2, host="h2", port=2, is_fenced=fenced),
            DescribeClusterBroker(broker_id=1, host="h1", port=1, rack="a"),
        ],
    )


def configs(request: Any) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                resource_type=2,
                resource_name=asked.resource_name,
                configs=[
                    DescribeConfigsResourceResult(name=name, value=value)
                    for name, value in SETTINGS.get(asked.resource_name, {}).items()
                    if name in asked.configuration_keys
                ],
            )
            for asked in request.resources
        ]
    )


def quorum(request: Any) -> DescribeQuorumResponse:
    assert request.topics[0].topic_name == "__cluster_metadata"
    told = DescribeQuorumResponsePartition(
        leader_id=1,
        leader_epoch=4,
        high_watermark=90,
        current_voters=[
            QuorumReplicaState(replica_id=3, log_end_offset=80),
            QuorumReplicaState(replica_id=1, log_end_offset=100),
        ],
    )
    topics = [DescribeQuorumResponseTopic(topic_name="__cluster_metadata", partitions=[told])]
    return DescribeQuorumResponse(topics=topics)


def alone(_: Any) -> DescribeQuorumResponse:
    """A quorum of one voter."""
    voters = [QuorumReplicaState(replica_id=1, log_end_offset=100)]
    told = DescribeQuorumResponsePartition(leader_id=1, high_watermark=100, current_voters=voters)
    topics = [DescribeQuorumResponseTopic(topic_name="__cluster_metadata", partitions=[told])]
    return DescribeQuorumResponse(topics=topics)


def described(request: Any) -> DescribeTopicPartitionsResponse:
    """All topics, in two pages that cut `orders` in the middle."""
    wanted = [each.name for each in request.topics]
    if wanted == ["nope"]:
        missing = DescribeTopicPartitionsResponseTopic(name="nope", error_code=3)
        return DescribeTopicPartitionsResponse(topics=[missing])
    if request.cursor is None:
        first = topic("orders", *ORDERS.partitions[:2])
        cursor = Cursor(topic_name="orders", partition_index=2)
        return DescribeTopicPartitionsResponse(topics=[OFFSETS, ODD, first], next_cursor=cursor)
    assert (request.cursor.topic_name, request.cursor.partition_index) == ("orders", 2)
    rest = topic("orders", *ORDERS.partitions[2:])
    return DescribeTopicPartitionsResponse(topics=[rest, SEEN])


def metadata(request: Any) -> MetadataResponse:
    assert request.topics is None and not request.allow_auto_topic_creation
    topics = [
        MetadataResponseTopic(
            name=each.name,
            is_internal=each.is_internal,
            partitions=[
                MetadataResponsePartition(
                    partition_index=one.partition_index,
                    leader_id=one.leader_id,
                    leader_epoch=one.leader_epoch,
                    replica_nodes=one.replica_nodes,
                    isr_nodes=one.isr_nodes,
                    error_code=one.error_code,
                )
                for one in reversed(each.partitions)
            ],
        )
        for each in (SEEN, ORDERS, ODD, OFFSETS)
    ]
    return MetadataResponse(topics=topics)


NEW: Answers = {60: (2, cluster), 32: (4, configs), 55: (2, quorum), 75: (0, described)}
OLD: Answers = {60: (1, cluster), 32: (1, configs), 3: (9, metadata)}


def told(answers: Answers, *arguments: str) -> Any:
    with broker_double(answers) as broker:
        ran = broker.run("region", *arguments, "--json")
        assert ran.exit_code == 0, ran.output
        return json.loads(ran.stdout)


def test_describe_tells_the_region_and_what_is_wrong_with_it() -> None:
    assert told(NEW, "describe") == {
        "cluster_id": "region-one",
        "controller": 1,
        "quorum": {
            "leader": 1,
            "leader_epoch": 4,
            "high_watermark": 90,
            "voters": [
                {"id": 1, "lag": 0, "is_away": False},
                {"id": 3, "lag": 20, "is_away": False},
            ],
            "survives_losses": 0,
        },
        "brokers": [
            {"id": 1, "host": "h1", "port": 1, "rack": "a", "fenced": False, "leads": 4, "replicas": 7},
            {"id": 2, "host": "h2", "port": 2, "rack": None, "fenced": True, "leads": 1, "replicas": 5},
        ],
        "topics": 4,
        "short_of_replicas": [],
        "partitions": 7,
        "offline": 1,
        "under_min_isr": 2,
        "under_replicated": 3,
        "log_dirs": [],
    }  # fmt: skip


def test_an_older_broker_is_asked_what_it_knows() -> None:
    found = told(OLD, "describe")
    assert (found["controller"], found["quorum"]) == (9, None)
    assert [broker["fenced"] for broker in found["brokers"]] == [None, None]
    assert (found["offline"], found["under_min_isr"], found["under_replicated"]) == (1, 2, 3)
    orders = [each for each in told(OLD, "partitions")["partitions"] if each["topic"] == "orders"]
    assert [each["partition"] for each in orders] == [0, 1, 2, 3]
    assert orders[3]["elr"] is None


def test_partitions_say_the_worst_of_each() -> None:
    found = told(NEW, "partitions")["partitions"]
    states = {(each["topic"], each["partition"]): each["state"] for each in found}
    assert states == {
        ("__consumer_offsets", 0): "ok",
        ("odd", 0): "ok",
        ("orders", 0): "ok",
        ("orders", 1): "under-replicated",
        ("orders", 2): "under-min-isr",
        ("orders", 3): "offline",
        ("seen", 0): "ok",  # its second replica only observes
    }
    assert [each["elr"] for each in found if each["state"] == "offline"] == [[2]]


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        (["--offline"], [3]),
        (["--under-min-isr"], [2, 3]),
        (["--under-replicated"], [1, 2, 3]),
        (["--offline", "--under-min-isr"], [2, 3]),
    ],
)
def test_filters_let_through_what_they_name(filters: list[str], wanted: list[int]) -> None:
    found = told(NEW, "partitions", *filters)["partitions"]
    assert [(each["topic"], each["partition"]) for each in found] == [
        ("orders", index) for index in wanted
    ]
    assert [each["topic"] for each in told(NEW, "topics", *filters)["topics"]] == ["orders"]


def test_topics_are_counted_and_internal_ones_may_be_left_out() -> None:
    every = told(NEW, "topics")["topics"]
    assert [each["topic"] for each in every] == ["__consumer_offsets", "odd", "orders", "seen"]
    assert every[2] == {
        "topic": "orders", "internal": False, "replication_factor": 3, "partitions": 4,
        "offline": 1, "under_min_isr": 2, "under_replicated": 3,
    }  # fmt: skip
    some = told(NEW, "topics", "--no-internal")["topics"]
    assert [each["topic"] for each in some] == ["odd", "orders", "seen"]


def test_people_see_tables_and_where_to_look_next() -> None:
    with broker_double(NEW) as broker:
        ran = broker.run("region", "describe")
        assert ran.exit_code == 0
        for part in ("region-one", "node 1", "3 (20 records behind)", "h2:2", "fenced"):
            assert part in ran.output
        assert (
            "under-replicated: 3  see: causeway region partitions --under-replicated" in ran.output
        )
        assert "h1:1" in broker.run("region", "brokers").output
        assert "orders" in broker.run("region", "topics").output
        row = next(
            line
            for line in broker.run("region", "partitions").output.splitlines()
            if "none" in line
        )
        assert row.replace("│", " ").split() == ["orders", "3", "none", "7", "1,2,3", "2", "offline"]  # fmt: skip


def test_internal_topics_with_fewer_replicas_than_configured_are_told_with_what_mends_them() -> (
    None
):
    asked: list[Any] = []

    def here(request: Any) -> DescribeClusterResponse:
        found = cluster(request)
        found.brokers[1].host, found.brokers[1].port = "127.0.0.1", int(broker.bootstrap[10:])
        found.brokers[0].is_fenced = bool(asked)
        return found

    def settings(request: Any) -> DescribeConfigsResponse:
        (first, *_) = request.resources
        if first.resource_type != 4:
            return configs(request)
        asked.append((first.resource_name, first.configuration_keys))
        told = DescribeConfigsResourceResult(name="offsets.topic.replication.factor", value="3")
        return DescribeConfigsResponse(results=[DescribeConfigsResult(configs=[told])])

    with broker_double({**NEW, 60: (2, here), 32: (4, settings)}) as broker:
        told = json.loads(broker.run("region", "describe", "--json").stdout)
        assert asked == [("1", ["offsets.topic.replication.factor"])]
        assert told["short_of_replicas"] == [
            {"topic": "__consumer_offsets", "replicas": 1, "configured": 3}
        ]
        asked.clear()
        printed = broker.run("region", "describe").output
        assert "__consumer_offsets has 1 of 3 configured replicas; to mend it:" in printed
        generate = "generate --topics __consumer_offsets --replication-factor 3 --broker-list 1,2"
        assert f"{generate} --save consumer_offsets.json\n" in printed
        assert "execute --reassignment-json-file consumer_offsets.json\n" in printed
        alone = json.loads(broker.run("region", "describe", "--json").stdout)
        assert alone["short_of_replicas"] == [], "one broker can hold no more"


def test_check_exits_3_for_a_region_that_is_not_well() -> None:
    with broker_double(NEW) as broker:
        assert broker.run("region", "describe", "--check").exit_code == 3
    well: Answers = {
        **NEW,
        55: (2, alone),
        60: (2, lambda _: DescribeClusterResponse(cluster_id="c", controller_id=1)),
        75: (0, lambda _: DescribeTopicPartitionsResponse(topics=[SEEN])),
    }
    with broker_double(well) as broker:
        assert broker.run("region", "describe", "--check").exit_code == 0


def test_a_topic_that_is_none_is_refused_with_what_to_do() -> None:
    with broker_double(NEW) as broker:
        ran = broker.run("region", "partitions", "nope")
    assert ran.exit_code == 1
    assert "nope: UNKNOWN_TOPIC_OR_PARTITION" in ran.output
    assert "Next:" in ran.output


def test_the_first_address_that_answers_is_asked() -> None:
    with broker_double(NEW) as broker, socket.create_server(("127.0.0.1", 0)) as closed:
        dead = f"127.0.0.1:{closed.getsockname()[1]}"
        closed.close()
        arguments = ["region", "describe", "--bootstrap", f"{dead},{broker.bootstrap}", "--json"]
        ran = CliRunner().invoke(main, arguments)
    assert json.loads(ran.stdout)["cluster_id"] == "region-one"


def test_what_is_no_broker_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def talk() -> None:
            connection, _ = listening.accept()
            connection.recv(100)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.close()

        speaker = threading.Thread(target=talk)
        speaker.start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        ran = CliRunner().invoke(main, ["region", "describe", "--bootstrap", address])
        speaker.join()
    assert ran.exit_code == 4
    assert "no Kafka broker" in ran.output


def test_a_region_of_a_local_federation_is_found_by_its_name(tmp_path: Path) -> None:
    with broker_double(NEW) as broker:
        here = Region(name="west", bootstrap=broker.bootstrap, admin="127.0.0.1:1", nodes=())
        save(tmp_path, Federation((here,)))
        arguments = ["region", "brokers", "--dir", str(tmp_path), "--json", "--region"]
        assert (
            len(json.loads(CliRunner().invoke(main, [*arguments, "west"]).stdout)["brokers"]) == 2
        )
        ran = CliRunner().invoke(main, [*arguments, "east"])
    assert ran.exit_code == 1
    assert "regions there: west" in json.loads(ran.stdout)["hint"]
    assert CliRunner().invoke(main, ["region", "brokers"]).exit_code == 2


@pytest.mark.parametrize(
    ("observers", "isr", "under_replicated"),
    [([], [1, 2], 0), ([], [1], 1), ([2], [1], 0), ([1, 2], [], 0)],
)
def test_observers_are_those_of_the_partition_whatever_its_placement_says_now(
    observers: list[int], isr: list[int], under_replicated: int
) -> None:
    """A placement that is set, changed or removed changes no replica of a topic that stands."""
    for name in ("seen", "orders"):  # with a placement, and without
        answer = topic(name, partition(0, 1, [1, 2], isr, observers=observers))
        answers = NEW | {
            75: (0, lambda _, answer=answer: DescribeTopicPartitionsResponse(topics=[answer]))
        }
        assert told(answers, "describe")["under_replicated"] == under_replicated
