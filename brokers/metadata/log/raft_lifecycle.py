"""This node's seat in the quorum: taken with what the disk holds, lost when the disk refuses, then tried for again."""

from brokers.effects import Ask, Changed, Effect, Hangup, Reply, StorageEffect
from brokers.events import LogOpened, RangeRead, StateLoaded
from brokers.ids import BrokerId, Instant, Ticket
from brokers.metadata.image.image import Image
from brokers.metadata.log.recovery import LOOK_TICKET, MetadataRecovery
from brokers.ports import Rng
from brokers.quorum.config import QuorumConfig
from brokers.quorum.raft_client import RaftClient

RETRY_MS = 1_000  # how often a disk that refused is tried again


class RaftLifecycle:
    """`raft` from the opening of the log until the disk refuses; `opening` before."""

    def __init__(self, config: QuorumConfig, rng: Rng) -> None:
        self.raft: RaftClient | None = None
        self.opening: MetadataRecovery | None = None
        self.why_empty = "the node is starting"
        self.retry_at: Instant | None = None
        self._config = config
        self._rng = rng
        self._last_ticket: Ticket | None = None  # of the raft before

    @property
    def voters(self) -> tuple[BrokerId, ...]:
        """As far as it is known who they are."""
        known = self._config.voters if self.raft is None else self.raft.voters.latest
        return known.ids

    def open(self, image: Image, *, wants_image: bool) -> list[StorageEffect]:
        """Ask for everything that is on the disk."""
        self.retry_at, self.raft = None, None
        self.opening = MetadataRecovery(image, self._config.voters, wants_image=wants_image)
        return self.opening.begin()

    def take(self, event: LogOpened | StateLoaded | RangeRead) -> list[Effect]:
        """Something of what was asked for. Raises as `MetadataRecovery`."""
        if self.opening is None or (isinstance(event, RangeRead) and event.ticket != LOOK_TICKET):
            return []
        effects: list[Effect] = [*self.opening.take(event)]
        if isinstance(event, LogOpened):
            effects += [Changed("metadata log", "repaired", line) for line in event.repairs]
        return effects

    def sit(self, opening: MetadataRecovery) -> RaftClient:
        """All that the disk holds is known: be a member of the quorum."""
        self.opening = None
        self.raft = RaftClient(
            self._config,
            self._rng,
            log=opening.log,
            state=opening.quorum_state,
            voters=opening.voters,
            snapshot=opening.snapshot,
            was_voter=opening.was_voter,
            last_ticket=self._last_ticket,
        )
        return self.raft

    def lose(self, reason: str, now: Instant) -> list[Effect]:
        """Others take over what this node led, and hear of it."""
        effects: list[Effect] = [Changed("metadata log", "offline", reason)]
        if self.raft is not None:
            parting = self.raft.leave(now)
            effects += [each for each in parting if isinstance(each, Ask | Reply | Hangup)]
            self._last_ticket = self.raft.last_ticket
        self.raft = self.opening = None
        self.why_empty, self.retry_at = reason, now + RETRY_MS
        return effects
