"""Identifiers and small values of a region. All instants are milliseconds since the Unix epoch."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias
from uuid import UUID

Offset: TypeAlias = int
LeaderEpoch: TypeAlias = int
ProducerId: TypeAlias = int
BrokerId: TypeAlias = int
Instant: TypeAlias = int  # milliseconds since the Unix epoch
Ticket: TypeAlias = int  # identifies one pending request or read; never reused by a process
Buffer: TypeAlias = bytes | bytearray | memoryview
Buffers: TypeAlias = Sequence[Buffer]

# No log goes beyond: whoever computes with offsets has room left, and one that a peer makes up can't overflow 64 bits.
OFFSET_MAX: Offset = 1 << 62
NO_PARTITION_LEADER_EPOCH: LeaderEpoch = -1
NO_PRODUCER: ProducerId = -1
_ID_CHARACTERS = 22
NO_BROKER_EPOCH = -1  # of a broker that was never registered
NO_ID = UUID(int=0)  # Kafka's Uuid.ZERO_UUID
# Kafka's reserved DirectoryIds (KIP-858): known to the broker only; not assigned yet; offline.
MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, LOST_DIRECTORY = UUID(int=0), UUID(int=1), UUID(int=2)
UNNAMED_DIRECTORIES = frozenset((MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, LOST_DIRECTORY))


def id_text(identity: UUID) -> str:
    """An id as Kafka writes it: base64, URL-safe and without padding."""
    return urlsafe_b64encode(identity.bytes).decode().rstrip("=")


def parse_id(text: str) -> UUID:
    """Raises ValueError for what is no such text."""
    if len(text) != _ID_CHARACTERS:
        raise ValueError(f"{text!r} has not {_ID_CHARACTERS} characters")
    return UUID(bytes=urlsafe_b64decode(text + "=="))


class TopicPartition(NamedTuple):
    """One partition of one topic, by name; also the name of its folder on disk."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


METADATA_PARTITION = TopicPartition("__cluster_metadata", 0)
OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"
INTERNAL_TOPICS = (OFFSETS_TOPIC, TRANSACTIONS_TOPIC)
# The name of a node's listener for clients where its settings say nothing else, as in Kafka.
DEFAULT_LISTENER = "PLAINTEXT"


class Peer(NamedTuple):
    """Another node of the region, with the address of its data or controller listener."""

    node_id: BrokerId
    host: str
    port: int


class OffsetAndMetadata(NamedTuple):
    """A consumer group's committed offset of one partition, as Kafka stores it."""

    offset: Offset
    leader_epoch: LeaderEpoch = -1
    metadata: str = ""
    committed_at: Instant = -1
