"""What a leader knows of another replica (Kafka's ReplicaState): its log end, and when it was last caught up."""

from dataclasses import dataclass, field

from brokers.ids import Instant, Offset

UNKNOWN_OFFSET: Offset = -1
UNKNOWN_BROKER_EPOCH = -1
NEVER: Instant = -(1 << 62)


@dataclass(slots=True)
class LastFetch:
    """The time of a follower's last fetch, shared by all partitions of one fetch session."""

    at: Instant = NEVER


@dataclass(slots=True)
class RemoteReplica:
    """One follower or observer. Its fetch offset is its log end offset."""

    log_end_offset: Offset = UNKNOWN_OFFSET
    log_start_offset: Offset = UNKNOWN_OFFSET
    broker_epoch: int = UNKNOWN_BROKER_EPOCH
    caught_up_at: Instant = NEVER
    last_fetch: LastFetch = field(default_factory=LastFetch)
    _listed_at: Instant = NEVER
    _listed_leader_end: Offset = UNKNOWN_OFFSET

    def fetched(
        self,
        offset: Offset,
        log_start_offset: Offset,
        leader_end: Offset,
        broker_epoch: int,
        last_fetch: LastFetch,
        now: Instant,
    ) -> None:
        """The replica fetched from `offset`. `leader_end` is the leader's log end offset at that time.

        A follower that reaches the leader's log end of its previous fetch was caught up at that fetch: so one that is
        always one append behind does not count as slow.
        """
        if offset >= leader_end:
            self.caught_up_at = max(self.caught_up_at, now)
        elif offset >= self._listed_leader_end:
            self.caught_up_at = max(self.caught_up_at, self._listed_at)
        self.log_end_offset, self.log_start_offset = offset, log_start_offset
        self.broker_epoch, self.last_fetch = broker_epoch, last_fetch
        self._listed_at, self._listed_leader_end = now, leader_end

    def before_append(self, leader_end: Offset) -> None:
        """The leader is about to append at `leader_end`: a replica that has all below was caught up at its last fetch.

        A fetch lists only the partitions that changed, so an idle partition is not in it.
        """
        if self.log_end_offset == leader_end and self.last_fetch.at > self.caught_up_at:
            self.caught_up_at = self.last_fetch.at

    def leave_session(self, leader_end: Offset, last_fetch: LastFetch) -> None:
        """The session of `last_fetch` no longer has the partition: its later fetches do not count."""
        if self.last_fetch is last_fetch:
            self.before_append(leader_end)
            self.last_fetch = LastFetch()

    @property
    def has_left_session(self) -> bool:
        """Whether the replica fetched the partition once, and no session has it now."""
        return self.last_fetch.at == NEVER and self.log_end_offset != UNKNOWN_OFFSET

    def is_fetching(self, now: Instant, lag_ms_max: int) -> bool:
        """Whether it fetched within `lag_ms_max`, in a request that need not list this partition."""
        return now - self.last_fetch.at <= lag_ms_max

    def is_caught_up(self, leader_end: Offset, now: Instant, lag_ms_max: int) -> bool:
        """Whether it has everything, or had it within `replica.lag.time.max.ms`."""
        return self.log_end_offset == leader_end or now - self.caught_up_at <= lag_ms_max
