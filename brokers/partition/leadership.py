"""A replica leads, with others: commits what enough of them have, and keeps the in-sync set to those that keep up."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

from brokers.effects import Changed, Effect
from brokers.errors import KafkaError, Refusal
from brokers.ids import BrokerId, Instant, Offset
from brokers.metadata.image.image import PartitionImage
from brokers.partition.isr_state import IsrState, PendingIsr
from brokers.partition.remote_replica import UNKNOWN_BROKER_EPOCH, Contact

if TYPE_CHECKING:
    from brokers.partition.replica import Replica

ASKED_LATE = "asked for late"  # what is told of a set that `look_again` found too small


class Others(Protocol):
    """What a leader must know of the other brokers, and through whom it changes an in-sync set."""

    node_id: BrokerId
    lag_ms_max: int

    def may_join(self, broker: BrokerId, broker_epoch: int) -> bool:
        """Whether the controller would let this broker into an in-sync set."""

    def propose(self, replica: "Replica", proposal: PendingIsr) -> None:
        """Let the controller decide on it; `Leadership.answered` hears what came of it."""

    def advanced(self, replica: "Replica") -> list[Effect]:
        """A high watermark moved, by whatever other nodes did."""


class Leadership:
    """From the beginning of a leader epoch to its end.

    `end` is the log's end before the next append. Below `given_out` others may have what is here. While it
    `is_stranded` another may lead, and nothing can be committed here.
    """

    __slots__ = ("_others", "_replica", "end", "given_out", "is_stranded", "progress")

    def __init__(
        self, replica: "Replica", others: Others, placed: PartitionImage, now: Instant
    ) -> None:
        self._replica = replica
        self._others = others
        self.end: Offset = 0 if replica.log is None else replica.log.log_end_offset
        self.given_out: Offset = 0
        self.is_stranded = False
        self.progress = IsrState(
            others.node_id,
            placed.leader_epoch,
            eligible=others.may_join,
            lag_ms_max=others.lag_ms_max,
            epoch_start=self.end,
        )
        self.update(placed, now)

    def update(self, placed: PartitionImage, now: Instant) -> None:
        """What the image says of this leadership by now.

        Whoever could not be asked for before, as there was a proposal, which this overtook, or as it was an observer,
        is asked for now: a follower that has everything does not speak of it twice. Not who is slow, for whom this may
        have put out would be put out again.
        """
        self.progress.update(
            placed.partition_epoch, placed.replicas, placed.isr, placed.observers, now
        )
        self.expand(now, self._slow(now))

    def reached(self, now: Instant) -> Offset | None:
        """Where the high watermark may be; None while it must not move."""
        replica = self._replica
        log = replica.require_log()
        min_insync = replica.config.min_insync_replicas
        return self.progress.committed(log.written_offset, log.log_end_offset, min_insync, now)

    def opened(self, log_end_offset: Offset) -> None:
        """The log is there: the leadership begins at its end."""
        self.end = self.progress.epoch_start = log_end_offset
        self._replica.waiting.moved()

    def gave_out(self, next_offset: Offset) -> None:
        """A follower is being sent everything below `next_offset`, be it on this node's disk for certain or not."""
        self.given_out = max(self.given_out, next_offset)

    def appended(self) -> None:
        """The log's end moved: followers hear of it before it is committed, for that is how it gets to be."""
        replica = self._replica
        self.progress.outrun(self.end)
        self.end = replica.require_log().log_end_offset
        replica.waiting.moved()

    # --- what is asked of enough replicas ---

    def require_in_sync(self) -> None:
        """Refuses what all in-sync replicas are to acknowledge where there are too few of them, or none in reach."""
        if self.is_stranded:
            because = "neither a controller nor all in-sync replicas are heard of"
            raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER, because)
        least = self._least
        if len(self.progress.isr) < least:
            because = f"{len(self.progress.isr)} replicas in sync, min.insync.replicas is {least}"
            raise Refusal(KafkaError.NOT_ENOUGH_REPLICAS, because)

    @property
    def has_enough_in_sync(self) -> bool:
        """Asked once more when a batch is committed: the set may have shrunk since it was appended."""
        return len(self.progress.maximal_isr) >= self._least

    @property
    def _least(self) -> int:
        return self.progress.min_isr(self._replica.config.min_insync_replicas)

    def look_around(self, since: Instant, now: Instant) -> list[Effect]:
        """No controller answers. A member of the in-sync set that has not asked since may have another leader.

        What it does not ask for can't be committed here, and it can't be taken out of the set: nobody waits in vain.
        Whom a proposal adds that has no answer may be a member.
        """
        members = (self.progress.followers.get(broker) for broker in self.progress.maximal_isr)
        self.is_stranded = any(each is not None and each.contact.at < since for each in members)
        if not self.is_stranded:
            return []
        return self._replica.waiting.fail(KafkaError.NOT_LEADER_OR_FOLLOWER, now)

    # --- followers and the in-sync set ---

    def fetched(
        self,
        broker: BrokerId,
        offset: Offset,
        log_start_offset: Offset,
        broker_epoch: int,
        contact: Contact,
        now: Instant,
    ) -> list[Effect]:
        """A follower or observer asked for `offset`: below, it has everything."""
        replica, progress = self._replica, self.progress
        end = replica.require_log().log_end_offset
        progress.fetched(broker, offset, log_start_offset, end, broker_epoch, contact, now)
        effects = replica.advance(now)
        if broker not in progress.isr:
            self.expand(now)
        if replica.waiting.has_trims:
            effects += replica.waiting.trimmed(self.low_watermark, now)
        return effects

    def let_go(self, broker: BrokerId, contact: Contact) -> None:
        """A session of a follower, of this contact, asks for the partition no more."""
        self.progress.let_go(broker, self.end, contact)

    @property
    def low_watermark(self) -> Offset:
        """The lowest log start offset of this replica and all that are alive (KIP-107)."""
        starts = [self._replica.require_log().log_start_offset]
        for broker, state in self.progress.followers.items():
            if self._others.may_join(broker, UNKNOWN_BROKER_EPOCH):
                starts.append(state.log_start_offset)
        return min(starts)

    def expand(self, now: Instant, barred: Collection[BrokerId] = ()) -> None:
        """Ask for those who may join: a follower has come up, or the image lets one in that was up all along."""
        if self._replica.log is not None:
            self._propose(self.progress.expansion(self._replica.high_watermark, now, barred))

    def look_again(self, now: Instant) -> list[Effect]:
        """Ask for those who may join and whom no event made this leadership ask for: they'd be left out until they
        have something new to say. That there was one is told."""
        replica, progress = self._replica, self.progress
        if replica.log is None or progress.is_about_to_ask:
            return []
        proposal = progress.expansion(replica.high_watermark, now, self._slow(now))
        if proposal is None:
            return []
        self._propose(proposal)
        why = f"{proposal.members} could be in sync, and nobody had asked for that"
        return [Changed(f"in-sync set of {replica.partition}", ASKED_LATE, why)]

    def _slow(self, now: Instant) -> list[BrokerId]:
        progress = self.progress
        return [each for each in progress.followers if progress.is_slow(each, self.end, now)]

    def shrink(self, now: Instant) -> None:
        """Ask to be rid of members that don't keep up."""
        log = self._replica.log
        if log is not None:
            self._propose(self.progress.shrink(log.log_end_offset, now))

    def answered(
        self,
        proposal: PendingIsr,
        error: KafkaError,
        partition_epoch: int,
        isr: tuple[BrokerId, ...],
        now: Instant,
    ) -> list[Effect]:
        """What the controller said to a proposal."""
        if self.progress.answered(proposal, error, partition_epoch, isr, now):
            self._propose(proposal)
            return []
        effects = self._replica.advance(now)
        self.expand(now, self._slow(now))
        return effects

    def _propose(self, proposal: PendingIsr | None) -> None:
        if proposal is not None:
            self._others.propose(self._replica, proposal)
