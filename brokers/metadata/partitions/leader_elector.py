"""Elects partition leaders, in the order of KIP-966.

The leader stays if it may lead. Otherwise the first in-sync replica leads; without one the first eligible replica,
which has every record up to the high watermark; without one the last known leader; and, where the topic allows unclean
elections, any available replica, which may lack committed records. Brokers that are fenced or in controlled shutdown do
not lead, nor replicas in an offline log directory (KIP-858).
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from brokers.ids import BrokerId
from brokers.metadata.image.image import NO_LEADER, BrokerImage, Image, PartitionImage


class Election(Enum):
    """As in Kafka's PartitionChangeBuilder."""

    ANY = "any"  # the leader stays if it may lead
    PREFERRED = "preferred"  # the first replica in order takes over if it may lead
    UNCLEAN = "unclean"  # a replica that may lack committed records leads if no other can


class ElectionResult(NamedTuple):
    """`is_unclean`: the leader may lack acknowledged records."""

    leader: BrokerId
    is_unclean: bool = False


class LeaderElector:
    """Elects among the brokers as of one decision; leaders should be in `preferred_racks`."""

    def __init__(
        self,
        image: Image,
        preferred_racks: Sequence[str] = (),
        *,
        out: Iterable[BrokerId] = (),
        back: Iterable[BrokerId] = (),
        changed: BrokerImage | None = None,
    ) -> None:
        """This decision fences `out`, unfences `back`, and changes the registration of a broker to `changed`."""
        self._brokers = image.brokers
        if changed is not None:
            self._brokers = {**image.brokers, changed.id: changed}
        active = {broker.id for broker in image.brokers.values() if broker.is_active}
        self.active = frozenset((active | {*back}) - {*out})
        ranks = {rack: rank for rank, rack in enumerate(preferred_racks)}
        self._ranks = {
            broker.id: ranks.get(broker.rack or "", len(ranks)) for broker in image.brokers.values()
        }
        self.has_preferences = bool(ranks)

    def order(self, partition: PartitionImage) -> Sequence[BrokerId]:
        """The replicas, best leader first: by preferred rack, then as assigned; observers last."""
        if not (self.has_preferences or partition.observers or partition.promoted):
            return partition.replicas
        return sorted(partition.replicas, key=lambda replica: self._rank(partition, replica))

    def is_better(self, partition: PartitionImage, replica: BrokerId) -> bool:
        """Whether leadership should move from the present leader to `replica`."""
        if replica == partition.leader:
            return False
        if replica == self.order(partition)[0]:
            return True
        return self._rank(partition, replica) < self._rank(partition, partition.leader)

    def may_lead(self, partition: PartitionImage, replica: BrokerId) -> bool:
        """Whether a replica can lead without a loss of committed records."""
        members = partition.isr or partition.elr
        return replica in members and self.is_available(partition, replica)

    def is_available(self, partition: PartitionImage, replica: BrokerId) -> bool:
        """Whether the replica's broker is active and its log directory online."""
        if replica not in self.active:
            return False
        broker = self._brokers.get(replica)
        return broker is None or broker.has_online_dir(partition.directory(replica))

    def elect(self, partition: PartitionImage, election: Election) -> ElectionResult:
        """The next leader; `NO_LEADER` where no replica can lead."""
        if election is not Election.PREFERRED and self.may_lead(partition, partition.leader):
            return ElectionResult(partition.leader)
        order = self.order(partition)
        best = next((each for each in order if self.may_lead(partition, each)), None)
        if best is not None:
            stays = self.may_lead(partition, partition.leader)
            if stays and not self.is_better(partition, best):
                return ElectionResult(partition.leader)
            return ElectionResult(best)
        return self._elect_uncleanly(partition, order, election)

    def _elect_uncleanly(
        self, partition: PartitionImage, order: Sequence[BrokerId], election: Election
    ) -> ElectionResult:
        has_none = not partition.isr and not partition.elr
        candidates: Sequence[BrokerId] = partition.last_known_elr if has_none else ()
        if election is Election.UNCLEAN:
            candidates = (*candidates, *order)
        leader = next((each for each in candidates if self.is_available(partition, each)), None)
        return (
            ElectionResult(NO_LEADER) if leader is None else ElectionResult(leader, is_unclean=True)
        )

    def _rank(self, partition: PartitionImage, replica: BrokerId) -> tuple[bool, int]:
        is_observer = replica in partition.observers or replica in partition.promoted
        return is_observer, self._ranks.get(replica, len(self._ranks))
