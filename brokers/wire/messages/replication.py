"""Generated from schema/replication.txt by brokers.wire.generate; do not edit."""

from __future__ import annotations

from uuid import UUID

from brokers.wire.message import EMPTY, Message
from brokers.wire.primitives import ZERO_UUID


class ElectLeadersRequest(Message):
    """API 43, versions 0 to 2."""

    __slots__ = ("election_type", "topic_partitions", "timeout_ms")

    def __init__(
        self,
        *,
        election_type: int = 0,
        topic_partitions: list[TopicPartitions] | None = EMPTY,
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type = election_type
        self.topic_partitions = [] if topic_partitions is EMPTY else topic_partitions
        self.timeout_ms = timeout_ms


class TopicPartitions(Message):
    __slots__ = ("topic", "partitions")

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class ElectLeadersResponse(Message):
    """API 43, versions 0 to 2."""

    __slots__ = ("throttle_time_ms", "error_code", "replica_election_results")

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: list[ReplicaElectionResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = (
            [] if replica_election_results is EMPTY else replica_election_results
        )


class ReplicaElectionResult(Message):
    __slots__ = ("topic", "partition_result")

    def __init__(
        self,
        *,
        topic: str = "",
        partition_result: list[PartitionResult] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partition_result = [] if partition_result is EMPTY else partition_result


class PartitionResult(Message):
    __slots__ = ("partition_id", "error_code", "error_message")

    def __init__(
        self,
        *,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message


class AlterPartitionReassignmentsRequest(Message):
    """API 45, versions 0 to 1."""

    __slots__ = ("timeout_ms", "allow_replication_factor_change", "topics")

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: list[ReassignableTopic] = EMPTY,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics = [] if topics is EMPTY else topics


class ReassignableTopic(Message):
    __slots__ = ("name", "partitions")

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ReassignablePartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class ReassignablePartition(Message):
    __slots__ = ("partition_index", "replicas")

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: list[int] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas


class AlterPartitionReassignmentsResponse(Message):
    """API 45, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms",
        "allow_replication_factor_change",
        "error_code",
        "error_message",
        "responses",
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: list[ReassignableTopicResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is EMPTY else responses


class ReassignableTopicResponse(Message):
    __slots__ = ("name", "partitions")

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ReassignablePartitionResponse] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class ReassignablePartitionResponse(Message):
    __slots__ = ("partition_index", "error_code", "error_message")

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message


class ListPartitionReassignmentsRequest(Message):
    """API 46, version 0."""

    __slots__ = ("timeout_ms", "topics")

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        topics: list[ListPartitionReassignmentsTopics] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.topics = topics


class ListPartitionReassignmentsTopics(Message):
    __slots__ = ("name", "partition_indexes")

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes


class ListPartitionReassignmentsResponse(Message):
    """API 46, version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "topics")

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[OngoingTopicReassignment] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is EMPTY else topics


class OngoingTopicReassignment(Message):
    __slots__ = ("name", "partitions")

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OngoingPartitionReassignment] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class OngoingPartitionReassignment(Message):
    __slots__ = ("partition_index", "replicas", "adding_replicas", "removing_replicas")

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: list[int] = EMPTY,
        adding_replicas: list[int] = EMPTY,
        removing_replicas: list[int] = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = [] if replicas is EMPTY else replicas
        self.adding_replicas = [] if adding_replicas is EMPTY else adding_replicas
        self.removing_replicas = [] if removing_replicas is EMPTY else removing_replicas


class AlterPartitionRequest(Message):
    """API 56, versions 2 to 3."""

    __slots__ = ("broker_id", "broker_epoch", "topics")

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: list[AlterPartitionRequestTopic] = EMPTY,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = [] if topics is EMPTY else topics


class AlterPartitionRequestTopic(Message):
    __slots__ = ("topic_id", "partitions")

    def __init__(
        self,
        *,
        topic_id: UUID = ZERO_UUID,
        partitions: list[AlterPartitionRequestPartition] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class AlterPartitionRequestPartition(Message):
    __slots__ = (
        "partition_index",
        "leader_epoch",
        "new_isr",
        "new_isr_with_epochs",
        "leader_recovery_state",
        "partition_epoch",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: list[int] = EMPTY,
        new_isr_with_epochs: list[BrokerState] = EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr = [] if new_isr is EMPTY else new_isr
        self.new_isr_with_epochs = [] if new_isr_with_epochs is EMPTY else new_isr_with_epochs
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch


class BrokerState(Message):
    __slots__ = ("broker_id", "broker_epoch")

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


class AlterPartitionResponse(Message):
    """API 56, versions 2 to 3."""

    __slots__ = ("throttle_time_ms", "error_code", "topics")

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[AlterPartitionResponseTopic] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is EMPTY else topics


class AlterPartitionResponseTopic(Message):
    __slots__ = ("topic_id", "partitions")

    def __init__(
        self,
        *,
        topic_id: UUID = ZERO_UUID,
        partitions: list[AlterPartitionResponsePartition] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class AlterPartitionResponsePartition(Message):
    __slots__ = (
        "partition_index",
        "error_code",
        "leader_id",
        "leader_epoch",
        "isr",
        "leader_recovery_state",
        "partition_epoch",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.isr = [] if isr is EMPTY else isr
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch
