"""The Kafka requests whose responses make a `RegionDescription`, in the versions that the broker serves."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from brokers.errors import KafkaError
from brokers.ids import NO_ID
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.cluster import DescribeClusterRequest
from brokers.wire.messages.configs import DescribeConfigsRequest, DescribeConfigsResource
from brokers.wire.messages.metadata import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsRequestTopic,
    MetadataRequest,
    MetadataRequestTopic,
)
from brokers.wire.messages.replication import ListPartitionReassignmentsRequest
from federation.commands.answers import Failure
from federation.commands.region.client import QUICK_SECONDS, Client, NoAnswer
from federation.commands.region.description import (
    NOBODY,
    BrokerDescription,
    PartitionDescription,
    RegionDescription,
    TopicDescription,
)
from federation.commands.region.quorum import describe_quorum

FENCED_FROM: Final = 2  # version of DescribeCluster (KIP-1073)

MIN_ISR: Final = "min.insync.replicas"
PLACEMENT: Final = "confluent.placement.constraints"
FACTOR_SETTINGS: Final = {
    "__consumer_offsets": "offsets.topic.replication.factor",
    "__transaction_state": "transaction.state.log.replication.factor",
    "__share_group_state": "share.coordinator.state.topic.replication.factor",
}
TOPICS_AT_ONCE: Final = 1_000
PARTITIONS_AT_ONCE: Final = 2_000  # Kafka's limit for one response
_TOPIC, _BROKER = 2, 4  # Kafka's resource types


def describe_region(
    client: Client, topics: Sequence[str] = (), *, asks_quorum: bool = False
) -> RegionDescription:
    """Describe a region with all topics, or the named ones. Raises Failure for a topic that does not exist.

    Only the quorum's leader can describe the quorum. A broker of a KRaft region names any broker as the controller
    (KIP-590), so where the leader does not answer, no controller is known.
    """
    cluster, knows_fenced = _cluster(client)
    controller, quorum = cluster.controller_id, None
    if asks_quorum and client.serves(ApiKey.DESCRIBE_QUORUM):
        quorum = describe_quorum(client.address)
        controller = NOBODY if quorum is None else quorum.leader
    # While no controller is active, nobody fences a broker that dies.
    says_fenced = knows_fenced and controller != NOBODY
    return RegionDescription(
        cluster_id=cluster.cluster_id,
        controller=controller,
        brokers=_brokers(cluster, knows_fenced=says_fenced),
        quorum=quorum,
        topics=tuple(_with_reassignments(client, _with_settings(client, list(_topics(client, topics))))),
    )  # fmt: skip


def describe_brokers(client: Client) -> tuple[BrokerDescription, ...]:
    """The registered brokers alone, in order of their ids. Raises Failure."""
    cluster, knows_fenced = _cluster(client)
    return _brokers(cluster, knows_fenced=knows_fenced)


def _cluster(client: Client) -> tuple[Any, bool]:
    """The response to DescribeCluster, and whether it says who is fenced."""
    if not client.serves(ApiKey.DESCRIBE_CLUSTER):
        because = f"the broker at {client.address} does not describe its region"
        raise Failure(because, hint="upgrade it; this needs Kafka 2.8 or newer")
    knows_fenced = client.version(ApiKey.DESCRIBE_CLUSTER) >= FENCED_FROM
    request = DescribeClusterRequest(include_fenced_brokers=knows_fenced)
    cluster = client.ask(ApiKey.DESCRIBE_CLUSTER, request)
    _check(cluster.error_code, cluster.error_message, "the broker does not describe its region")
    return cluster, knows_fenced


def _brokers(cluster: Any, *, knows_fenced: bool) -> tuple[BrokerDescription, ...]:
    return tuple(
        BrokerDescription(
            each.broker_id,
            each.host,
            each.port,
            each.rack,
            each.is_fenced if knows_fenced else None,
        )
        for each in sorted(cluster.brokers, key=lambda broker: broker.broker_id)
    )


def _check(error: int, because: str | None, what: str) -> None:
    if error:
        name = KafkaError(error).name
        hint = "look at the broker's log"
        if error == KafkaError.MISMATCHED_ENDPOINT_TYPE:
            hint = "give the address at which a broker answers clients, not the one for controllers"
        raise Failure(f"{what}: {because or name} ({name})", hint=hint)


def _topics(client: Client, names: Sequence[str]) -> Iterator[TopicDescription]:
    """In order of their names."""
    if client.serves(ApiKey.DESCRIBE_TOPIC_PARTITIONS):
        answers = _described(client, names)
    else:
        wanted = [MetadataRequestTopic(name=name) for name in names] or None
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        answers = iter(
            sorted(client.ask(ApiKey.METADATA, request).topics, key=lambda each: each.name)
        )
    for answer in answers:
        if answer.error_code:
            error = KafkaError(answer.error_code).name
            raise Failure(
                f"{answer.name}: {error}",
                hint="`causeway region topics` lists those that there are",
            )
        partitions = sorted(answer.partitions, key=lambda each: each.partition_index)
        yield TopicDescription(
            answer.name,
            answer.is_internal,
            tuple(_partition(answer.name, each) for each in partitions),
            None if answer.topic_id == NO_ID else answer.topic_id,
        )


def _described(client: Client, names: Sequence[str]) -> Iterator[Any]:
    """Follows the cursors of the responses; a topic that two responses share is put together."""
    topics = [DescribeTopicPartitionsRequestTopic(name=name) for name in names]
    request = DescribeTopicPartitionsRequest(
        topics=topics, response_partition_limit=PARTITIONS_AT_ONCE, cursor=None
    )
    begun: Any = None
    while True:
        answer = client.ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, request)
        for topic in answer.topics:
            if begun is not None and begun.name == topic.name:
                begun.partitions += topic.partitions
                continue
            if begun is not None:
                yield begun
            begun = topic
        if answer.next_cursor is None:
            break
        request.cursor = answer.next_cursor
    if begun is not None:
        yield begun


def _partition(topic: str, described: Any) -> PartitionDescription:
    elr = getattr(described, "eligible_leader_replicas", None)
    observers = getattr(described, "observers", None)
    return PartitionDescription(
        topic=topic,
        partition=described.partition_index,
        leader=described.leader_id,
        leader_epoch=described.leader_epoch,
        replicas=tuple(described.replica_nodes),
        isr=tuple(described.isr_nodes),
        elr=None if elr is None else tuple(elr),
        offline_replicas=tuple(described.offline_replicas or ()),
        observers=None if observers is None else len(observers),
    )


def _with_settings(client: Client, topics: list[TopicDescription]) -> Iterator[TopicDescription]:
    """The topics with `min_isr` and `observers` of their partitions."""
    settings = topic_settings(client, [topic.name for topic in topics], [MIN_ISR, PLACEMENT])
    yield from (_configured(topic, settings.get(topic.name, {})) for topic in topics)


def _with_reassignments(
    client: Client, topics: Iterable[TopicDescription]
) -> Iterator[TopicDescription]:
    """The topics with `adding` of their partitions; requested only where partitions are under-replicated."""
    found = list(topics)
    is_needed = any(each.is_under_replicated for topic in found for each in topic.partitions)
    adding = (
        _adding(client.address)
        if is_needed and client.serves(ApiKey.LIST_PARTITION_REASSIGNMENTS)
        else {}
    )
    for topic in found:
        partitions = (
            replace(each, adding=adding.get((each.topic, each.partition), ()))
            for each in topic.partitions
        )
        yield replace(topic, partitions=tuple(partitions))


def _adding(address: str) -> dict[tuple[str, int], tuple[int, ...]]:
    """Sent over a connection of its own: empty where the active controller, which the broker asks, does not answer."""
    try:
        with Client(address, QUICK_SECONDS) as client:
            answer = client.ask(
                ApiKey.LIST_PARTITION_REASSIGNMENTS, ListPartitionReassignmentsRequest()
            )
    except NoAnswer:
        return {}
    return {
        (topic.name, each.partition_index): tuple(each.adding_replicas)
        for topic in answer.topics
        for each in topic.partitions
    }


def topic_settings(
    client: Client, names: Sequence[str], keys: Sequence[str]
) -> dict[str, dict[str, str | None]]:
    """Topic -> those of these settings that the broker returns."""
    found: dict[str, dict[str, str | None]] = {}
    for start in range(0, len(names), TOPICS_AT_ONCE):
        resources = [
            DescribeConfigsResource(
                resource_type=_TOPIC, resource_name=name, configuration_keys=list(keys)
            )
            for name in names[start : start + TOPICS_AT_ONCE]
        ]
        answer = client.ask(ApiKey.DESCRIBE_CONFIGS, DescribeConfigsRequest(resources=resources))
        for result in answer.results:
            found[result.resource_name] = {each.name: each.value for each in result.configs}
    return found


def factors_set(client: Client, found: RegionDescription) -> dict[str, int]:
    """Internal topic -> the replication factor that the responding broker is configured with, where it returns it."""
    wanted = [topic.name for topic in found.topics if topic.name in FACTOR_SETTINGS]
    own = [each.id for each in found.brokers if f"{each.host}:{each.port}" == client.address]
    if not wanted or not own:
        return {}
    values = broker_settings(client, own[0], [FACTOR_SETTINGS[name] for name in wanted])
    settings = {name: values.get(FACTOR_SETTINGS[name]) for name in wanted}
    return {name: int(value) for name, value in settings.items() if value}


def broker_setting(
    address: str, broker: int, key: str, timeout_s: float = QUICK_SECONDS
) -> str | None:
    """A setting of this broker, requested at its own Kafka address, as Kafka requires. Raises NoAnswer."""
    with Client(address, timeout_s) as client:
        return broker_settings(client, broker, [key]).get(key)


def broker_settings(client: Client, broker: int, keys: Sequence[str]) -> dict[str, str | None]:
    """Those of these settings that this broker, which the client is connected to, knows."""
    resource = DescribeConfigsResource(
        resource_type=_BROKER, resource_name=str(broker), configuration_keys=list(keys)
    )
    answer = client.ask(ApiKey.DESCRIBE_CONFIGS, DescribeConfigsRequest(resources=[resource]))
    return {each.name: each.value for result in answer.results for each in result.configs}


def _configured(topic: TopicDescription, settings: dict[str, str | None]) -> TopicDescription:
    min_isr = int(settings.get(MIN_ISR) or 1)
    partitions = (replace(each, min_isr=min_isr) for each in topic.partitions)
    if any(each.observers is None for each in topic.partitions):
        observers = _observers(settings.get(PLACEMENT) or "")
        partitions = (replace(each, observers=observers) for each in partitions)
    return replace(topic, partitions=tuple(partitions))


def _observers(placement: str) -> int:
    """What a broker that does not report observers was told to have; 0 also for another product's format.

    A topic that stood before its placement was set may have others.
    """
    if not placement:
        return 0
    from brokers.config import replica_placement  # a third of a command's start, by Pydantic

    try:
        read = replica_placement.parse(placement)
    except replica_placement.PlacementError:
        return 0
    return 0 if read is None else read.observer_count
