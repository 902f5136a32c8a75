"""BrokerHeartbeat, and fencing and unregistering brokers."""

from dataclasses import replace
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.errors import KafkaError, Refusal
from brokers.metadata.cluster.broker_registration import METADATA_VERSION
from brokers.metadata.cluster.leader_and_isr_updates import (
    elect_offline_partitions,
    handle_directory_failures,
    move_leaderships,
    remove_from_isrs,
)
from brokers.metadata.commands.broker_commands import (
    BrokerHeartbeat,
    BrokerHeartbeatReply,
    FenceBroker,
    UnregisterBroker,
)
from brokers.metadata.commands.controller_result import ControllerResult
from brokers.metadata.image.broker_epochs import check_broker_epoch
from brokers.metadata.image.image import BrokerImage, Image
from brokers.metadata.partitions.partition_changes import PartitionChanges
from brokers.metadata.replicas.internal_topics import grow_internal_topics
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)

CORDONS_FROM = 30  # metadata.version 4.3-IV0 (KIP-1066)


def broker_heartbeat(
    config: BrokerConfig, image: Image, command: BrokerHeartbeat
) -> ControllerResult:
    """Unfences, fences or shuts down a broker as its heartbeat requests. Raises Refusal STALE_BROKER_EPOCH.

    A broker that requests its shutdown while it leads partitions is marked as in controlled shutdown. It keeps its
    leaderships until it requests fencing as well: by then it appends no more, and a repeated heartbeat moves no
    leadership too early. It may stop with the next heartbeat, or at once if it leads nothing. Kafka waits until the
    other brokers have read the change; here they read it within the round trip between two heartbeats.
    """
    broker = check_broker_epoch(image, command.broker_id, command.broker_epoch)
    is_caught_up = command.metadata_offset >= broker.broker_epoch
    failed = [each for each in broker.log_dirs if each in command.offline_dirs]
    if failed:  # any other request is repeated with the next heartbeat
        records = _remove_directories(config, image, broker, failed)
        is_fenced = broker.fenced or len(failed) == len(broker.log_dirs)
        return ControllerResult(records, BrokerHeartbeatReply(is_caught_up, is_fenced, False))
    if command.want_shut_down:
        return _shut_down(config, image, broker, command, is_caught_up=is_caught_up)
    if broker.fenced and is_caught_up and not command.want_fence:
        return _unfence(config, image, broker)
    if not broker.fenced and command.want_fence:
        fenced = _fence(config, image, broker)
        return ControllerResult(fenced.records, BrokerHeartbeatReply(is_caught_up, True, False))
    records = _cordon(image, broker, command)
    return ControllerResult(records, BrokerHeartbeatReply(is_caught_up, broker.fenced, False))


def _cordon(image: Image, broker: BrokerImage, command: BrokerHeartbeat) -> tuple[Message, ...]:
    """Records which log directories get no new replicas, where that has changed and nothing else has.

    From the metadata version of Kafka's on: nodes of releases before need not know the record's version.
    """
    told = command.cordoned_dirs
    if told is None or image.features.get(METADATA_VERSION, 0) < CORDONS_FROM:
        return ()
    cordoned = tuple(each for each in broker.log_dirs if each in told)
    if cordoned == broker.cordoned_log_dirs:
        return ()
    return (
        BrokerRegistrationChangeRecord(
            broker_id=broker.id,
            broker_epoch=broker.broker_epoch,
            cordoned_log_dirs=list(cordoned),
        ),
    )


def fence_broker(config: BrokerConfig, image: Image, command: FenceBroker) -> ControllerResult:
    broker = check_broker_epoch(image, command.broker_id, command.broker_epoch)
    return ControllerResult((), None) if broker.fenced else _fence(config, image, broker)


def unregister_broker(
    config: BrokerConfig, image: Image, command: UnregisterBroker
) -> ControllerResult:
    """The broker's replicas stay assigned to it until a reassignment moves them. Raises Refusal."""
    broker = image.brokers.get(command.broker_id)
    if broker is None:
        because = f"broker {command.broker_id} is not registered"
        raise Refusal(KafkaError.BROKER_ID_NOT_REGISTERED, because)
    is_last = not any(each.is_active for each in image.brokers.values() if each is not broker)
    if config.is_alone and broker.id == config.node_id and is_last:
        because = f"broker {broker.id} is the whole region, and registers only when it starts"
        raise Refusal(KafkaError.INVALID_REQUEST, because)
    changes = PartitionChanges(image, config, out=(broker.id,))
    remove_from_isrs(changes, broker.id)
    record = UnregisterBrokerRecord(broker_id=broker.id, broker_epoch=broker.broker_epoch)
    return ControllerResult((*changes.records, record), None)


def _unfence(config: BrokerConfig, image: Image, broker: BrokerImage) -> ControllerResult:
    changes = PartitionChanges(image, config, back=(broker.id,))
    elect_offline_partitions(changes, broker.id)
    grow_internal_topics(config, image, changes)
    unfenced = UnfenceBrokerRecord(id=broker.id, epoch=broker.broker_epoch)
    return ControllerResult((unfenced, *changes.records), BrokerHeartbeatReply(True, False, False))


def _fence(config: BrokerConfig, image: Image, broker: BrokerImage) -> ControllerResult:
    changes = PartitionChanges(image, config, out=(broker.id,))
    remove_from_isrs(changes, broker.id)
    fenced = FenceBrokerRecord(id=broker.id, epoch=broker.broker_epoch)
    return ControllerResult((fenced, *changes.records), None)


def _remove_directories(
    config: BrokerConfig, image: Image, broker: BrokerImage, failed: list[UUID]
) -> tuple[Message, ...]:
    """Failed directories are offline until the broker registers again; without an online directory it is fenced."""
    left = tuple(each for each in broker.log_dirs if each not in failed)
    if not left:
        return () if broker.fenced else _fence(config, image, broker).records
    changes = PartitionChanges(image, config, changed=replace(broker, log_dirs=left))
    handle_directory_failures(changes, broker.id, failed)
    change = BrokerRegistrationChangeRecord(
        broker_id=broker.id, broker_epoch=broker.broker_epoch, log_dirs=list(left)
    )
    return (*changes.records, change)


def _shut_down(
    config: BrokerConfig,
    image: Image,
    broker: BrokerImage,
    command: BrokerHeartbeat,
    *,
    is_caught_up: bool,
) -> ControllerResult:
    """Moves the leaderships first, as clients wait for these; the broker leaves the in-sync sets when it may stop."""
    if broker.fenced:
        return ControllerResult((), BrokerHeartbeatReply(is_caught_up, True, True))
    changes = PartitionChanges(image, config, out=(broker.id,))
    move_leaderships(changes, broker.id)
    if not changes.records:
        fenced = _fence(config, image, broker)
        return ControllerResult(fenced.records, BrokerHeartbeatReply(is_caught_up, True, True))
    records = tuple(changes.records) if command.want_fence else ()
    if not broker.in_controlled_shutdown:
        leaving = BrokerRegistrationChangeRecord(
            broker_id=broker.id, broker_epoch=broker.broker_epoch, in_controlled_shutdown=1
        )
        records = (leaving, *records)
    return ControllerResult(records, BrokerHeartbeatReply(is_caught_up, False, False))
