"""What a destination cannot mirror whose release is from before compacted topics: it takes gaps for losses.

It is not told that a topic is compacted, for it would give its mirror up; the topic's data it does not get. Its mirror
waits, says why, and goes on once the destination is upgraded.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from brokers.ids import TopicPartition
from brokers.region import RegionView
from linker.config_values import CLEANUP_POLICY
from linker.frames import Subscribe, TopicState

COMPACTED = (
    "the topic is compacted, and the destination runs a release that cannot mirror that: upgrade it"
)
_GAPS = (
    "compaction has removed records of the topic, and the destination runs a release that takes that for a loss:"
    " upgrade it"
)


def refusal(view: RegionView, frame: Subscribe) -> str:
    """Why what it asks for cannot be sent; empty if it can."""
    if is_compacted(view, frame.partition.topic):
        return COMPACTED
    state = view.partition_state(frame.partition)
    if state is None or frame.from_latest:
        return ""
    return _GAPS if state.complete_from > max(frame.offset, state.log_start_offset) else ""


def is_compacted(view: RegionView, topic: str) -> bool:
    return topic in view.image.topics_by_name and "compact" in view.topic_config(
        topic, CLEANUP_POLICY
    )


def compacted_partitions(view: RegionView, topics: Iterable[str]) -> Iterator[TopicPartition]:
    """Of those of the topics that are compacted now."""
    for topic in topics:
        if is_compacted(view, topic):
            count = len(view.image.topics_by_name[topic].partitions)
            yield from (TopicPartition(topic, index) for index in range(count))


def shown(state: TopicState) -> TopicState:
    """What it is told of a topic."""
    if "compact" not in state.configs.get(CLEANUP_POLICY, ""):
        return state
    others = {name: value for name, value in state.configs.items() if name != CLEANUP_POLICY}
    return replace(state, configs=others)
