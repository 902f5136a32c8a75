"""One broker: its replicas, replication and storage, without metadata, clients' APIs or sockets."""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from brokers.config.broker_config import from_settings
from brokers.effects import Ask, Changed, Effect, OpenLog, Reply, SaveBehind
from brokers.errors import KafkaError, Refusal
from brokers.events import Answered, AskFailure, LogFailed, LogOpened, RangesFound, Request, Written
from brokers.ids import Buffer, Instant, Ticket, TopicPartition
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.metadata.image.image import Image, ImageDelta
from brokers.partition import leader
from brokers.partition.replica import ALL_REPLICAS, Replica
from brokers.records.builder import NewRecord, build_batch
from brokers.replication.replica_manager import ReplicaManager
from brokers.replication.settings import ReplicationSettings
from brokers.storage.storage import Storage
from brokers.timers import Timers
from tests.kernel.requests import as_read, as_received
from tests.kernel.timeline import Alarm
from tests.playbooks.replication.controller import Controller
from tests.playbooks.replication.world import World
from tests.sim.files import SimFiles

TP = TopicPartition("orders", 0)
TOPIC_ID = UUID(int=7)


class Careless(ReplicaManager):
    """A planted bug: whoever has come up to the leader may join, whichever life that was in."""

    def is_isr_eligible(self, broker: int, broker_epoch: int) -> bool:
        return super().is_isr_eligible(broker, -1)


SETTINGS = ReplicationSettings(lag_ms_max=3_000, socket_timeout_ms=1_500)


class Node:
    """`alive` while the process runs; `image` is what it has been told."""

    def __init__(
        self, world: World, controller: Controller, node_id: int, sync: bool, min_insync: int
    ) -> None:
        self.world = world
        self.controller = controller
        self.id = node_id
        self.disk = SimFiles()
        self.alive = False
        self.life = 0
        self.minds_epochs = True
        self.controller_ms = 5  # how long a request to it takes at most
        self.peers: dict[int, Node] = {}
        self.config = from_settings({"node.id": node_id, "log.dirs": "data"})
        self.cluster_id = "region"
        self.log_config = LogConfig(
            segment_bytes=600,
            min_insync_replicas=min_insync,
            flush_messages=1 if sync else 2**63 - 1,
        )
        self.on_progress: Callable[[Node], None] = lambda node: None
        self.on_placed: Callable[[Node, Replica], list[Effect]] = lambda node, replica: []

    # --- a `Host` ---

    def is_full(self, partition: TopicPartition, added: int = 0) -> bool:
        return False

    def new_ticket(self) -> Ticket:
        self._ticket -= 1
        return self._ticket

    def ask(
        self,
        peer: Any,
        channel: str,
        api_key: int,
        api_version: int,
        message: object,
        timeout_ms: int,
        then: Any,
    ) -> list[Effect]:
        ticket = self.new_ticket()
        self._asked[ticket] = then
        return [Ask(ticket, peer, channel, api_key, api_version, message, timeout_ms)]

    def control(self, api_key: int, message: object, then: Any, now: Instant) -> list[Effect]:
        life = self.life

        def back(response: object) -> None:
            self.world.after(
                self.world.latency(), lambda: self.feed(life, lambda at: then(response, at))
            )

        if self.world.is_lost(0, self.id):
            self.world.after(300, lambda: back(None))
        else:
            asked = as_received(api_key, 3, message)
            delay = self.world.rng.randrange(0, 1 + self.controller_ms)
            self.world.after(delay, lambda: back(self.controller.alter_partition(asked)))
        return []

    # --- a life ---

    def start(self) -> None:
        """The process begins with what the disk has; the controller's image comes later."""
        self.life += 1
        self.alive = True
        self._ticket = 0
        self._asked: dict[Ticket, Any] = {}
        self._waits: dict[Ticket, Any] = {}
        self.answered: dict[Ticket, Any] = {}
        self.abandoned: dict[Ticket, Any] = {}
        self.timers = Timers()
        self.partitions: dict[TopicPartition, Replica] = {}
        self.image = Image(self.cluster_id)
        self._version = 0
        self._storage = Storage(self.disk)
        self._syncing = False
        life = self.life
        self._alarm = Alarm(self.world, lambda: self._on_time(life))
        kind = ReplicaManager if self.minds_epochs else Careless
        self.replication = kind(self, SETTINGS, lambda partition: [])
        self.replication.start(self.world.now)
        self.controller.registered(self)

    def kill(self) -> None:
        self.world.note(f"node {self.id} is killed")
        self.alive = False
        self.controller.went(self)

    def cut_power(self) -> None:
        self.world.note(f"node {self.id} loses power")
        self.alive = False
        self.disk.crash(self.world.rng)
        self.controller.went(self)

    def feed(self, life: int, act: Callable[[Instant], list[Effect]]) -> None:
        """One step of the cores, if the process is still the one that was meant."""
        if not self.alive or life != self.life:
            return
        effects = deque(act(self.world.now))
        effects.extend(self.replication.settle(self.world.now))
        while effects:
            for event in self._perform(effects.popleft()):
                effects.extend(self._on_event(event, self.world.now))
                effects.extend(self.replication.settle(self.world.now))
        self.on_progress(self)
        self._alarm.set(self.timers.deadline)

    def _perform(self, effect: Any) -> list[Any]:
        match effect:
            case Ask():
                self._send(effect)
            case Reply(ticket, message):
                self._reply(ticket, message)
            case Changed(what, to, why):
                self.world.note(f"node {self.id} ! {what}: {to} ({why})")
            case _:
                events = self._storage.perform(effect, self.world.now)
                self._save_behind()
                self._sync()
                return events
        return []

    def _on_event(self, event: Any, now: Instant) -> list[Effect]:
        if isinstance(event, RangesFound):
            return self.answered.pop(event.ticket)(event, now)
        replica = self.partitions.get(event.partition)
        match event:
            case Written(_, next_offset):
                return [] if replica is None else replica.written(next_offset, now)
            case LogOpened():
                return (
                    []
                    if replica is None
                    else replica.opened(Log.of(event.partition, event.log), now)
                )
            case LogFailed(_, reason):
                raise AssertionError(reason)
        raise AssertionError(event)

    def _save_behind(self) -> None:
        while self._storage.unsaved:
            self._storage.unsaved.popitem()
            self.world.after(self.world.rng.randrange(0, 8), partial(self._saved, self.life))

    def _saved(self, life: int) -> None:
        if self.alive and life == self.life:
            assert self._storage.perform(SaveBehind(TP), self.world.now) == []

    def _sync(self) -> None:
        if self._storage.unsynced and not self._syncing:
            self._syncing = True
            work = self._storage.begin_sync(TP)
            life = self.life
            self.world.after(self.world.rng.randrange(0, 8), lambda: self._synced(life, work))

    def _synced(self, life: int, work: Any) -> None:
        if not self.alive or life != self.life:
            return
        self._syncing = False
        events = self._storage.end_sync(TP, work())
        for event in events:
            self.feed(life, lambda at, event=event: self._on_event(event, at))
        self._sync()

    def _on_time(self, life: int) -> None:
        self.feed(life, lambda now: [e for act in self.timers.due(now) for e in act(now)])

    # --- messages, as bytes ---

    def _send(self, ask: Ask) -> None:
        peer, life = self.peers[ask.peer.node_id], self.life
        message = as_received(ask.api_key, ask.api_version, ask.message)
        world = self.world

        def failed(failure: AskFailure) -> None:
            self._answer(life, ask.ticket, None, failure)

        def arrive() -> None:
            if not peer.alive:
                world.after(world.latency(), lambda: failed(AskFailure.REFUSED))
                return
            peer.on_request(self, life, ask, message)

        world.after(ask.timeout_ms, lambda: failed(AskFailure.TIMEOUT))
        if not world.is_lost(self.id, peer.id):
            world.after(world.latency(), arrive)

    def on_request(self, sender: "Node", sender_life: int, ask: Ask, message: Any) -> None:
        ticket = self._ticket = self._ticket - 1
        life = self.life

        def answer(response: Any) -> None:
            decoded = as_read(ask.api_key, ask.api_version, response)
            if not self.world.is_lost(self.id, sender.id):
                self.world.after(
                    self.world.latency(),
                    lambda: sender._answer(sender_life, ask.ticket, decoded, AskFailure.NONE),
                )

        self._waits[ticket] = answer
        request = Request(ticket, ask.api_key, ask.api_version, None, "", message)
        self.feed(life, lambda now: self.replication.on_fetch(request, now))

    def _reply(self, ticket: Ticket, message: object) -> None:
        self._waits.pop(ticket)(message)

    def _answer(
        self, life: int, ticket: Ticket, message: object | None, failure: AskFailure
    ) -> None:
        if life == self.life and self.alive and ticket in self._asked:
            then = self._asked.pop(ticket)
            self.feed(life, lambda now: then(Answered(ticket, message, failure), now))

    # --- the image ---

    def told(self, life: int, version: int, image: Image) -> None:
        """The controller's image, if it is newer than the one known."""
        if life != self.life or not self.alive or version <= self._version:
            return
        self._version = version
        self.feed(life, lambda now: self._follow(image, now))

    def _follow(self, image: Image, now: Instant) -> list[Effect]:
        changed = tuple(
            broker
            for broker, known in image.brokers.items()
            if self.image.brokers.get(broker) != known
        )
        self.image = image
        placed = image.topics_by_name[TP.topic].partitions[0]
        effects: list[Effect] = []
        replica = self.partitions.get(TP)
        if replica is None:
            replica = self.partitions[TP] = Replica(
                TP,
                topic_id=TOPIC_ID.bytes,
                leader_epoch=placed.leader_epoch,
                writer=None,
                config=self.log_config,
                host=self.replication,
            )
            effects.append(OpenLog(TP, TOPIC_ID.bytes, self.log_config.sync))
        effects += self.replication.apply_partition(replica, placed, None, now)
        effects += self.on_placed(self, replica)
        return effects + self.replication.apply_delta(ImageDelta(brokers_changed=changed), now)

    # --- clients ---

    def produce(self, value: bytes, acknowledged: Callable[[int], None]) -> None:
        """acks=all, as the Produce API does it; refused requests vanish."""
        self.feed(self.life, lambda now: self._produce(value, acknowledged, now))

    def _produce(
        self, value: bytes, acknowledged: Callable[[int], None], now: Instant
    ) -> list[Effect]:
        replica = self.partitions.get(TP)
        if replica is None:
            return []
        try:
            replica.require_leader()
            if replica.leadership is not None:
                replica.leadership.require_in_sync()
            data: Buffer = build_batch([NewRecord(None, value)], timestamp=now)
            done = leader.append(replica, data, 9, now)
        except Refusal:
            return []

        def placed(error: KafkaError, at: Instant) -> list[Effect]:
            if not error and (replica.leadership is None or replica.leadership.has_enough_in_sync):
                acknowledged(done.base_offset)
            return []

        replica.acknowledge(done.next_offset, ALL_REPLICAS, placed)
        return list(done.effects)

    @property
    def replica(self) -> Replica | None:
        return self.partitions.get(TP) if self.alive else None
