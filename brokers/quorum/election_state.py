"""Kafka's file `quorum-state`: what must be durable before a voter acts in an epoch."""

import base64
import binascii
import json
from dataclasses import dataclass
from uuid import UUID

from brokers.ids import METADATA_PARTITION, BrokerId, Buffer, LeaderEpoch, id_text
from brokers.quorum.control_records import MetadataLogError
from brokers.quorum.ids import NO_DIRECTORY, NO_NODE, ReplicaKey

STATE_NAME = f"{METADATA_PARTITION}/quorum-state"
# Exists once the log named this directory as a voter's: if it is no voter later, an operator removed it.
VOTER_NAME = f"{METADATA_PARTITION}/was-voter"


@dataclass(frozen=True, slots=True)
class ElectionState:
    """The newest epoch that this replica knows, its vote in that epoch, and the leader. Version 1 of the file."""

    leader_id: BrokerId = NO_NODE
    leader_epoch: LeaderEpoch = 0
    voted_id: BrokerId = NO_NODE
    voted_directory: UUID = NO_DIRECTORY

    @property
    def voted(self) -> ReplicaKey | None:
        if self.voted_id == NO_NODE:
            return None
        return ReplicaKey(self.voted_id, self.voted_directory)

    def encode(self) -> bytes:
        directory = id_text(self.voted_directory)
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
        """Raises `MetadataLogError` for other content."""
        try:
            state = json.loads(bytes(data))
            directory = base64.urlsafe_b64decode(state["votedDirectoryId"] + "==")
            numbers = (state["leaderId"], state["leaderEpoch"], state["votedId"])
            if state["data_version"] != 1 or any(type(number) is not int for number in numbers):
                raise ValueError(state)
            return ElectionState(*numbers, UUID(bytes=directory))
        except (ValueError, KeyError, TypeError, binascii.Error) as error:
            raise MetadataLogError(f"{STATE_NAME} cannot be read: {error}") from None
