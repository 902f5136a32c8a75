"""Whether a request comes from the registered process of a broker."""

from brokers.errors import KafkaError, Refusal
from brokers.metadata.image.image import BrokerImage, Image


def check_broker_epoch(image: Image, broker_id: int, broker_epoch: int) -> BrokerImage:
    """The registered broker with this broker epoch. Raises `Refusal` STALE_BROKER_EPOCH for any other (KIP-631)."""
    broker = image.brokers.get(broker_id)
    if broker is None:
        because = f"broker {broker_id} is not registered"
        raise Refusal(KafkaError.STALE_BROKER_EPOCH, because)
    if broker.broker_epoch != broker_epoch:
        because = f"broker {broker_id} is registered at {broker.broker_epoch}, not {broker_epoch}"
        raise Refusal(KafkaError.STALE_BROKER_EPOCH, because)
    return broker
