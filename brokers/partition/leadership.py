"""A replica that leads other replicas: advances the high watermark, expands and shrinks the in-sync set."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

from brokers.effects import Changed, Effect
from brokers.errors import KafkaError, Refusal
from brokers.ids import OFFSET_MAX, BrokerId, Instant, Offset
from brokers.metadata.image.image import PartitionImage
from brokers.partition.isr_state import IsrState, PendingIsr
from brokers.partition.remote_replica import UNKNOWN_BROKER_EPOCH, LastFetch

if TYPE_CHECKING:
    from brokers.partition.replica import Replica

LATE_EXPANSION = "asked for late"  # reported by `expand_late`


class LeaderHost(Protocol):
    """What a leader needs of its node; `ReplicaManager` implements it."""

    node_id: BrokerId
    lag_ms_max: int

    def is_isr_eligible(self, broker: BrokerId, broker_epoch: int) -> bool:
        """Whether the controller would accept this broker in an in-sync set."""

    def propose(self, replica: "Replica", proposal: PendingIsr) -> None:
        """Send the proposal to the controller; `Leadership.on_response` gets the result."""

    def advanced(self, replica: "Replica") -> list[Effect]:
        """The replica's high watermark advanced."""


class Leadership:
    """One leader epoch.

    `end` is the log end offset before the next append. Followers may hold everything below `sent_offset`. While
    `is_isolated`, another broker may lead, and nothing can be committed here.
    """

    __slots__ = ("_host", "_replica", "end", "sent_offset", "is_isolated", "isr_state")

    def __init__(
        self, replica: "Replica", host: LeaderHost, image: PartitionImage, now: Instant
    ) -> None:
        self._replica = replica
        self._host = host
        self.end: Offset = 0 if replica.log is None else replica.log.log_end_offset
        self.sent_offset: Offset = 0
        self.is_isolated = False
        self.isr_state = IsrState(
            host.node_id,
            image.leader_epoch,
            eligible=host.is_isr_eligible,
            lag_ms_max=host.lag_ms_max,
            epoch_start=self.end,
        )
        self.update(image, now)

    def update(self, image: PartitionImage, now: Instant) -> None:
        """Apply the partition's image, then propose followers that could not be proposed before.

        They were observers, or a proposal was in flight, and a follower that has everything does not list the partition
        again. Slow followers are excluded: the image may just have removed them.
        """
        self.isr_state.update(
            image.partition_epoch, image.replicas, image.isr, image.observers, now
        )
        self.expand(now, self._slow_followers(now))

    def committed(self, now: Instant) -> Offset | None:
        """The offset that the high watermark may reach; None while it must not advance."""
        replica = self._replica
        log = replica.require_log()
        min_insync = replica.config.min_insync_replicas
        return self.isr_state.committed_offset(
            log.written_offset, log.log_end_offset, min_insync, now
        )

    def opened(self, log_end_offset: Offset) -> None:
        """The log is open: the epoch starts at its end."""
        self.end = self.isr_state.epoch_start = log_end_offset
        self._replica.delayed.moved()

    def on_sent(self, next_offset: Offset) -> None:
        """A follower is sent everything below `next_offset`, synced here or not."""
        self.sent_offset = max(self.sent_offset, next_offset)

    def appended(self) -> None:
        """The log end advanced: wake the followers' fetches."""
        replica = self._replica
        self.isr_state.before_append(self.end)
        self.end = replica.require_log().log_end_offset
        replica.delayed.moved()

    # --- min.insync.replicas ---

    def require_in_sync(self) -> None:
        """Raises `Refusal` for acks=all while too few replicas are in sync, or while isolated."""
        if self.is_isolated:
            because = "neither a controller nor all in-sync replicas are heard of"
            raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER, because)
        least = self._min_isr
        if len(self.isr_state.isr) < least:
            because = f"{len(self.isr_state.isr)} replicas in sync, min.insync.replicas is {least}"
            raise Refusal(KafkaError.NOT_ENOUGH_REPLICAS, because)

    @property
    def has_enough_in_sync(self) -> bool:
        """Checked again when a batch is committed: the in-sync set may have shrunk since the append."""
        return len(self.isr_state.maximal_isr) >= self._min_isr

    @property
    def _min_isr(self) -> int:
        return self.isr_state.min_isr(self._replica.config.min_insync_replicas)

    def check_followers(self, since: Instant, now: Instant) -> list[Effect]:
        """No controller answers: a replica in sync that has not fetched since `since` may have another leader.

        Nothing can be committed without it, and it cannot be removed from the set: fail the requests that wait.
        Replicas of a proposal in flight count, for they may be in sync.
        """
        members = (self.isr_state.followers.get(broker) for broker in self.isr_state.maximal_isr)
        self.is_isolated = any(each is not None and each.last_fetch.at < since for each in members)
        if not self.is_isolated:
            return []
        return self._replica.delayed.fail(KafkaError.NOT_LEADER_OR_FOLLOWER, now)

    # --- followers and the in-sync set ---

    def fetched(
        self,
        broker: BrokerId,
        offset: Offset,
        log_start_offset: Offset,
        broker_epoch: int,
        last_fetch: LastFetch,
        now: Instant,
    ) -> list[Effect]:
        """A follower or observer fetched from `offset`: it holds everything below."""
        replica, isr_state = self._replica, self.isr_state
        end = replica.require_log().log_end_offset
        told = isr_state.log_start_of(broker)
        isr_state.fetched(broker, offset, log_start_offset, end, broker_epoch, last_fetch, now)
        effects = replica.advance(now)
        if told != log_start_offset > 0:
            effects += self._host.advanced(replica)  # `in_sync_log_start` may have
        if broker not in isr_state.isr:
            self.expand(now)
        if replica.delayed.has_trims:
            effects += replica.delayed.trimmed(self.low_watermark, now)
        return effects

    def leave_session(self, broker: BrokerId, last_fetch: LastFetch) -> None:
        """A follower's session, identified by `last_fetch`, no longer has the partition."""
        self.isr_state.leave_session(broker, self.end, last_fetch)

    @property
    def low_watermark(self) -> Offset:
        """The lowest log start offset of all live replicas (KIP-107)."""
        starts = [self._replica.require_log().log_start_offset]
        for broker, state in self.isr_state.followers.items():
            if self._host.is_isr_eligible(broker, UNKNOWN_BROKER_EPOCH):
                starts.append(state.log_start_offset)
        return min(starts)

    @property
    def in_sync_log_start(self) -> Offset:
        """The lowest log start offset of the followers in sync; 0 while one has not told its."""
        followers = (
            each for each in self.isr_state.maximal_isr if each in self.isr_state.followers
        )
        starts = (self.isr_state.log_start_of(each) for each in followers)
        return max(0, min(starts, default=OFFSET_MAX))

    def expand(self, now: Instant, excluded: Collection[BrokerId] = ()) -> None:
        """Propose to add the followers that may join."""
        if self._replica.log is not None:
            self._propose(self._expansion(now, excluded))

    def _expansion(self, now: Instant, excluded: Collection[BrokerId]) -> PendingIsr | None:
        """A follower deletes first what its leader has deleted: mirrors have deleted it, too, and it may lead next. So
        `in_sync_log_start` does not fall but by an unclean election."""
        replica = self._replica
        log_start = replica.require_log().log_start_offset
        return self.isr_state.expansion(
            replica.high_watermark, now, excluded, log_start_offset=log_start
        )

    def expand_late(self, now: Instant) -> list[Effect]:
        """Propose followers that may join although no event led to their proposal, and report them: a missed event."""
        replica, isr_state = self._replica, self.isr_state
        if replica.log is None or isr_state.will_retry:
            return []
        proposal = self._expansion(now, self._slow_followers(now))
        if proposal is None:
            return []
        self._propose(proposal)
        why = f"{proposal.members} could be in sync, and nobody had asked for that"
        return [Changed(f"in-sync set of {replica.partition}", LATE_EXPANSION, why)]

    def _slow_followers(self, now: Instant) -> list[BrokerId]:
        isr_state = self.isr_state
        return [each for each in isr_state.followers if isr_state.is_slow(each, self.end, now)]

    def shrink(self, now: Instant) -> None:
        """Propose to remove replicas that do not keep up."""
        log = self._replica.log
        if log is not None:
            self._propose(self.isr_state.shrink(log.log_end_offset, now))

    def on_response(
        self,
        proposal: PendingIsr,
        error: KafkaError,
        partition_epoch: int,
        isr: tuple[BrokerId, ...],
        now: Instant,
    ) -> list[Effect]:
        """The controller's response to a proposal."""
        if self.isr_state.on_response(proposal, error, partition_epoch, isr, now):
            self._propose(proposal)
            return []
        effects = self._replica.advance(now)
        self.expand(now, self._slow_followers(now))
        return effects

    def _propose(self, proposal: PendingIsr | None) -> None:
        if proposal is not None:
            self._host.propose(self._replica, proposal)
