"""What one broker knows of where a topic's records come from: leader epochs of what it leads, decisions, origins."""

from brokers.ids import TopicPartition
from brokers.region import RegionView
from linker.answers import Lineage, TopicPartitionEpochs
from linker.errors import LinkRefusal
from linker.records.decision import all_decisions, in_time
from linker.records.mirror_record import MIRROR_KIND, decode_mirror


def describe_lineage(view: RegionView, topic: str) -> Lineage:
    """Raises LinkRefusal where there is no such topic."""
    image = view.image
    placed = image.topics_by_name.get(topic)
    if placed is None or placed.is_internal:
        because = f"this region has no topic {topic!r}"
        raise LinkRefusal("UNKNOWN_TOPIC_OR_PARTITION", because, hint="check the name")
    document = image.documents.get((MIRROR_KIND, topic))
    record = decode_mirror(topic, document.body) if document is not None else None
    decisions = (one for one in all_decisions(image) if one.topic_id == placed.id)
    return Lineage(
        cluster_id=view.cluster_id,
        mirror_status=record.state.value if record is not None else "",
        origins=record.origins if record is not None else (),
        partitions=tuple(filter(None, (_partition(view, each) for each in placed.each()))),
        decisions=in_time(decisions),
    )


def _partition(view: RegionView, partition: TopicPartition) -> TopicPartitionEpochs | None:
    """None where another broker leads it."""
    state = view.partition_state(partition)
    if state is None or not state.is_serving:
        return None
    return TopicPartitionEpochs(
        partition.partition, state.log_start_offset, state.log_end_offset, state.epochs
    )
