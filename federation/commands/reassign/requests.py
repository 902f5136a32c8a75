"""Requests of a reassignment: list and alter reassignments (KIP-455), set throttles (KIP-73), propose a plan."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from brokers.config.replica_placement import PlacementError, parse
from brokers.errors import KafkaError, Refusal
from brokers.ids import NO_ID, BrokerId, TopicPartition
from brokers.metadata.commands.config_commands import ConfigOperation
from brokers.metadata.image.image import BrokerImage, Endpoint, Image
from brokers.metadata.partitions.replica_placer import place
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.configs import (
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from brokers.wire.messages.replication import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from federation.commands.answers import Failure
from federation.commands.outcomes import reason_of
from federation.commands.reassign.plan import (
    COPY_RATE,
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    RATES,
    PartitionReassignment,
    Targets,
    keeping_replicas,
)
from federation.commands.region.client import QUICK_SECONDS, Client, NoAnswer
from federation.commands.region.description import (
    BrokerDescription,
    RegionDescription,
    TopicDescription,
)
from federation.commands.region.requests import (
    PLACEMENT,
    broker_setting,
    topic_settings,
)

_TOPIC, _BROKER = 2, 4  # Kafka's resource types
_HOST_LABEL: Final = "broker.host"
_OLD_HINT: Final = "upgrade the brokers; reassignments need Kafka 2.4 or newer"


# --- reassignments ---


def ongoing(client: Client) -> dict[TopicPartition, PartitionReassignment]:
    """The region's partition reassignments in progress."""
    if not client.serves(ApiKey.LIST_PARTITION_REASSIGNMENTS):
        raise Failure("the region's brokers know no reassignments", hint=_OLD_HINT)
    answer = client.ask(ApiKey.LIST_PARTITION_REASSIGNMENTS, ListPartitionReassignmentsRequest())
    if answer.error_code:
        _refused("the region does not tell what is on the move", answer)
    return {
        TopicPartition(topic.name, each.partition_index): PartitionReassignment(
            tuple(each.replicas), tuple(each.adding_replicas), tuple(each.removing_replicas)
        )
        for topic in answer.topics
        for each in topic.partitions
    }


def alter(
    client: Client,
    targets: Mapping[TopicPartition, tuple[int, ...] | None],
    *,
    may_change_factor: bool = True,
) -> dict[TopicPartition, str]:
    """Begin these reassignments (None cancels one). Returns the refused partitions, each with the reason."""
    topics: dict[str, ReassignableTopic] = {}
    for name, replicas in targets.items():
        topic = topics.setdefault(name.topic, ReassignableTopic(name=name.topic))
        wanted = None if replicas is None else list(replicas)
        topic.partitions.append(
            ReassignablePartition(partition_index=name.partition, replicas=wanted)
        )
    answer = client.ask(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        AlterPartitionReassignmentsRequest(
            topics=list(topics.values()), allow_replication_factor_change=may_change_factor
        ),
    )
    if answer.error_code:
        _refused("the region refuses the reassignment", answer)
    return {
        TopicPartition(topic.name, each.partition_index): reason_of(each)
        for topic in answer.responses
        for each in topic.partitions
        if each.error_code
    }


def _refused(what: str, answer: Any) -> None:
    hint = "look at the broker's log"
    if answer.error_code == KafkaError.REQUEST_TIMED_OUT:
        hint = "see `causeway region describe` for whether a controller is active, then try again"
    raise Failure(f"{what}: {reason_of(answer)}", hint=hint)


# --- throttles ---


def set_rate(client: Client, brokers: Iterable[BrokerDescription], rate: int) -> None:
    """Limit each broker's sending and fetching of throttled replicas, in bytes a second."""
    settings = [_set(name, str(rate)) for name in RATES]
    _alter_brokers(client, brokers, settings)


def set_copy_rate(client: Client, brokers: Iterable[BrokerDescription], rate: int) -> None:
    """Limit each broker's copying between its own log directories, in bytes a second."""
    _alter_brokers(client, brokers, [_set(COPY_RATE, str(rate))])


def set_replicas(client: Client, topics: Mapping[str, Mapping[str, str]]) -> None:
    """Set the throttled replicas of topics."""
    resources = [
        _resource(_TOPIC, topic, [_set(name, value) for name, value in settings.items()])
        for topic, settings in topics.items()
    ]
    _alter_configs(client, resources)


def clear_throttles(
    client: Client, brokers: Iterable[BrokerDescription], topics: Iterable[str]
) -> None:
    """Remove the throttles of reassignments from brokers and topics."""
    _alter_brokers(client, brokers, [_unset(name) for name in (*RATES, COPY_RATE)])
    names = [_unset(name) for name in (LEADER_REPLICAS, FOLLOWER_REPLICAS)]
    _alter_configs(client, [_resource(_TOPIC, topic, names) for topic in topics])


def _alter_brokers(
    client: Client, brokers: Iterable[BrokerDescription], settings: list[IncrementalAlterableConfig]
) -> None:
    """Sent to the broker itself, as Apache Kafka requires; while it is down, to another one, which Causeway allows."""
    for broker in brokers:
        resources = [_resource(_BROKER, str(broker.id), settings)]
        try:
            with Client(f"{broker.host}:{broker.port}", QUICK_SECONDS) as own:
                _alter_configs(own, resources)
        except NoAnswer:
            _alter_configs(client, resources)


def _alter_configs(client: Client, resources: list[IncrementalAlterConfigsResource]) -> None:
    request = IncrementalAlterConfigsRequest(resources=resources)
    for response in client.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, request).responses:
        if response.error_code:
            kind = "broker" if response.resource_type == _BROKER else "topic"
            _refused(f"throttles of {kind} {response.resource_name} cannot be changed", response)


def _resource(
    kind: int, name: str, settings: list[IncrementalAlterableConfig]
) -> IncrementalAlterConfigsResource:
    return IncrementalAlterConfigsResource(resource_type=kind, resource_name=name, configs=settings)


def _set(name: str, value: str) -> IncrementalAlterableConfig:
    return IncrementalAlterableConfig(name=name, config_operation=ConfigOperation.SET, value=value)


def _unset(name: str) -> IncrementalAlterableConfig:
    return IncrementalAlterableConfig(
        name=name, config_operation=ConfigOperation.DELETE, value=None
    )


# --- a proposal ---


def propose(
    client: Client,
    found: RegionDescription,
    brokers: Sequence[BrokerId],
    *,
    minds_racks: bool,
    factor: int | None = None,
    cordoned: Collection[BrokerId] = (),
) -> Targets:
    """New replicas on these brokers for the described topics: `factor` of each partition, None as many as it has.

    A topic's placement, if it has one, is followed; other replicas are spread over racks, then over hosts. Those
    of `cordoned` get a replica only where no other broker is left.
    """
    known = {broker.id: broker for broker in found.brokers}
    image = Image(found.cluster_id)
    for broker in brokers:
        image.brokers[broker] = _as_image(
            known[broker], minds_racks=minds_racks, is_cordoned=broker in cordoned
        )
    placements = topic_settings(client, [topic.name for topic in found.topics], [PLACEMENT])
    targets: dict[TopicPartition, tuple[int, ...]] = {}
    for topic in found.topics:
        placement = placements.get(topic.name, {}).get(PLACEMENT) or ""
        targets |= _of_topic(image, topic, placement, factor, len(targets))
    return targets


def _of_topic(
    image: Image, topic: TopicDescription, placement: str, factor: int | None, first_partition: int
) -> Targets:
    try:
        wanted = parse(placement)
        if wanted is not None and factor is not None:
            because = f"{PLACEMENT} says how many replicas it has: leave --replication-factor out"
            raise Refusal(KafkaError.INVALID_REPLICATION_FACTOR, because)
        needed = factor or len(topic.partitions[0].replicas)
        if wanted is None and needed > len(image.brokers):
            because = (
                f"{needed} replicas need as many brokers; --broker-list names {len(image.brokers)}"
            )
            raise Refusal(KafkaError.INVALID_REPLICATION_FACTOR, because)
        assignments = place(
            image,
            start=first_partition,
            count=len(topic.partitions),
            wanted=wanted or needed,
        )
    except (Refusal, PlacementError) as error:
        raise Failure(
            f"{topic.name}: {error}",
            hint="mend what it says, or name more brokers in --broker-list",
        ) from error
    current = [each.replicas for each in topic.partitions]
    replicas = keeping_replicas(current, [assignment.replicas for assignment in assignments])
    return {
        TopicPartition(topic.name, each.partition): chosen
        for each, chosen in zip(topic.partitions, replicas, strict=True)
    }


def _as_image(broker: BrokerDescription, *, minds_racks: bool, is_cordoned: bool) -> BrokerImage:
    return BrokerImage(
        id=broker.id,
        broker_epoch=0,
        incarnation=NO_ID,
        endpoints=(Endpoint("PLAINTEXT", broker.host, broker.port),),
        rack=broker.rack if minds_racks else None,
        host_label=_host_label(broker),
        fenced=bool(broker.fenced),
        log_dirs=(NO_ID,),
        cordoned_log_dirs=(NO_ID,) if is_cordoned else (),
    )


def _host_label(broker: BrokerDescription) -> str | None:
    try:
        return broker_setting(f"{broker.host}:{broker.port}", broker.id, _HOST_LABEL)
    except NoAnswer:
        return None
