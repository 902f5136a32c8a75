"""The APIs and versions that we advertise, gathered from the files beside this one."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TypeAlias

from brokers.api import (
    alter_configs,
    api_versions,
    create_partitions,
    create_topics,
    delete_groups,
    delete_records,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_quorum,
    describe_topic_partitions,
    fetch,
    find_coordinator,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    list_groups,
    list_offsets,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
    sync_group,
)
from brokers.api.context import Context
from brokers.effects import Effect
from brokers.events import Request
from brokers.ids import Instant

Handle: TypeAlias = Callable[[Context, Request, Instant], list[Effect]]

_MODULES: tuple[ModuleType, ...] = (
    produce,
    fetch,
    list_offsets,
    metadata,
    offset_commit,
    offset_fetch,
    find_coordinator,
    join_group,
    heartbeat,
    leave_group,
    sync_group,
    describe_groups,
    list_groups,
    api_versions,
    create_topics,
    delete_topics,
    delete_records,
    init_producer_id,
    offset_for_leader_epoch,
    describe_configs,
    alter_configs,
    describe_log_dirs,
    create_partitions,
    delete_groups,
    incremental_alter_configs,
    offset_delete,
    describe_quorum,
    describe_cluster,
    describe_producers,
    describe_topic_partitions,
)

ADVERTISED: Mapping[int, tuple[int, int]] = {
    module.KEY: module.VERSIONS for module in sorted(_MODULES, key=lambda module: int(module.KEY))
}
HANDLERS: Mapping[int, Handle] = {module.KEY: module.handle for module in _MODULES}
# Produce 0-2 are advertised for librdkafka's sake and refused (KAFKA-18659).
PRODUCE_ACCEPTED_FROM = 3


def is_served(key: int, version: int) -> bool:
    """Whether a request of this key and version can be parsed and answered."""
    lowest, highest = ADVERTISED.get(key, (0, -1))
    if key == produce.KEY:
        lowest = PRODUCE_ACCEPTED_FROM
    return lowest <= version <= highest
