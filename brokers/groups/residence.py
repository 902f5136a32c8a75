"""Which groups are coordinated here: those of the partitions of `__consumer_offsets` that were loaded.

A group stays in the partition that it was found in, whatever its name's hash says since the topic grew.
"""

from collections.abc import Iterable

from brokers.errors import KafkaError, Refusal
from brokers.groups.effects import GroupEffect
from brokers.groups.loading import KeyAndValue, Loading
from brokers.groups.membership import Group
from brokers.groups.placement import partition_for
from brokers.groups.states import State

GROUP_ID_BYTES_MAX = 32_767  # what an older client or the log can be given


class Residence:
    """`groups` holds those of loaded partitions only."""

    def __init__(self, offsets_partitions: int) -> None:
        self.groups: dict[str, Group] = {}
        self._offsets_partitions = offsets_partitions
        self._partitions: dict[int, Loading | None] = {}  # None: loaded

    # --- groups ---

    def require_place(self, group_id: str, *, is_member: bool = False) -> None:
        """Members need a name; offsets of the nameless group are as old as Kafka and allowed."""
        if (is_member and not group_id) or len(group_id.encode()) > GROUP_ID_BYTES_MAX:
            raise Refusal(KafkaError.INVALID_GROUP_ID)
        known = self.groups.get(group_id)
        partition = self.partition_for(group_id) if known is None else known.partition
        if partition not in self._partitions:
            raise Refusal(KafkaError.NOT_COORDINATOR)
        if self._partitions[partition] is not None:
            raise Refusal(KafkaError.COORDINATOR_LOAD_IN_PROGRESS)

    def require(self, group_id: str, missing: KafkaError, *, is_member: bool = False) -> Group:
        """The group, or a refusal: `missing` where there is none."""
        self.require_place(group_id, is_member=is_member)
        group = self.groups.get(group_id)
        if group is None:
            raise Refusal(missing)
        return group

    def create(self, group_id: str) -> Group:
        """A group that nothing is known of yet; `forget_if_blank` has to follow if nothing becomes of it."""
        group = self.groups[group_id] = Group(group_id, self.partition_for(group_id))
        return group

    def forget_if_blank(self, group: Group | None) -> None:
        """A group of which the log holds nothing (any more) ends here."""
        if group is None or not group.is_blank or group.has_record:
            return
        group.state = State.DEAD
        if self.groups.get(group.id) is group:  # else one of that name came with another partition
            del self.groups[group.id]

    # --- partitions ---

    def partition_for(self, group_id: str) -> int:
        return partition_for(group_id, self._offsets_partitions)

    def spread_over(self, partitions: int) -> None:
        self._offsets_partitions = partitions

    @property
    def is_loading(self) -> bool:
        return any(loading is not None for loading in self._partitions.values())

    def start_loading(self, partition: int) -> None:
        is_loaded = partition in self._partitions and self._partitions[partition] is None
        assert not is_loaded, f"{partition} is loaded already"
        self._partitions[partition] = Loading(partition)

    def replay(self, partition: int, records: Iterable[KeyAndValue]) -> None:
        self._loading(partition).replay(records)

    def skip(self, partition: int, why: str) -> None:
        self._loading(partition).skip(why)

    def finish_loading(self, partition: int) -> tuple[list[Group], list[GroupEffect]]:
        """The groups that came, and what could not be read."""
        loading = self._loading(partition)
        self._partitions[partition] = None
        groups = loading.groups()
        self.groups.update((group.id, group) for group in groups)
        return groups, loading.report()

    def unload(self, partition: int) -> list[Group]:
        """The groups that went."""
        self._partitions.pop(partition, None)
        gone = [group for group in self.groups.values() if group.partition == partition]
        for group in gone:
            del self.groups[group.id]
        return gone

    def _loading(self, partition: int) -> Loading:
        loading = self._partitions[partition]
        assert loading is not None, f"{partition} is loaded already"
        return loading
