"""Which broker coordinates the links of a region: each broker finds the same one from the same metadata.

The link coordinator (Confluent's name) follows the source's topics and groups, and carries out changes of state. What
it decides are records of the metadata log that replace a known version, so two brokers that both believe to be it for
a moment cannot contradict each other.
"""

from hashlib import sha256

from brokers.metadata.image.image import BrokerImage, Image


def coordinator_of(image: Image) -> BrokerImage | None:
    """The active broker of the highest weight (rendezvous hashing); None where none is active.

    It changes only when that broker goes, or one of a higher weight comes.
    """
    active = [broker for broker in image.brokers.values() if broker.is_active]
    return max(active, key=lambda broker: _weight(image.cluster_id, broker), default=None)


def _weight(cluster_id: str, broker: BrokerImage) -> bytes:
    return sha256(f"{cluster_id}/{broker.id}".encode()).digest()
