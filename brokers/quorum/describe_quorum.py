"""Answers DescribeQuorum: the leader, and how far each replica has fetched from it (KIP-595, 853)."""

from dataclasses import dataclass
from itertools import chain

from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.ids import METADATA_PARTITION, Instant
from brokers.quorum.epoch_states import LeaderState
from brokers.quorum.ids import NO_DIRECTORY, ReplicaKey
from brokers.quorum.progress_tracker import ReplicaProgress
from brokers.quorum.quorum_state import QuorumState
from brokers.quorum.voters import Voter
from brokers.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestTopic,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
    DescribeQuorumResponseTopic,
    QuorumListener,
    QuorumNode,
    QuorumReplicaState,
)

NODES_FROM = DIRECTORIES_FROM = 2


@dataclass(frozen=True, slots=True)
class DescribeQuorumRequests:
    quorum: QuorumState

    def on_request(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, DescribeQuorumRequest)
        response = DescribeQuorumResponse(
            error_message=None,
            topics=[self._topic(topic, request.api_version, now) for topic in message.topics],
            nodes=self._nodes() if request.api_version >= NODES_FROM else [],
        )
        return [Reply(request.ticket, response)]

    def _topic(
        self, topic: DescribeQuorumRequestTopic, version: int, now: Instant
    ) -> DescribeQuorumResponseTopic:
        partitions = [(topic.topic_name, each.partition_index) for each in topic.partitions]
        found = [self._partition(each, now) for each in partitions]
        if version < DIRECTORIES_FROM:
            for replica in chain.from_iterable(map(_replicas, found)):
                replica.replica_directory_id = NO_DIRECTORY
        return DescribeQuorumResponseTopic(topic_name=topic.topic_name, partitions=found)

    def _partition(
        self, partition: tuple[str, int], now: Instant
    ) -> DescribeQuorumResponsePartition:
        index, leader_state = partition[1], self.quorum.leader_state
        if partition != METADATA_PARTITION:
            error = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
            because = f"only {METADATA_PARTITION} has a quorum"
        elif leader_state is None:
            error = KafkaError.NOT_LEADER_OR_FOLLOWER
            because = "another node leads the quorum, or none for the moment"
        else:
            return self._described(leader_state, now)
        return DescribeQuorumResponsePartition(
            partition_index=index, error_code=error, error_message=because
        )

    def _described(
        self, leader_state: LeaderState, now: Instant
    ) -> DescribeQuorumResponsePartition:
        quorum = self.quorum
        voters = quorum.voters.latest
        observers = leader_state.tracker.observers(voters, now)
        return DescribeQuorumResponsePartition(
            error_message=None,
            leader_id=quorum.config.node_id,
            leader_epoch=quorum.leader_epoch,
            high_watermark=quorum.high_watermark,
            current_voters=[self._voter(leader_state, voter, now) for voter in voters],
            observers=[_state(key, progress) for key, progress in observers],
        )

    def _voter(self, leader_state: LeaderState, voter: Voter, now: Instant) -> QuorumReplicaState:
        own, log = self.quorum.config.key, self.quorum.log
        if voter.matches(own) and log is not None:
            return _state(own, ReplicaProgress(log.log_end_offset, now, now))
        return _state(leader_state.tracker.key_of(voter), leader_state.tracker.of(voter))

    def _nodes(self) -> list[QuorumNode]:
        return [
            QuorumNode(
                node_id=voter.id,
                listeners=[
                    QuorumListener(name=name, host=host, port=port)
                    for name, host, port in voter.endpoints
                ],
            )
            for voter in self.quorum.voters.latest
        ]


def _replicas(partition: DescribeQuorumResponsePartition) -> list[QuorumReplicaState]:
    return [*partition.current_voters, *partition.observers]


def _state(key: ReplicaKey, progress: ReplicaProgress) -> QuorumReplicaState:
    return QuorumReplicaState(
        replica_id=key.id,
        replica_directory_id=key.directory,
        log_end_offset=progress.next_offset,
        last_fetch_timestamp=progress.fetched_at,
        last_caught_up_timestamp=progress.caught_up_at,
    )
