"""What the image says of this process as a broker, and what its registrations have in common."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.metadata.cluster.broker_registration import supported_features
from brokers.metadata.image.image import BrokerImage, Endpoint, Image
from brokers.partition.hosted_partitions import MetadataCache
from brokers.quorum.voters import QuorumEndpoint
from brokers.wire.messages.broker_lifecycle import Feature, Listener

PLAINTEXT: Final = 0  # Kafka's code of the security protocol


class OwnRegistration:
    """Until `is_current` the image has the registration of an earlier process of this node. A lone node has none."""

    def __init__(
        self, config: BrokerConfig, metadata: MetadataCache, incarnation: UUID | None
    ) -> None:
        """`incarnation` names this process in its registration; None where the node is the whole region."""
        self._node_id = config.node_id
        self._metadata = metadata
        self._incarnation = incarnation

    @property
    def image(self) -> Image:
        return self._metadata.image

    @property
    def is_current(self) -> bool:
        if self._incarnation is None:
            return True
        known = self.image.brokers.get(self._node_id)
        return known is not None and known.incarnation == self._incarnation

    @property
    def broker(self) -> BrokerImage | None:
        """The registration of this process; None while there is none."""
        return self.image.brokers.get(self._node_id) if self.is_current else None


def listeners(endpoints: Iterable[Endpoint | QuorumEndpoint]) -> list[Listener]:
    return [
        Listener(name=each.name, host=each.host, port=each.port, security_protocol=PLAINTEXT)
        for each in endpoints
    ]


def features() -> list[Feature]:
    return [
        Feature(
            name=each.name, min_supported_version=each.lowest, max_supported_version=each.highest
        )
        for each in supported_features()
    ]
