"""A leader's in-sync set and high watermark.

Always: the high watermark is at most the log end of every replica in the *maximal* in-sync set: the committed set and
the replicas that an AlterPartition request in flight would add. So every replica that may be elected has everything
that was committed.

    settled --proposes--> proposed --accepted--> settled (the set and partition epoch of the response)
                                   --not attempted, ineligible--> settled (as before)
                                   --out of date--> proposed, until the image has a newer partition epoch
                                   --other errors--> proposed, and the same is sent again

KIP-497 (AlterPartition), KIP-841 and KIP-903 (broker epochs), KIP-966 (min.insync.replicas freezes the high watermark).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from brokers.errors import KafkaError
from brokers.ids import BrokerId, Instant, LeaderEpoch, Offset
from brokers.partition.remote_replica import UNKNOWN_OFFSET, LastFetch, RemoteReplica

# (broker, broker epoch of its fetches) -> whether the controller would accept it in an in-sync set.
Eligible: TypeAlias = Callable[[BrokerId, int], bool]

REVERT = (KafkaError.OPERATION_NOT_ATTEMPTED, KafkaError.INELIGIBLE_REPLICA)
_AWAIT_IMAGE = (
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    KafkaError.UNKNOWN_TOPIC_ID,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.INVALID_UPDATE_VERSION,
    KafkaError.INVALID_REQUEST,
    KafkaError.NEW_LEADER_ELECTED,
)
INELIGIBLE_RETRY_MS = (
    100  # after the controller called a replica ineligible: the image is about to say why
)


@dataclass(frozen=True, slots=True)
class PendingIsr:
    """An in-sync set proposed to the controller; compared by identity."""

    leader_epoch: LeaderEpoch
    partition_epoch: int
    isr: tuple[tuple[BrokerId, int], ...]  # with broker epochs, -1 if unknown

    @property
    def members(self) -> tuple[BrokerId, ...]:
        return tuple(broker for broker, _ in self.isr)


class IsrState:
    """The in-sync set and the followers during one leader epoch."""

    __slots__ = (
        "_eligible",
        "_retry_at",
        "_lag_ms_max",
        "_node_id",
        "_observers",
        "epoch_start",
        "followers",
        "isr",
        "leader_epoch",
        "partition_epoch",
        "proposal",
    )

    def __init__(
        self,
        node_id: BrokerId,
        leader_epoch: LeaderEpoch,
        *,
        eligible: Eligible,
        lag_ms_max: int,
        epoch_start: Offset,
    ) -> None:
        self._node_id = node_id
        self._eligible = eligible
        self._lag_ms_max = lag_ms_max
        self._observers: tuple[BrokerId, ...] = ()
        self._retry_at: Instant | None = None
        self.leader_epoch = leader_epoch
        self.epoch_start = epoch_start
        self.partition_epoch = -1
        self.isr: tuple[BrokerId, ...] = (node_id,)
        self.proposal: PendingIsr | None = None
        self.followers: dict[BrokerId, RemoteReplica] = {}

    def update(
        self,
        partition_epoch: int,
        replicas: Sequence[BrokerId],
        isr: Sequence[BrokerId],
        observers: Sequence[BrokerId],
        now: Instant,
    ) -> bool:
        """Apply the partition's image; False if the in-sync set is not newer."""
        if partition_epoch < self.partition_epoch:
            return False
        # Also for an equal partition epoch: the AlterPartition response has no observers.
        self._observers = tuple(observers)
        others = [broker for broker in replicas if broker != self._node_id]
        self.followers = {
            broker: self.followers.get(broker) or RemoteReplica() for broker in others
        }
        if partition_epoch == self.partition_epoch:
            return False
        is_new = self.partition_epoch < 0
        self.partition_epoch, self.isr, self.proposal = partition_epoch, tuple(isr), None
        if is_new:
            # Replicas in sync get the time to find their new leader before they count as slow.
            for broker in self.isr:
                if broker in self.followers:
                    self.followers[broker].caught_up_at = now
        return True

    # --- the in-sync set ---

    @property
    def maximal_isr(self) -> tuple[BrokerId, ...]:
        """The committed set and the replicas that a proposal in flight adds."""
        if self.proposal is None:
            return self.isr
        return tuple(dict.fromkeys((*self.isr, *self.proposal.members)))

    @property
    def is_followed(self) -> bool:
        """Whether every replica that may be elected has fetched in this leader epoch: whatever its log had beside the
        leader's is cut."""
        members = (self.followers.get(broker) for broker in self.maximal_isr)
        return all(each is None or each.log_end_offset != UNKNOWN_OFFSET for each in members)

    def min_isr(self, configured: int) -> int:
        """min.insync.replicas, or the number of replicas if there are fewer."""
        return min(configured, 1 + sum(broker not in self._observers for broker in self.followers))

    def has_out_of_sync(self, brokers: Sequence[BrokerId]) -> bool:
        """Whether one of these brokers is a follower that is not in sync."""
        return any(broker in self.followers and broker not in self.isr for broker in brokers)

    @property
    def will_retry(self) -> bool:
        """The controller found a replica ineligible, and the proposal will be repeated."""
        return self._retry_at is not None

    def expansion(
        self,
        high_watermark: Offset,
        now: Instant,
        excluded: Collection[BrokerId] = (),
        *,
        log_start_offset: Offset = 0,
    ) -> PendingIsr | None:
        """Propose to add every replica that may join, unless a proposal is in flight. The offsets are the leader's."""
        if self.proposal is not None or now < (self._retry_at or 0):
            return None
        self._retry_at = None
        joining = [
            broker
            for broker in self.followers
            if broker not in excluded
            and self._can_join_isr(broker, high_watermark, log_start_offset, now)
        ]
        return self._propose((*self.isr, *joining)) if joining else None

    def shrink(self, leader_end: Offset, now: Instant) -> PendingIsr | None:
        """Propose to remove the replicas that were behind for too long."""
        if self.proposal is not None:
            return None
        kept = tuple(broker for broker in self.isr if not self.is_slow(broker, leader_end, now))
        return self._propose(kept) if len(kept) < len(self.isr) else None

    def is_slow(self, broker: BrokerId, leader_end: Offset, now: Instant) -> bool:
        """Whether the follower was behind for `replica.lag.time.max.ms`."""
        state = self.followers.get(broker)
        return state is not None and not state.is_caught_up(leader_end, now, self._lag_ms_max)

    def on_response(
        self,
        proposal: PendingIsr,
        error: KafkaError,
        partition_epoch: int,
        isr: Sequence[BrokerId],
        now: Instant,
    ) -> bool:
        """The controller's response to `proposal`. Returns whether to send the same again."""
        if proposal is not self.proposal:
            return False
        if error in REVERT:
            self.proposal, self._retry_at = None, now + INELIGIBLE_RETRY_MS
            return False
        if error:
            return error not in _AWAIT_IMAGE
        self.proposal = None
        if partition_epoch > self.partition_epoch:
            self.partition_epoch, self.isr = partition_epoch, tuple(isr)
        return False

    def _propose(self, members: tuple[BrokerId, ...]) -> PendingIsr:
        self.proposal = PendingIsr(
            self.leader_epoch,
            self.partition_epoch,
            tuple((broker, self._epoch_of(broker)) for broker in members),
        )
        return self.proposal

    def _epoch_of(self, broker: BrokerId) -> int:
        return self.followers[broker].broker_epoch if broker in self.followers else -1

    def _can_join_isr(
        self, broker: BrokerId, high_watermark: Offset, log_start_offset: Offset, now: Instant
    ) -> bool:
        """Whether the follower has reached the high watermark and the start of this epoch; below, its log may diverge.

        It must be fetching, too: else it would be removed again. And it has deleted what the leader has deleted: Kafka
        does not ask for that.
        """
        state = self.followers[broker]
        return (
            broker not in self.isr
            and state.is_fetching(now, self._lag_ms_max)
            and state.log_end_offset >= max(high_watermark, self.epoch_start)
            and state.log_start_offset >= log_start_offset
            and self._is_eligible(broker, state)
        )

    def _is_eligible(self, broker: BrokerId, state: RemoteReplica) -> bool:
        return broker not in self._observers and self._eligible(broker, state.broker_epoch)

    # --- the high watermark ---

    def committed_offset(
        self, written: Offset, leader_end: Offset, min_insync: int, now: Instant
    ) -> Offset | None:
        """The offset that the high watermark may reach; None while fewer than min.insync.replicas are in sync.

        A replica that keeps up and may join counts already: else the high watermark would always be ahead of it.
        """
        if len(self.isr) < self.min_isr(min_insync):
            return None
        lowest, members = written, self.maximal_isr
        for broker, state in self.followers.items():
            if state.log_end_offset < lowest and (
                broker in members
                or (
                    not state.has_left_session
                    and state.is_caught_up(leader_end, now, self._lag_ms_max)
                    and self._is_eligible(broker, state)
                )
            ):
                lowest = state.log_end_offset
        return lowest

    def fetched(
        self,
        broker: BrokerId,
        offset: Offset,
        log_start_offset: Offset,
        leader_end: Offset,
        broker_epoch: int,
        last_fetch: LastFetch,
        now: Instant,
    ) -> bool:
        """A follower fetched from `offset`; False if the broker holds no replica of the partition."""
        state = self.followers.get(broker)
        if state is None:
            return False
        state.fetched(offset, log_start_offset, leader_end, broker_epoch, last_fetch, now)
        return True

    def log_start_of(self, broker: BrokerId) -> Offset:
        """As its last fetch had it; UNKNOWN_OFFSET: it has not fetched, or has no replica."""
        state = self.followers.get(broker)
        return UNKNOWN_OFFSET if state is None else state.log_start_offset

    def leave_session(self, broker: BrokerId, leader_end: Offset, last_fetch: LastFetch) -> None:
        """A follower's session, identified by `last_fetch`, no longer has the partition."""
        state = self.followers.get(broker)
        if state is not None:
            state.leave_session(leader_end, last_fetch)

    def before_append(self, leader_end: Offset) -> None:
        """The leader is about to append at `leader_end`."""
        for state in self.followers.values():
            state.before_append(leader_end)
