"""The Raft node's lifecycle: started from the disk, stopped when the disk fails, then retried."""

from brokers.effects import Ask, Changed, Effect, Hangup, Reply, StorageEffect
from brokers.events import LogOpened, RangeRead, StateLoaded
from brokers.ids import BrokerId, Instant, Ticket
from brokers.metadata.image.image import Image
from brokers.metadata.log.recovery import SCAN_TICKET, MetadataRecovery
from brokers.ports import Rng
from brokers.quorum.config import QuorumConfig
from brokers.quorum.raft_client import RaftClient

RETRY_MS = 1_000  # after a disk failure


class RaftLifecycle:
    """`raft` is set from the opening of the log until the disk fails; `opening` while the log is opened."""

    def __init__(self, config: QuorumConfig, rng: Rng) -> None:
        self.raft: RaftClient | None = None
        self.opening: MetadataRecovery | None = None
        self.offline_reason = "the node is starting"
        self.retry_at: Instant | None = None
        self._config = config
        self._rng = rng
        self._last_ticket: Ticket | None = None  # of the last `raft`

    @property
    def voters(self) -> tuple[BrokerId, ...]:
        """The voters of the newest voter set known; before the log is open, the configured ones."""
        known = self._config.voters if self.raft is None else self.raft.voters.latest
        return known.ids

    def open(self, image: Image, *, wants_image: bool) -> list[StorageEffect]:
        """Reads everything that is on the disk."""
        self.retry_at, self.raft = None, None
        self.opening = MetadataRecovery(image, self._config.voters, wants_image=wants_image)
        return self.opening.begin()

    def on_event(self, event: LogOpened | StateLoaded | RangeRead) -> list[Effect]:
        """A part of what `open` reads. Raises as `MetadataRecovery`."""
        if self.opening is None or (isinstance(event, RangeRead) and event.ticket != SCAN_TICKET):
            return []
        effects: list[Effect] = [*self.opening.on_event(event)]
        if isinstance(event, LogOpened):
            effects += [Changed("metadata log", "repaired", line) for line in event.repairs]
        return effects

    def start(self, opening: MetadataRecovery) -> RaftClient:
        """Everything has been read: creates the Raft node."""
        self.opening = None
        self.raft = RaftClient(
            self._config,
            self._rng,
            log=opening.log,
            election_state=opening.quorum_state,
            voters=opening.voters,
            snapshot=opening.snapshot,
            was_voter=opening.was_voter,
            last_ticket=self._last_ticket,
        )
        return self.raft

    def on_failed(self, reason: str, now: Instant) -> list[Effect]:
        """The disk has failed: resigns, so that another node takes over the leadership, and stops the Raft node."""
        effects: list[Effect] = [Changed("metadata log", "offline", reason)]
        if self.raft is not None:
            last = self.raft.leave(now)
            effects += [each for each in last if isinstance(each, Ask | Reply | Hangup)]
            self._last_ticket = self.raft.last_ticket
        self.raft = self.opening = None
        self.offline_reason, self.retry_at = reason, now + RETRY_MS
        return effects
