"""Which records of a tail the region that took over has, too.

A producer that was cut off sends its batch again to the new primary: the same records with the same times. A program
that begins anew sends the same content at another time, which may also be another event: who looks must decide.
Producer ids alone prove nothing, for each region gives out its own.

A record that `causeway orphans replay` appended says in its headers which orphan it is. What else the new primary has
of its content is counted as before the replay, so that no other orphan changes its class by it.

Where the new primary's log was compacted, what it once had may be gone again, replaced by a later record of the key.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum

from brokers.ids import Offset
from brokers.log.completeness import gap_end
from brokers.records.batch import SEQUENCE_MODULUS, BatchHeader
from brokers.records.record import Record, open_batch
from federation.commands.orphans.provenance import (
    OldPartition,
    ReplayedOrphans,
    content_of,
    exact_of,
)
from federation.commands.orphans.reading import OrphanRecord
from federation.commands.orphans.topics import TopicClient


class OrphanClass(Enum):
    """What an orphan record is."""

    PRESENT = "present"  # the new primary has it: the same content with the same time, or the same sequence
    REPLAYED = "replayed"  # `orphans replay` has appended it to the topic
    RESENT = "resent"  # the new primary has the same content with another time
    REPLACED = "replaced"  # compacted, and it has another record of the key: nobody knows whether it had this one, too
    UNIQUE = "unique"
    TRANSACTIONAL = "transactional"  # its transaction was cut off
    CONTROL = "control"  # a marker, no record of a producer


class Successors:
    """The records that the new primary wrote from the cut on, as far as they are known."""

    def __init__(self, source: OldPartition) -> None:
        """Of the partition that `source` had led before."""
        self._replayed = ReplayedOrphans(source)
        self._exact: Counter[bytes] = Counter()
        self._contents: Counter[bytes] = Counter()
        self._sequences: set[tuple[int, int, int, bytes]] = set()
        self._keys: set[bytes] = set()
        self._is_compacted = False  # records are missing

    @classmethod
    def read(cls, client: TopicClient, source: OldPartition, since: Offset) -> "Successors":
        """From a topic that the new primary writes, or that mirrors it. Raises Failure."""
        found, expected = cls(source), since
        for header, batch in client.batches(source.partition, since):
            found._is_compacted |= gap_end([header], expected) >= 0
            expected = header.next_offset
            for record in open_batch(batch):
                if record.offset < since:
                    continue
                found._add(header, record)
        return found

    def _add(self, header: BatchHeader, record: Record) -> None:
        content = content_of(record)
        self._replayed.add(record)
        if record.key is not None:
            self._keys.add(record.key)
        self._contents[content] += 1
        self._exact[exact_of(record)] += 1
        if header.base_sequence >= 0:
            sequence = (
                header.base_sequence + record.offset - header.base_offset
            ) % SEQUENCE_MODULUS
            producer = (header.producer_id, header.producer_epoch)
            self._sequences.add((*producer, sequence, content))

    def classify(
        self, orphans: Iterable[OrphanRecord]
    ) -> Iterator[tuple[OrphanRecord, OrphanClass]]:
        """What is there once accounts for one orphan."""
        exact, contents = self._exact.copy(), self._contents.copy()
        for orphan in orphans:
            yield orphan, self._class(orphan, exact, contents)

    def _class(
        self, orphan: OrphanRecord, exact: Counter[bytes], contents: Counter[bytes]
    ) -> OrphanClass:
        found = self._class_before(orphan, exact, contents)
        return OrphanClass.REPLAYED if self._replayed.has(orphan) else found

    def _class_before(
        self, orphan: OrphanRecord, exact: Counter[bytes], contents: Counter[bytes]
    ) -> OrphanClass:
        """What it was before a replay."""
        if orphan.is_control:
            return OrphanClass.CONTROL
        if orphan.is_transactional:
            return OrphanClass.TRANSACTIONAL
        content = content_of(orphan.record)
        sequence = (orphan.producer_id, orphan.producer_epoch, orphan.sequence, content)
        is_same = _take(exact, exact_of(orphan.record))
        has_same_content = _take(contents, content)
        if is_same or (orphan.sequence >= 0 and sequence in self._sequences):
            return OrphanClass.PRESENT
        if has_same_content:
            return OrphanClass.RESENT
        is_replaced = self._is_compacted and orphan.record.key in self._keys
        return OrphanClass.REPLACED if is_replaced else OrphanClass.UNIQUE


def _take(counts: Counter[bytes], key: bytes) -> bool:
    if counts[key] <= 0:
        return False
    counts[key] -= 1
    return True
