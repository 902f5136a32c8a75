"""A region in one process: whole brokers, their requests as bytes, time on demand. Node 1 decides alone.

What the simulator does with storms is done here step by step, where one wants to see a certain thing happen.
"""

import random
from collections.abc import Callable
from typing import Any, get_args
from uuid import UUID

from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.effects import Ask, Changed, End, Reply, Serve
from brokers.events import (
    Answered,
    AskFailure,
    Disconnected,
    EndAsked,
    Listener,
    Request,
    Started,
    TimeReached,
)
from brokers.membership.log_dirs import OwnDirectories, OwnDirectory
from brokers.metadata.image.image import Image
from brokers.node.broker import Broker
from brokers.region import Ready, RegionEffect
from brokers.storage.log_manager import LogManager
from brokers.storage.storage import Storage
from brokers.wire import codec
from brokers.wire.message import Message
from tests.sim.files import SimFiles

CONTROLLER_PORT, DATA_PORT = 91, 92
LATER_MS = 3  # between nodes, each way
CLUSTER_ID = "A" * 22
UPWARDS = get_args(RegionEffect)


class Node:
    """One life of a process: `alive` until it ends or is killed."""

    def __init__(
        self, region: "Region", node_id: int, files: SimFiles, cluster_id: str = CLUSTER_ID
    ) -> None:
        self.region = region
        self.id = node_id
        self.config = settings(node_id)
        self.storage, own = region.open(node_id, files)
        self.broker = Broker(
            self.config,
            cluster_id,
            region.rng,
            directories=own,
            previous_broker_epoch=self.storage.previous_broker_epoch,
        )
        self.alive = True
        self.stalled = False
        self._missed: list[Any] = []
        self.serves = False
        self.is_ready = False
        self.end: End | None = None
        self.told: list[str] = []
        self._requests: dict[int, tuple[Node, Ask]] = {}
        self.last_ticket = 0

    # --- in ---

    def feed(self, event: Any) -> None:
        if not self.alive:
            return
        if self.stalled:
            self._missed.append(event)
            return
        self.take(self.broker.step(event, self.region.now))

    def stall(self) -> None:
        """SIGSTOP: what arrives waits, connections stay."""
        self.stalled = True

    def go_on(self) -> None:
        self.stalled = False
        missed, self._missed = self._missed, []
        for event in missed:
            self.feed(event)

    def take(self, effects: list[Any]) -> None:
        """Perform what a step asked for, and all that this leads to."""
        events: list[Any] = []
        self._perform_all(effects, events)
        while events:
            self._perform_all(self.broker.step(events.pop(0), self.region.now), events)

    def _perform_all(self, effects: list[Any], events: list[Any]) -> None:
        for effect in effects:
            self._perform(effect, events)
        for partition in list(self.storage.unsynced):
            events += self.storage.sync(partition)

    def request(self, asker: "Node", ask: Ask, listener: Listener) -> None:
        encoded = codec.encode_request(ask.api_key, ask.api_version, ask.message)  # type: ignore[arg-type]
        body = bytearray(b"".join(encoded))
        message = codec.decode_request(ask.api_key, ask.api_version, memoryview(body), 0)
        self.last_ticket += 1
        self._requests[self.last_ticket] = (asker, ask)
        self.feed(
            Request(self.last_ticket, ask.api_key, ask.api_version, None, "n", message, listener)
        )

    # --- out ---

    def _perform(self, effect: Any, events: list[Any]) -> None:
        match effect:
            case Ask():
                self.region.carry(self, effect)
            case Reply(ticket, message):
                asker, ask = self._requests.pop(ticket)
                self.region.bring_back(asker, ask, message)
            case Serve():
                self.serves = True
            case Ready():
                self.is_ready = True
            case End():
                self.end = effect
                self._stop()
            case Changed(what, to):
                self.told.append(f"{what}: {to}")
            case _ if isinstance(effect, UPWARDS):
                pass  # nobody watches
            case _:
                events += self.storage.perform(effect, self.region.now)

    def _stop(self) -> None:
        for effect in self.broker.stop():
            self._perform(effect, [])
        self.storage.close()
        self.die()

    def die(self) -> None:
        """Its connections break: those it had made, and those on which it was to answer."""
        self.alive = False
        for asker, ask in self._requests.values():
            self.region.answer(asker, ask, None, AskFailure.CLOSED)
        for node in self.region.nodes.values():
            left = tuple(each for each, (asker, _) in node._requests.items() if asker is self)
            if left:
                node.feed(Disconnected(left))

    @property
    def deadline(self) -> int | None:
        return self.broker.deadline if self.alive else None


class Region:
    """`run` lets time pass, event by event."""

    def __init__(self) -> None:
        self.now = 1_000_000
        self.rng = random.Random(5)
        self.nodes: dict[int, Node] = {}
        self.files: dict[int, SimFiles] = {}
        # Nodes that have several directories, the metadata log's first; None is one that cannot be opened.
        self.directories: dict[int, dict[UUID, SimFiles | None]] = {}
        self._pending: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self._answered: dict[tuple[Node, int], None] = {}

    def start(self, *node_ids: int) -> list[Node]:
        started = []
        for node_id in node_ids:
            node = Node(self, node_id, self.files.setdefault(node_id, SimFiles()))
            self.nodes[node_id] = node
            node.feed(Started())
            started.append(node)
        return started

    def open(
        self, node_id: int, files: SimFiles
    ) -> tuple[Storage | LogManager, OwnDirectories | None]:
        """What a process does with its disks at the start."""
        disks = self.directories.get(node_id)
        if disks is None:
            return Storage(files), None
        metadata, online = next(iter(disks)), [each for each, disk in disks.items() if disk]
        several = LogManager(metadata, online, missing=len(disks) - len(online))
        for each, disk in disks.items():
            if disk is not None:
                several.add(Storage(disk, directory=each, unsynced=several.unsynced))
        own = [
            OwnDirectory(f"/{each}", each if disk else None, "" if disk else "gone")
            for each, disk in disks.items()
        ]
        return several, OwnDirectories(own, metadata)

    @property
    def image(self) -> Image:
        return self.nodes[1].broker.view.image

    def after(self, milliseconds: int, act: Callable[[], None]) -> None:
        self._count += 1
        self._pending.append((self.now + milliseconds, self._count, act))

    def carry(self, asker: Node, ask: Ask) -> None:
        def arrive() -> None:
            node = self.nodes.get(ask.peer.node_id)
            listener = Listener.CONTROLLER if ask.peer.port == CONTROLLER_PORT else Listener.DATA
            listens = node is not None and node.alive
            if node is None or not (listens and (listener is Listener.CONTROLLER or node.serves)):
                self.answer(asker, ask, None, AskFailure.REFUSED)
            else:
                node.request(asker, ask, listener)

        self.after(LATER_MS, arrive)
        self.after(ask.timeout_ms, lambda: self.answer(asker, ask, None, AskFailure.TIMEOUT))

    def bring_back(self, asker: Node, ask: Ask, message: object) -> None:
        assert isinstance(message, Message)
        chunks = codec.encode_response(ask.api_key, ask.api_version, message)
        body = b"".join(map(bytes, chunks))
        read = codec.decode_response(ask.api_key, ask.api_version, body, 0)
        self.answer(asker, ask, read, AskFailure.NONE)

    def answer(self, asker: Node, ask: Ask, message: object | None, failure: AskFailure) -> None:
        """Whatever comes first is the answer; the rest is for nobody."""

        def arrive() -> None:
            if (asker, ask.ticket) not in self._answered:
                self._answered[asker, ask.ticket] = None
                asker.feed(Answered(ask.ticket, message, failure))

        self.after(LATER_MS, arrive)

    def run(self, milliseconds: int) -> None:
        """Everything that happens in this time."""
        until = self.now + milliseconds
        while self.now < until:
            self.now += 1
            due = sorted(each[:2] for each in self._pending if each[0] <= self.now)
            acts = {each[:2]: each[2] for each in self._pending}
            self._pending = [each for each in self._pending if each[0] > self.now]
            for each in due:
                acts[each]()
            for node in list(self.nodes.values()):
                if node.stalled:
                    continue
                if node.deadline is not None and node.deadline <= self.now:
                    node.feed(TimeReached())

    def ask_to_end(self, node_id: int) -> None:
        self.nodes[node_id].feed(EndAsked())


def settings(node_id: int) -> BrokerConfig:
    controls = f",CONTROLLER://n{node_id}:{CONTROLLER_PORT}" if node_id == 1 else ""
    return from_settings(
        {
            "node.id": node_id,
            "log.dirs": "data",
            "cluster.id": CLUSTER_ID,
            "process.roles": "broker,controller" if node_id == 1 else "broker",
            "listeners": f"PLAINTEXT://n{node_id}:{DATA_PORT}{controls}",
            "controller.quorum.voters": f"1@n1:{CONTROLLER_PORT}",
        }
    )
