"""ListPartitionReassignments (key 46): partitions whose replicas are being reassigned (KIP-455). Version 0.

A partition that is not being reassigned, or does not exist, is left out.
"""

from collections.abc import Iterable, Iterator

from brokers.effects import Effect, Reply
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.image.image import Image, TopicImage
from brokers.partition.hosted_partitions import MetadataCache
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.replication import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)

KEY = ApiKey.LIST_PARTITION_REASSIGNMENTS
VERSIONS = (0, 0)


class ListPartitionReassignmentsHandler:
    """Answers ListPartitionReassignments requests."""

    def __init__(self, metadata: MetadataCache) -> None:
        self._metadata = metadata

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, ListPartitionReassignmentsRequest)
        response = ListPartitionReassignmentsResponse(error_message=None)
        for topic, indexes in _asked(self._metadata.image, message):
            ongoing = list(_ongoing(topic, indexes))
            if ongoing:
                response.topics.append(
                    OngoingTopicReassignment(name=topic.name, partitions=ongoing)
                )
        return [Reply(request.ticket, response)]


def _asked(
    image: Image, message: ListPartitionReassignmentsRequest
) -> Iterator[tuple[TopicImage, Iterable[int]]]:
    if message.topics is None:
        for topic in image.topics_by_name.values():
            yield topic, range(len(topic.partitions))
        return
    for asked in message.topics:
        known = image.topics_by_name.get(asked.name)
        if known is not None:
            yield known, sorted({*asked.partition_indexes} & {*range(len(known.partitions))})


def _ongoing(topic: TopicImage, indexes: Iterable[int]) -> Iterator[OngoingPartitionReassignment]:
    for index in indexes:
        partition = topic.partitions[index]
        if partition.is_reassigning:
            yield OngoingPartitionReassignment(
                partition_index=index,
                replicas=list(partition.replicas),
                adding_replicas=list(partition.adding),
                removing_replicas=list(partition.removing),
            )
