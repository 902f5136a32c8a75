"""What the operator log says of each command that clients send: the API, what was changed, and how.

Items that were refused are left out.
"""

from collections.abc import Mapping
from typing import Any

from brokers.metadata.commands.broker_commands import UnregisterBroker, UpdateFeatures
from brokers.metadata.commands.commands import Command
from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ResourceType,
)
from brokers.metadata.commands.operation_commands import ChangedResource, RecordOperation
from brokers.metadata.commands.replica_commands import AlterPartitionReassignments, ElectLeaders
from brokers.metadata.commands.topic_commands import (
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    TopicOutcome,
)
from brokers.security.origin import Origin

_KINDS: Mapping[int, str] = {ResourceType.TOPIC: "topic", ResourceType.BROKER: "broker"}
_SIGNS = {ConfigOperation.APPEND: "+=", ConfigOperation.SUBTRACT: "-="}


def described(origin: Origin, command: Command, result: Any) -> RecordOperation | None:
    """None for a command that only nodes send."""
    found = _described(command, result)
    if found is None:
        return None
    operation, resources, details = found
    return RecordOperation(
        origin=origin, operation=operation, resources=tuple(resources), details="; ".join(details)
    )


def _described(
    command: Command, result: Any
) -> tuple[str, list[ChangedResource], list[str]] | None:
    match command:
        case CreateTopics():
            return "CreateTopics", _topics(result), _created(command, result)
        case DeleteTopics():
            return "DeleteTopics", _topics(result), []
        case CreatePartitions():
            counts = {item.name: item.count for item in command.items}
            sizes = [f"{name} to {counts[name]} partitions" for _, name in _topics(result)]
            return "CreatePartitions", _topics(result), sizes
        case AlterConfigs():
            return _configs(command, result)
        case ElectLeaders():
            return _elections(command, result)
        case AlterPartitionReassignments():
            return _reassignments(command, result)
        case UnregisterBroker():
            return "UnregisterBroker", [("broker", str(command.broker_id))], []
        case UpdateFeatures():
            levels = [f"{item.name}={item.level}" for item in command.items]
            return "UpdateFeatures", [("feature", item.name) for item in command.items], levels
    return None


def _done(outcomes: Any) -> list[TopicOutcome]:
    return [each for each in outcomes if not each.error]


def _topics(outcomes: Any) -> list[ChangedResource]:
    return [("topic", each.name or str(each.topic_id)) for each in _done(outcomes)]


def _created(command: CreateTopics, outcomes: Any) -> list[str]:
    configs: Mapping[str | None, Any] = {item.name: item.configs for item in command.items}
    return [
        ", ".join(
            (
                f"{each.name}: partitions {each.partition_count}, replication factor {each.replication_factor}",
                *(f"{key}={value}" for key, value in sorted(configs[each.name].items())),
            )
        )
        for each in _done(outcomes)
    ]


def _configs(command: AlterConfigs, outcomes: Any) -> tuple[str, list[ChangedResource], list[str]]:
    refused = {each.resource for each in outcomes if each.error}
    items = [item for item in command.items if item.resource not in refused]
    replaces = any(item.replace for item in items)
    resources = [
        (_KINDS.get(kind, str(kind)), name) for kind, name in (item.resource for item in items)
    ]
    details = list(dict.fromkeys(_changes(item) for item in items))
    return "AlterConfigs" if replaces else "IncrementalAlterConfigs", resources, details


def _changes(item: ConfigChange) -> str:
    return ", ".join(
        f"delete {key}"
        if operation is ConfigOperation.DELETE
        else f"{key}{_SIGNS.get(operation, '=')}{value}"
        for key, (operation, value) in item.changes.items()
    )


def _elections(
    command: ElectLeaders, outcomes: Any
) -> tuple[str, list[ChangedResource], list[str]]:
    partitions = [("partition", str(each.partition)) for each in outcomes if not each.error]
    return "ElectLeaders", partitions, [command.election.name.lower()]


def _reassignments(
    command: AlterPartitionReassignments, outcomes: Any
) -> tuple[str, list[ChangedResource], list[str]]:
    done = {each.partition for each in outcomes if not each.error}
    items = [item for item in command.items if item.partition in done]
    moves = [
        f"{item.partition} cancelled"
        if item.replicas is None
        else f"{item.partition} to {','.join(map(str, item.replicas))}"
        for item in items
    ]
    topics = dict.fromkeys(item.partition.topic for item in items)
    return "AlterPartitionReassignments", [("topic", topic) for topic in topics], moves
