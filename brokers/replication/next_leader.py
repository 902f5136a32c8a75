"""Who leads next, while a leader shuts down: said to clients before it happens, so that they are there in time.

A leader that shuts down is known to all before it hands over. Meanwhile it acknowledges what arrives, and names the one
after it (KIP-951); a client that looks at this moves without an error, so without its backoff. Who is named lets such
requests wait until it leads: they come after all that the old leader took, and the order of a client is kept.
"""

from collections.abc import Collection, Iterable

from brokers.config.broker_config import BrokerConfig
from brokers.ids import BrokerId, TopicPartition
from brokers.metadata.cluster.leader_and_isr_updates import remove_from_isr
from brokers.metadata.image.image import NO_LEADER, Image
from brokers.metadata.partitions.leader_elector import Election, LeaderElector
from brokers.replication.current_leader import CurrentLeader


class NextLeaders:
    """As of one image. `leaving` are the brokers in controlled shutdown that may lead yet."""

    def __init__(self, config: BrokerConfig, image: Image, leaving: Collection[BrokerId]) -> None:
        self._config = config
        self._image = image
        self._leaving = leaving

    def successor(self, partition: TopicPartition) -> CurrentLeader | None:
        """As the controller will decide; None where the leader stays, or nobody can take over without a loss."""
        placed = self._image.partition(partition)
        if placed is None or placed.leader not in self._leaving:
            return None
        elector = LeaderElector(self._image, self._config.preferred_racks, out=(placed.leader,))
        leader, is_unclean = elector.elect(remove_from_isr(placed, placed.leader), Election.ANY)
        if leader == NO_LEADER or is_unclean:
            return None
        return CurrentLeader(leader, placed.leader_epoch + 1, self._image.brokers[leader])

    def is_early(self, partitions: Iterable[TopicPartition]) -> bool:
        """Whether this node will lead any of them in a moment."""
        if not self._leaving:
            return False
        after = (self.successor(partition) for partition in partitions)
        return any(each is not None and each.leader == self._config.node_id for each in after)
