"""Where a replayed record came from: the headers that a replay adds, and which orphans a topic has by them."""

import hashlib
import re
from typing import Final, NamedTuple

from brokers.ids import LeaderEpoch, Offset
from brokers.records.record import Record
from federation.commands.orphans.reading import OrphanRecord
from federation.commands.orphans.stores import Tail

ORPHAN: Final = b"causeway.orphan"  # the tail's name: TOPIC-PARTITION/FIRST-END.eEPOCH
OFFSET: Final = b"causeway.orphan.offset"
EPOCH: Final = b"causeway.orphan.leader.epoch"
CLUSTER: Final = b"causeway.orphan.cluster"
# A replay adds them in this order, behind all others.
_NAMES: Final = (ORPHAN, CLUSTER, OFFSET, EPOCH)
_NUMBER: Final = re.compile(rb"-?[0-9]{1,19}")

Headers = tuple[tuple[bytes, bytes | None], ...]


class OldPartition(NamedTuple):
    """A partition at the old primary, of which the orphan tails are."""

    cluster_id: str
    topic: str
    partition: int


def old_partition_of(tail: Tail, cluster_id: str) -> OldPartition:
    return OldPartition(cluster_id, tail.orphan.topic, tail.orphan.partition)


class _Origin(NamedTuple):
    cluster_id: bytes
    tail: bytes
    offset: Offset
    leader_epoch: LeaderEpoch


class ReplayedOrphans:
    """Which orphans of a partition some records are, by their headers and their content.

    Two regions may have the same record in their tails, as two mirrors of one source do: of another region it is with
    the same time, too, for else two regions that have nothing in common could have the same content at one offset.
    """

    def __init__(self, source: OldPartition) -> None:
        self.tails: set[str] = set()  # this region's, of which there is a record
        self._cluster_id = source.cluster_id.encode()
        self._prefix = f"{source.topic}-{source.partition}/".encode()
        self._found: set[tuple[Offset, LeaderEpoch, bytes]] = set()

    def add(self, record: Record) -> None:
        """A record of a topic, replayed or not."""
        origin = _origin(record)
        if origin is None or not origin.tail.startswith(self._prefix):
            return
        replayed = record._replace(headers=record.headers[: -len(_NAMES)])
        is_of_region = origin.cluster_id == self._cluster_id
        if is_of_region:
            self.tails.add(origin.tail.decode("utf-8", "replace"))
        what = content_of(replayed) if is_of_region else exact_of(replayed)
        self._found.add((origin.offset, origin.leader_epoch, what))

    def has(self, orphan: OrphanRecord) -> bool:
        place = orphan.record.offset, orphan.leader_epoch
        contents = content_of(orphan.record), exact_of(orphan.record)
        return any((*place, each) in self._found for each in contents)


def provenance(orphan: OrphanRecord, tail: str, cluster_id: str) -> Headers:
    """What a replay adds to the headers of a record of this tail."""
    values = (
        tail.encode(),
        cluster_id.encode(),
        b"%d" % orphan.record.offset,
        b"%d" % orphan.leader_epoch,
    )
    return tuple(zip(_NAMES, values, strict=True))


def _origin(record: Record) -> _Origin | None:
    """None where no replay wrote them: a producer's headers may have any name and value."""
    added = record.headers[-len(_NAMES) :]
    if tuple(name for name, _ in added) != _NAMES:
        return None
    tail, cluster_id, offset, epoch = (bytes(value or b"") for _, value in added)
    if not (_NUMBER.fullmatch(offset) and _NUMBER.fullmatch(epoch)):
        return None
    return _Origin(cluster_id, tail, int(offset), int(epoch))


def content_of(record: Record) -> bytes:
    """A hash of key, value and headers: 16 bytes."""
    fields = (record.key, record.value, tuple(record.headers))
    return hashlib.blake2b(repr(fields).encode(), digest_size=16).digest()


def exact_of(record: Record) -> bytes:
    """The same, and the producer's time: 24 bytes."""
    return content_of(record) + record.timestamp.to_bytes(8, "big", signed=True)
