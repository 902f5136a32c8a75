"""What must hold whatever the faults, judged by what members say to one another and by what lies on their disks."""

from typing import Any

from brokers.effects import Ask
from brokers.events import Request
from brokers.quorum.messages import only_partition
from brokers.records.batch import HEADER_SIZE
from brokers.wire.messages.api_keys import ApiKey


class Violation(AssertionError):
    """A member did what no member may do."""


class Checker:
    """One for all lives of all members."""

    def __init__(self) -> None:
        self.leaders: dict[int, tuple[int, Any]] = {}  # epoch -> (node id, directory)
        self.votes: dict[tuple[Any, int], Any] = {}  # (voter, epoch) -> candidate
        self.committed: dict[int, tuple[int, int, bytes]] = {}  # base offset -> next, epoch, batch
        self._committed_in: dict[int, int] = {}  # base offset -> epoch of the leader that did
        self.committed_offset = 0
        self.acknowledged: set[bytes] = set()

    # --- votes ---

    def heard(self, asker: Any, ask: Ask) -> None:
        """A candidate's request says that it has voted for itself."""
        if ask.api_key == ApiKey.VOTE:
            asked = only_partition(ask.message.topics)  # type: ignore[attr-defined]
            if not asked.pre_vote:
                self._vote(asker.key, asked.replica_epoch, asker.key)

    def told(self, target: Any, request: Request, message: Any) -> None:
        if request.api_key != ApiKey.VOTE or message.error_code:
            return
        asked, answer = only_partition(request.message.topics), only_partition(message.topics)  # type: ignore[attr-defined]
        if answer.vote_granted and not asked.pre_vote:
            candidate = (asked.replica_id, asked.replica_directory_id)
            self._vote(target.key, asked.replica_epoch, candidate)

    def _vote(self, voter: Any, epoch: int, candidate: Any) -> None:
        before = self.votes.setdefault((voter, epoch), candidate)
        if tuple(before) != tuple(candidate):
            raise Violation(f"{voter} votes for {before} and for {candidate} in epoch {epoch}")

    # --- leaders and logs ---

    def saw(self, life: Any) -> None:
        """After every step of a member."""
        raft = life.raft
        epoch = raft.leading_epoch
        if epoch is not None:
            self._leads(life, epoch)
        if raft.high_watermark < life.high_watermark:
            raise Violation(
                f"{life.key}: high watermark {life.high_watermark} -> {raft.high_watermark}"
            )
        if raft.high_watermark > life.high_watermark:
            self._commits(life, life.high_watermark, raft.high_watermark)
            life.high_watermark = raft.high_watermark

    def _leads(self, life: Any, epoch: int) -> None:
        before = self.leaders.get(epoch)
        if before is None:
            self.leaders[epoch] = (life.id, life.disk.directory)
            self._holds_all(life, epoch)
        elif before != (life.id, life.disk.directory):
            raise Violation(f"epoch {epoch} is led by {before} and by {life.key}")

    def _holds_all(self, life: Any, epoch: int) -> None:
        """A new leader has everything that leaders of earlier epochs committed."""
        held = {header.base_offset: _content(batch) for header, batch in life.disk.batches}
        for base_offset, (next_offset, of_epoch, batch) in self.committed.items():
            is_older = self._committed_in[base_offset] < epoch
            is_missing = next_offset > life.disk.start and held.get(base_offset) != batch
            if is_older and is_missing:
                raise Violation(
                    f"{life.key} leads epoch {epoch} without what epoch {of_epoch} committed at {base_offset}"
                )

    def _commits(self, life: Any, offset: int, bound: int) -> None:
        for header, data in life.disk.batches:
            if not offset < header.next_offset <= bound:
                continue
            batch = _content(data)
            self._committed_in.setdefault(header.base_offset, life.raft.leader_epoch)
            known = self.committed.setdefault(
                header.base_offset, (header.next_offset, header.leader_epoch, batch)
            )
            if known != (header.next_offset, header.leader_epoch, batch):
                raise Violation(
                    f"{life.key} has epoch {header.leader_epoch}'s batch committed at"
                    f" {header.base_offset}, epoch {known[1]}'s was before"
                )
            self.committed_offset = max(self.committed_offset, header.next_offset)

    def installed(self, life: Any, history: list[tuple[int, bytes]]) -> None:
        """A snapshot says what was committed."""
        for base_offset, batch in history:
            if self.committed.get(base_offset, (0, 0, batch))[2] != batch:
                raise Violation(f"{life.key} was given another history at {base_offset}")

    def acknowledge(self, payload: bytes) -> None:
        self.acknowledged.add(payload)

    def lost(self, history: list[tuple[int, bytes]]) -> set[bytes]:
        """What was acknowledged and is not there."""
        there = b"\n".join(batch for _, batch in history)
        return {payload for payload in self.acknowledged if payload not in there}


def _content(batch: bytes) -> bytes:
    """Without base offset and leader epoch, which the header is asked for."""
    return bytes(batch[HEADER_SIZE:])
