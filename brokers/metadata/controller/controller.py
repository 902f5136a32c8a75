"""Passes each command to the rule that decides it: an image and a command to records and a response."""

from collections.abc import Sequence
from typing import assert_never

from brokers.config.broker_config import BrokerConfig
from brokers.ids import Instant, Offset
from brokers.metadata.cluster.broker_fencing import (
    broker_heartbeat,
    fence_broker,
    unregister_broker,
)
from brokers.metadata.cluster.broker_registration import register_broker
from brokers.metadata.cluster.controller_registration import register_controller
from brokers.metadata.cluster.feature_control import update_features
from brokers.metadata.commands.broker_commands import (
    BrokerHeartbeat,
    BrokerHeartbeatReply,
    FenceBroker,
    RegisterBroker,
    RegisterController,
    UnregisterBroker,
    UpdateFeatures,
)
from brokers.metadata.commands.commands import Command
from brokers.metadata.commands.config_commands import AlterConfigs
from brokers.metadata.commands.controller_result import ControllerResult
from brokers.metadata.commands.document_commands import PutDocuments
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    CreateMirrorTopics,
    RaiseLeaderEpochs,
    RaiseLeaderEpochsOfTopics,
    SetTopicWriter,
    SetTopicWriters,
)
from brokers.metadata.commands.operation_commands import RecordOperation
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds
from brokers.metadata.commands.replica_commands import (
    AlterPartition,
    AlterPartitionReassignments,
    AssignReplicasToDirs,
    BalanceLeaders,
    ElectLeaders,
)
from brokers.metadata.commands.topic_commands import CreatePartitions, CreateTopics, DeleteTopics
from brokers.metadata.controller.broker_heartbeat_manager import BrokerHeartbeatManager
from brokers.metadata.controller.configuration_control import alter_configs
from brokers.metadata.controller.document_control import put_documents
from brokers.metadata.controller.operation_descriptions import described
from brokers.metadata.controller.operation_log import (
    begins_it,
    is_written,
    operation_records,
)
from brokers.metadata.controller.producer_id_control import allocate_producer_ids
from brokers.metadata.image.image import Image
from brokers.metadata.replicas.alter_partition import alter_partition
from brokers.metadata.replicas.directory_assignments import assign_replicas
from brokers.metadata.replicas.leader_elections import balance_leaders, elect_leaders
from brokers.metadata.replicas.reassignments import alter_reassignments
from brokers.metadata.topics.mirror_topics import (
    create_mirror_topic,
    create_mirror_topics,
    raise_leader_epochs,
    raise_leader_epochs_of_topics,
    set_topic_writer,
    set_topic_writers,
)
from brokers.metadata.topics.partition_creation import create_partitions
from brokers.metadata.topics.topic_creation import TopicCreationContext, create_topics
from brokers.metadata.topics.topic_deletion import delete_topics
from brokers.ports import Rng
from brokers.security.origin import Origin
from brokers.timers import earliest
from brokers.wire.message import Message


class Controller:
    """Its only state beside the image are the broker sessions and the next leader balancing, kept while it is active:
    from `activate` to `deactivate`."""

    def __init__(self, config: BrokerConfig, rng: Rng) -> None:
        self.heartbeats = BrokerHeartbeatManager(config.node_id, config.broker_session_timeout_ms)
        self._config = config
        self._rules = TopicCreationContext(config, rng)
        self._balance_at: Instant | None = None

    @property
    def timed_out_heartbeats(self) -> int:
        """Broker sessions that have expired since this process began."""
        return self.heartbeats.timed_out

    @property
    def deadline(self) -> Instant | None:
        """When `on_time` is due."""
        return earliest(self.heartbeats.deadline, self._balance_at)

    def activate(self, image: Image, now: Instant) -> None:
        """This node is the active controller from now on."""
        self.heartbeats.start(image, now)
        self._balance_at = self._next_balance(now)

    def deactivate(self) -> None:
        """This node is no longer the active controller."""
        self.heartbeats.stop()
        self._balance_at = None

    def on_time(self, image: Image, now: Instant) -> Sequence[Command]:
        """The controller's own commands, to be decided like all others."""
        commands: list[Command] = [*self.heartbeats.on_time(image, now)]
        if self._balance_at is not None and self._balance_at <= now:
            self._balance_at = self._next_balance(now)
            commands.append(BalanceLeaders())
        return commands

    def decide(
        self, image: Image, command: Command, next_offset: Offset, now: Instant
    ) -> ControllerResult:
        """The records of `command`, to be appended at `next_offset`, and its response. Raises Refusal."""
        match command:
            case RegisterBroker() | BrokerHeartbeat() | FenceBroker() | UnregisterBroker():
                return self._decide_on_broker(image, command, next_offset, now)
            case (
                AlterPartition() | ElectLeaders() | BalanceLeaders() | AlterPartitionReassignments()
            ):
                return self._decide_on_replicas(image, command, now)
            case AssignReplicasToDirs():
                return assign_replicas(self._config, image, command)
            case CreateTopics():
                return create_topics(self._rules, image, command)
            case DeleteTopics():
                return delete_topics(self._config, image, command)
            case CreatePartitions():
                return create_partitions(self._config, image, command)
            case CreateMirrorTopic():
                return create_mirror_topic(self._rules, image, command)
            case CreateMirrorTopics():
                return create_mirror_topics(self._rules, image, command)
            case SetTopicWriter():
                return set_topic_writer(image, command)
            case SetTopicWriters():
                return set_topic_writers(image, command)
            case RegisterController():
                return register_controller(image, command)
            case UpdateFeatures():
                return update_features(image, command)
            case RaiseLeaderEpochs():
                return raise_leader_epochs(image, command)
            case RaiseLeaderEpochsOfTopics():
                return raise_leader_epochs_of_topics(image, command)
            case AlterConfigs():
                return alter_configs(self._config, image, command)
            case AllocateProducerIds():
                return allocate_producer_ids(image, command)
            case PutDocuments():
                return put_documents(image, command, next_offset)
            case RecordOperation():
                written = is_written(image)
                records = operation_records(self._config, image, command, now) if written else ()
                return ControllerResult(records, None)
            case _:
                assert_never(command)

    def operation_records(
        self, image: Image, origin: Origin, command: Command, result: object, now: Instant
    ) -> tuple[Message, ...]:
        """What the operator log gets of a command that changes something."""
        operation = described(origin, command, result)
        if operation is None or not (is_written(image) or begins_it(command)):
            return ()
        return operation_records(self._config, image, operation, now)

    def _decide_on_broker(
        self,
        image: Image,
        command: RegisterBroker | BrokerHeartbeat | FenceBroker | UnregisterBroker,
        next_offset: Offset,
        now: Instant,
    ) -> ControllerResult:
        heartbeats, broker_id = self.heartbeats, command.broker_id
        match command:
            case RegisterBroker():
                has_session = heartbeats.has_session(broker_id, now)
                decision = register_broker(
                    self._config, image, command, next_offset, has_session=has_session
                )
            case BrokerHeartbeat():
                decision = broker_heartbeat(self._config, image, command)
            case FenceBroker():
                decision = fence_broker(self._config, image, command)
            case UnregisterBroker():
                decision = unregister_broker(self._config, image, command)
        outcome = decision.result
        is_leaving = isinstance(outcome, BrokerHeartbeatReply) and outcome.should_shut_down
        if is_leaving or isinstance(command, FenceBroker | UnregisterBroker):
            heartbeats.remove(broker_id)
        else:
            heartbeats.touch(broker_id, now)
        return decision

    def _decide_on_replicas(
        self,
        image: Image,
        command: AlterPartition | ElectLeaders | BalanceLeaders | AlterPartitionReassignments,
        now: Instant,
    ) -> ControllerResult:
        match command:
            case AlterPartition():
                return alter_partition(self._config, image, command)
            case ElectLeaders():
                return elect_leaders(self._config, image, command)
            case AlterPartitionReassignments():
                return alter_reassignments(self._config, image, command)
            case BalanceLeaders():
                decision = balance_leaders(self._config, image)
                if decision.result and self._balance_at is not None:
                    self._balance_at = now  # the rest follows in further batches
                return decision

    def _next_balance(self, now: Instant) -> Instant | None:
        if not self._config.auto_leader_rebalance_enable:
            return None
        return now + self._config.leader_imbalance_check_interval_seconds * 1_000
