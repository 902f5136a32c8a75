"""`replication.host.Host` over the parts of a node."""

from collections.abc import Callable

from brokers.config.broker_config import BrokerConfig
from brokers.continuations import Continuations, OnRead
from brokers.ids import Ticket, TopicPartition
from brokers.membership.controller_channel import ControllerChannel
from brokers.membership.log_dirs import OwnDirectories
from brokers.metadata.image.image import Image
from brokers.metadata.log.raft_manager import RaftManager
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.partition.replica import Replica
from brokers.timers import Timers


class ReplicationHost:
    """What replication uses of the node around it."""

    def __init__(
        self,
        config: BrokerConfig,
        raft: RaftManager,
        partitions: HostedPartitions,
        channel: ControllerChannel,
        continuations: Continuations,
        timers: Timers,
        log_dirs: OwnDirectories,
    ) -> None:
        self.config = config
        self.cluster_id = raft.image.cluster_id
        self.partitions: dict[TopicPartition, Replica] = partitions.all
        self.timers = timers
        self.answered: dict[Ticket, OnRead] = continuations.answered
        self.abandoned: dict[Ticket, Callable[[], None]] = continuations.abandoned
        self.new_ticket = continuations.new_ticket
        self.ask = continuations.ask
        self.control = channel.send
        self.is_full = log_dirs.is_full
        self._raft = raft

    @property
    def image(self) -> Image:
        return self._raft.image
