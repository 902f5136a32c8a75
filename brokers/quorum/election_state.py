"""Kafka's file `quorum-state`: what must be durable before a voter acts in an epoch."""

import base64
import binascii
import json
from dataclasses import dataclass
from uuid import UUID

from brokers.ids import METADATA_PARTITION, BrokerId, Buffer, LeaderEpoch
from brokers.quorum.control_records import MetadataLogError
from brokers.quorum.ids import NO_DIRECTORY, NOBODY, ReplicaKey

STATE_NAME = f"{METADATA_PARTITION}/quorum-state"
# There once this disk has been a voter's by the log: what was removed then was removed on purpose.
VOTER_NAME = f"{METADATA_PARTITION}/was-voter"


@dataclass(frozen=True, slots=True)
class ElectionState:
    """The newest epoch that this member knows, whom it voted for in it, and who leads it. Version 1 of the file."""

    leader_id: BrokerId = NOBODY
    leader_epoch: LeaderEpoch = 0
    voted_id: BrokerId = NOBODY
    voted_directory: UUID = NO_DIRECTORY

    @property
    def voted(self) -> ReplicaKey | None:
        if self.voted_id == NOBODY:
            return None
        return ReplicaKey(self.voted_id, self.voted_directory)

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
    def decode(data: Buffer) -> "ElectionState":
        """Raises `MetadataLogError` for anything else."""
        try:
            state = json.loads(bytes(data))
            directory = base64.urlsafe_b64decode(state["votedDirectoryId"] + "==")
            numbers = (state["leaderId"], state["leaderEpoch"], state["votedId"])
            if state["data_version"] != 1 or any(type(number) is not int for number in numbers):
                raise ValueError(state)
            return ElectionState(*numbers, UUID(bytes=directory))
        except (ValueError, KeyError, TypeError, binascii.Error) as error:
            raise MetadataLogError(f"{STATE_NAME} cannot be read: {error}") from None
