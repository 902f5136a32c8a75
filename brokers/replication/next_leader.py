"""The next leader while a leader shuts down: clients learn it before the change.

The image names the brokers in controlled shutdown before their partitions move. Until then, the leader acknowledges
requests and names the next leader in its responses (KIP-951), so that clients move without an error and its backoff.
The next leader lets their requests wait until it leads: the order of a client's requests is kept.
"""

from collections.abc import Collection, Iterable

from brokers.config.broker_config import BrokerConfig
from brokers.ids import BrokerId, TopicPartition
from brokers.metadata.cluster.leader_and_isr_updates import remove_from_isr
from brokers.metadata.image.image import NO_LEADER, Image
from brokers.metadata.partitions.leader_elector import Election, LeaderElector
from brokers.replication.current_leader import CurrentLeader


class NextLeaders:
    """For one image. `leaving` are the brokers in controlled shutdown that may still lead."""

    def __init__(self, config: BrokerConfig, image: Image, leaving: Collection[BrokerId]) -> None:
        self._config = config
        self._image = image
        self._leaving = leaving

    def successor(self, partition: TopicPartition) -> CurrentLeader | None:
        """The leader that the controller will elect; None if the leader stays, or no other is in sync."""
        state = self._image.partition(partition)
        if state is None or state.leader not in self._leaving:
            return None
        elector = LeaderElector(self._image, self._config.preferred_racks, out=(state.leader,))
        leader, is_unclean = elector.elect(remove_from_isr(state, state.leader), Election.ANY)
        if leader == NO_LEADER or is_unclean:
            return None
        return CurrentLeader(leader, state.leader_epoch + 1, self._image.brokers[leader])

    def is_early(self, partitions: Iterable[TopicPartition]) -> bool:
        """Whether this node will lead one of the partitions soon."""
        if not self._leaving:
            return False
        after = (self.successor(partition) for partition in partitions)
        return any(each is not None and each.leader == self._config.node_id for each in after)
