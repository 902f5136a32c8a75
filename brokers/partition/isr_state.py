"""The leader's side of replication: who is in sync, and how far the partition is committed.

Always: the high watermark is at or below the log end of every member of the in-sync set in its *maximal* form, that is
of the committed set together with every replica that an AlterPartition request in flight would add. So every replica
that may be elected has everything that was ever committed.

    settled --proposes--> proposed --accepted--> settled (the set that the controller names, its partition epoch)
                                   --not attempted, ineligible--> settled (as before)
                                   --out of date--> proposed, until the image says what became of the partition
                                   --anything else--> proposed, and the same is sent again

KIP-497 (AlterPartition), KIP-841 and KIP-903 (broker epochs), KIP-966 (min.insync.replicas freezes the high watermark).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from brokers.errors import KafkaError
from brokers.ids import BrokerId, Instant, LeaderEpoch, Offset
from brokers.partition.remote_replica import Contact, RemoteReplica

# (broker, the broker epoch it fetched with) -> whether the controller would let it into an in-sync set.
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
JOIN_AGAIN_MS = (
    100  # after the controller called a replica ineligible: the image is about to say why
)


@dataclass(frozen=True, slots=True)
class PendingIsr:
    """An in-sync set that the controller is asked for; compared by identity."""

    leader_epoch: LeaderEpoch
    partition_epoch: int
    isr: tuple[tuple[BrokerId, int], ...]  # each with its broker epoch, -1 where unknown

    @property
    def members(self) -> tuple[BrokerId, ...]:
        return tuple(broker for broker, _ in self.isr)


class IsrState:
    """A leadership: begins with a leader epoch and ends with it."""

    __slots__ = (
        "_eligible",
        "_join_again_at",
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
        self._join_again_at: Instant | None = None
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
        """What the image says of this leadership; False where it is no news of the in-sync set."""
        if partition_epoch < self.partition_epoch:
            return False
        # The answer to a proposal, which tells of this epoch too, does not say whom the decision promoted or sent back.
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
            # Members get the time to find their new leader before they are called slow.
            for broker in self.isr:
                if broker in self.followers:
                    self.followers[broker].caught_up_at = now
        return True

    # --- the in-sync set ---

    @property
    def maximal_isr(self) -> tuple[BrokerId, ...]:
        """The committed set and whoever a proposal under way adds."""
        if self.proposal is None:
            return self.isr
        return tuple(dict.fromkeys((*self.isr, *self.proposal.members)))

    def min_isr(self, configured: int) -> int:
        """min.insync.replicas, or fewer where so many replicas there are not."""
        return min(configured, 1 + sum(broker not in self._observers for broker in self.followers))

    def lacks(self, brokers: Sequence[BrokerId]) -> bool:
        """Whether one of them follows without being in sync."""
        return any(broker in self.followers and broker not in self.isr for broker in brokers)

    @property
    def is_about_to_ask(self) -> bool:
        """The controller has sent someone back, and is to be asked again."""
        return self._join_again_at is not None

    def expansion(
        self, high_watermark: Offset, now: Instant, barred: Collection[BrokerId] = ()
    ) -> PendingIsr | None:
        """Ask for everyone who has come up to what is committed, if nothing is being asked for."""
        if self.proposal is not None or now < (self._join_again_at or 0):
            return None
        self._join_again_at = None
        joining = [
            broker
            for broker in self.followers
            if broker not in barred and self._may_join(broker, high_watermark, now)
        ]
        return self._propose((*self.isr, *joining)) if joining else None

    def shrink(self, leader_end: Offset, now: Instant) -> PendingIsr | None:
        """Ask for the set without those who fell behind for too long."""
        if self.proposal is not None:
            return None
        kept = tuple(broker for broker in self.isr if not self.is_slow(broker, leader_end, now))
        return self._propose(kept) if len(kept) < len(self.isr) else None

    def is_slow(self, broker: BrokerId, leader_end: Offset, now: Instant) -> bool:
        """Whether it fell behind for too long."""
        state = self.followers.get(broker)
        return state is not None and not state.is_caught_up(leader_end, now, self._lag_ms_max)

    def answered(
        self,
        proposal: PendingIsr,
        error: KafkaError,
        partition_epoch: int,
        isr: Sequence[BrokerId],
        now: Instant,
    ) -> bool:
        """What the controller said; whether to ask the same again. A proposal that was overtaken is over."""
        if proposal is not self.proposal:
            return False
        if error in REVERT:
            self.proposal, self._join_again_at = None, now + JOIN_AGAIN_MS
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

    def _may_join(self, broker: BrokerId, high_watermark: Offset, now: Instant) -> bool:
        """Level with what is committed, and with where this leadership began: below, it may hold another's tail.

        And in touch: who has stopped asking would have to be put out again.
        """
        state = self.followers[broker]
        return (
            broker not in self.isr
            and state.is_in_touch(now, self._lag_ms_max)
            and state.log_end_offset >= max(high_watermark, self.epoch_start)
            and self._is_eligible(broker, state)
        )

    def _is_eligible(self, broker: BrokerId, state: RemoteReplica) -> bool:
        return broker not in self._observers and self._eligible(broker, state.broker_epoch)

    # --- the high watermark ---

    def committed(
        self, written: Offset, leader_end: Offset, min_insync: int, now: Instant
    ) -> Offset | None:
        """Where the high watermark may be; None while too few are in sync for it to move.

        A replica that keeps up and may join counts before it has joined: else it would for ever be a step short of it.
        """
        if len(self.isr) < self.min_isr(min_insync):
            return None
        lowest, members = written, self.maximal_isr
        for broker, state in self.followers.items():
            if state.log_end_offset < lowest and (
                broker in members
                or (
                    not state.has_let_go
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
        contact: Contact,
        now: Instant,
    ) -> bool:
        """A replica asked for `offset`; False where it is none of this partition's."""
        state = self.followers.get(broker)
        if state is None:
            return False
        state.fetched(offset, log_start_offset, leader_end, broker_epoch, contact, now)
        return True

    def let_go(self, broker: BrokerId, leader_end: Offset, contact: Contact) -> None:
        """A replica's session, of this contact, asks for the partition no more."""
        state = self.followers.get(broker)
        if state is not None:
            state.let_go(leader_end, contact)

    def outrun(self, leader_end: Offset) -> None:
        """The leader is about to append at `leader_end`."""
        for state in self.followers.values():
            state.outrun(leader_end)
