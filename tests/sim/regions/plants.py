"""Bugs that others had, for the simulator to find: hosts that are wrong in one point each.

They stand between a node and its disk or its neighbours, where the real ones are tested by the same storms.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from brokers.events import Answered, Request
from brokers.ids import TopicPartition
from brokers.partition.isr_state import IsrState
from brokers.partition.replica import Replica
from brokers.wire.messages.fetch import FetchRequest
from brokers.wire.messages.produce import ProduceRequest
from brokers.wire.messages.quorum import VoteResponse
from tests.sim.disks import Disk
from tests.sim.nodes import Node
from tests.sim.regions.cluster import MakeDisk, MakeNode
from tests.sim.regions.scenario import RegionScenario, Shape
from tests.sim.scenario import Crashes

Adjust = Callable[[RegionScenario], RegionScenario]


@dataclass(frozen=True)
class Plant:
    """A bug, and the scenario in which it matters."""

    adjust: Adjust
    seeds: range  # in which it is found
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
        "observers": 0,
        "replication": 3,
        "latency_ms": 10,
        "duration_ms": 15_000,
    }
    return lambda scenario: replace(scenario, **(settled | changes))


class Forgetful(Disk):
    """Says that the ends of logs are on the platter as soon as they are in its cache."""

    def sync(self, path: str) -> None:
        if path.endswith(".log"):
            self.burn()
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
        for partition, replica in list(self.broker.parts.partitions.all.items()):
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


class Hasty(Node):
    """Acknowledges what the leader alone has written."""

    def deliver(self, event: Any) -> None:
        if isinstance(event, Request) and isinstance(event.message, ProduceRequest):
            event.message.acks = min(1, abs(event.message.acks))
        super().deliver(event)


class Ageless(Node):
    """Knows brokers by their ids alone, as before KIP-903: what an earlier life had counts for the next one."""

    def deliver(self, event: Any) -> None:
        if isinstance(event, Request) and isinstance(event.message, FetchRequest):
            asking = event.message.replica_state
            if asking is not None:
                asking.replica_epoch = -1
        super().deliver(event)


class Obliging(Node):
    """Takes what an observer has for what the in-sync set has."""

    def _step(self, event: Any) -> None:
        super()._step(event)
        for replica in list(self.broker.parts.partitions.all.values()):
            if self.alive and replica.leadership is not None and replica.log is not None:
                self._credit(replica, replica.leadership.isr_state)

    def _credit(self, replica: Replica, progress: IsrState) -> None:
        observed = [progress.followers[each].log_end_offset for each in progress._observers]
        for broker in progress.isr:
            state = progress.followers.get(broker)
            if state is not None:
                state.log_end_offset = max([state.log_end_offset, *observed])
        for effect in replica.advance(self.now):
            self._perform(effect, self.now)


SKIP_AN_FSYNC = Plant(_stormy(crashes=Crashes.POWER, sync_ms=1), range(20), make_disk=Forgetful)
COUNT_OLD_VOTES = Plant(
    _stormy(block_mean_ms=2_000, block_ms=5_000), range(10, 30), make_node=Lenient
)
CUT_TO_THE_HIGH_WATERMARK = Plant(_stormy(meddles=True), range(20), make_node=Cutting)
ACKNOWLEDGE_EARLY = Plant(_stormy(), range(20), make_node=Hasty)
# A replica comes back with less, while the word of its old life, or of what it was then let into, is held up.
IGNORE_THE_BROKER_EPOCH = Plant(
    _stormy(
        shape=Shape(1, 3, combined=False),
        crashes=Crashes.UNSYNCED,
        crash_mean_ms=2_000,
        down_ms=300,  # the next life is there while the old one still counts as in touch
        block_mean_ms=1_500,
        block_ms=3_000,
        isolation=0.0,
        one_way=0.5,
        replication=3,
        min_insync=2,
        session_ms=9_000,
        lag_ms=3_000,
        sync_ms=1,
        spite=1.0,
    ),
    range(20),
    make_node=Ageless,
)
COUNT_OBSERVERS = Plant(
    _stormy(
        shape=Shape(3, 4, combined=True),
        block_mean_ms=2_000,
        block_ms=5_000,
        observers=1,
        promotion="leader-is-observer",
    ),
    range(20),
    make_node=Obliging,
)
