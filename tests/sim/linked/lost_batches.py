"""What a source has lost by unclean elections, and its mirror has sealed and cut.

A later one of them may have a leader that still holds it: then the source has these batches again, with the leader
epochs that they had, and the mirror copies them once more. Until then they are in its orphan stores alone.
"""

from collections.abc import Callable, Iterable
from functools import partial

from brokers.ids import OFFSET_MAX, Offset, TopicPartition
from linker.errors import DIVERGED
from linker.frames import Declined
from tests.sim.evidence import Batch, batches, folder_of, parse
from tests.sim.linked.federation import Region
from tests.sim.linked.orphans import sealed_batches
from tests.sim.nodes import Node

OnRemoved = Callable[[str, bytes], None]
_Place = tuple[TopicPartition, bytes]  # of a batch, by its bytes


class LostBatches:
    """From now on, of a source and one mirror region."""

    def __init__(self, source: Region, mirror: Region) -> None:
        self._source = source
        self._lost: set[_Place] = set()
        self._cut: set[_Place] = set()
        for node in source.nodes.values():
            node.streams.on_declined = partial(self._declined, node)
        for node in mirror.nodes.values():
            node.disk.on_removed = partial(self._removed, node, node.disk.on_removed)

    def may_return(self, partition: TopicPartition, batch: Batch) -> bool:
        """Whether a leader of the source was without it, and the mirror has sealed and then cut it."""
        place = partition, batch.data
        return place in self._lost and place in self._cut

    def first_of(self, partition: TopicPartition, log: Iterable[Batch]) -> Offset:
        """Where the first batch of a log lies that the source was without once; OFFSET_MAX if there is none."""
        lost = (each.base_offset for each in log if (partition, each.data) in self._lost)
        return min(lost, default=OFFSET_MAX)

    def _declined(self, node: Node, frame: Declined) -> None:
        """A leader says that the histories part: what was written in the source by then, and it has not, is lost."""
        if frame.error not in DIVERGED:
            return
        for partition in self._source.partitions():
            state = node.broker.view.partition_state(partition)
            if state is not None and state.is_leader:
                self._lacks(node, partition)

    def _lacks(self, node: Node, partition: TopicPartition) -> None:
        held = {batch.data for batch in batches(node.disk, partition)}
        for (at, _), versions in self._source.written.items():
            if at == partition:
                self._lost.update((partition, data) for data in versions - held)

    def _removed(self, node: Node, tell: OnRemoved, path: str, data: bytes) -> None:
        tell(path, data)
        partition = folder_of(path)
        if partition is None:
            return
        gone = {(partition, batch.data) for batch in parse(data)}
        sealed = ((at, batch.data) for at, batch in sealed_batches(node.disk))
        self._cut |= gone.intersection(sealed)
