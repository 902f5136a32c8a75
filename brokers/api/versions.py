"""The APIs and versions that each listener advertises, gathered from the files beside this one.

Other nodes, and tools with `--bootstrap-controller`, connect to a controller's listener. Both listeners advertise what
Kafka's do, so that the library of a client that was given the wrong listener of the two reports that.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import TypeAlias

from brokers.api import (
    allocate_producer_ids,
    alter_configs,
    alter_partition,
    alter_partition_reassignments,
    alter_replica_log_dirs,
    api_versions,
    assign_replicas_to_dirs,
    broker_heartbeat,
    broker_registration,
    controller_registration,
    create_partitions,
    create_topics,
    delete_groups,
    delete_records,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_mirrors,
    describe_producers,
    describe_topic_partitions,
    elect_leaders,
    envelope,
    fetch,
    find_coordinator,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    list_groups,
    list_offsets,
    list_partition_reassignments,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
    quorum_requests,
    sync_group,
    unregister_broker,
    update_features,
)
from brokers.events import Listener

# A file beside this one, or one of several that share a file.
Api: TypeAlias = ModuleType | quorum_requests.QuorumApi

_DATA: tuple[Api, ...] = (
    produce, fetch, list_offsets, metadata, offset_commit, offset_fetch, find_coordinator, join_group, heartbeat,
    leave_group, sync_group, describe_groups, list_groups, api_versions, create_topics, delete_topics, delete_records,
    init_producer_id, offset_for_leader_epoch, describe_configs, alter_configs, alter_replica_log_dirs,
    describe_log_dirs, create_partitions, delete_groups, elect_leaders, incremental_alter_configs,
    alter_partition_reassignments, list_partition_reassignments, offset_delete, describe_cluster, describe_producers,
    unregister_broker, update_features, describe_topic_partitions, *quorum_requests.FOR_CLIENTS, describe_mirrors,
)  # fmt: skip

_CONTROLLER: tuple[Api, ...] = (
    api_versions, create_topics, delete_topics, describe_configs, alter_configs, create_partitions, elect_leaders,
    incremental_alter_configs, alter_partition_reassignments, list_partition_reassignments, alter_partition, envelope,
    describe_cluster, broker_registration, broker_heartbeat, unregister_broker, update_features,
    controller_registration, allocate_producer_ids, assign_replicas_to_dirs, quorum_requests.FETCH_METADATA,
    *quorum_requests.FOR_NODES,
)  # fmt: skip


def _advertised(modules: tuple[Api, ...]) -> Mapping[int, tuple[int, int]]:
    return {module.KEY: module.VERSIONS for module in sorted(modules, key=lambda each: each.KEY)}


_DATA_VERSIONS = _advertised(_DATA)
_CONTROLLER_VERSIONS = _advertised(_CONTROLLER)
# Produce 0-2 are advertised for librdkafka's sake and refused (KAFKA-18659).
PRODUCE_ACCEPTED_FROM = 3


def _served(advertised: Mapping[int, tuple[int, int]]) -> Mapping[int, range]:
    served = {key: range(lowest, highest + 1) for key, (lowest, highest) in advertised.items()}
    if produce.KEY in served:
        served[produce.KEY] = range(PRODUCE_ACCEPTED_FROM, served[produce.KEY].stop)
    return served


_DATA_SERVED = _served(_DATA_VERSIONS)
_CONTROLLER_SERVED = _served(_CONTROLLER_VERSIONS)


def advertised(listener: Listener) -> Mapping[int, tuple[int, int]]:
    """API key -> first and last version, in order of key."""
    return _CONTROLLER_VERSIONS if listener is Listener.CONTROLLER else _DATA_VERSIONS


def is_served(key: int, version: int, listener: Listener = Listener.DATA) -> bool:
    """Whether a request of this key and version can be parsed and answered."""
    served = _CONTROLLER_SERVED if listener is Listener.CONTROLLER else _DATA_SERVED
    return version in served.get(key, ())
