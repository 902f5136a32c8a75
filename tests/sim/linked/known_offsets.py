"""The highest offsets that any node of a region has known: what a node has said counts when that arrives, too.

What a process knows stays there until its image changes, or the next process begins: a replica that is removed, and
one that is cut, is known by an image before that. So it is looked up when it is needed, and just before those.
"""

from functools import partial
from typing import NamedTuple

from brokers.ids import Offset, TopicPartition
from tests.sim.linked.federation import Region
from tests.sim.nodes import Node


class Known(NamedTuple):
    """Of one partition."""

    high_watermark: Offset = 0
    log_start: Offset = 0


class KnownOffsets:
    """Of one region, from its first event on."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self._known: dict[TopicPartition, Known] = {}
        for node in region.nodes.values():
            node.on_start = partial(self._learn_all, node)
            node.on_made = partial(self._watch, node)

    def of(self, partition: TopicPartition) -> Known:
        for node in self.region.nodes.values():
            if node.life:
                self._learn(node, partition)
        return self._known.get(partition, Known())

    def _watch(self, node: Node) -> None:
        node.broker.parts.publisher.subscribe(lambda image, delta: self._learn_all(node))

    def _learn_all(self, node: Node) -> None:
        for topic in node.broker.view.image.topics_by_name.values() if node.life else ():
            for partition in topic.each():
                self._learn(node, partition)

    def _learn(self, node: Node, partition: TopicPartition) -> None:
        state = node.broker.view.partition_state(partition)
        if state is not None:
            before = self._known.get(partition, Known())
            self._known[partition] = Known(
                max(before.high_watermark, state.high_watermark),
                max(before.log_start, state.log_start_offset),
            )
