"""Deletes expired offsets (KIP-211), and offsets of deleted topics.

Offsets expire `offsets.retention.minutes` after their group became empty, those of a standalone consumer that long
after their commit. Offsets of a group with members expire only for topics to which it no longer subscribes.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from brokers.coordinator.effects import CoordinatorEffect
from brokers.groups.classic_group import ClassicGroup
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.consumer_protocol import CONSUMER_PROTOCOL_TYPE
from brokers.groups.deletion import group_tombstones
from brokers.groups.group_appends import GroupAppends
from brokers.groups.group_metadata_manager import GroupMetadataManager
from brokers.groups.group_state import GroupState
from brokers.groups.offset_commits import tombstones
from brokers.ids import Instant, TopicPartition
from brokers.timers import Timers

OFFSETS_A_STEP = 5_000  # a few milliseconds


class OffsetExpiration:
    """Kafka's cleanupExpiredOffsets: checks every group every `offsets.retention.check.interval.ms`, once started."""

    def __init__(
        self,
        config: GroupCoordinatorConfig,
        timers: Timers,
        appends: GroupAppends,
        manager: GroupMetadataManager,
    ) -> None:
        self._config = config
        self._timers = timers
        self._appends = appends
        self._manager = manager
        self._is_started = False
        self._unchecked: deque[ClassicGroup] = deque()

    def start(self, now: Instant) -> None:
        if not self._is_started:
            self._is_started = True
            self._timers.set(now + self._config.expiry_interval_ms, self._check_all)

    def _check_all(self, now: Instant) -> list[CoordinatorEffect]:
        self._unchecked = deque(self._manager.groups.values())
        return self._check_some(now)

    def _check_some(self, now: Instant) -> list[CoordinatorEffect]:
        """In steps, between which the node does other things."""
        effects: list[CoordinatorEffect] = []
        checked = 0
        while self._unchecked and checked < OFFSETS_A_STEP:
            group = self._unchecked.popleft()
            checked += 1 + len(group.offsets)
            self._manager.remove_if_unused(group)
            if self._manager.groups.get(group.id) is group:
                effects += self._check(group, now)
        if self._unchecked:
            self._timers.set(now, self._check_some)
        else:
            self._timers.set(now + self._config.expiry_interval_ms, self._check_all)
        return effects

    def _check(self, group: ClassicGroup, now: Instant) -> list[CoordinatorEffect]:
        """An empty group is deleted with its last offset."""
        if group.records_in_flight:
            return []  # else a tombstone decided now could follow a newer commit
        to_delete = list(expired(group, now, self._config))
        is_removable = group.state is GroupState.EMPTY and not group.pending_members
        if is_removable and len(to_delete) == len(group.offsets):
            return self._appends.append(group, group_tombstones(group))
        return self._appends.append(group, tombstones(group.id, to_delete)) if to_delete else []

    def on_topics_deleted(self, topics: Iterable[str]) -> list[CoordinatorEffect]:
        """Also deletes offsets whose commit is still in flight."""
        names = frozenset(topics)
        effects: list[CoordinatorEffect] = []
        for group in self._manager.groups.values() if names else ():
            in_flight = [each for each in group.offsets_in_flight() if each.topic in names]
            to_delete = [*group.offsets.within(names), *in_flight]
            if to_delete:
                effects += self._appends.append(group, tombstones(group.id, to_delete))
        return effects


def expired(
    group: ClassicGroup, now: Instant, config: GroupCoordinatorConfig
) -> Iterator[TopicPartition]:
    """Partitions whose offset has expired."""
    if not group.offsets:
        return
    is_unsubscribed = _unsubscribed(group)
    for partition, committed_at, until in group.offsets.times():
        if not is_unsubscribed(partition.topic):
            continue
        if until is None:
            until = _retention_start(group, committed_at) + config.offsets_retention_ms
        if now >= until:
            yield partition


def _unsubscribed(group: ClassicGroup) -> Callable[[str], bool]:
    """Whether no member subscribes to a topic; as in Kafka, known only of stable groups of the consumer protocol."""
    if group.state is GroupState.EMPTY or group.protocol_type is None:
        return lambda topic: True
    if group.state is not GroupState.STABLE or group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        return lambda topic: False
    is_read = group.topic_filter()
    return lambda topic: not is_read(topic)


def _retention_start(group: ClassicGroup, committed_at: Instant) -> Instant:
    """When the group became empty, or the commit time if later: an administrator may commit for an empty group."""
    if (
        group.state is not GroupState.EMPTY
        or group.protocol_type is None
        or group.state_timestamp is None
    ):
        return committed_at
    return max(group.state_timestamp, committed_at)
