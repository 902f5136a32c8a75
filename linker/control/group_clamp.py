"""Group offsets at a cut or a truncation: those past the end of the topic's data are moved back to it (P6).

A link commits nothing beyond what the mirror holds, but a power failure may lose data that was not synced and keep the
offset. A mirror that goes on copies that data again; one that is cut does not.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TypeAlias

from brokers.effects import Changed
from brokers.errors import KafkaError
from brokers.ids import Instant, Offset, OffsetAndMetadata, TopicPartition
from brokers.region import CommitOffsets, OffsetsPlaced
from linker.region_client import Effects, RegionClient

STAMP_NOW = -1  # the region's own clock is the time of the commit

# Receives why it could not be done, for the operator; empty if it was done.
Clamped: TypeAlias = Callable[[str, Instant], Effects]
Offsets: TypeAlias = Mapping[TopicPartition, OffsetAndMetadata]


def clamp(committed: Offset, log_start_offset: Offset, end: Offset) -> Offset:
    """KIP-1279's formula: an offset from the log start to the end of the mirror's data."""
    return max(log_start_offset, min(committed, end))


class GroupClamp:
    """One attempt to move back the group offsets past the data of one topic.

    `ends` are the ends of the data, by partition. A group that has members in this region is left as it is, for they
    have read that far; with `waits_for_members` it is waited for. Where it `removes` what lies beyond, every group of
    the topic that has members is, wherever it stands, and also where it has committed nothing: they may have read more
    than they have committed.
    """

    def __init__(
        self,
        region: RegionClient,
        topic: str,
        ends: tuple[Offset, ...],
        done: Clamped,
        *,
        waits_for_members: bool = False,
        removes: bool = False,
    ) -> None:
        self._region = region
        self._topic = topic
        self._ends = ends
        self._done = done
        self._waits_for_members = waits_for_members
        self._removes = removes
        self._missing: dict[str, None] = {}
        self._refused: list[str] = []

    def begin(self, now: Instant) -> Effects:
        if not self._region.view.groups_are_known():
            return self._done("the offsets of some groups cannot be read", now)
        in_use = set(self._in_use())
        self._refused += [_in_use(group) for group in sorted(in_use)]
        beyond = {group: found for group, found in self._past_the_end() if group not in in_use}
        self._missing.update(dict.fromkeys(beyond))
        if not beyond:
            return self._done(", ".join(self._refused), now)
        return [self._commit(group, found) for group, found in beyond.items()]

    @property
    def is_due(self) -> bool:
        """Whether there is anything to move back, or anybody to wait for."""
        found = next(self._past_the_end(), None) is not None
        return found or next(self._in_use(), None) is not None

    def _in_use(self) -> Iterator[str]:
        """Groups with members that may have read what will be removed."""
        if self._removes:
            yield from self._region.view.active_readers(self._topic)

    def _past_the_end(self) -> Iterator[tuple[str, Offsets]]:
        """Groups, with what they have to be moved to."""
        view = self._region.view
        for group in view.groups_with_offsets():
            beyond = self._beyond(view.group_offsets(group))
            if beyond:
                yield group, beyond

    def _beyond(self, offsets: Offsets) -> Offsets:
        """The offsets past the data of their partitions, each as it has to be."""
        moved = {}
        for partition, committed in offsets.items():
            if partition.topic != self._topic or partition.partition >= len(self._ends):
                continue
            target = self._bound(partition, committed.offset)
            if target < committed.offset:
                moved[partition] = committed._replace(
                    offset=target, leader_epoch=-1, committed_at=STAMP_NOW
                )
        return moved

    def _bound(self, partition: TopicPartition, committed: Offset) -> Offset:
        """A crash after the cut may have lost more data. What is not led here is assumed to end at the cut."""
        state = self._region.view.partition_state(partition)
        end = self._ends[partition.partition]
        if state is None or not state.is_serving:
            return min(committed, end)
        return clamp(committed, state.log_start_offset, min(end, state.log_end_offset))

    def _commit(self, group: str, offsets: Offsets) -> object:
        return self._region.ask(
            lambda ticket: CommitOffsets(ticket, group, offsets), partial(self._on_placed, group)
        )

    def _on_placed(self, group: str, answer: OffsetsPlaced, now: Instant) -> Effects:
        del self._missing[group]
        effects: Effects = []
        if answer.error is KafkaError.NON_EMPTY_GROUP and self._waits_for_members:
            self._refused.append(_in_use(group))
        elif answer.error is KafkaError.NON_EMPTY_GROUP:
            because = "it has members here, which go by what they have read"
            effects.append(Changed(f"group {group}", f"stands past {self._topic}", because))
        elif answer.error is not KafkaError.NONE:
            self._refused.append(f"group {group}: {answer.error.name}")
        if self._missing:
            return effects
        return effects + self._done(", ".join(self._refused), now)


def _in_use(group: str) -> str:
    return f"CONSUMER_GROUP_IN_USE_ERROR: group {group} has members here: stop them"
