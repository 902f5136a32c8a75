"""Gauges, read from the state of a node at each scrape: name, help text and function.

- `NODE`: on every node; `CONTROLLER`: on controllers
- `REPLICA`: sums over the node's replicas; `PARTITION`: counts of the region's partitions
- `LEADER`: one sample for each partition that the node leads; `LOG`: one for each of its replicas
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from brokers.log.log import Log
from brokers.metadata.image.image import NO_LEADER, BrokerImage, PartitionImage
from brokers.node.parts import Parts
from brokers.partition.replica import Replica


class Gauge(NamedTuple):
    name: str
    about: str
    read: Callable[[Parts], float]


class HostedReplica(NamedTuple):
    """A replica of this node, its partition in the image, and its topic's min.insync.replicas."""

    node_id: int
    replica: Replica
    image: PartitionImage
    min_isr: int

    @property
    def is_led(self) -> bool:
        return self.image.leader == self.node_id

    @property
    def is_under_replicated(self) -> bool:
        """Whether a replica is not in sync, apart from observers and from replicas that a reassignment adds."""
        image = self.image
        if not (image.observers or image.promoted or image.adding):
            return len(image.isr) < len(image.replicas)
        exempt = {*image.all_observers, *image.adding, *image.isr}
        return any(replica not in exempt for replica in image.replicas)

    @property
    def isr_beyond_min(self) -> int:
        """How many replicas the in-sync set may lose. min.insync.replicas is limited to the non-observers."""
        members = len(self.image.replicas) - len(self.image.all_observers)
        return len(self.image.isr) - min(self.min_isr, members)


class ReplicaGauge(NamedTuple):
    name: str
    about: str
    amount: Callable[[HostedReplica], int]


class PartitionGauge(NamedTuple):
    name: str
    about: str
    counts: Callable[[PartitionImage], bool]


class LeaderGauge(NamedTuple):
    name: str
    about: str
    read: Callable[[PartitionImage], int]


class LogGauge(NamedTuple):
    name: str
    about: str
    read: Callable[[Log], int]


def _brokers(parts: Parts) -> list[BrokerImage]:
    return list(parts.raft.image.brokers.values())


NODE: Final = (
    Gauge(
        "kafka_server_broker_metadata_metrics_last_applied_record_offset",
        "Last offset of the metadata log that this node goes by",
        lambda parts: parts.raft.committed_offset,
    ),
    Gauge(
        "kafka_server_raft_metrics_current_epoch",
        "Leader epoch of the metadata log",
        lambda parts: parts.raft.leader_epoch,
    ),
    Gauge(
        "kafka_server_raft_metrics_current_leader",
        "Id of the active controller; -1: unknown",
        lambda parts: -1 if (known := parts.raft.controller) is None else known.node_id,
    ),
    Gauge(
        "kafka_server_raft_metrics_high_watermark",
        "Offset below which the metadata log is committed",
        lambda parts: parts.raft.committed_offset + 1,
    ),
    Gauge(
        "kafka_server_raft_metrics_log_end_offset",
        "Offset at which the metadata log ends here",
        lambda parts: parts.raft.log_end_offset,
    ),
    Gauge(
        "kafka_server_raft_metrics_number_of_voters",
        "Nodes whose disks decide what of the metadata log is committed",
        lambda parts: len(parts.raft.voters),
    ),
)

CONTROLLER: Final = (
    Gauge(
        "kafka_controller_kafkacontroller_activecontrollercount",
        "1 on the active controller, 0 on the others",
        lambda parts: int(parts.raft.is_active),
    ),
    Gauge(
        "kafka_controller_kafkacontroller_activebrokercount",
        "Registered brokers that are not fenced",
        lambda parts: sum(not each.fenced for each in _brokers(parts)),
    ),
    Gauge(
        "kafka_controller_kafkacontroller_fencedbrokercount",
        "Registered brokers that are fenced",
        lambda parts: sum(each.fenced for each in _brokers(parts)),
    ),
    Gauge(
        "kafka_controller_kafkacontroller_controlledshutdownbrokercount",
        "Brokers that hand over what they lead, to stop",
        lambda parts: sum(each.in_controlled_shutdown for each in _brokers(parts)),
    ),
    Gauge(
        "kafka_controller_kafkacontroller_globaltopiccount",
        "Topics of the region",
        lambda parts: len(parts.raft.image.topics_by_name),
    ),
    Gauge(
        "kafka_controller_kafkacontroller_timedoutbrokerheartbeatcount",
        "How often this node, as the active controller, gave a broker up because it was silent",
        lambda parts: parts.raft.timed_out_heartbeats,
    ),
    Gauge(
        "kafka_controller_kafkacontroller_lastappliedrecordoffset",
        "Last offset of the metadata log that this controller goes by",
        lambda parts: parts.raft.committed_offset,
    ),
)

REPLICA: Final = (
    ReplicaGauge(
        "kafka_server_replicamanager_partitioncount",
        "Replicas on this node",
        lambda hosted: 1,
    ),
    ReplicaGauge(
        "kafka_server_replicamanager_leadercount",
        "Partitions that this node leads",
        lambda hosted: hosted.is_led,
    ),
    ReplicaGauge(
        "kafka_server_replicamanager_offlinereplicacount",
        "Replicas whose log the disk refuses",
        lambda hosted: hosted.replica.offline not in ("", "opening"),
    ),
    ReplicaGauge(
        "kafka_server_replicamanager_underreplicatedpartitions",
        "Partitions led here with fewer replicas in sync than they have",
        lambda hosted: hosted.is_led and hosted.is_under_replicated,
    ),
    ReplicaGauge(
        "kafka_server_replicamanager_underminisrpartitioncount",
        "Partitions led here with fewer replicas in sync than min.insync.replicas",
        lambda hosted: hosted.is_led and hosted.isr_beyond_min < 0,
    ),
    ReplicaGauge(
        "kafka_server_replicamanager_atminisrpartitioncount",
        "Partitions led here with just min.insync.replicas in sync",
        lambda hosted: hosted.is_led and hosted.isr_beyond_min == 0,
    ),
    ReplicaGauge(
        "kafka_server_replicamanager_reassigningpartitions",
        "Partitions led here whose replicas are on the move",
        lambda hosted: hosted.is_led and hosted.image.is_reassigning,
    ),
    ReplicaGauge(
        "kafka_server_replicamanager_produceridcount",
        "Idempotent producers that the logs here remember",
        lambda hosted: 0 if hosted.replica.log is None else len(hosted.replica.log.producers),
    ),
)

PARTITION: Final = (
    PartitionGauge(
        "kafka_controller_kafkacontroller_globalpartitioncount",
        "Partitions of the region",
        lambda image: True,
    ),
    PartitionGauge(
        "kafka_controller_kafkacontroller_offlinepartitionscount",
        "Partitions without a leader",
        lambda image: image.leader == NO_LEADER,
    ),
    PartitionGauge(
        "kafka_controller_kafkacontroller_preferredreplicaimbalancecount",
        "Partitions that are not led by their preferred replica",
        lambda image: image.leader != image.replicas[0],
    ),
)

LEADER: Final = (
    LeaderGauge(
        "kafka_cluster_partition_replicascount",
        "Replicas, observers included",
        lambda image: len(image.replicas),
    ),
    LeaderGauge(
        "kafka_cluster_partition_insyncreplicascount",
        "Replicas in sync",
        lambda image: len(image.isr),
    ),
    LeaderGauge(
        "kafka_cluster_partition_observersinisrcount",
        "Observers that are in sync, promoted for now",
        lambda image: len(set(image.all_observers).intersection(image.isr)),
    ),
)

LOG: Final = (
    LogGauge("kafka_log_log_logendoffset", "Next offset", lambda log: log.log_end_offset),
    LogGauge("kafka_log_log_logstartoffset", "First offset", lambda log: log.log_start_offset),
    LogGauge("kafka_log_log_numlogsegments", "Segments", lambda log: len(log.segments)),
    LogGauge("kafka_log_log_size", "Bytes of record batches", lambda log: log.size),
)
