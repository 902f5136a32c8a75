"""What the operator log says of each command; what was refused is left out."""

from typing import Any

import pytest

from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.metadata.commands.broker_commands import (
    FeatureUpdate,
    UnregisterBroker,
    UpdateFeatures,
)
from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ConfigOutcome,
)
from brokers.metadata.commands.mirror_commands import SetTopicWriter
from brokers.metadata.commands.replica_commands import (
    AlterPartitionReassignments,
    ElectionType,
    ElectLeaders,
    PartitionOutcome,
    Reassignment,
)
from brokers.metadata.commands.topic_commands import (
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    NewPartitions,
    NewTopic,
    TopicOutcome,
)
from brokers.metadata.controller.operation_descriptions import described
from brokers.security.origin import Origin

ANN = Origin("User:ann", "admin", "10.1.2.3")
BAD = KafkaError.INVALID_REQUEST
DONE = TopicOutcome(name="a", partition_count=2, replication_factor=3)
REFUSED = TopicOutcome(name="b", error=BAD)
HERE, THERE = TopicPartition("a", 0), TopicPartition("a", 1)
CHANGES = {
    "retention.ms": (ConfigOperation.SET, "5"),
    "segment.ms": (ConfigOperation.DELETE, None),
    "cleanup.policy": (ConfigOperation.APPEND, "compact"),
}


@pytest.mark.parametrize(
    ("command", "result", "operation", "resources", "details"),
    [
        (
            CreateTopics((NewTopic(name="a", configs={"retention.ms": "5"}), NewTopic(name="b"))),
            (DONE, REFUSED),
            "CreateTopics", [("topic", "a")], "a: partitions 2, replication factor 3, retention.ms=5",
        ),
        (DeleteTopics(("a", "b")), (DONE, REFUSED), "DeleteTopics", [("topic", "a")], ""),
        (
            CreatePartitions((NewPartitions(name="a", count=6),)), (DONE,),
            "CreatePartitions", [("topic", "a")], "a to 6 partitions",
        ),
        (
            AlterConfigs((ConfigChange((2, "a"), CHANGES), ConfigChange((2, "b"), CHANGES))),
            (ConfigOutcome(resource=(2, "a")), ConfigOutcome(resource=(2, "b"), error=BAD)),
            "IncrementalAlterConfigs", [("topic", "a")],
            "retention.ms=5, delete segment.ms, cleanup.policy+=compact",
        ),
        (
            AlterConfigs((ConfigChange((4, ""), {}, replace=True),)), (ConfigOutcome(resource=(4, "")),),
            "AlterConfigs", [("broker", "")], "",
        ),
        (
            ElectLeaders(ElectionType.UNCLEAN, None),
            (PartitionOutcome(HERE), PartitionOutcome(THERE, BAD)),
            "ElectLeaders", [("partition", "a-0")], "unclean",
        ),
        (
            AlterPartitionReassignments((Reassignment(HERE, (1, 2)), Reassignment(THERE, None))),
            (PartitionOutcome(HERE), PartitionOutcome(THERE)),
            "AlterPartitionReassignments", [("topic", "a")], "a-0 to 1,2; a-1 cancelled",
        ),
        (UnregisterBroker(3), None, "UnregisterBroker", [("broker", "3")], ""),
        (
            UpdateFeatures((FeatureUpdate("metadata.version", 30, 1),)), None,
            "UpdateFeatures", [("feature", "metadata.version")], "metadata.version=30",
        ),
    ],
)  # fmt: skip
def test_each_command_is_described(
    command: Any, result: Any, operation: str, resources: list[tuple[str, str]], details: str
) -> None:
    found = described(ANN, command, result)
    assert found is not None
    assert (found.origin, found.operation) == (ANN, operation)
    assert (list(found.resources), found.details) == (resources, details)


def test_what_links_do_by_themselves_is_not() -> None:
    command = SetTopicWriter(topic="a", expected_writer=None, writer="link", leader_epochs={})
    assert described(ANN, command, {}) is None
