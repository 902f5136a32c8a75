"""Generated from schema/metadata_records.txt by brokers.wire.generate; do not edit."""

# ruff: noqa: A002

from __future__ import annotations

from uuid import UUID

from brokers.wire.message import EMPTY, Message
from brokers.wire.primitives import ZERO_UUID


class RegisterBrokerRecord(Message):
    """Type 0, versions 0 to 4."""

    __slots__ = (
        "broker_id",
        "is_migrating_zk_broker",
        "incarnation_id",
        "broker_epoch",
        "end_points",
        "features",
        "rack",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
        "host_label",
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        is_migrating_zk_broker: bool = False,
        incarnation_id: UUID = ZERO_UUID,
        broker_epoch: int = 0,
        end_points: list[BrokerEndpoint] = EMPTY,
        features: list[BrokerFeature] = EMPTY,
        rack: str | None = "",
        fenced: bool = True,
        in_controlled_shutdown: bool = False,
        log_dirs: list[UUID] = EMPTY,
        cordoned_log_dirs: list[UUID] | None = None,
        host_label: str | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.incarnation_id = incarnation_id
        self.broker_epoch = broker_epoch
        self.end_points = [] if end_points is EMPTY else end_points
        self.features = [] if features is EMPTY else features
        self.rack = rack
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs = [] if log_dirs is EMPTY else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.host_label = host_label


class BrokerEndpoint(Message):
    __slots__ = ("name", "host", "port", "security_protocol")

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol


class BrokerFeature(Message):
    __slots__ = ("name", "min_supported_version", "max_supported_version")

    def __init__(
        self,
        *,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version


class UnregisterBrokerRecord(Message):
    """Type 1, version 0."""

    __slots__ = ("broker_id", "broker_epoch")

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


class TopicRecord(Message):
    """Type 2, version 0."""

    __slots__ = ("name", "topic_id")

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: UUID = ZERO_UUID,
    ) -> None:
        self.name = name
        self.topic_id = topic_id


class PartitionRecord(Message):
    """Type 3, versions 0 to 2."""

    __slots__ = (
        "partition_id",
        "topic_id",
        "replicas",
        "isr",
        "removing_replicas",
        "adding_replicas",
        "leader",
        "leader_recovery_state",
        "leader_epoch",
        "partition_epoch",
        "directories",
        "eligible_leader_replicas",
        "last_known_elr",
        "observers",
        "promoted",
    )

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: UUID = ZERO_UUID,
        replicas: list[int] = EMPTY,
        isr: list[int] = EMPTY,
        removing_replicas: list[int] = EMPTY,
        adding_replicas: list[int] = EMPTY,
        leader: int = -1,
        leader_recovery_state: int = 0,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        directories: list[UUID] = EMPTY,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        observers: list[int] = EMPTY,
        promoted: list[int] = EMPTY,
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.replicas = [] if replicas is EMPTY else replicas
        self.isr = [] if isr is EMPTY else isr
        self.removing_replicas = [] if removing_replicas is EMPTY else removing_replicas
        self.adding_replicas = [] if adding_replicas is EMPTY else adding_replicas
        self.leader = leader
        self.leader_recovery_state = leader_recovery_state
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.directories = [] if directories is EMPTY else directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.observers = [] if observers is EMPTY else observers
        self.promoted = [] if promoted is EMPTY else promoted


class ConfigRecord(Message):
    """Type 4, version 0."""

    __slots__ = ("resource_type", "resource_name", "name", "value")

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.name = name
        self.value = value


class PartitionChangeRecord(Message):
    """Type 5, versions 0 to 2."""

    __slots__ = (
        "partition_id",
        "topic_id",
        "isr",
        "leader",
        "replicas",
        "removing_replicas",
        "adding_replicas",
        "leader_recovery_state",
        "directories",
        "eligible_leader_replicas",
        "last_known_elr",
        "observers",
        "promoted",
    )

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: UUID = ZERO_UUID,
        isr: list[int] | None = None,
        leader: int = -2,
        replicas: list[int] | None = None,
        removing_replicas: list[int] | None = None,
        adding_replicas: list[int] | None = None,
        leader_recovery_state: int = -1,
        directories: list[UUID] | None = None,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        observers: list[int] | None = None,
        promoted: list[int] | None = None,
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.isr = isr
        self.leader = leader
        self.replicas = replicas
        self.removing_replicas = removing_replicas
        self.adding_replicas = adding_replicas
        self.leader_recovery_state = leader_recovery_state
        self.directories = directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.observers = observers
        self.promoted = promoted


class FenceBrokerRecord(Message):
    """Type 7, version 0."""

    __slots__ = ("id", "epoch")

    def __init__(
        self,
        *,
        id: int = 0,
        epoch: int = 0,
    ) -> None:
        self.id = id
        self.epoch = epoch


class UnfenceBrokerRecord(Message):
    """Type 8, version 0."""

    __slots__ = ("id", "epoch")

    def __init__(
        self,
        *,
        id: int = 0,
        epoch: int = 0,
    ) -> None:
        self.id = id
        self.epoch = epoch


class RemoveTopicRecord(Message):
    """Type 9, version 0."""

    __slots__ = ("topic_id",)

    def __init__(
        self,
        *,
        topic_id: UUID = ZERO_UUID,
    ) -> None:
        self.topic_id = topic_id


class DelegationTokenRecord(Message):
    """Type 10, version 0."""

    __slots__ = (
        "owner",
        "requester",
        "renewers",
        "issue_timestamp",
        "max_timestamp",
        "expiration_timestamp",
        "token_id",
    )

    def __init__(
        self,
        *,
        owner: str = "",
        requester: str = "",
        renewers: list[str] = EMPTY,
        issue_timestamp: int = 0,
        max_timestamp: int = 0,
        expiration_timestamp: int = 0,
        token_id: str = "",
    ) -> None:
        self.owner = owner
        self.requester = requester
        self.renewers = [] if renewers is EMPTY else renewers
        self.issue_timestamp = issue_timestamp
        self.max_timestamp = max_timestamp
        self.expiration_timestamp = expiration_timestamp
        self.token_id = token_id


class UserScramCredentialRecord(Message):
    """Type 11, version 0."""

    __slots__ = ("name", "mechanism", "salt", "stored_key", "server_key", "iterations")

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        salt: bytes = b"",
        stored_key: bytes = b"",
        server_key: bytes = b"",
        iterations: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.salt = salt
        self.stored_key = stored_key
        self.server_key = server_key
        self.iterations = iterations


class FeatureLevelRecord(Message):
    """Type 12, version 0."""

    __slots__ = ("name", "feature_level")

    def __init__(
        self,
        *,
        name: str = "",
        feature_level: int = 0,
    ) -> None:
        self.name = name
        self.feature_level = feature_level


class ClientQuotaRecord(Message):
    """Type 14, version 0."""

    __slots__ = ("entity", "key", "value", "remove")

    def __init__(
        self,
        *,
        entity: list[EntityData] = EMPTY,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.entity = [] if entity is EMPTY else entity
        self.key = key
        self.value = value
        self.remove = remove


class EntityData(Message):
    __slots__ = ("entity_type", "entity_name")

    def __init__(
        self,
        *,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name


class ProducerIdsRecord(Message):
    """Type 15, version 0."""

    __slots__ = ("broker_id", "broker_epoch", "next_producer_id")

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        next_producer_id: int = 0,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.next_producer_id = next_producer_id


class BrokerRegistrationChangeRecord(Message):
    """Type 17, versions 0 to 3."""

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
        fenced: int = 0,
        in_controlled_shutdown: int = 0,
        log_dirs: list[UUID] = EMPTY,
        cordoned_log_dirs: list[UUID] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs = [] if log_dirs is EMPTY else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs


class AccessControlEntryRecord(Message):
    """Type 18, version 0."""

    __slots__ = (
        "id",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
    )

    def __init__(
        self,
        *,
        id: UUID = ZERO_UUID,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.id = id
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class RemoveAccessControlEntryRecord(Message):
    """Type 19, version 0."""

    __slots__ = ("id",)

    def __init__(
        self,
        *,
        id: UUID = ZERO_UUID,
    ) -> None:
        self.id = id


class NoOpRecord(Message):
    """Type 20, version 0."""

    __slots__ = ()


class ZkMigrationStateRecord(Message):
    """Type 21, version 0."""

    __slots__ = ("zk_migration_state",)

    def __init__(
        self,
        *,
        zk_migration_state: int = 0,
    ) -> None:
        self.zk_migration_state = zk_migration_state


class RemoveUserScramCredentialRecord(Message):
    """Type 22, version 0."""

    __slots__ = ("name", "mechanism")

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism


class BeginTransactionRecord(Message):
    """Type 23, version 0."""

    __slots__ = ("name",)

    def __init__(
        self,
        *,
        name: str | None = None,
    ) -> None:
        self.name = name


class EndTransactionRecord(Message):
    """Type 24, version 0."""

    __slots__ = ()


class AbortTransactionRecord(Message):
    """Type 25, version 0."""

    __slots__ = ("reason",)

    def __init__(
        self,
        *,
        reason: str | None = None,
    ) -> None:
        self.reason = reason


class RemoveDelegationTokenRecord(Message):
    """Type 26, version 0."""

    __slots__ = ("token_id",)

    def __init__(
        self,
        *,
        token_id: str = "",
    ) -> None:
        self.token_id = token_id


class RegisterControllerRecord(Message):
    """Type 27, version 0."""

    __slots__ = ("controller_id", "incarnation_id", "zk_migration_ready", "end_points", "features")

    def __init__(
        self,
        *,
        controller_id: int = 0,
        incarnation_id: UUID = ZERO_UUID,
        zk_migration_ready: bool = False,
        end_points: list[ControllerEndpoint] = EMPTY,
        features: list[ControllerFeature] = EMPTY,
    ) -> None:
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.end_points = [] if end_points is EMPTY else end_points
        self.features = [] if features is EMPTY else features


class ControllerEndpoint(Message):
    __slots__ = ("name", "host", "port", "security_protocol")

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol


class ControllerFeature(Message):
    __slots__ = ("name", "min_supported_version", "max_supported_version")

    def __init__(
        self,
        *,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version


class ClearElrRecord(Message):
    """Type 28, version 0."""

    __slots__ = ("topic_name",)

    def __init__(
        self,
        *,
        topic_name: str = "",
    ) -> None:
        self.topic_name = topic_name


class UnregisterControllerRecord(Message):
    """Type 29, version 0."""

    __slots__ = ("controller_id",)

    def __init__(
        self,
        *,
        controller_id: int = 0,
    ) -> None:
        self.controller_id = controller_id


class TopicWriterRecord(Message):
    """Type 20001, version 0."""

    __slots__ = ("topic_id", "writer")

    def __init__(
        self,
        *,
        topic_id: UUID = ZERO_UUID,
        writer: str | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.writer = writer


class DocumentRecord(Message):
    """Type 20002, version 0."""

    __slots__ = ("kind", "name", "version", "body")

    def __init__(
        self,
        *,
        kind: str = "",
        name: str = "",
        version: int = 0,
        body: bytes | None = None,
    ) -> None:
        self.kind = kind
        self.name = name
        self.version = version
        self.body = body


class OperationRecord(Message):
    """Type 20003, version 0."""

    __slots__ = (
        "number",
        "oldest",
        "time",
        "principal",
        "client_id",
        "host",
        "operation",
        "resources",
        "details",
    )

    def __init__(
        self,
        *,
        number: int = 0,
        oldest: int = 0,
        time: int = 0,
        principal: str = "",
        client_id: str | None = None,
        host: str = "",
        operation: str = "",
        resources: list[OperationResource] = EMPTY,
        details: str = "",
    ) -> None:
        self.number = number
        self.oldest = oldest
        self.time = time
        self.principal = principal
        self.client_id = client_id
        self.host = host
        self.operation = operation
        self.resources = [] if resources is EMPTY else resources
        self.details = details


class OperationResource(Message):
    __slots__ = ("resource_type", "name")

    def __init__(
        self,
        *,
        resource_type: str = "",
        name: str = "",
    ) -> None:
        self.resource_type = resource_type
        self.name = name
