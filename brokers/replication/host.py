"""What replication needs of its node; `brokers.node.replication_host.ReplicationHost` implements it."""

from collections.abc import Callable
from typing import Any, Protocol

from brokers.config.broker_config import BrokerConfig
from brokers.continuations import AskPeer
from brokers.effects import Effect
from brokers.ids import Instant, Ticket, TopicPartition
from brokers.metadata.image.image import Image
from brokers.partition.replica import Replica
from brokers.timers import Timers


class Host(Protocol):
    """The state of a node, and its pending calls by ticket."""

    config: BrokerConfig
    cluster_id: str
    partitions: dict[TopicPartition, Replica]
    timers: Timers
    answered: dict[Ticket, Callable[[Any, Instant], list[Effect]]]
    abandoned: dict[Ticket, Callable[[], None]]

    @property
    def image(self) -> Image: ...

    @property
    def ask(self) -> AskPeer: ...

    def is_full(self, partition: TopicPartition, added: int = 0) -> bool:
        """Whether the disk of its log takes nothing more from its leader, after these bytes."""

    def new_ticket(self) -> Ticket: ...

    def control(
        self,
        api_key: int,
        message: object,
        then: Callable[[Any, Instant], list[Effect]],
        now: Instant,
    ) -> list[Effect]: ...
