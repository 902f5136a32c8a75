"""Bugs that others had, for the simulator to find: hosts that are wrong in one point each.

They stand between a node and its disk or its neighbours, where the real ones are tested by the same storms.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from brokers.events import Answered
from brokers.ids import TopicPartition
from brokers.partition.replica import Replica
from brokers.wire.messages.quorum import VoteResponse
from tests.sim.disks import Disk
from tests.sim.nodes import Node
from tests.sim.regions.cluster import MakeDisk, MakeNode
from tests.sim.regions.weather import RegionWeather, Shape
from tests.sim.weather import Crashes

Adjust = Callable[[RegionWeather], RegionWeather]


@dataclass(frozen=True)
class Plant:
    """A bug, and the weather in which it matters."""

    adjust: Adjust
    make_node: MakeNode = Node
    make_disk: MakeDisk = Disk


def _stormy(**changes: Any) -> Adjust:
    settled = {
        "shape": Shape(3, 3, combined=True),
        "crash_mean_ms": 3_000,
        "down_ms": 1_000,
        "wipe_mean_ms": 0,
        "full_disk_mean_ms": 0,
        "ailing_disk_mean_ms": 0,
        "replication": 3,
        "latency_ms": 10,
        "duration_ms": 15_000,
    }
    return lambda weather: replace(weather, **(settled | changes))


class Forgetful(Disk):
    """Says that the ends of logs are on the platter as soon as they are in its cache."""

    def sync(self, path: str) -> None:
        if path.endswith(".log"):
            self._burn()
        else:
            super().sync(path)


class Lenient(Node):
    """Takes a vote that it was given in an earlier epoch for one in this."""

    def deliver(self, event: Any) -> None:
        if isinstance(event, Answered) and isinstance(event.message, VoteResponse):
            for topic in event.message.topics:
                for answer in topic.partitions:
                    self._count(answer)
        super().deliver(event)

    def _count(self, answer: Any) -> None:
        """Whoever was voted for once is voted for ever after: a refusal is heard as what was said then."""
        votes = self.__dict__.setdefault("votes", {})
        if answer.vote_granted:
            votes[self.life] = True
        elif votes.get(self.life):
            answer.vote_granted, answer.error_code, answer.leader_id = True, 0, -1


class Cutting(Node):
    """Follows as before KIP-101: a new leadership cuts what is above the follower's own high watermark."""

    def _step(self, event: Any) -> None:
        super()._step(event)
        for partition, replica in list(self.broker.context.partitions.items()):
            if self.alive:
                self._cut(partition, replica)

    def _cut(self, partition: TopicPartition, replica: Replica) -> None:
        epochs = self.__dict__.setdefault("epochs", {})
        key = (self.life, partition)
        if not replica.follows or replica.log is None or epochs.get(key) == replica.leader_epoch:
            return
        epochs[key] = replica.leader_epoch
        for effect in replica.truncate(replica.high_watermark):
            self._perform(effect, self.now)
        if replica.log is None and replica.source is not None:
            for effect in replica.source.failed(self.now):
                self._perform(effect, self.now)


SKIP_AN_FSYNC = Plant(_stormy(crashes=Crashes.POWER, sync_ms=1), make_disk=Forgetful)
COUNT_OLD_VOTES = Plant(_stormy(block_mean_ms=2_000, block_ms=5_000), make_node=Lenient)
CUT_TO_THE_HIGH_WATERMARK = Plant(_stormy(meddles=True), make_node=Cutting)
