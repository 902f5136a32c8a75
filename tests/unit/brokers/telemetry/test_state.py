"""The gauges of a whole broker."""

from typing import Any

import pytest

from brokers.events import LogFailed
from brokers.ids import TopicPartition
from brokers.log.config import LogConfig
from brokers.metadata.image.image import PartitionImage
from brokers.partition.replica import Replica
from brokers.telemetry.gauges import (
    CONTROLLER,
    LEADER,
    LOG,
    NODE,
    PARTITION,
    REPLICA,
    HostedReplica,
)
from brokers.telemetry.partition_counters import CONTROLLER_COUNTERS, LEADER_COUNTERS
from tests.unit.brokers.partition.replicas import batch
from tests.unit.brokers.telemetry.counted import Counted
from tests.unit.brokers.telemetry.test_traffic import put

MANAGER = "kafka_server_replicamanager_"
CONTROLLER_GAUGE = "kafka_controller_kafkacontroller_"


def test_every_gauge_of_the_tables_is_on_the_page_once() -> None:
    node = Counted()
    node.create("t", 1)
    told = [name for name, _ in node.samples()]
    gauges = [gauge.name for gauge in (*NODE, *CONTROLLER, *REPLICA, *PARTITION, *LEADER, *LOG)]
    wanted = [*gauges, *(counter.name for counter in (*LEADER_COUNTERS, *CONTROLLER_COUNTERS))]
    assert sorted(set(wanted)) == sorted(wanted)
    assert [name for name in wanted if told.count(name) != 1] == []


def test_logs_are_told_as_they_stand() -> None:
    node = Counted()
    node.create("t", 2)
    put(node, batch(3), batch(1))
    put(node, batch(2))
    first = {"topic": "t", "partition": "0"}
    assert node.value("kafka_log_log_logendoffset", **first) == 5
    assert node.value("kafka_log_log_logstartoffset", **first) == 0
    assert node.value("kafka_log_log_numlogsegments", **first) == 1
    assert node.value("kafka_log_log_size", **first) == len(batch(3)) + len(batch(2))
    assert node.value("kafka_log_log_logendoffset", topic="t", partition="1") == 1


def test_a_lone_node_is_controller_and_leads_everything() -> None:
    node = Counted()
    node.create("t", 3)
    node.create("u", 2, min_insync_replicas="1")
    for name, value in (
        (CONTROLLER_GAUGE + "activecontrollercount", 1),
        (CONTROLLER_GAUGE + "activebrokercount", 1),
        (CONTROLLER_GAUGE + "fencedbrokercount", 0),
        (CONTROLLER_GAUGE + "globaltopiccount", 2),
        (CONTROLLER_GAUGE + "globalpartitioncount", 5),
        (CONTROLLER_GAUGE + "offlinepartitionscount", 0),
        (MANAGER + "partitioncount", 5),
        (MANAGER + "leadercount", 5),
        (MANAGER + "atminisrpartitioncount", 5),
        (MANAGER + "underminisrpartitioncount", 0),
        (MANAGER + "underreplicatedpartitions", 0),
        ("kafka_server_raft_metrics_number_of_voters", 1),
        ("kafka_server_raft_metrics_current_leader", 1),
    ):
        assert node.value(name) == value, name
    committed = node.broker.parts.raft.committed_offset
    assert node.value(CONTROLLER_GAUGE + "lastappliedrecordoffset") == committed
    assert node.value("kafka_server_raft_metrics_high_watermark") == committed + 1


def test_a_log_that_the_disk_refuses_is_offline_and_has_no_offsets() -> None:
    node = Counted()
    node.create("t", 2)
    node.feed(LogFailed(TopicPartition("t", 1), "disk is full"))
    assert node.value(MANAGER + "offlinereplicacount") == 1
    assert node.value("kafka_log_log_logendoffset", topic="t", partition="1") is None


WRONG = {
    "under-replicated": MANAGER + "underreplicatedpartitions",
    "under-min-isr": MANAGER + "underminisrpartitioncount",
    "at-min-isr": MANAGER + "atminisrpartitioncount",
    "reassigning": MANAGER + "reassigningpartitions",
}


@pytest.mark.parametrize(
    ("isr", "min_isr", "more", "said"),
    [
        ((1, 2, 3), 2, {}, []),
        ((1, 2), 2, {}, ["under-replicated", "at-min-isr"]),
        ((1,), 2, {}, ["under-replicated", "under-min-isr"]),
        ((1, 2, 3), 9, {}, ["at-min-isr"]),  # never more than there are
        ((2,), 2, {"leader": 2}, []),  # who does not lead does not tell
        ((1, 2), 1, {"observers": (3,)}, []),
        ((1, 3), 1, {"promoted": (3,)}, ["under-replicated"]),  # an observer replaces nobody
        ((1, 2), 3, {"observers": (3,)}, ["at-min-isr"]),
        ((1, 2), 1, {"adding": (3,)}, ["reassigning"]),
        ((1,), 1, {"adding": (3,)}, ["under-replicated", "at-min-isr", "reassigning"]),
    ],
)
def test_what_is_wrong_with_a_partition_is_told_by_its_leader(
    isr: tuple[int, ...], min_isr: int, more: dict[str, Any], said: list[str]
) -> None:
    replica = Replica(
        TopicPartition("t", 0), topic_id=b"", leader_epoch=5, writer=None, config=LogConfig()
    )
    placed = PartitionImage(1, 5, 5, (1, 2, 3), isr)._replace(**more)
    held = HostedReplica(1, replica, placed, min_isr)
    amounts = {gauge.name: gauge.amount(held) for gauge in REPLICA}
    assert [word for word, name in WRONG.items() if amounts[name]] == said


def test_log_directories_that_failed_are_counted_and_named() -> None:
    node = Counted()
    assert node.value("kafka_log_logmanager_offlinelogdirectorycount") == 0
    assert node.value("kafka_log_logmanager_logdirectoryoffline", logDirectory="data") == 0
    node.broker.parts.log_dirs.all[0].failure = "the device reports errors"
    assert node.value("kafka_log_logmanager_offlinelogdirectorycount") == 1
    assert node.value("kafka_log_logmanager_logdirectoryoffline", logDirectory="data") == 1


def test_observers_in_sync_are_counted_for_each_partition() -> None:
    placed = PartitionImage(1, 5, 5, (1, 2, 3, 4), (1, 3))._replace(observers=(4,), promoted=(3,))
    told = {
        gauge.name.removeprefix("kafka_cluster_partition_"): gauge.read(placed) for gauge in LEADER
    }
    assert told == {"replicascount": 4, "insyncreplicascount": 2, "observersinisrcount": 1}
