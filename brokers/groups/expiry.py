"""Forgetting offsets: those that outlived their time (KIP-211), and those of deleted topics.

A group's offsets die `offsets.retention.minutes` after it became empty, a standalone consumer's that long after their
commit, and those of a living group only for topics that it no longer subscribes to.
"""

from collections.abc import Callable, Iterable, Iterator

from brokers.groups.config import GroupConfig
from brokers.groups.deletion import end_of
from brokers.groups.effects import GroupEffect
from brokers.groups.journal import Journal
from brokers.groups.membership import Group
from brokers.groups.offsets import tombstones
from brokers.groups.residence import Residence
from brokers.groups.states import State
from brokers.groups.subscription import CONSUMER
from brokers.ids import Instant, OffsetAndMetadata, TopicPartition
from brokers.timers import Timers


class Expiry:
    """Looks at every group every `offsets.retention.check.interval.ms`, once begun."""

    def __init__(
        self, config: GroupConfig, timers: Timers, journal: Journal, residence: Residence
    ) -> None:
        self._config = config
        self._timers = timers
        self._journal = journal
        self._residence = residence
        self._has_begun = False

    def begin(self, now: Instant) -> None:
        if not self._has_begun:
            self._has_begun = True
            self._timers.set(now + self._config.expiry_interval_ms, self._look)

    def _look(self, now: Instant) -> list[GroupEffect]:
        effects: list[GroupEffect] = []
        for group in list(self._residence.groups.values()):
            self._residence.forget_if_blank(group)
            if group.state is not State.DEAD:
                effects += self._look_at(group, now)
        self._timers.set(now + self._config.expiry_interval_ms, self._look)
        return effects

    def _look_at(self, group: Group, now: Instant) -> list[GroupEffect]:
        """An empty group ends with its last offset."""
        if group.appends_in_flight:
            return []  # a commit on its way must not meet a tombstone that was decided before it
        doomed = list(expired(group, now, self._config))
        is_over = group.state is State.EMPTY and not group.pending
        if is_over and len(doomed) == len(group.offsets):
            return self._journal.append(group, end_of(group, self._journal))
        return self._journal.append(group, tombstones(group.id, doomed)) if doomed else []

    def on_topics_deleted(self, topics: Iterable[str]) -> list[GroupEffect]:
        """Also what is still on its way into the log."""
        names = frozenset(topics)
        effects: list[GroupEffect] = []
        for group in self._residence.groups.values() if names else ():
            known = (*group.offsets, *self._journal.offsets_in_flight(group))
            doomed = [partition for partition in known if partition.topic in names]
            if doomed:
                effects += self._journal.append(group, tombstones(group.id, doomed))
        return effects


def expired(group: Group, now: Instant, config: GroupConfig) -> Iterator[TopicPartition]:
    """Partitions whose offset has outlived its time."""
    if not group.offsets:
        return
    is_unread = _unread(group)
    for partition, committed in group.offsets.items():
        if not is_unread(partition.topic):
            continue
        until = group.expiries.get(partition)
        if until is None:
            until = _counts_from(group, committed) + config.offsets_retention_ms
        if now >= until:
            yield partition


def _unread(group: Group) -> Callable[[str], bool]:
    """Whether nobody in the group reads a topic; Kafka can only tell of stable groups of consumers."""
    if group.state is State.EMPTY or group.protocol_type is None:
        return lambda topic: True
    if group.state is not State.STABLE or group.protocol_type != CONSUMER:
        return lambda topic: False
    is_read = group.readership()
    return lambda topic: not is_read(topic)


def _counts_from(group: Group, committed: OffsetAndMetadata) -> Instant:
    """A commit that an administrator makes for an empty group counts from then."""
    if group.state is not State.EMPTY or group.protocol_type is None or group.state_since is None:
        return committed.committed_at
    return max(group.state_since, committed.committed_at)
