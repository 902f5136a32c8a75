"""Replicas of new partitions: by an operator's assignment, by the topic's placement, or by the replication factor."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from brokers.config.broker_config import BrokerConfig
from brokers.config.replica_placement import PlacementError, RackCount, ReplicaPlacement, parse
from brokers.errors import KafkaError, Refusal
from brokers.ids import INTERNAL_TOPICS, OFFSETS_TOPIC, TRANSACTIONS_TOPIC, BrokerId
from brokers.metadata.commands.topic_commands import DEFAULT
from brokers.metadata.image.image import Image
from brokers.metadata.partitions.replica_placer import Assignment, place
from brokers.metadata.partitions.replica_rules import PLACEMENT_KEY

INTERNAL_FACTOR = 3  # of a coordinator's topic whose replication factor is not configured


def default_placement(config: BrokerConfig, name: str) -> str:
    """The configured placement JSON of a topic that is created without one; empty: none."""
    if name == OFFSETS_TOPIC:
        return config.confluent_offsets_topic_placement_constraints
    if name == TRANSACTIONS_TOPIC:
        return config.confluent_transaction_state_log_placement_constraints
    return config.confluent_log_placement_constraints


def placement_of(configs: Mapping[str, str | None]) -> ReplicaPlacement | None:
    """The placement in a topic's own configuration. Raises Refusal INVALID_CONFIG for invalid JSON."""
    try:
        return parse(configs.get(PLACEMENT_KEY) or "")
    except PlacementError as problem:
        raise Refusal(KafkaError.INVALID_CONFIG, f"{PLACEMENT_KEY}: {problem}") from None


def assign(
    config: BrokerConfig,
    image: Image,
    name: str,
    *,
    count: int,
    factor: int,
    placement: ReplicaPlacement | None,
    first_partition: int = 0,
    topics_before: int = 0,
) -> list[Assignment]:
    """`factor` may be `DEFAULT`; with a placement it must be `DEFAULT` or the placement's number. Raises Refusal.

    `topics_before`: how many topics are created in the same batch before this one.
    """
    wanted: int | ReplicaPlacement = placement or _factor(config, image, name, factor)
    if placement is not None:
        copies = placement.replica_count + placement.observer_count
        if factor not in (DEFAULT, copies):
            raise Refusal(
                KafkaError.INVALID_REPLICATION_FACTOR,
                f"replication factor {factor} contradicts the placement, which asks for {copies} copies:"
                " leave one of them out",
            )
    return place(
        image,
        start=first_partition + topics_before,
        count=count,
        wanted=wanted,
        preferred_racks=config.preferred_racks,
    )


def _factor(config: BrokerConfig, image: Image, name: str, factor: int) -> int:
    if factor == DEFAULT and name in INTERNAL_TOPICS:
        return internal_factor(config, name, len(image.brokers))
    factor = config.default_replication_factor if factor == DEFAULT else factor
    if factor < 1:
        because = f"{factor} replicas; there is at least 1"
        raise Refusal(KafkaError.INVALID_REPLICATION_FACTOR, because)
    return factor


def internal_factor(config: BrokerConfig, name: str, brokers: int) -> int:
    """The replication factor of a coordinator's topic: as configured, else 3 or the number of brokers if lower."""
    if name == OFFSETS_TOPIC and "offsets_topic_replication_factor" in config.model_fields_set:
        return config.offsets_topic_replication_factor
    return max(1, min(INTERNAL_FACTOR, brokers))


def check_assignment(image: Image, assignment: Sequence[Sequence[BrokerId]]) -> None:
    """Raises Refusal unless each partition has equally many, distinct and registered brokers that take new replicas."""
    for replicas in assignment:
        check_replicas(image, replicas)
        check_room(image, replicas)
        if len(replicas) != len(assignment[0]):
            _refuse("partitions differ in their number of replicas")


def check_replicas(image: Image, replicas: Sequence[BrokerId]) -> None:
    """Raises Refusal unless the replicas are distinct, registered brokers."""
    unknown = [broker for broker in replicas if broker not in image.brokers]
    if unknown:
        _refuse(f"broker {unknown[0]} is not registered")
    if not replicas or len(set(replicas)) < len(replicas):
        _refuse(f"replicas {list(replicas)} are none or name a broker twice")


def check_room(image: Image, new: Iterable[BrokerId]) -> None:
    """Raises Refusal where the disks of a broker that gets a new replica are nearly full (Kafka: cordoned)."""
    for broker in new:
        if image.brokers[broker].is_cordoned:
            _refuse(
                f"broker {broker} takes no new replicas, as every disk of it is nearly full"
                " (disk.watermark.refuse.free): free space there, or choose another broker"
            )


def with_roles(
    image: Image, replicas: Sequence[BrokerId], placement: ReplicaPlacement | None
) -> Assignment:
    """An operator's replicas, observers last. Raises Refusal where they contradict the topic's placement."""
    if placement is None:
        return Assignment(tuple(replicas))
    split = placement.replica_count
    _check_counts(image, "replicas", replicas[:split], placement.replicas)
    _check_counts(image, "observers", replicas[split:], placement.observers)
    return Assignment(tuple(replicas), tuple(replicas[split:]))


def _check_counts(
    image: Image, role: str, replicas: Sequence[BrokerId], wanted: Sequence[RackCount]
) -> None:
    have = Counter(image.brokers[replica].rack for replica in replicas)
    need = {each.rack: each.count for each in wanted}
    if have != need:
        rule = ", ".join(f"{count} in rack {rack}" for rack, count in need.items()) or "none"
        _refuse(
            f"{role} {list(replicas)} contradict the topic's placement ({rule}); name its replicas first,"
            f" then its observers, or change {PLACEMENT_KEY}"
        )


def _refuse(because: str) -> None:
    raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)
