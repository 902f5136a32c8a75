"""What is judged when it happens in a region of a federation: P3, P5, P8 and P10, besides P2, P4 and P6.

a batch comes to a log          P2, P6 (`federation`); P3 nobody has read another one there; P8; P10
a reader's answer comes         P3
something is taken from a log   P5
a restore may truncate          P5
a log start moves               P8
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from brokers.ids import BrokerId, TopicPartition
from tests.sim.evidence import LOG_STARTS, Batch, folder_of, parse
from tests.sim.linked.compacted_gaps import CompactedGaps
from tests.sim.linked.federation import MirrorBroken, Region
from tests.sim.linked.gaps import Gaps
from tests.sim.linked.known_offsets import KnownOffsets
from tests.sim.linked.reads import Reads
from tests.sim.linked.removals import Removal, Removals
from tests.sim.linked.repeats import Repeats
from tests.sim.linked.sealings import Sealings
from tests.sim.linked.starts_before import StartsBefore


def judge_events(regions: Iterable[Region]) -> None:
    """From the first event on."""
    found = {region.region: (region, KnownOffsets(region)) for region in regions}
    known = {name: each for name, (_, each) in found.items()}
    for region, _ in found.values():
        EventChecks(region, known)


class EventChecks:
    """Of one region, from its first event on. Raises MirrorBroken."""

    def __init__(self, region: Region, known: Mapping[str, KnownOffsets]) -> None:
        """`known` is that of all regions, by their names."""
        self._region = region
        self._reads = Reads(region, known[region.region])
        self._removals = Removals(region)
        self._starts = StartsBefore(region)
        kind = Gaps if region.evidence.history is None else CompactedGaps
        self._gaps = kind(region, known)
        self._repeats = Repeats(lambda number: region.node(number).disk)
        sealings = Sealings(region)
        region.on_heard = lambda: self._raise("P5", sealings.look())
        region.on_batch = self._written
        region.statements.on_batch_read = self._read
        region.statements.may_begin = self._gaps.may_begin
        for number, node in region.nodes.items():
            node.disk.on_removed = partial(self._removed, number)
            node.disk.on_replaced = partial(self._replaced, number)

    def _written(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> None:
        self._raise("P3", self._reads.written(number, partition, batch))
        self._raise("P10", self._repeats.written(number, partition, batch))
        self._raise("P8", self._gaps.written(number, partition, batch))

    def _read(self, partition: TopicPartition, batch: Batch) -> None:
        self._raise("P3", self._reads.read(partition, batch))

    def _removed(self, number: BrokerId, path: str, data: bytes) -> None:
        partition = folder_of(path)
        if partition is None or partition.topic.startswith("__"):
            return
        self._repeats.forget(number, partition)
        self._gaps.forget(number, partition)
        is_folder = not self._region.node(number).disk.exists(str(partition))
        removal = Removal(number, partition, self._starts.of(number, partition), is_folder)
        self._raise("P5", self._removals.removed(removal, parse(data)))

    def _replaced(self, number: BrokerId, path: str) -> None:
        if path == LOG_STARTS:
            self._starts.replaced(number)
            self._raise("P8", self._gaps.started(number))

    def _raise(self, promise: str, findings: Iterator[str]) -> None:
        for finding in findings:
            raise MirrorBroken(f"{promise} in {self._region.region}: {finding}")
