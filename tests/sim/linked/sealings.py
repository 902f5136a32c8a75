"""P5 when a restore may begin to truncate: each replica in sync has sealed what its leader holds of the tail.

Else the tail would be in one orphan store only, of a broker whose disk may be lost, or it would be cut unsealed by a
replica that gets the end of it later and leads then. Not of compacted logs: each replica cleans its own.
"""

from collections.abc import Iterator

from brokers.ids import BrokerId, Offset, TopicPartition
from brokers.metadata.image.image import Image, PartitionImage
from linker.records.mirror_record import MIRROR_KIND, MirrorRecord, RestorePoint, decode_mirror
from linker.records.mirror_state import MirrorState
from tests.sim.evidence import batches, log_starts
from tests.sim.linked.federation import Region
from tests.sim.linked.orphans import durable_orphans
from tests.sim.regions.cluster import TOPIC


class Sealings:
    """Of the topic of all clients in one region."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._before: Image | None = None
        self._judged = -1  # the version of the record

    def look(self) -> Iterator[str]:
        """Whatever has happened."""
        if not any(node.life for node in self._region.nodes.values()):
            return
        image = self._region.newest
        before, self._before = self._before or image, image
        document = image.documents.get((MIRROR_KIND, TOPIC))
        if document is None or document.version == self._judged:
            return
        self._judged = document.version
        record = decode_mirror(TOPIC, document.body)
        if record.state is MirrorState.PENDING_RESTORE and self._region.evidence.history is None:
            yield from self._unsealed(record, before, image)

    def _unsealed(self, record: MirrorRecord, before: Image, image: Image) -> Iterator[str]:
        for index, point in enumerate(record.restore):
            partition = TopicPartition(TOPIC, index)
            then, now = before.partition(partition), image.partition(partition)
            if then is not None and now is not None and now.leader in self._region.nodes:
                yield from self._lacking(partition, point, then, now)

    def _lacking(
        self,
        partition: TopicPartition,
        point: RestorePoint,
        then: PartitionImage,
        now: PartitionImage,
    ) -> Iterator[str]:
        """Whoever came into sync just now may not have been asked."""
        tail = set(self._tail(now.leader, partition, point))
        for number in set(then.isr) & set(now.isr):
            sealed = set(durable_orphans(self._region.node(number).disk))
            for _, offset, value in sorted(tail - sealed):
                yield f"n{number} has not sealed {value!r:.40} of {partition}@{offset}, which n{now.leader} holds"

    def _tail(
        self, number: BrokerId, partition: TopicPartition, point: RestorePoint
    ) -> Iterator[tuple[TopicPartition, Offset, bytes]]:
        disk = self._region.node(number).disk
        start = max(point.offset, log_starts(disk).get(partition, 0))
        for batch in batches(disk, partition):
            if batch.leader_epoch <= point.leader_epoch:
                for offset, value in batch.values():
                    if offset >= start:
                        yield partition, offset, value
