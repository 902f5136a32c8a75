"""P5 whenever something is taken from a log: it is sealed by then.

What counts is what a region has acknowledged or shown, and what all replicas of a partition had. A node may take it
from its log once an orphan store of the region has it, such that a loss of power would leave it there. Nothing else may
be taken, but what lies below the log start of a topic that somebody has trimmed or that has a retention of its own. A
follower may take what nobody was told of, and its leader has: it fetches that again (KIP-101), also after it was not
synced before a crash.

A compacted log may be emptied and copied anew; what another region has of it counts as kept, and so does what a later
record of its key has replaced that is sealed or that another region has. What cleaning takes away is judged when the
run is over.
"""

from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from struct import Struct
from typing import Final, NamedTuple

from brokers.effects import OpenLog, TruncateLog
from brokers.ids import BrokerId, LeaderEpoch, Offset, TopicPartition
from brokers.metadata.commands.config_commands import ResourceType
from tests.sim.evidence import Batch, batches, log_starts
from tests.sim.linked.federation import Region
from tests.sim.linked.orphans import durable_orphans
from tests.sim.regions.compaction import key_of
from tests.sim.statements import Place

_EPOCH: Final = Struct(">12xi")  # of a batch: its leader epoch
_RETENTIONS: Final = ("retention.ms", "retention.bytes")  # Kafka's own are longer than any run


class Removal(NamedTuple):
    """Batches that a node has taken from its log just now. `start`: where that began, by its checkpoint."""

    number: BrokerId
    partition: TopicPartition
    start: Offset
    is_folder: bool  # all of the log, as it is moved to other nodes


class Removals:
    """Of one region."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._acknowledged: dict[tuple[TopicPartition, Offset], set[bytes]] = {}
        self._heard = 0  # of what was acknowledged
        # Batches that all replicas had when a follower took them from its log, and who did.
        self._fetched_again: dict[tuple[TopicPartition, bytes], set[BrokerId]] = {}

    def removed(self, removal: Removal, lost: Iterable[Batch]) -> Iterator[str]:
        if self._region.statements.loses:
            return  # what goes away may do so
        self._hear()
        now = _Moment(self._region)
        for batch in lost:
            if self._is_compacted and not self._is_cut(removal, batch):
                continue
            for offset, value in self._counting(removal, batch, now):
                if not now.keeps(removal.partition, batch, offset, value):
                    place = f"{value!r:.40} of {removal.partition}@{offset}"
                    yield f"n{removal.number} takes {place} from its log, and it is not sealed"

    @property
    def _is_compacted(self) -> bool:
        return self._region.evidence.history is not None

    def _is_cut(self, removal: Removal, batch: Batch) -> bool:
        """By a truncation, which may put a cleaned segment in its place before it cuts."""
        match self._region.node(removal.number).performing:
            case TruncateLog() as cut:
                return cut.begins_anew or batch.next_offset > cut.offset
        return False

    def _hear(self) -> None:
        acknowledged = self._region.statements.acknowledged
        for ack in acknowledged[self._heard :]:
            key = (ack.place.partition, ack.place.offset)
            self._acknowledged.setdefault(key, set()).add(ack.value)
        self._heard = len(acknowledged)

    def _counting(
        self, removal: Removal, batch: Batch, now: "_Moment"
    ) -> Iterator[tuple[Offset, bytes]]:
        """Its records that may not be lost."""
        partition = removal.partition
        if self._is_outdated(partition, batch) or (removal.is_folder and now.is_elsewhere(removal)):
            return
        is_everywhere = self._is_everywhere(removal, batch, now)
        start = max(removal.start, now.led_from(removal))
        for offset, value in batch.values():
            may_go = offset < start and (
                not self._is_told(partition, offset, value) or self._is_deleted(partition, offset)
            )
            if may_go or now.is_led_in_another_epoch(removal, batch, offset, value):
                continue
            if is_everywhere or self._is_told(partition, offset, value):
                yield offset, value

    def _is_everywhere(self, removal: Removal, batch: Batch, now: "_Moment") -> bool:
        """And its leader, if that is another one, has not kept it."""
        key = removal.partition, batch.data
        gone = self._fetched_again.get(key, set())
        if removal.is_folder or not now.was_everywhere(removal, batch, gone):
            return False
        performing = self._region.node(removal.number).performing
        is_fetched = isinstance(performing, TruncateLog | OpenLog)
        if is_fetched and now.is_led_by_another(removal):
            self._fetched_again.setdefault(key, set()).add(removal.number)
            return False
        return True

    def _is_told(self, partition: TopicPartition, offset: Offset, value: bytes) -> bool:
        """Whether somebody was told that it is stored there."""
        place = Place(self._region.region, partition, offset)
        is_read = self._region.statements.read.get(place) == value
        return is_read or value in self._acknowledged.get((partition, offset), ())

    def _is_outdated(self, partition: TopicPartition, batch: Batch) -> bool:
        """A later leader has given its records the same offsets: what was acknowledged is what that one wrote."""
        versions = self._region.written.get((partition, batch.base_offset), ())
        return any(_epoch_of(data) > batch.leader_epoch for data in versions)

    def _is_deleted(self, partition: TopicPartition, offset: Offset) -> bool:
        """Whether somebody has asked for that, or a retention that a run may see."""
        configs = self._region.newest.config((ResourceType.TOPIC, partition.topic))
        is_trimmed = offset < self._region.statements.trims.get(partition, 0)
        return is_trimmed or any(name in configs for name in _RETENTIONS)


class _Moment:
    """What the disks of a region hold just now, read once it is needed."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._logs: dict[BrokerId, frozenset[bytes]] = {}

    def keeps(self, partition: TopicPartition, batch: Batch, offset: Offset, value: bytes) -> bool:
        """In an orphan store; of a compacted log see above."""
        if (partition, offset, value) in self._sealed:
            return True
        history = self._region.evidence.history
        if history is None:
            return False
        if history.is_beside(partition, batch.leader_epoch, offset, value):
            return True
        key = key_of(value)
        return history.is_replaced_beside(partition, key, offset) or any(
            at == partition and place > offset and key_of(later) == key
            for at, place, later in self._sealed
        )

    @cached_property
    def _sealed(self) -> set[tuple[TopicPartition, Offset, bytes]]:
        return {key for node in self._region.nodes.values() for key in durable_orphans(node.disk)}

    def is_elsewhere(self, removal: Removal) -> bool:
        """Whether another node has a log of the partition."""
        others = (node for each, node in self._region.nodes.items() if each != removal.number)
        return any(node.disk.exists(str(removal.partition)) for node in others)

    def is_led_by_another(self, removal: Removal) -> bool:
        placed = self._region.newest.partition(removal.partition)
        return placed is not None and placed.leader not in (-1, removal.number)

    def is_led_in_another_epoch(
        self, removal: Removal, batch: Batch, offset: Offset, value: bytes
    ) -> bool:
        """Whether the leader is another node, and has the record there from another leader.

        A producer sent it to both, and what it was told of is what the leader has.
        """
        placed = self._region.newest.partition(removal.partition)
        if placed is None or placed.leader not in self._region.nodes:
            return False
        if placed.leader == removal.number:
            return False
        return any(
            each.leader_epoch != batch.leader_epoch and (offset, value) in each.values()
            for each in batches(self._region.node(placed.leader).disk, removal.partition)
            if each.base_offset <= offset < each.next_offset
        )

    def led_from(self, removal: Removal) -> Offset:
        """Where the log of the leader begins: a replica that was away is cut before it hears of that."""
        placed = self._region.newest.partition(removal.partition)
        leader = placed.leader if placed is not None else -1
        if leader not in self._region.nodes:
            return 0
        return log_starts(self._region.node(leader).disk).get(removal.partition, 0)

    def was_everywhere(self, removal: Removal, batch: Batch, gone: Container[BrokerId]) -> bool:
        """Whether this log is the first of all replicas' to lack it, but for those in `gone`."""
        placed = self._region.newest.partition(removal.partition)
        if placed is None or removal.number not in placed.replicas:
            return False
        others = (each for each in placed.replicas if each != removal.number)
        return all(
            each in gone or batch.data in self._log(each, removal.partition) for each in others
        )

    def _log(self, number: BrokerId, partition: TopicPartition) -> frozenset[bytes]:
        if number not in self._logs:
            found = batches(self._region.node(number).disk, partition)
            self._logs[number] = frozenset(each.data for each in found)
        return self._logs[number]


def _epoch_of(data: bytes) -> LeaderEpoch:
    (epoch,) = _EPOCH.unpack_from(data)
    return LeaderEpoch(epoch)
