"""BrokerRegistration: the leaderships that a restarted broker resumes or loses, and a new region's feature levels."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.config.endpoints import ANY_HOST, endpoint
from brokers.errors import KafkaError, Refusal
from brokers.ids import NO_ID, Offset
from brokers.metadata.cluster.leader_and_isr_updates import remove_from_isrs, resume_replicas
from brokers.metadata.commands.broker_commands import RegisterBroker
from brokers.metadata.commands.controller_result import ControllerResult
from brokers.metadata.image.broker_records import registration_record
from brokers.metadata.image.image import (
    ADMIN_LISTENER,
    LINK_LISTENER,
    BrokerImage,
    Endpoint,
    FeatureRange,
    Image,
)
from brokers.metadata.partitions.partition_changes import PartitionChanges
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import FeatureLevelRecord, UnfenceBrokerRecord


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature and the levels that this release supports; `initial` is the level of a new region, 0 is off."""

    name: str
    lowest: int
    highest: int
    initial: int


CAUSEWAY_VERSION, METADATA_VERSION = "causeway.version", "metadata.version"
# 30 is the metadata version of Kafka 4.3. Transactions and the new group protocols stay off until they work.
# causeway.version is ours, for metadata records that releases before do not know: 1 for the operator log.
FEATURES = (
    Feature(CAUSEWAY_VERSION, lowest=0, highest=1, initial=1),
    Feature("group.version", lowest=0, highest=0, initial=0),
    Feature("kraft.version", lowest=0, highest=1, initial=0),  # 1 once the log holds the voter set
    Feature(METADATA_VERSION, lowest=7, highest=30, initial=30),
    Feature("transaction.version", lowest=0, highest=0, initial=0),
)


def lone_registration(
    config: BrokerConfig, incarnation: UUID, log_dirs: tuple[UUID, ...]
) -> RegisterBroker:
    """The registration of a node that is its own controller."""
    return RegisterBroker(
        broker_id=config.node_id,
        incarnation=incarnation,
        log_dirs=log_dirs,
        endpoints=registered_endpoints(config),
        rack=config.broker_rack,
    )


def registered_endpoints(config: BrokerConfig) -> tuple[Endpoint, ...]:
    """Where each listener of this broker is reached, the inter-broker one first: other brokers use that one."""
    listeners = [
        Endpoint(each.name, *each.advertised)
        for each in config.broker_listeners
        if each.advertised is not None
    ]
    return (*listeners, *_endpoints_of_links(config, listeners[0].host))


def _endpoints_of_links(config: BrokerConfig, host: str) -> Iterator[Endpoint]:
    """Under the names of their settings, which no Kafka listener can have.

    What listens on every address is reached where the first listener is.
    """
    for name, text in (
        (LINK_LISTENER, config.link_advertised_listener or config.link_listener),
        (ADMIN_LISTENER, config.admin_listener),
    ):
        if text is not None:
            at = endpoint(text)
            yield Endpoint(name, host if at.host in ANY_HOST else at.host, at.port)


def register_broker(
    config: BrokerConfig,
    image: Image,
    command: RegisterBroker,
    next_offset: Offset,
    *,
    has_session: bool,
) -> ControllerResult:
    """`has_session`: the present registration has an unexpired session. Raises Refusal.

    A broker whose last shutdown was not clean may have lost records, so it leaves its partitions' in-sync sets.
    """
    was = image.brokers.get(command.broker_id)
    _check(image, command)
    if command.starts_fenced and was is not None and was.incarnation == command.incarnation:
        return _repeated(was, command)
    is_busy = has_session and was is not None and not was.in_controlled_shutdown
    if was is not None and is_busy and not _is_restarted(was, command):
        because = (
            f"broker {was.id} is at work at {was.host}:{was.port}, registered as {was.incarnation}"
        )
        raise Refusal(KafkaError.DUPLICATE_BROKER_REGISTRATION, because)
    features = list(_missing_features(image))
    broker_epoch = next_offset + len(features)
    broker = _broker(command, broker_epoch)
    registered = [*features, registration_record(broker)]
    was_clean_shutdown = was is not None and was.broker_epoch == command.previous_broker_epoch
    if command.starts_fenced:
        changes = PartitionChanges(image, config, out=(command.broker_id,))
        remove_from_isrs(changes, command.broker_id, is_lost=not was_clean_shutdown)
    else:
        registered.append(UnfenceBrokerRecord(id=command.broker_id, epoch=broker_epoch))
        changes = PartitionChanges(image, config, back=(broker.id,), changed=broker)
        resume_replicas(changes, command.broker_id, is_lost=not was_clean_shutdown)
    return ControllerResult((*registered, *changes.records), broker_epoch)


def supported_features() -> list[FeatureRange]:
    """The feature ranges of this release's registrations, without features that can only be off."""
    return [
        FeatureRange(feature.name, feature.lowest, feature.highest)
        for feature in FEATURES
        if feature.highest
    ]


def _missing_features(image: Image) -> Iterator[Message]:
    """The levels of a new region. Of one that an older release made, an operator raises them."""
    if METADATA_VERSION in image.features:
        return
    for feature in FEATURES:
        if feature.initial:
            yield FeatureLevelRecord(name=feature.name, feature_level=feature.initial)


def _check(image: Image, command: RegisterBroker) -> None:
    if command.cluster_id is not None and command.cluster_id != image.cluster_id:
        because = f"the node belongs to region {command.cluster_id}, this is {image.cluster_id}"
        raise Refusal(KafkaError.INCONSISTENT_CLUSTER_ID, because)
    if len(set(_log_dirs(command))) < len(_log_dirs(command)):
        raise Refusal(KafkaError.INVALID_REGISTRATION, "a log directory is named twice")
    for broker in image.brokers.values():
        shared = set(broker.log_dirs) & set(_log_dirs(command)) - {NO_ID}
        if shared and broker.id != command.broker_id:
            because = (
                f"log directory {min(shared)} is broker {broker.id}'s: give each node its own, or"
                f" unregister broker {broker.id} if this disk was moved"
            )
            raise Refusal(KafkaError.INVALID_REGISTRATION, because)
    _check_features(image, command)


def _check_features(image: Image, command: RegisterBroker) -> None:
    supported = {each.name: each for each in _features(command)}
    for name, level in image.features.items():
        known = supported.get(name)
        if level and (known is None or not known.lowest <= level <= known.highest):
            because = f"the region is at {name} {level}, which the node does not support"
            raise Refusal(KafkaError.UNSUPPORTED_VERSION, because)


def _is_restarted(was: BrokerImage, command: RegisterBroker) -> bool:
    """Whether the command comes from the next process on the same directories and address.

    A process locks its directories, so the registered process has ended. Kafka would wait until its session expires.
    The directory ids alone prove nothing, as a copy of the disk on another machine has the same ids.
    """
    is_there = was.endpoints[:1] == _endpoints(command)[:1]
    return is_there and not set(was.log_dirs).isdisjoint({*_log_dirs(command)} - {NO_ID})


def _repeated(was: BrokerImage, command: RegisterBroker) -> ControllerResult:
    """The same process registers again as the first response was lost: its broker epoch stays."""
    now = replace(
        _broker(command, was.broker_epoch),
        fenced=was.fenced,
        in_controlled_shutdown=was.in_controlled_shutdown,
    )
    return ControllerResult(() if now == was else (registration_record(now),), was.broker_epoch)


def _broker(command: RegisterBroker, broker_epoch: int) -> BrokerImage:
    return BrokerImage(
        id=command.broker_id,
        broker_epoch=broker_epoch,
        incarnation=command.incarnation,
        endpoints=_endpoints(command),
        rack=command.rack,
        host_label=command.host_label,
        fenced=True,
        features=_features(command),
        log_dirs=_log_dirs(command),
    )


def _endpoints(command: RegisterBroker) -> tuple[Endpoint, ...]:
    return tuple(Endpoint(*each) for each in command.endpoints)


def _features(command: RegisterBroker) -> tuple[FeatureRange, ...]:
    given = supported_features() if command.features is None else command.features
    return tuple(FeatureRange(*each) for each in given)


def _log_dirs(command: RegisterBroker) -> tuple[UUID, ...]:
    return command.log_dirs if command.directory is None else (command.directory,)
