"""The status of every replica of a partition, from its leader, for operators who move replicas."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from brokers.ids import BrokerId, Instant, Offset
from brokers.metadata.image.image import PartitionImage
from brokers.partition.remote_replica import NEVER, RemoteReplica
from brokers.partition.replica import Replica

UNKNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStatus:
    """One replica. Offsets, records and milliseconds are -1 where its leader does not know them.

    `is_eligible`: it joins the in-sync set once it has caught up. `is_caught_up`: it has everything, or had
    it within `replica.lag.time.max.ms`. `caught_up_ms`: how long ago it had everything; `fetched_ms`: how long ago
    it fetched. `lag`: the number of records that it lacks.
    """

    broker: BrokerId
    is_leader: bool = False
    is_observer: bool = False
    is_eligible: bool
    is_in_sync: bool
    is_caught_up: bool = False
    caught_up_ms: int = UNKNOWN
    fetched_ms: int = UNKNOWN
    log_start_offset: Offset = UNKNOWN
    log_end_offset: Offset = UNKNOWN
    lag: int = UNKNOWN


def replica_statuses(
    replica: Replica,
    image: PartitionImage,
    is_active: Callable[[BrokerId], bool],
    lag_ms_max: int,
    now: Instant,
) -> tuple[ReplicaStatus, ...]:
    """All replicas of a partition that is led here, observers too, in the order of their assignment."""
    end = UNKNOWN if replica.log is None else replica.log.log_end_offset
    followers = {} if replica.leadership is None else replica.leadership.isr_state.followers
    found = []
    for broker in image.replicas:
        named = ReplicaStatus(
            broker=broker,
            is_observer=broker in image.all_observers,
            is_eligible=broker not in image.observers and is_active(broker),
            is_in_sync=broker in image.isr,
        )
        if broker == image.leader:
            named = _leading(named, replica)
        elif broker in followers:
            named = _following(named, followers[broker], end, lag_ms_max, now)
        found.append(named)
    return tuple(found)


def _leading(named: ReplicaStatus, replica: Replica) -> ReplicaStatus:
    log = replica.log
    if log is None:
        return replace(named, is_leader=True)
    return replace(
        named,
        is_leader=True,
        is_caught_up=True,
        caught_up_ms=0,
        fetched_ms=0,
        log_start_offset=log.log_start_offset,
        log_end_offset=log.log_end_offset,
        lag=0,
    )


def _following(
    named: ReplicaStatus, state: RemoteReplica, leader_end: Offset, lag_ms_max: int, now: Instant
) -> ReplicaStatus:
    """A follower that has everything was caught up at its last fetch, also if that did not list the partition."""
    is_level = state.log_end_offset == leader_end
    caught_up_at = max(state.caught_up_at, state.last_fetch.at) if is_level else state.caught_up_at
    is_known = UNKNOWN not in (leader_end, state.log_end_offset)
    return replace(
        named,
        is_caught_up=is_known and state.is_caught_up(leader_end, now, lag_ms_max),
        caught_up_ms=_ago(caught_up_at, now),
        fetched_ms=_ago(state.last_fetch.at, now),
        log_start_offset=state.log_start_offset,
        log_end_offset=state.log_end_offset,
        lag=max(0, leader_end - state.log_end_offset) if is_known else UNKNOWN,
    )


def _ago(then: Instant, now: Instant) -> int:
    return UNKNOWN if then == NEVER else max(0, now - then)
