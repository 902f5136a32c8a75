"""Checks whether a follower may fetch a partition from this node, and whether its log diverges."""

from brokers.errors import KafkaError, Refusal
from brokers.ids import TopicPartition
from brokers.partition.leadership import Leadership
from brokers.partition.replica import Replica
from brokers.replication.fetch_sessions import CachedPartition, FetchSession
from brokers.replication.host import Host
from brokers.wire.messages.fetch import EpochEndOffset, FetchPartition


def replica_for_fetch(host: Host, cached: CachedPartition) -> Replica:
    """The replica to read from. Raises `Refusal` if the follower must not."""
    fetch, session = cached.fetch, cached.session
    topic = host.image.topics_by_id.get(cached.topic_id)
    if topic is None:
        cached.watch(None)
        raise Refusal(KafkaError.UNKNOWN_TOPIC_ID)
    cached.partition = TopicPartition(topic.name, fetch.partition)
    replica = host.partitions.get(cached.partition)
    cached.watch(replica)
    if replica is None:
        raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER)
    replica.require_leader_epoch(fetch.current_leader_epoch)
    replica.require_leader()
    replica.require_log()
    _require_replica(host, replica, session)
    return replica


def _require_replica(host: Host, replica: Replica, session: FetchSession) -> None:
    """Raises `Refusal` for a broker that has no replica, and for a stale broker epoch (KIP-903): the image, or a
    fetch of the broker, has a later one.
    """
    broker = host.image.brokers.get(session.replica_id)
    state = require_leadership(replica).isr_state.followers.get(session.replica_id)
    was_another = any(
        known is not None and known.broker_epoch > session.broker_epoch >= 0
        for known in (broker, state)
    )
    if was_another or state is None:
        because = f"broker {session.replica_id} holds no replica of {replica.partition}"
        raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER, because)


def require_leadership(replica: Replica) -> Leadership:
    """The leadership of the replica; raises `Refusal` where this node does not lead it."""
    if replica.leadership is None:
        raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER)
    return replica.leadership


def diverging_epoch(replica: Replica, fetch: FetchPartition) -> EpochEndOffset | None:
    """Where a follower's log, or what a consumer has read, diverges from this log; None if it does not. Raises
    `Refusal` where the fetch offset is outside of this log.

    Of an epoch that is older than all that the leader knows, the leader has nothing: it ends at the log start. In a
    compacted log the first known one may begin above, as it was copied when nothing was left of the epochs before.
    """
    log = replica.require_log()
    if fetch.last_fetched_epoch >= 0:
        epoch, end = log.epochs.end_offset_for(fetch.last_fetched_epoch, log.log_end_offset)
        if log.epochs.entries and epoch < log.epochs.entries[0][0]:
            end = min(end, log.log_start_offset)
        if epoch < 0 or fetch.fetch_offset < log.log_start_offset:
            raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE)
        if epoch < fetch.last_fetched_epoch or end < fetch.fetch_offset:
            return EpochEndOffset(epoch=epoch, end_offset=end)
    if not log.log_start_offset <= fetch.fetch_offset <= log.log_end_offset:
        raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE)
    return None
