"""Where logs began before what a node is doing to them just now.

A log that is cut below its start begins anew below it: its checkpoint says so before its files are removed.
"""

from brokers.ids import BrokerId, Offset, TopicPartition
from tests.sim.evidence import log_starts
from tests.sim.linked.federation import Region


class StartsBefore:
    """Of the nodes of one region."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._performing: dict[BrokerId, object] = {}
        self._before: dict[BrokerId, dict[TopicPartition, Offset]] = {}
        self._newest: dict[BrokerId, dict[TopicPartition, Offset]] = {}

    def replaced(self, number: BrokerId) -> None:
        """The checkpoint of a node is another one."""
        node = self._region.node(number)
        if not self._is_moving(number):
            self._performing[number] = node.performing
            self._before[number] = self._newest.get(number, {})
        self._newest[number] = dict(log_starts(node.disk))

    def of(self, number: BrokerId, partition: TopicPartition) -> Offset:
        node = self._region.node(number)
        start = log_starts(node.disk).get(partition, 0)
        is_moving = self._is_moving(number)
        return max(start, self._before[number].get(partition, 0)) if is_moving else start

    def _is_moving(self, number: BrokerId) -> bool:
        """Whether the node has moved a log start in what it is performing now."""
        performing = self._region.node(number).performing
        return performing is not None and self._performing.get(number) is performing
