"""Who leads the metadata log and what of it is committed (KIP-595).

Always: an epoch is on the disk before anything is done in it; the leader's first record of an epoch is its
LeaderChange; an offset is committed when a majority of the voters has it on disk and it lies beyond the start of the
leader's own epoch. There is one voter today, whose own vote and disk are the majority.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from brokers.ids import METADATA_PARTITION, BrokerId, Buffer, Instant, LeaderEpoch, Offset
from brokers.metadata.batches import LEADER_CHANGE, control_batch
from brokers.metadata.commands import NO_ID
from brokers.metadata.records import MetadataLogError
from brokers.wire.messages.control_records import LeaderChangeMessage, Voter

STATE_NAME = f"{METADATA_PARTITION}/quorum-state"
NOBODY: BrokerId = -1


class Role(Enum):
    """What this voter is in the current epoch."""

    UNATTACHED = "unattached"  # knows an epoch, but no leader in it
    CANDIDATE = "candidate"  # voted for itself, the vote is not yet on disk or not yet a majority
    LEADER = "leader"


@dataclass(frozen=True, slots=True)
class QuorumState:
    """What must be durable before a voter acts in an epoch; Kafka's file `quorum-state`, version 1."""

    leader_id: BrokerId = NOBODY
    leader_epoch: LeaderEpoch = 0
    voted_id: BrokerId = NOBODY
    voted_directory: UUID = NO_ID

    def encode(self) -> bytes:
        directory = base64.urlsafe_b64encode(self.voted_directory.bytes).decode().rstrip("=")
        state = {
            "leaderId": self.leader_id,
            "leaderEpoch": self.leader_epoch,
            "votedId": self.voted_id,
            "votedDirectoryId": directory,
            "data_version": 1,
        }
        return json.dumps(state, separators=(",", ":")).encode()

    @staticmethod
    def decode(data: Buffer) -> "QuorumState":
        """Raises `MetadataLogError` for anything else."""
        try:
            state = json.loads(bytes(data))
            directory = base64.urlsafe_b64decode(state["votedDirectoryId"] + "==")
            numbers = (state["leaderId"], state["leaderEpoch"], state["votedId"])
            if state["data_version"] != 1 or any(type(number) is not int for number in numbers):
                raise ValueError(state)
            return QuorumState(*numbers, UUID(bytes=directory))
        except (ValueError, KeyError, TypeError, binascii.Error) as error:
            raise MetadataLogError(f"{STATE_NAME} cannot be read: {error}") from None


class Quorum:
    """One voter's view. Its host persists `state` when asked to and reports what reached the disk."""

    def __init__(self, node_id: BrokerId, directory: UUID, voters: Sequence[BrokerId]) -> None:
        assert node_id in voters, (node_id, voters)
        self.role = Role.UNATTACHED
        self.state = QuorumState()
        self.high_watermark: Offset = 0
        self._node_id = node_id
        self._directory = directory
        self.voters = tuple(voters)
        self._epoch_start: Offset = 0
        self._flushed: dict[BrokerId, Offset] = {}

    @property
    def leader_epoch(self) -> LeaderEpoch:
        return self.state.leader_epoch

    def campaign(self, stored: QuorumState, last_log_epoch: LeaderEpoch) -> QuorumState:
        """Vote for itself in a new epoch; nothing may follow until the state returned is durable."""
        self.role = Role.CANDIDATE
        elected = self._is_majority(1)
        self.state = QuorumState(
            leader_id=self._node_id if elected else NOBODY,
            leader_epoch=max(stored.leader_epoch, last_log_epoch, self.leader_epoch) + 1,
            voted_id=self._node_id,
            voted_directory=self._directory,
        )
        return self.state

    def lead(self, log_end_offset: Offset) -> None:
        """The vote is durable and a majority's: this epoch begins at the log's end."""
        assert self.role is Role.CANDIDATE and self._is_majority(1), self.role
        self.role = Role.LEADER
        self._epoch_start = log_end_offset
        self._flushed = dict.fromkeys(self.voters, 0)

    def leader_change(self, now: Instant) -> bytearray:
        """The first batch of the epoch."""
        assert self.role is Role.LEADER
        message = LeaderChangeMessage(
            version=0,
            leader_id=self._node_id,
            voters=[Voter(voter_id=voter) for voter in self.voters],
            granting_voters=[Voter(voter_id=self._node_id)],
        )
        return control_batch(
            LEADER_CHANGE,
            message,
            base_offset=self._epoch_start,
            leader_epoch=self.leader_epoch,
            now=now,
        )

    def flushed(self, voter: BrokerId, next_offset: Offset) -> None:
        """A voter has everything below `next_offset` on its disk."""
        if self.role is not Role.LEADER:
            return
        self._flushed[voter] = max(self._flushed[voter], next_offset)
        held = sorted(self._flushed.values(), reverse=True)
        majority = held[len(held) // 2]
        if majority > self._epoch_start:
            self.high_watermark = max(self.high_watermark, majority)

    def resign(self) -> None:
        """This voter cannot lead any more: its disk refused."""
        self.role = Role.UNATTACHED

    def _is_majority(self, votes: int) -> bool:
        return votes > len(self.voters) // 2
