"""Generated from schema/links.txt by brokers.wire.generate; do not edit."""

from __future__ import annotations

from uuid import UUID

from brokers.wire.message import EMPTY, Message
from brokers.wire.primitives import ZERO_UUID


class CreateMirrorTopicRequest(Message):
    """API 10000, version 0."""

    __slots__ = (
        "name",
        "partition_count",
        "writer",
        "configs",
        "leader_epochs",
        "replication_factor",
        "record_kind",
        "record_version",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_count: int = 0,
        writer: str = "",
        configs: list[MirrorTopicConfig] = EMPTY,
        leader_epochs: list[PartitionLeaderEpoch] = EMPTY,
        replication_factor: int = -1,
        record_kind: str = "",
        record_version: int = 0,
    ) -> None:
        self.name = name
        self.partition_count = partition_count
        self.writer = writer
        self.configs = [] if configs is EMPTY else configs
        self.leader_epochs = [] if leader_epochs is EMPTY else leader_epochs
        self.replication_factor = replication_factor
        self.record_kind = record_kind
        self.record_version = record_version


class MirrorTopicConfig(Message):
    __slots__ = ("name", "value")

    def __init__(
        self,
        *,
        name: str = "",
        value: str = "",
    ) -> None:
        self.name = name
        self.value = value


class PartitionLeaderEpoch(Message):
    __slots__ = ("partition_index", "leader_epoch")

    def __init__(
        self,
        *,
        partition_index: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch


class CreateMirrorTopicResponse(Message):
    """API 10000, version 0."""

    __slots__ = ("error_code", "error_message", "topic")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        topic: MirrorTopicResult = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topic = MirrorTopicResult() if topic is EMPTY else topic


class MirrorTopicResult(Message):
    __slots__ = (
        "name",
        "topic_id",
        "error_code",
        "error_message",
        "warning",
        "partition_count",
        "replication_factor",
    )

    def __init__(
        self,
        *,
        name: str | None = "",
        topic_id: UUID = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
        warning: str | None = None,
        partition_count: int = -1,
        replication_factor: int = -1,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.warning = warning
        self.partition_count = partition_count
        self.replication_factor = replication_factor


class SetTopicWriterRequest(Message):
    """API 10001, version 0."""

    __slots__ = (
        "topic",
        "expected_writer",
        "writer",
        "leader_epochs",
        "topic_id",
        "expected_versions",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        expected_writer: str | None = "",
        writer: str | None = "",
        leader_epochs: list[PartitionLeaderEpoch] = EMPTY,
        topic_id: UUID = ZERO_UUID,
        expected_versions: list[DocumentVersion] = EMPTY,
    ) -> None:
        self.topic = topic
        self.expected_writer = expected_writer
        self.writer = writer
        self.leader_epochs = [] if leader_epochs is EMPTY else leader_epochs
        self.topic_id = topic_id
        self.expected_versions = [] if expected_versions is EMPTY else expected_versions


class DocumentVersion(Message):
    __slots__ = ("kind", "name", "version")

    def __init__(
        self,
        *,
        kind: str = "",
        name: str = "",
        version: int = 0,
    ) -> None:
        self.kind = kind
        self.name = name
        self.version = version


class SetTopicWriterResponse(Message):
    """API 10001, version 0."""

    __slots__ = ("error_code", "error_message", "leader_epochs")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        leader_epochs: list[PartitionLeaderEpoch] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.leader_epochs = [] if leader_epochs is EMPTY else leader_epochs


class RaiseLeaderEpochsRequest(Message):
    """API 10002, version 0."""

    __slots__ = ("topic", "leader_epochs")

    def __init__(
        self,
        *,
        topic: str = "",
        leader_epochs: list[PartitionLeaderEpoch] = EMPTY,
    ) -> None:
        self.topic = topic
        self.leader_epochs = [] if leader_epochs is EMPTY else leader_epochs


class RaiseLeaderEpochsResponse(Message):
    """API 10002, version 0."""

    __slots__ = ("error_code", "error_message", "leader_epochs")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        leader_epochs: list[PartitionLeaderEpoch] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.leader_epochs = [] if leader_epochs is EMPTY else leader_epochs


class PutDocumentsRequest(Message):
    """API 10003, version 0."""

    __slots__ = ("documents",)

    def __init__(
        self,
        *,
        documents: list[PutDocument] = EMPTY,
    ) -> None:
        self.documents = [] if documents is EMPTY else documents


class PutDocument(Message):
    __slots__ = ("kind", "name", "body", "expected_version", "unless_writer", "partition_epochs")

    def __init__(
        self,
        *,
        kind: str = "",
        name: str = "",
        body: bytes | None = None,
        expected_version: int = -1,
        unless_writer: str = "",
        partition_epochs: list[int] = EMPTY,
    ) -> None:
        self.kind = kind
        self.name = name
        self.body = body
        self.expected_version = expected_version
        self.unless_writer = unless_writer
        self.partition_epochs = [] if partition_epochs is EMPTY else partition_epochs


class PutDocumentsResponse(Message):
    """API 10003, version 0."""

    __slots__ = ("error_code", "error_message", "versions")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        versions: list[DocumentVersion] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.versions = [] if versions is EMPTY else versions


class DeleteMirrorTopicsRequest(Message):
    """API 10004, version 0."""

    __slots__ = ("writer", "topics")

    def __init__(
        self,
        *,
        writer: str = "",
        topics: list[DeletedMirrorTopic] = EMPTY,
    ) -> None:
        self.writer = writer
        self.topics = [] if topics is EMPTY else topics


class DeletedMirrorTopic(Message):
    __slots__ = ("name", "topic_id")

    def __init__(
        self,
        *,
        name: str | None = None,
        topic_id: UUID = ZERO_UUID,
    ) -> None:
        self.name = name
        self.topic_id = topic_id


class DeleteMirrorTopicsResponse(Message):
    """API 10004, version 0."""

    __slots__ = ("error_code", "error_message", "topics")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        topics: list[MirrorTopicResult] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is EMPTY else topics


class CreateMirrorPartitionsRequest(Message):
    """API 10005, version 0."""

    __slots__ = ("writer", "topics", "validate_only")

    def __init__(
        self,
        *,
        writer: str = "",
        topics: list[MirrorTopicGrowth] = EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.writer = writer
        self.topics = [] if topics is EMPTY else topics
        self.validate_only = validate_only


class MirrorTopicGrowth(Message):
    __slots__ = ("name", "count", "assignments")

    def __init__(
        self,
        *,
        name: str = "",
        count: int = 0,
        assignments: list[MirrorPartitionAssignment] | None = EMPTY,
    ) -> None:
        self.name = name
        self.count = count
        self.assignments = [] if assignments is EMPTY else assignments


class MirrorPartitionAssignment(Message):
    __slots__ = ("broker_ids",)

    def __init__(
        self,
        *,
        broker_ids: list[int] = EMPTY,
    ) -> None:
        self.broker_ids = [] if broker_ids is EMPTY else broker_ids


class CreateMirrorPartitionsResponse(Message):
    """API 10005, version 0."""

    __slots__ = ("error_code", "error_message", "topics")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        topics: list[MirrorTopicResult] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is EMPTY else topics


class AlterMirrorConfigsRequest(Message):
    """API 10006, version 0."""

    __slots__ = ("writer", "resources", "validate_only")

    def __init__(
        self,
        *,
        writer: str = "",
        resources: list[MirrorConfigResource] = EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.writer = writer
        self.resources = [] if resources is EMPTY else resources
        self.validate_only = validate_only


class MirrorConfigResource(Message):
    __slots__ = ("resource_type", "resource_name", "replace", "configs")

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        replace: bool = False,
        configs: list[MirrorConfigChange] = EMPTY,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.replace = replace
        self.configs = [] if configs is EMPTY else configs


class MirrorConfigChange(Message):
    __slots__ = ("name", "operation", "value")

    def __init__(
        self,
        *,
        name: str = "",
        operation: int = 0,
        value: str | None = "",
    ) -> None:
        self.name = name
        self.operation = operation
        self.value = value


class AlterMirrorConfigsResponse(Message):
    """API 10006, version 0."""

    __slots__ = ("error_code", "error_message", "resources")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        resources: list[MirrorConfigResult] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resources = [] if resources is EMPTY else resources


class MirrorConfigResult(Message):
    __slots__ = ("resource_type", "resource_name", "error_code", "error_message")

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.error_code = error_code
        self.error_message = error_message


class DescribeMirrorsRequest(Message):
    """API 10007, version 0."""

    __slots__ = ("topics",)

    def __init__(
        self,
        *,
        topics: list[str] = EMPTY,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics


class DescribeMirrorsResponse(Message):
    """API 10007, version 0."""

    __slots__ = ("error_code", "mirrors")

    def __init__(
        self,
        *,
        error_code: int = 0,
        mirrors: list[DescribedMirror] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.mirrors = [] if mirrors is EMPTY else mirrors


class DescribedMirror(Message):
    __slots__ = (
        "topic",
        "record_version",
        "partitions",
        "clamped_group_partitions",
        "sealed_partitions",
        "because",
        "committed",
        "heard_group_partitions",
        "sealed_bytes",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        record_version: int = 0,
        partitions: list[DescribedMirrorPartition] = EMPTY,
        clamped_group_partitions: list[PartitionLeaderEpoch] = EMPTY,
        sealed_partitions: list[int] = EMPTY,
        because: str = "",
        committed: list[CommittedMirrorOffset] = EMPTY,
        heard_group_partitions: list[PartitionLeaderEpoch] = EMPTY,
        sealed_bytes: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.record_version = record_version
        self.partitions = [] if partitions is EMPTY else partitions
        self.clamped_group_partitions = (
            [] if clamped_group_partitions is EMPTY else clamped_group_partitions
        )
        self.sealed_partitions = [] if sealed_partitions is EMPTY else sealed_partitions
        self.because = because
        self.committed = [] if committed is EMPTY else committed
        self.heard_group_partitions = (
            [] if heard_group_partitions is EMPTY else heard_group_partitions
        )
        self.sealed_bytes = [] if sealed_bytes is EMPTY else sealed_bytes


class DescribedMirrorPartition(Message):
    __slots__ = (
        "partition_index",
        "leader_epoch",
        "log_start_offset",
        "log_end_offset",
        "high_watermark",
        "last_epoch",
        "source_high_watermark",
        "source_clock",
        "lag_ms",
        "since_received_ms",
        "is_running",
        "is_caught_up",
        "is_drained",
        "trouble",
        "common_offset",
        "is_following",
        "lag_bytes",
        "origin_lag_ms",
        "source_began_at",
        "is_unreached",
        "is_lower_bound",
        "origin_lag",
        "origin_lag_bytes",
        "is_origin_lower_bound",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        leader_epoch: int = 0,
        log_start_offset: int = 0,
        log_end_offset: int = 0,
        high_watermark: int = 0,
        last_epoch: int = 0,
        source_high_watermark: int = 0,
        source_clock: int = 0,
        lag_ms: int = 0,
        since_received_ms: int = 0,
        is_running: bool = False,
        is_caught_up: bool = False,
        is_drained: bool = False,
        trouble: str = "",
        common_offset: int = -1,
        is_following: bool = False,
        lag_bytes: int = -1,
        origin_lag_ms: int = -1,
        source_began_at: int = -1,
        is_unreached: bool = False,
        is_lower_bound: bool = False,
        origin_lag: int = -1,
        origin_lag_bytes: int = -1,
        is_origin_lower_bound: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset
        self.high_watermark = high_watermark
        self.last_epoch = last_epoch
        self.source_high_watermark = source_high_watermark
        self.source_clock = source_clock
        self.lag_ms = lag_ms
        self.since_received_ms = since_received_ms
        self.is_running = is_running
        self.is_caught_up = is_caught_up
        self.is_drained = is_drained
        self.trouble = trouble
        self.common_offset = common_offset
        self.is_following = is_following
        self.lag_bytes = lag_bytes
        self.origin_lag_ms = origin_lag_ms
        self.source_began_at = source_began_at
        self.is_unreached = is_unreached
        self.is_lower_bound = is_lower_bound
        self.origin_lag = origin_lag
        self.origin_lag_bytes = origin_lag_bytes
        self.is_origin_lower_bound = is_origin_lower_bound


class CommittedMirrorOffset(Message):
    __slots__ = ("group", "partition_index", "offset")

    def __init__(
        self,
        *,
        group: str = "",
        partition_index: int = 0,
        offset: int = 0,
    ) -> None:
        self.group = group
        self.partition_index = partition_index
        self.offset = offset


class RecordOperationRequest(Message):
    """API 10008, version 0."""

    __slots__ = ("principal", "client_id", "host", "operation", "resources", "details")

    def __init__(
        self,
        *,
        principal: str = "",
        client_id: str | None = None,
        host: str = "",
        operation: str = "",
        resources: list[RecordedResource] = EMPTY,
        details: str = "",
    ) -> None:
        self.principal = principal
        self.client_id = client_id
        self.host = host
        self.operation = operation
        self.resources = [] if resources is EMPTY else resources
        self.details = details


class RecordedResource(Message):
    __slots__ = ("resource_type", "name")

    def __init__(
        self,
        *,
        resource_type: str = "",
        name: str = "",
    ) -> None:
        self.resource_type = resource_type
        self.name = name


class RecordOperationResponse(Message):
    """API 10008, version 0."""

    __slots__ = ("error_code", "error_message")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message


class SetTopicWritersRequest(Message):
    """API 10009, version 0."""

    __slots__ = ("topics",)

    def __init__(
        self,
        *,
        topics: list[TopicWriterChange] = EMPTY,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics


class TopicWriterChange(Message):
    __slots__ = (
        "topic",
        "expected_writer",
        "writer",
        "leader_epochs",
        "topic_id",
        "expected_versions",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        expected_writer: str | None = "",
        writer: str | None = "",
        leader_epochs: list[PartitionLeaderEpoch] = EMPTY,
        topic_id: UUID = ZERO_UUID,
        expected_versions: list[DocumentVersion] = EMPTY,
    ) -> None:
        self.topic = topic
        self.expected_writer = expected_writer
        self.writer = writer
        self.leader_epochs = [] if leader_epochs is EMPTY else leader_epochs
        self.topic_id = topic_id
        self.expected_versions = [] if expected_versions is EMPTY else expected_versions


class SetTopicWritersResponse(Message):
    """API 10009, version 0."""

    __slots__ = ("error_code", "error_message", "results")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        results: list[TopicWriterResult] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is EMPTY else results


class TopicWriterResult(Message):
    __slots__ = ("error_code", "error_message", "leader_epochs")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        leader_epochs: list[PartitionLeaderEpoch] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.leader_epochs = [] if leader_epochs is EMPTY else leader_epochs


class CreateMirrorTopicsRequest(Message):
    """API 10010, version 0."""

    __slots__ = ("topics",)

    def __init__(
        self,
        *,
        topics: list[NewMirrorTopic] = EMPTY,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics


class NewMirrorTopic(Message):
    __slots__ = (
        "name",
        "partition_count",
        "writer",
        "configs",
        "leader_epochs",
        "replication_factor",
        "record_kind",
        "record_version",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_count: int = 0,
        writer: str = "",
        configs: list[MirrorTopicConfig] = EMPTY,
        leader_epochs: list[PartitionLeaderEpoch] = EMPTY,
        replication_factor: int = 0,
        record_kind: str = "",
        record_version: int = 0,
    ) -> None:
        self.name = name
        self.partition_count = partition_count
        self.writer = writer
        self.configs = [] if configs is EMPTY else configs
        self.leader_epochs = [] if leader_epochs is EMPTY else leader_epochs
        self.replication_factor = replication_factor
        self.record_kind = record_kind
        self.record_version = record_version


class CreateMirrorTopicsResponse(Message):
    """API 10010, version 0."""

    __slots__ = ("error_code", "error_message", "results")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        results: list[MirrorTopicResult] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is EMPTY else results


class RaiseLeaderEpochsOfTopicsRequest(Message):
    """API 10011, version 0."""

    __slots__ = ("topics",)

    def __init__(
        self,
        *,
        topics: list[TopicLeaderEpochs] = EMPTY,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics


class TopicLeaderEpochs(Message):
    __slots__ = ("topic", "leader_epochs")

    def __init__(
        self,
        *,
        topic: str = "",
        leader_epochs: list[PartitionLeaderEpoch] = EMPTY,
    ) -> None:
        self.topic = topic
        self.leader_epochs = [] if leader_epochs is EMPTY else leader_epochs


class RaiseLeaderEpochsOfTopicsResponse(Message):
    """API 10011, version 0."""

    __slots__ = ("error_code", "error_message", "results")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        results: list[TopicLeaderEpochsResult] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is EMPTY else results


class TopicLeaderEpochsResult(Message):
    __slots__ = ("error_code", "error_message", "leader_epochs")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        leader_epochs: list[PartitionLeaderEpoch] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.leader_epochs = [] if leader_epochs is EMPTY else leader_epochs
