"""Who leads a partition (KIP-966's order).

The leader stays if it may. Else the first replica in sync leads; where nobody is in sync, the first eligible one,
which has everything up to the high watermark; where nobody is eligible, the last leader; and where the topic allows
it, anyone who is there, at the price of records. A fenced broker or one that shuts down leads nothing, and nobody leads
what lies in a directory that is offline (KIP-858).
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from brokers.ids import BrokerId
from brokers.metadata.image.image import NO_LEADER, BrokerImage, Image, PartitionImage


class Election(Enum):
    ANY = "any"  # the leader stays if it may
    PREFERRED = "preferred"  # the best replica takes over if it may
    UNCLEAN = "unclean"  # rather one that may miss records than none


class ElectionResult(NamedTuple):
    """`is_unclean`: it may miss records that were acknowledged."""

    leader: BrokerId
    is_unclean: bool = False


class LeaderElector:
    """The brokers of a region as one decision sees them, and in which racks leaders should be."""

    def __init__(
        self,
        image: Image,
        preferred_racks: Sequence[str] = (),
        *,
        out: Iterable[BrokerId] = (),
        back: Iterable[BrokerId] = (),
        changed: BrokerImage | None = None,
    ) -> None:
        """`out` and `back` are brokers that this decision takes out, or lets in; `changed` is one as it becomes."""
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
        """Its replicas, best leader first: by the racks preferred, then as assigned; observers come last."""
        if not (self.has_preferences or partition.observers or partition.promoted):
            return partition.replicas
        return sorted(partition.replicas, key=lambda replica: self._rank(partition, replica))

    def is_better(self, partition: PartitionImage, replica: BrokerId) -> bool:
        """Whether leadership should move to `replica` from whoever leads now."""
        if replica == partition.leader:
            return False
        if replica == self.order(partition)[0]:
            return True
        return self._rank(partition, replica) < self._rank(partition, partition.leader)

    def may_lead(self, partition: PartitionImage, replica: BrokerId) -> bool:
        """Whether a replica leads without a loss."""
        members = partition.isr or partition.elr
        return replica in members and self.is_available(partition, replica)

    def is_available(self, partition: PartitionImage, replica: BrokerId) -> bool:
        """Whether its broker is counted on, and the directory in which it lies is not offline."""
        if replica not in self.active:
            return False
        broker = self._brokers.get(replica)
        return broker is None or broker.has_online_dir(partition.directory(replica))

    def elect(self, partition: PartitionImage, election: Election) -> ElectionResult:
        """Who leads next; `NO_LEADER` where nobody can."""
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
        is_deserted = not partition.isr and not partition.elr
        candidates: Sequence[BrokerId] = partition.last_known_elr if is_deserted else ()
        if election is Election.UNCLEAN:
            candidates = (*candidates, *order)
        leader = next((each for each in candidates if self.is_available(partition, each)), None)
        return (
            ElectionResult(NO_LEADER) if leader is None else ElectionResult(leader, is_unclean=True)
        )

    def _rank(self, partition: PartitionImage, replica: BrokerId) -> tuple[bool, int]:
        is_observer = replica in partition.observers or replica in partition.promoted
        return is_observer, self._ranks.get(replica, len(self._ranks))
