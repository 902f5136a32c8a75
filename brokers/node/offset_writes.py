"""Group offsets as links write and delete them, in whichever broker of this region coordinates the group."""

from collections.abc import Iterable
from typing import Any, Final

from brokers.config.broker_config import BrokerConfig
from brokers.continuations import Continuations
from brokers.coordinator.runtime import CoordinatorRuntime
from brokers.effects import Effect
from brokers.errors import KafkaError, error_from_code
from brokers.events import Answered
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.groups.requests import DeleteOffsetsResult
from brokers.ids import OFFSETS_TOPIC, Instant, Peer
from brokers.membership.forwarding import ForwardingManager
from brokers.metadata.commands.topic_commands import CreateTopics
from brokers.metadata.log.raft_manager import RaftManager
from brokers.metadata.topics.topic_creation import internal_topic
from brokers.node.group_states import coordinator_of
from brokers.region import CommitOffsets, DeleteOffsets, OffsetsPlaced
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)

CHANNEL: Final = "links"  # of connections to other brokers of this region
COMMIT_VERSION: Final = 9  # the last that names topics
DELETE_VERSION: Final = 0
TIMEOUT_MS: Final = 5_000
# Of a group that has members; the second, of one that reads the topic.
_IN_USE: Final = (KafkaError.UNKNOWN_MEMBER_ID, KafkaError.GROUP_SUBSCRIBED_TO_TOPIC)
# There is nothing to delete.
_GONE: Final = (KafkaError.GROUP_ID_NOT_FOUND, KafkaError.UNKNOWN_TOPIC_OR_PARTITION)


class OffsetWrites:
    """Of one node."""

    def __init__(
        self,
        config: BrokerConfig,
        raft: RaftManager,
        forwarding: ForwardingManager,
        continuations: Continuations,
        groups: CoordinatorRuntime[GroupCoordinator],
    ) -> None:
        self._config = config
        self._raft = raft
        self._forwarding = forwarding
        self._continuations = continuations
        self._groups = groups

    def commit(self, event: CommitOffsets, now: Instant) -> list[Effect]:
        """A link's first commit creates `__consumer_offsets`, as a consumer's first FindCoordinator does."""
        if OFFSETS_TOPIC in self._raft.image.topics_by_name:
            return self._commit_now(event, now)
        command = CreateTopics((internal_topic(OFFSETS_TOPIC, self._config),))
        return self._forwarding.submit(command, lambda _, at: self._commit_now(event, at), now)

    def _commit_now(self, event: CommitOffsets, now: Instant) -> list[Effect]:
        peer = coordinator_of(self._raft.image, event.group)
        if peer is not None and peer.node_id != self._config.node_id:
            return self._commit_at(peer, event)
        ticket, groups = event.ticket, self._groups
        groups.on_answer(ticket, lambda answer: OffsetsPlaced(ticket, answer.error))
        committing = groups.coordinator.commit_from_link(ticket, event.group, event.offsets, now)
        return groups.run(committing, now)

    def _commit_at(self, peer: Peer, event: CommitOffsets) -> list[Effect]:
        """As an OffsetCommit of a consumer without a group would."""

        def answered(answer: Answered, now: Instant) -> list[Any]:
            return [OffsetsPlaced(event.ticket, _commit_error(answer.message))]

        request = _commit_request(event)
        return self._continuations.ask(
            peer, CHANNEL, ApiKey.OFFSET_COMMIT, COMMIT_VERSION, request, TIMEOUT_MS, answered
        )

    def delete(self, event: DeleteOffsets, now: Instant) -> list[Effect]:
        """As OffsetDelete, but a group that has members keeps everything."""
        peer = coordinator_of(self._raft.image, event.group)
        if peer is not None and peer.node_id != self._config.node_id:
            return self._delete_at(peer, event)
        ticket, groups = event.ticket, self._groups
        if groups.coordinator.is_active(event.group):
            in_use: list[Any] = [OffsetsPlaced(ticket, KafkaError.NON_EMPTY_GROUP)]
            return in_use
        groups.on_answer(ticket, lambda answer: OffsetsPlaced(ticket, _delete_error(answer)))
        deleting = groups.coordinator.delete_offsets(ticket, event.group, event.partitions, now)
        return groups.run(deleting, now)

    def _delete_at(self, peer: Peer, event: DeleteOffsets) -> list[Effect]:
        def answered(answer: Answered, now: Instant) -> list[Any]:
            return [OffsetsPlaced(event.ticket, _delete_error_of(answer.message))]

        request = _delete_request(event)
        return self._continuations.ask(
            peer, CHANNEL, ApiKey.OFFSET_DELETE, DELETE_VERSION, request, TIMEOUT_MS, answered
        )


def _commit_request(event: CommitOffsets) -> OffsetCommitRequest:
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for partition, committed in event.offsets.items():
        topics.setdefault(partition.topic, []).append(
            OffsetCommitRequestPartition(
                partition_index=partition.partition,
                committed_offset=committed.offset,
                committed_leader_epoch=committed.leader_epoch,
                committed_metadata=committed.metadata,
            )
        )
    return OffsetCommitRequest(
        group_id=event.group,
        generation_id_or_member_epoch=-1,
        topics=[
            OffsetCommitRequestTopic(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
    )


def _commit_error(response: object) -> KafkaError:
    """The first error of any partition. A group that has members does not know who commits."""
    if not isinstance(response, OffsetCommitResponse):
        return KafkaError.COORDINATOR_NOT_AVAILABLE
    errors = (each.error_code for topic in response.topics for each in topic.partitions)
    error = error_from_code(next(filter(None, errors), 0))
    return KafkaError.NON_EMPTY_GROUP if error in _IN_USE else error


def _delete_request(event: DeleteOffsets) -> OffsetDeleteRequest:
    topics: dict[str, list[OffsetDeleteRequestPartition]] = {}
    for partition in event.partitions:
        item = OffsetDeleteRequestPartition(partition_index=partition.partition)
        topics.setdefault(partition.topic, []).append(item)
    return OffsetDeleteRequest(
        group_id=event.group,
        topics=[
            OffsetDeleteRequestTopic(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
    )


def _delete_error(answer: DeleteOffsetsResult) -> KafkaError:
    return _first((answer.error, *answer.errors.values()))


def _delete_error_of(response: object) -> KafkaError:
    if not isinstance(response, OffsetDeleteResponse):
        return KafkaError.COORDINATOR_NOT_AVAILABLE
    each = (one.error_code for topic in response.topics for one in topic.partitions)
    return _first(error_from_code(code) for code in (response.error_code, *each))


def _first(errors: Iterable[KafkaError]) -> KafkaError:
    """The first that says more than that there was nothing to delete."""
    wrong = (one for one in errors if one is not KafkaError.NONE and one not in _GONE)
    error = next(wrong, KafkaError.NONE)
    return KafkaError.NON_EMPTY_GROUP if error in _IN_USE else error
