"""A sealed tail of a restore that an operator discards: each copy by the broker that has it."""

from collections.abc import Iterator

from brokers.ids import BrokerId, TopicPartition
from brokers.storage.logs.discarding import discard
from linker.commands import RecordDiscardedOrphans
from tests.sim.disks import Disk
from tests.sim.linked.link_changes import Logs
from tests.sim.linked.operators import LOOK_MS
from tests.sim.linked.orphans import folders
from tests.sim.linked.pending_failovers import PendingFailoverOperator
from tests.sim.linked.steps import SteppedNode
from tests.sim.nodes import Node

Stored = dict[tuple[BrokerId, str], bytes]  # by node and path


class DiscardingOperator(PendingFailoverOperator):
    """Of the tails of the region that was restored, the first by name; the others stay."""

    discarded = ""  # the folder
    kept: Stored

    async def discard_tail(self) -> None:
        """Asks until no broker has it; the first one is killed within the removal, or just after it."""
        region = self._ends.source
        tail, records = self._tails()[0]
        place = TopicPartition(tail.orphan.topic, tail.orphan.partition)
        region.discarded.update((place, one.record.offset, one.record.value) for one in records)
        self.discarded = f"orphans/{tail.name}"
        self.kept = self._others()
        fuse: int | None = self._world.rng("discards").randrange(3)
        while holders := [
            (number, node) for number, node in region.nodes.items() if self._has(node)
        ]:
            for number, node in holders:
                assert isinstance(node, SteppedNode)
                if node.is_ready:
                    node.disk.fuse, fuse = fuse, None
                    node.maintain(lambda disk=node.disk: discard(disk, [tail.name]))
                    await self._ask_at(region, number, RecordDiscardedOrphans((tail.name,)))
            await self._world.sleep(LOOK_MS)

    def _has(self, node: Node) -> bool:
        return self.discarded in folders(node.disk)

    def _others(self) -> Stored:
        nodes = self._ends.source.nodes
        return {
            (number, path): data
            for number, node in nodes.items()
            for path, data in _sealed(node.disk)
            if not path.startswith(f"{self.discarded}/")
        }

    def not_discarded(self, _: Logs) -> Iterator[str]:
        """No copy came back, and nothing else is gone."""
        for number, node in self._ends.source.nodes.items():
            if self._has(node):
                yield f"n{number} has {self.discarded} again"
        there = self._others()
        for (number, path), data in self.kept.items():
            if there.get((number, path)) != data:
                yield f"n{number} was not to discard {path}"


def _sealed(disk: Disk) -> Iterator[tuple[str, bytes]]:
    for folder in folders(disk):
        for name in disk.list(folder):
            path = f"{folder}/{name}"
            yield path, bytes(disk.read(path, 0, disk.size(path)))
