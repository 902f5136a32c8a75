"""The gauges of a whole broker."""

from brokers.events import LogFailed
from brokers.ids import TopicPartition
from brokers.metadata.image import PartitionImage
from brokers.telemetry.changes import CONTROLLER_COUNTERS, LEADER_COUNTERS
from brokers.telemetry.gauges import AGREED, CONTROLLER, HELD, LOG, NODE, Held
from tests.unit.brokers.partition.replicas import batch
from tests.unit.brokers.telemetry.counted import Counted
from tests.unit.brokers.telemetry.test_traffic import put

MANAGER = "kafka_server_replicamanager_"
CONTROLLER_GAUGE = "kafka_controller_kafkacontroller_"


def test_every_gauge_of_the_tables_is_on_the_page_once() -> None:
    node = Counted()
    node.create("t", 1)
    told = [name for name, _ in node.samples()]
    gauges = [gauge.name for gauge in (*NODE, *CONTROLLER, *HELD, *AGREED, *LOG)]
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
    committed = node.broker.context.plane.committed_offset
    assert node.value(CONTROLLER_GAUGE + "lastappliedrecordoffset") == committed
    assert node.value("kafka_server_raft_metrics_high_watermark") == committed + 1


def test_a_log_that_the_disk_refuses_is_offline_and_has_no_offsets() -> None:
    node = Counted()
    node.create("t", 2)
    node.feed(LogFailed(TopicPartition("t", 1), "disk is full"))
    assert node.value(MANAGER + "offlinereplicacount") == 1
    assert node.value("kafka_log_log_logendoffset", topic="t", partition="1") is None


def test_partitions_with_too_few_in_sync_are_told_by_their_leader_alone() -> None:
    def told(isr: tuple[int, ...], min_isr: int, leader: int = 1) -> list[str]:
        placed = PartitionImage(leader, 5, 5, (1, 2, 3), isr)
        replica = next(iter(node.broker.context.partitions.values()))
        held = Held(1, replica, placed, min_isr)
        return [gauge.name.removeprefix(MANAGER) for gauge in HELD[3:6] if gauge.amount(held)]

    node = Counted()
    node.create("t", 1)
    assert told((1, 2, 3), 2) == []
    assert told((1, 2), 2) == ["underreplicatedpartitions", "atminisrpartitioncount"]
    assert told((1,), 2) == ["underreplicatedpartitions", "underminisrpartitioncount"]
    assert told((1, 2, 3), 9) == ["atminisrpartitioncount"]  # never more than there are
    assert told((2,), 2, leader=2) == []
