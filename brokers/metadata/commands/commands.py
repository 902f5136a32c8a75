"""Every command that the controller decides.

A command is all or nothing per item: each item gets a result, or the error that a client prints. A command that cannot
be decided at all gets a `Refusal`.
"""

from typing import TypeAlias

from brokers.metadata.commands.broker_commands import (
    BrokerHeartbeat,
    FenceBroker,
    RegisterBroker,
    RegisterController,
    UnregisterBroker,
    UpdateFeatures,
)
from brokers.metadata.commands.config_commands import AlterConfigs
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

# What code in the process of a broker may submit. Deleting, growing and settings: as a link, `writer` is not None.
Submitted: TypeAlias = (
    CreateTopics | DeleteTopics | CreatePartitions | CreateMirrorTopic | CreateMirrorTopics
    | SetTopicWriter | SetTopicWriters | RaiseLeaderEpochs | RaiseLeaderEpochsOfTopics
    | AlterConfigs | PutDocuments | RecordOperation
)  # fmt: skip

Command: TypeAlias = (
    Submitted | AllocateProducerIds
    | RegisterBroker | BrokerHeartbeat | FenceBroker | UnregisterBroker | RegisterController | UpdateFeatures
    | AlterPartition | ElectLeaders | BalanceLeaders | AlterPartitionReassignments | AssignReplicasToDirs
)  # fmt: skip
