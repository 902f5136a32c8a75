"""Which brokers hold a new partition."""

from collections.abc import Sequence

from brokers.errors import KafkaError, Refusal
from brokers.ids import BrokerId
from brokers.metadata.image import Image


def place(
    image: Image, *, first_partition: int, count: int, replication_factor: int
) -> list[tuple[BrokerId, ...]]:
    """Replicas of `count` partitions, the preferred leader first: round the live brokers, topics starting apart."""
    brokers = [broker.id for _, broker in sorted(image.brokers.items()) if not broker.fenced]
    if replication_factor > len(brokers):
        raise Refusal(
            KafkaError.INVALID_REPLICATION_FACTOR,
            f"replication factor {replication_factor} needs as many brokers; {len(brokers)} are registered",
        )
    start = first_partition + len(image.topics_by_name)
    return [
        tuple(brokers[(start + index + step) % len(brokers)] for step in range(replication_factor))
        for index in range(count)
    ]


def check_assignment(image: Image, assignment: Sequence[Sequence[BrokerId]]) -> None:
    """Refuses replicas that are not distinct, registered brokers, or not as many for each partition."""
    for replicas in assignment:
        unknown = [broker for broker in replicas if broker not in image.brokers]
        if unknown:
            _refuse(f"broker {unknown[0]} is not registered")
        if not replicas or len(set(replicas)) < len(replicas):
            _refuse(f"replicas {list(replicas)} are none or name a broker twice")
        if len(replicas) != len(assignment[0]):
            _refuse("partitions differ in their number of replicas")


def _refuse(because: str) -> None:
    raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)
