"""Beacons of a reversal: sent once all of a topic that this broker serves on a stream is committed to its end.

The topic is read-only then, so nothing follows: a destination that holds all this, in the leader epochs of now, holds
everything that a producer was or will be told of.
"""

from dataclasses import dataclass, field
from typing import Final

from brokers.ids import LeaderEpoch, Offset, TopicPartition
from linker.data.source_replicator import SourceReplicator
from linker.region_client import RegionClient

NONCES_MAX: Final = 100  # of one topic


@dataclass(slots=True)
class _Asked:
    """From which offset of the metadata log on nobody writes the topic, and who asked."""

    metadata_offset: Offset
    nonces: list[int] = field(default_factory=list)


class DrainedBeacons:
    """Of one stream, on the source's side. `due` after whatever may have moved a partition on."""

    def __init__(self, region: RegionClient, source: SourceReplicator) -> None:
        self._region = region
        self._source = source
        self._asked: dict[str, _Asked] = {}

    def ask(self, nonce: int, topic: str, metadata_offset: Offset) -> list[int]:
        """The nonces of the beacons that can be sent now."""
        asked = self._asked.setdefault(topic, _Asked(metadata_offset))
        asked.metadata_offset = max(asked.metadata_offset, metadata_offset)
        asked.nonces = [*asked.nonces, nonce][-NONCES_MAX:]
        return self._due(topic)

    def advanced(self, partition: TopicPartition) -> list[int]:
        """The partition's log moved."""
        return self._due(partition.topic) if partition.topic in self._asked else []

    def due(self) -> list[int]:
        """The region's metadata changed."""
        return [nonce for topic in list(self._asked) for nonce in self._due(topic)]

    def _due(self, topic: str) -> list[int]:
        if not self._is_drained(topic, self._asked[topic].metadata_offset):
            return []
        return self._asked.pop(topic).nonces

    def _is_drained(self, topic: str, metadata_offset: Offset) -> bool:
        image = self._region.view.image
        placed = image.topics_by_name.get(topic)
        found = placed.each() if placed is not None else ()
        subscribed = [each for each in found if each in self._source.subscribed]
        if placed is None or not subscribed:
            return True  # nothing follows on this stream
        if image.next_offset < metadata_offset or placed.writer is None:
            return False
        return all(
            self._is_committed(each, placed.partitions[each.partition].leader_epoch)
            for each in subscribed
        )

    def _is_committed(self, partition: TopicPartition, leader_epoch: LeaderEpoch) -> bool:
        """`leader_epoch` of the metadata: the log knows the topic's writer since then."""
        state = self._region.view.partition_state(partition)
        if state is None or not state.is_serving:
            return True  # its subscription ends; whoever serves it next is asked anew
        return state.leader_epoch == leader_epoch and state.high_watermark >= state.log_end_offset
