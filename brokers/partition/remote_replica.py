"""What a leader knows of one other replica (Kafka's Replica.ReplicaState): its log end, and when it was last caught
up."""

from dataclasses import dataclass, field

from brokers.ids import Instant, Offset

UNKNOWN_OFFSET: Offset = -1
UNKNOWN_BROKER_EPOCH = -1
NEVER: Instant = -(1 << 62)


@dataclass(slots=True)
class Contact:
    """When a follower last asked, whatever it asked for: shared by all the partitions of one fetch session."""

    at: Instant = NEVER


@dataclass(slots=True)
class RemoteReplica:
    """One follower or observer. Its fetch offset is its log end: what it asks for is what it does not have."""

    log_end_offset: Offset = UNKNOWN_OFFSET
    log_start_offset: Offset = UNKNOWN_OFFSET
    broker_epoch: int = UNKNOWN_BROKER_EPOCH
    caught_up_at: Instant = NEVER
    contact: Contact = field(default_factory=Contact)
    _asked_at: Instant = NEVER
    _leader_end_then: Offset = UNKNOWN_OFFSET

    def fetched(
        self,
        offset: Offset,
        log_start_offset: Offset,
        leader_end: Offset,
        broker_epoch: int,
        contact: Contact,
        now: Instant,
    ) -> None:
        """It asked for `offset`. `leader_end` is where the leader's log ends now, before anything is read for it.

        A follower that has reached the log end of its previous fetch was caught up at that fetch: so a follower that is
        always one append behind is not taken for a slow one.
        """
        if offset >= leader_end:
            self.caught_up_at = max(self.caught_up_at, now)
        elif offset >= self._leader_end_then:
            self.caught_up_at = max(self.caught_up_at, self._asked_at)
        self.log_end_offset, self.log_start_offset = offset, log_start_offset
        self.broker_epoch, self.contact = broker_epoch, contact
        self._asked_at, self._leader_end_then = now, leader_end

    def outrun(self, leader_end: Offset) -> None:
        """The leader is about to append at `leader_end`. One that was level until now was so when it last asked.

        A session lists a partition only when something about it changed, so an idle one is asked for without a word.
        """
        if self.log_end_offset == leader_end and self.contact.at > self.caught_up_at:
            self.caught_up_at = self.contact.at

    def let_go(self, leader_end: Offset, contact: Contact) -> None:
        """The session of this contact asks for the partition no more: what else it asks for says nothing of it."""
        if self.contact is contact:
            self.outrun(leader_end)
            self.contact = Contact()

    @property
    def has_let_go(self) -> bool:
        """Whether it asked for the partition once, and does no more."""
        return self.contact.at == NEVER and self.log_end_offset != UNKNOWN_OFFSET

    def is_in_touch(self, now: Instant, lag_ms_max: int) -> bool:
        """Whether the follower fetched within `lag_ms_max`, in a request that need not list this partition."""
        return now - self.contact.at <= lag_ms_max

    def is_caught_up(self, leader_end: Offset, now: Instant, lag_ms_max: int) -> bool:
        """Whether it is level with the leader, or was within `replica.lag.time.max.ms`."""
        return self.log_end_offset == leader_end or now - self.caught_up_at <= lag_ms_max
