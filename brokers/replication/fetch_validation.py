"""Whether a follower may read here, and whether what it has is a beginning of what we have."""

from brokers.errors import KafkaError, Refusal
from brokers.ids import TopicPartition
from brokers.partition.leadership import Leadership
from brokers.partition.replica import Replica
from brokers.replication.fetch_sessions import CachedPartition, FetchSession
from brokers.replication.host import Host
from brokers.wire.messages.fetch import EpochEndOffset, FetchPartition


def replica_for_fetch(host: Host, tracked: CachedPartition) -> Replica:
    """The replica to read from; raises `Refusal` where a follower must not."""
    asked, session = tracked.asked, tracked.session
    topic = host.image.topics_by_id.get(tracked.topic_id)
    if topic is None:
        tracked.watch(None)
        raise Refusal(KafkaError.UNKNOWN_TOPIC_ID)
    tracked.partition = TopicPartition(topic.name, asked.partition)
    replica = host.partitions.get(tracked.partition)
    tracked.watch(replica)
    if replica is None:
        raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER)
    replica.require_leader_epoch(asked.current_leader_epoch)
    replica.require_leader()
    replica.require_log()
    _require_replica(host, replica, session)
    return replica


def _require_replica(host: Host, replica: Replica, session: FetchSession) -> None:
    """Refuses brokers that hold none of it, and those that are not who they were (KIP-903): the image tells, or a later
    life of theirs has asked already.
    """
    broker = host.image.brokers.get(session.replica_id)
    state = require_leadership(replica).progress.followers.get(session.replica_id)
    was_another = any(
        known is not None and known.broker_epoch > session.broker_epoch >= 0
        for known in (broker, state)
    )
    if was_another or state is None:
        because = f"broker {session.replica_id} holds no replica of {replica.partition}"
        raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER, because)


def require_leadership(replica: Replica) -> Leadership:
    """Refuses where there are no followers."""
    if replica.leadership is None:
        raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER)
    return replica.leadership


def diverging_epoch(replica: Replica, asked: FetchPartition) -> EpochEndOffset | None:
    """Where a follower's history parts from ours, if it does; raises `Refusal` where it stands on none of it."""
    log = replica.require_log()
    if asked.last_fetched_epoch >= 0:
        epoch, end = log.epochs.end_offset_for(asked.last_fetched_epoch, log.log_end_offset)
        if epoch < 0 or asked.fetch_offset < log.log_start_offset:
            raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE)
        if epoch < asked.last_fetched_epoch or end < asked.fetch_offset:
            return EpochEndOffset(epoch=epoch, end_offset=end)
    if not log.log_start_offset <= asked.fetch_offset <= log.log_end_offset:
        raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE)
    return None
