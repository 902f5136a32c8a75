"""OffsetFetch (key 9): how far groups have read.

Versions 1-10; null topics mean all since 2, 8 asks for many groups at once (KIP-709), 10 names topics by id.
RequireStable (7) is always met: without transactions no offset is pending. Member and epoch (9) fence members of
KIP-848 groups, which do not exist here; Kafka does not look at them for classic groups.
"""

from collections.abc import Iterator

from brokers.api.ports import Groups
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.ids import Instant, OffsetAndMetadata, TopicPartition
from brokers.partition.hosted_partitions import MetadataCache
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_offsets import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

KEY = ApiKey.OFFSET_FETCH
VERSIONS = (1, 10)
GROUP_ERROR_FROM = 2
MANY_GROUPS_FROM = 8
TOPIC_IDS_FROM = 10
NOTHING = OffsetAndMetadata(-1)


class OffsetFetchHandler:
    """Answers OffsetFetch requests."""

    def __init__(self, metadata: MetadataCache, groups: Groups) -> None:
        self._metadata = metadata
        self._groups = groups

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, OffsetFetchRequest)
        version = request.api_version
        if version >= MANY_GROUPS_FROM:
            groups = [self._fetch(group, version) for group in message.groups]
            return [Reply(request.ticket, OffsetFetchResponse(groups=groups))]
        return [Reply(request.ticket, self._single(message, version))]

    def _fetch(self, asked: OffsetFetchRequestGroup, version: int) -> OffsetFetchResponseGroup:
        if asked.topics is None:
            topics, partitions = None, None
        else:
            topics = [(self._name(topic, version), topic) for topic in asked.topics]
            partitions = [
                TopicPartition(name, index)
                for name, topic in topics
                if name is not None
                for index in topic.partition_indexes
            ]
        fetched = self._groups.coordinator.fetch_offsets(asked.group_id, partitions)
        response = OffsetFetchResponseGroup(group_id=asked.group_id, error_code=fetched.error)
        if fetched.error:
            return response
        if topics is None:
            known = {name: offset for name, offset in fetched.offsets.items() if offset is not None}
            response.topics = list(self._everything(known, version))
            return response
        for name, topic in topics:
            item = OffsetFetchResponseTopics(name=topic.name, topic_id=topic.topic_id)
            for index in topic.partition_indexes:
                if name is None:
                    item.partitions.append(_unknown_id(index))
                else:
                    found = fetched.offsets[TopicPartition(name, index)]
                    item.partitions.append(_partition(index, found or NOTHING))
            response.topics.append(item)
        return response

    def _name(self, topic: OffsetFetchRequestTopics, version: int) -> str | None:
        if version < TOPIC_IDS_FROM:
            return topic.name
        known = self._metadata.image.topics_by_id.get(topic.topic_id)
        return None if known is None else known.name

    def _everything(
        self, offsets: dict[TopicPartition, OffsetAndMetadata], version: int
    ) -> Iterator[OffsetFetchResponseTopics]:
        topics: dict[str, OffsetFetchResponseTopics] = {}
        for (name, index), committed in offsets.items():
            if name not in topics:
                topics[name] = OffsetFetchResponseTopics(name=name)
            topics[name].partitions.append(_partition(index, committed))
        for name, topic in topics.items():
            known = self._metadata.image.topics_by_name.get(name)
            if known is not None:
                topic.topic_id = known.id
            elif version >= TOPIC_IDS_FROM:
                continue  # a topic without an id cannot be named
            yield topic

    def _single(self, message: OffsetFetchRequest, version: int) -> OffsetFetchResponse:
        """One group, in the layout of versions 1-7; version 1 has no place for an error but the partitions."""
        asked = OffsetFetchRequestGroup(
            group_id=message.group_id,
            topics=None
            if message.topics is None
            else [
                OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
                for topic in message.topics
            ],
        )
        fetched = self._fetch(asked, version)
        if fetched.error_code and version < GROUP_ERROR_FROM:
            for topic in asked.topics or ():
                refused = OffsetFetchResponseTopics(name=topic.name)
                for index in topic.partition_indexes:
                    partition = _partition(index, NOTHING)
                    partition.error_code = fetched.error_code
                    refused.partitions.append(partition)
                fetched.topics.append(refused)
        return OffsetFetchResponse(
            error_code=fetched.error_code,
            topics=[
                OffsetFetchResponseTopic(
                    name=topic.name,
                    partitions=[
                        OffsetFetchResponsePartition(
                            partition_index=item.partition_index,
                            committed_offset=item.committed_offset,
                            committed_leader_epoch=item.committed_leader_epoch,
                            metadata=item.metadata,
                            error_code=item.error_code,
                        )
                        for item in topic.partitions
                    ],
                )
                for topic in fetched.topics
            ],
        )


def _partition(index: int, committed: OffsetAndMetadata) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
    )


def _unknown_id(index: int) -> OffsetFetchResponsePartitions:
    unknown = _partition(index, NOTHING)
    unknown.error_code = KafkaError.UNKNOWN_TOPIC_ID
    return unknown
