"""A node around replication, without disk or network: what it asks and answers is kept, and tests play the rest."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import UUID

from brokers.config.broker_config import from_settings
from brokers.effects import Append, Ask, Effect, FindRanges, Range, Reply, TruncateLog
from brokers.events import Answered, AskFailure, RangeFound, RangesFound, Request
from brokers.ids import TopicPartition
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.log.segments import Segment
from brokers.metadata.image.image import BrokerImage, Endpoint, Image, PartitionImage, TopicImage
from brokers.partition import leader
from brokers.partition.replica import Replica
from brokers.replication.replica_manager import ReplicaManager
from brokers.replication.settings import ReplicationSettings
from brokers.timers import Timers
from brokers.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from tests.unit.brokers.partition.replicas import batch

START = 1_700_000_000_000
TOPIC, TOPIC_ID = "orders", UUID(int=7)


class Node:
    """A `Host`, and what its node would do with the effects. Node 1 unless said otherwise."""

    def __init__(self, partitions: int = 1, *, node_id: int = 1, **settings: Any) -> None:
        self.config = from_settings({"node.id": node_id, "log.dirs": "data"})
        self.cluster_id = "region"
        self.full: set[TopicPartition] = set()
        self.now = START
        self.timers = Timers()
        self.answered: dict[int, Any] = {}
        self.abandoned: dict[int, Any] = {}
        self.partitions: dict[TopicPartition, Replica] = {}
        self.image = Image("region")
        self.asks: list[Ask] = []
        self.controls: list[tuple[Any, Callable[..., list[Effect]]]] = []
        self.replies: dict[int, FetchResponse] = {}
        self.others: list[Effect] = []
        self.stores = True  # what is appended is written at once
        self.on_read: Callable[[], object] = lambda: None  # records are read, and nobody knows yet
        self._thens: dict[int, Any] = {}
        self._ticket = 0
        self._count = partitions
        self.replication = ReplicaManager(
            self, ReplicationSettings(**settings), lambda partition: []
        )
        for broker in (1, 2, 3):
            self.broker(broker)

    # --- a `Host` ---

    def is_full(self, partition: TopicPartition, added: int = 0) -> bool:
        return partition in self.full

    def new_ticket(self) -> int:
        self._ticket -= 1
        return self._ticket

    def ask(
        self,
        peer: Any,
        channel: str,
        api_key: int,
        version: int,
        message: Any,
        timeout: int,
        then: Any,
    ) -> list[Effect]:
        ticket = self.new_ticket()
        self._thens[ticket] = then
        return [Ask(ticket, peer, channel, api_key, version, message, timeout)]

    def control(self, api_key: int, message: object, then: Any, now: int) -> list[Effect]:
        self.controls.append((message, then))
        return []

    # --- the image ---

    def broker(
        self,
        broker_id: int,
        *,
        rack: str | None = None,
        epoch: int | None = None,
        fenced: bool = False,
    ) -> None:
        self.image.brokers[broker_id] = BrokerImage(
            id=broker_id,
            broker_epoch=broker_id * 10 if epoch is None else epoch,
            incarnation=UUID(int=broker_id),
            endpoints=(Endpoint("PLAINTEXT", "host", 9000 + broker_id),),
            rack=rack,
            fenced=fenced,
        )

    def place(self, leader: int, leader_epoch: int = 1, *, end: int = 0, **fields: Any) -> None:
        """All partitions alike; their logs are open, and `end` at an offset, from the first time on."""
        values = {
            "replicas": (1, 2, 3),
            "isr": (1, 2, 3),
            "partition_epoch": leader_epoch,
            **fields,
        }
        placed = PartitionImage(leader=leader, leader_epoch=leader_epoch, **values)
        topic = TopicImage(TOPIC, TOPIC_ID, (placed,) * self._count)
        self.image.topics_by_name = {TOPIC: topic}
        self.image.topics_by_id = {TOPIC_ID: topic}
        effects: list[Effect] = []
        for name in topic.each():
            replica = self.partitions.get(name)
            is_new = replica is None
            if replica is None:
                replica = self.partitions[name] = self._replica(name, leader_epoch)
            effects += self.replication.apply_partition(replica, placed, None, self.now)
            if is_new:
                effects += replica.opened(_log(name, end), self.now)
        self.run(effects)

    def _replica(self, name: TopicPartition, leader_epoch: int) -> Replica:
        return Replica(
            name,
            topic_id=TOPIC_ID.bytes,
            leader_epoch=leader_epoch,
            writer=None,
            config=LogConfig(),
            host=self.replication,
        )

    def replica(self, index: int = 0) -> Replica:
        return self.partitions[TopicPartition(TOPIC, index)]

    # --- steps ---

    def run(self, effects: list[Effect]) -> None:
        """Effects of one step, and of the steps that they lead to."""
        effects = [*effects, *self.replication.settle(self.now)]
        for effect in effects:
            self._perform(effect)

    def _perform(self, effect: Any) -> None:
        match effect:
            case Ask():
                self.asks.append(effect)
            case Reply(ticket, message):
                assert ticket not in self.replies, "answered twice"
                self.replies[ticket] = message
            case FindRanges(ticket, ranges, size_max):
                found = RangesFound(ticket, tuple(_find(ranges, size_max)))
                self.on_read()
                self.run(self.answered.pop(ticket)(found, self.now))
            case Append(partition, headers):
                if self.stores:
                    self.written(partition.partition, headers[-1].next_offset)
                self.others.append(effect)
            case TruncateLog(partition, offset):
                self.others.append(effect)
                self.run(self.partitions[partition].opened(_log(partition, offset), self.now))
            case _:
                self.others.append(effect)

    def written(self, index: int, next_offset: int) -> None:
        self.run(self.replica(index).written(next_offset, self.now))

    def append(self, index: int = 0, count: int = 1) -> None:
        """A producer's batch."""
        self.run([*leader.append(self.replica(index), batch(count), 9, self.now).effects])

    def wait(self, milliseconds: int) -> None:
        end = self.now + milliseconds
        while self.timers.deadline is not None and self.timers.deadline <= end:
            self.now = max(self.now, self.timers.deadline)
            for act in self.timers.due(self.now):
                self.run(act(self.now))
        self.now = end

    # --- as a leader: what a follower asks ---

    def fetch(
        self,
        offsets: dict[int, int] | None = None,
        *,
        session: tuple[int, int] = (0, 0),
        broker: int = 2,
        forget: list[int] | None = None,
        wait_ms: int = 500,
        broker_epoch: int | None = None,
        **fields: Any,
    ) -> int:
        """The ticket under which `replies` has the answer once there is one."""
        asked = [
            FetchPartition(
                partition=index,
                current_leader_epoch=fields.get("leader_epoch", 1),
                fetch_offset=offset,
                last_fetched_epoch=fields.get("last_epoch", -1),
                log_start_offset=0,
                partition_max_bytes=fields.get("size", 1 << 20),
                high_watermark=fields.get("high_watermark", 0),
            )
            for index, offset in (offsets or {}).items()
        ]
        forgotten = [ForgottenTopic(topic_id=TOPIC_ID, partitions=forget)] if forget else []
        message = FetchRequest(
            cluster_id=fields.get("cluster_id", "region"),
            replica_state=ReplicaState(
                replica_id=broker,
                replica_epoch=broker * 10 if broker_epoch is None else broker_epoch,
            ),
            max_wait_ms=wait_ms,
            min_bytes=1,
            max_bytes=fields.get("max_bytes", 1 << 20),
            session_id=session[0],
            session_epoch=session[1],
            topics=[FetchTopic(topic_id=TOPIC_ID, partitions=asked)] if asked else [],
            forgotten_topics_data=forgotten,
        )
        ticket = self.new_ticket()
        self.run(self.replication.on_fetch(Request(ticket, 1, 18, None, "", message), self.now))
        return ticket

    # --- as a follower: what a leader answers ---

    def answer(
        self, ask: Ask, message: FetchResponse | None, failure: AskFailure = AskFailure.NONE
    ) -> None:
        then = self._thens.pop(ask.ticket)
        self.run(then(Answered(ask.ticket, message, failure), self.now))


def _find(ranges: Iterable[Range], size_max: int) -> Iterator[RangeFound]:
    """Records of ten bytes."""
    left = size_max
    for _, offset, bound, wanted in ranges:
        number = min(bound - offset, max(1, min(wanted, left) // 10)) if left > 0 else 0
        left -= 10 * number
        yield RangeFound(b"r" * 10 * number, offset + number)


def _log(name: TopicPartition, end: int) -> Log:
    return Log(name, TOPIC_ID.bytes, segments=[Segment(0)], log_start_offset=0, log_end_offset=end)


def items(response: FetchResponse) -> dict[int, Any]:
    """Partition index -> its part of an answer."""
    return {item.partition_index: item for topic in response.responses for item in topic.partitions}


def listed(ask: Ask) -> dict[int, FetchPartition]:
    """Partition index -> its part of a request."""
    message: Any = ask.message
    return {item.partition: item for topic in message.topics for item in topic.partitions}
