"""Changes of a partition's replicas, in-sync set or brokers, completed in one way for all causes.

As Kafka's PartitionChangeBuilder: completes a reassignment whose new replicas are in sync, promotes or demotes
observers, keeps replicas eligible that left a too small in-sync set (KIP-966), elects a leader, and raises the epochs.
"""

from collections.abc import Collection, Iterable, Iterator
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.ids import BrokerId
from brokers.metadata.commands.replica_commands import RECOVERING
from brokers.metadata.image.image import NO_LEADER, BrokerImage, Image, PartitionImage, TopicImage
from brokers.metadata.image.partition_records import change_record
from brokers.metadata.partitions.leader_elector import Election, LeaderElector
from brokers.metadata.partitions.observer_promotion import promoted
from brokers.metadata.partitions.replica_rules import ReplicaRules, has_own_rules, replica_rules
from brokers.wire.message import Message


class PartitionChanges:
    """The changes of one decision, as `records`; each change builds on the earlier ones."""

    def __init__(
        self,
        image: Image,
        config: BrokerConfig,
        *,
        out: Iterable[BrokerId] = (),
        back: Iterable[BrokerId] = (),
        changed: BrokerImage | None = None,
    ) -> None:
        """This decision fences `out`, unfences `back`, and changes the registration of a broker to `changed`."""
        self.records: list[Message] = []
        self.elector = LeaderElector(
            image, config.preferred_racks, out=out, back=back, changed=changed
        )
        self._image = image
        self._config = config
        self._rules: dict[str, ReplicaRules] = {}
        self._changed: dict[tuple[UUID, int], PartitionImage] = {}

    def rules(self, topic: str) -> ReplicaRules:
        """The rules of a topic; topics without such configurations of their own share one value."""
        name = topic if has_own_rules(self._image, topic) else ""
        if name not in self._rules:
            self._rules[name] = replica_rules(self._image, self._config, name)
        return self._rules[name]

    def partitions(self) -> Iterator[tuple[TopicImage, int, PartitionImage]]:
        """Every partition of the region, as of before this decision."""
        for topic in self._image.topics_by_name.values():
            for index, partition in enumerate(topic.partitions):
                yield topic, index, partition

    def partition(self, topic: TopicImage, index: int) -> PartitionImage | None:
        """The partition with the changes so far; None where it does not exist."""
        if not 0 <= index < len(topic.partitions):
            return None
        return self._changed.get((topic.id, index), topic.partitions[index])

    def update(
        self,
        topic: TopicImage,
        index: int,
        wanted: PartitionImage,
        election: Election = Election.ANY,
        *,
        lost: Collection[BrokerId] = (),
    ) -> PartitionImage:
        """Changes a partition to `wanted` with all that follows from it; replicas in `lost` may lack records."""
        was = self.partition(topic, index)
        assert was is not None, (topic.name, index)
        rules = self.rules(topic.name)
        if election is Election.ANY and rules.is_unclean_allowed:
            election = Election.UNCLEAN
        to = updated_partition(was, wanted, rules, self.elector, election, lost=lost)
        self._record(topic, index, was, to)
        return to

    def bump_leader_epoch(self, topic: TopicImage, index: int) -> None:
        """The leader stays, with a new leader epoch."""
        was = self.partition(topic, index)
        assert was is not None, (topic.name, index)
        leader_epoch, partition_epoch = was.leader_epoch + 1, was.partition_epoch + 1
        to = was._replace(leader_epoch=leader_epoch, partition_epoch=partition_epoch)
        self._record(topic, index, was, to)

    def _record(
        self, topic: TopicImage, index: int, was: PartitionImage, to: PartitionImage
    ) -> None:
        record = change_record(topic.id, index, was, to)
        if record is not None:
            self.records.append(record)
            self._changed[topic.id, index] = to


def updated_partition(
    was: PartitionImage,
    wanted: PartitionImage,
    rules: ReplicaRules,
    elector: LeaderElector,
    election: Election,
    *,
    lost: Collection[BrokerId] = (),
) -> PartitionImage:
    """`wanted`, with the epochs of `was`, with all that follows from the change; `was` itself where nothing changes."""
    to = promoted(_complete_reassignment(wanted, rules), rules, elector)
    to = _elect_leader(was, _update_elr(was, to, rules, lost), elector, election)
    if to.observers or to.promoted:  # the policies depend on the leader, too
        to = promoted(to, rules, elector)
    if to.isr:
        # The elected leader alone may be enough in sync: then it commits records that other eligible replicas lack.
        to = _update_elr(to, to, rules, lost)
    to = _update_last_known_elr(was, to)
    if to == was:
        return was
    has_removed = any(replica not in to.replicas for replica in was.replicas)
    return to._replace(
        leader_epoch=was.leader_epoch + (has_removed or to.leader != was.leader),
        partition_epoch=was.partition_epoch + 1,
    )


def _complete_reassignment(partition: PartitionImage, rules: ReplicaRules) -> PartitionImage:
    """Drops the removing replicas once every adding replica, and enough in total, are in sync."""
    if not partition.is_reassigning:
        return partition
    observers = partition.all_observers
    isr = _without(partition.isr, partition.removing)
    is_in_sync = all(each in isr for each in partition.adding if each not in observers)
    replicas = _without(partition.replicas, partition.removing)
    enough = min(rules.min_isr, len(_without(replicas, observers)), len(partition.isr))
    if not is_in_sync or not isr or len(isr) < enough:
        return partition
    directories = dict(zip(partition.replicas, partition.directories, strict=False))
    return partition._replace(
        replicas=replicas,
        isr=isr,
        elr=_without(partition.elr, partition.removing),
        observers=_without(partition.observers, partition.removing),
        promoted=_without(partition.promoted, partition.removing),
        adding=(),
        removing=(),
        directories=tuple(directories[each] for each in replicas if each in directories),
    )


def _update_elr(
    was: PartitionImage, to: PartitionImage, rules: ReplicaRules, lost: Collection[BrokerId]
) -> PartitionImage:
    """While too few replicas are in sync the high watermark does not advance, so one that leaves lacks nothing."""
    if len(to.isr) >= to.effective_min_isr(rules.min_isr):
        return to._replace(elr=()) if to.elr else to
    left = (*was.isr, *was.elr)
    return to._replace(
        elr=tuple(
            replica
            for replica in dict.fromkeys(left)
            if replica in to.replicas and replica not in to.isr and replica not in lost
        )
    )


def _elect_leader(
    was: PartitionImage, to: PartitionImage, elector: LeaderElector, election: Election
) -> PartitionImage:
    elected = elector.elect(to, election)
    leader = elected.leader
    if elected.is_unclean:
        return to._replace(leader=leader, isr=(leader,), elr=(), recovery_state=RECOVERING)
    if leader == NO_LEADER or to.isr:
        return to._replace(leader=leader)
    return to._replace(leader=leader, isr=(leader,), elr=_without(to.elr, (leader,)))


def _update_last_known_elr(was: PartitionImage, to: PartitionImage) -> PartitionImage:
    if to.leader != NO_LEADER:
        return to._replace(last_known_elr=()) if to.last_known_elr else to
    if was.leader == NO_LEADER or was.leader not in to.replicas:
        return to
    return to._replace(last_known_elr=(was.leader,))


def _without(replicas: tuple[BrokerId, ...], removed: Collection[BrokerId]) -> tuple[BrokerId, ...]:
    return tuple(replica for replica in replicas if replica not in removed)
