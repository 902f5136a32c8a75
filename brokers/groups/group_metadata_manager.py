"""The groups that this node coordinates: those of the loaded partitions of `__consumer_offsets`.

A group stays in the partition from which it was loaded, even if its id hashes to another one since the topic grew.
"""

from brokers.coordinator.effects import CoordinatorEffect
from brokers.errors import KafkaError, Refusal
from brokers.groups.classic_group import ClassicGroup
from brokers.groups.coordinator_loader import GroupLoader
from brokers.groups.group_state import GroupState
from brokers.groups.offsets_partition import partition_for
from brokers.records.raw_records import OpenedBatch

GROUP_ID_BYTES_MAX = 32_767  # of a string in older requests and in the log


class GroupMetadataManager:
    """Kafka's GroupMetadataManager. `groups` holds the groups of loaded partitions only."""

    def __init__(self, offsets_partitions: int) -> None:
        self.groups: dict[str, ClassicGroup] = {}
        self._offsets_partitions = offsets_partitions
        self._partitions: dict[int, GroupLoader | None] = {}  # None: loaded

    # --- groups ---

    def require_coordinator(self, group_id: str, *, is_member: bool = False) -> None:
        """Raises Refusal where this node does not coordinate the group, or is still loading it.

        An empty group id is refused for members, but allowed for offsets, as in Kafka.
        """
        if (is_member and not group_id) or len(group_id.encode()) > GROUP_ID_BYTES_MAX:
            raise Refusal(KafkaError.INVALID_GROUP_ID)
        known = self.groups.get(group_id)
        partition = self.partition_for(group_id) if known is None else known.partition
        if partition not in self._partitions:
            raise Refusal(KafkaError.NOT_COORDINATOR)
        if self._partitions[partition] is not None:
            raise Refusal(KafkaError.COORDINATOR_LOAD_IN_PROGRESS)

    def require(
        self, group_id: str, missing: KafkaError, *, is_member: bool = False
    ) -> ClassicGroup:
        """The group. Raises Refusal as `require_coordinator`, or with `missing` where there is no such group."""
        self.require_coordinator(group_id, is_member=is_member)
        group = self.groups.get(group_id)
        if group is None:
            raise Refusal(missing)
        return group

    def create(self, group_id: str) -> ClassicGroup:
        """A new group; the caller has to call `remove_if_unused` after a request that may have failed."""
        group = self.groups[group_id] = ClassicGroup(group_id, self.partition_for(group_id))
        return group

    def remove_if_unused(self, group: ClassicGroup | None) -> None:
        """Removes a group without members, offsets, appends in flight and group metadata record."""
        if group is None or not group.is_unused or group.has_record:
            return
        group.state = GroupState.DEAD
        if (
            self.groups.get(group.id) is group
        ):  # else a group of that id was loaded with another partition
            del self.groups[group.id]

    # --- partitions ---

    def partition_for(self, group_id: str) -> int:
        return partition_for(group_id, self._offsets_partitions)

    def set_partition_count(self, partitions: int) -> None:
        self._offsets_partitions = partitions

    @property
    def is_loading(self) -> bool:
        return any(loading is not None for loading in self._partitions.values())

    def start_loading(self, partition: int) -> None:
        is_loaded = partition in self._partitions and self._partitions[partition] is None
        assert not is_loaded, f"{partition} is loaded already"
        self._partitions[partition] = GroupLoader(partition)

    def replay(self, partition: int, batch: OpenedBatch) -> None:
        self._loading(partition).replay(batch)

    def skip(self, partition: int, why: str) -> None:
        self._loading(partition).skip(why)

    def finish_loading(self, partition: int) -> tuple[list[ClassicGroup], list[CoordinatorEffect]]:
        """The loaded groups, and a report of records that could not be decoded."""
        loading = self._loading(partition)
        self._partitions[partition] = None
        groups = loading.groups()
        self.groups.update((group.id, group) for group in groups)
        return groups, loading.report()

    def unload(self, partition: int) -> list[ClassicGroup]:
        """The unloaded groups."""
        self._partitions.pop(partition, None)
        unloaded = [group for group in self.groups.values() if group.partition == partition]
        for group in unloaded:
            del self.groups[group.id]
        return unloaded

    def _loading(self, partition: int) -> GroupLoader:
        loading = self._partitions[partition]
        assert loading is not None, f"{partition} is loaded already"
        return loading
