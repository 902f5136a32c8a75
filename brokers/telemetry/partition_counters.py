"""Counters of partition changes in the metadata: shrinks and expansions of in-sync sets, elections."""

from typing import Final, NamedTuple

from brokers.ids import BrokerId
from brokers.metadata.commands.replica_commands import RECOVERING
from brokers.metadata.image.image import NO_LEADER, Image, ImageDelta, PartitionImage, TopicImage


class PartitionCounters:
    """`follow` counts the changes of a delta. A new topic counts nothing.

    The leader of a partition counts changes of its in-sync set; every node counts elections, as Kafka's controllers do.
    """

    def __init__(self, node_id: BrokerId) -> None:
        self.isr_shrinks = 0
        self.isr_expands = 0
        self.elections = 0
        self.elr_elections = 0
        self.unclean_elections = 0
        self._node_id = node_id
        self._known: dict[str, TopicImage] = {}

    def follow(self, image: Image, delta: ImageDelta) -> None:
        for name in delta.topics_deleted:
            self._known.pop(name, None)
        for name in (*delta.topics_created, *delta.topics_changed):
            topic = image.topics_by_name.get(name)
            if topic is None:
                continue
            before = self._known.get(name)
            if before is not None and before.id == topic.id:
                for old, new in zip(before.partitions, topic.partitions, strict=False):
                    if old is not new:
                        self._count(old, new)
            self._known[name] = topic

    def _count(self, old: PartitionImage, new: PartitionImage) -> None:
        if new.leader not in (old.leader, NO_LEADER):
            self.elections += 1
            self.elr_elections += new.leader in old.elr
            # An election without recovery is clean: a replica that is added may join the in-sync set and lead in one
            # change.
            was_behind = new.leader not in (*old.isr, *old.elr)
            self.unclean_elections += was_behind and new.recovery_state == RECOVERING
        if new.leader == self._node_id:
            lost, won = {*old.isr} - {*new.isr}, {*new.isr} - {*old.isr}
            # A broker that has no replica any more was reassigned; it did not fall behind.
            self.isr_shrinks += not lost.isdisjoint(new.replicas)
            self.isr_expands += bool(won)


class Counter(NamedTuple):
    name: str
    about: str
    field: str


LEADER_COUNTERS: Final = (
    Counter(
        "kafka_server_replicamanager_isrshrinks_total",
        "In-sync sets of partitions led here that lost a replica",
        "isr_shrinks",
    ),
    Counter(
        "kafka_server_replicamanager_isrexpands_total",
        "In-sync sets of partitions led here that got a replica",
        "isr_expands",
    ),
)
CONTROLLER_COUNTERS: Final = (
    Counter(
        "kafka_controller_controllerstats_leaderelectionrateandtimems_count",
        "Leaders elected",
        "elections",
    ),
    Counter(
        "kafka_controller_controllerstats_electionfromeligibleleaderreplicas_total",
        "Leaders elected that were not in sync but eligible (KIP-966)",
        "elr_elections",
    ),
    Counter(
        "kafka_controller_controllerstats_uncleanleaderelections_total",
        "Leaders elected that were neither in sync nor eligible: what was acknowledged may be lost",
        "unclean_elections",
    ),
)
