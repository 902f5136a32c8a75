"""What the image says of this process as a broker."""

from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.metadata.image.image import BrokerImage, Image
from brokers.partition.hosted_partitions import MetadataCache


class OwnRegistration:
    """Until `is_current` the image speaks of an earlier process with this node's id. A lone node has no earlier one."""

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
