"""A region in one process: whole brokers, their requests as bytes, time on demand. Node 1 decides alone.

What the simulator does with storms is done here step by step, where one wants to see a certain thing happen.
"""

import random
from collections.abc import Mapping
from typing import Any, get_args
from uuid import UUID

from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.effects import Ask, Changed, End, Reply, Serve
from brokers.events import (
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
from brokers.region import GroupsDescribed, ReadersFound, Ready, RegionEffect
from brokers.storage.log_manager import LogManager
from brokers.storage.storage import Storage
from tests.kernel.exchange import Exchange, Flight
from tests.kernel.process import Process
from tests.kernel.timeline import Timeline
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
        self.process = Process(self.broker, self.storage, self._perform, lambda: region.now)
        self.alive = True
        self.stalled = False
        self._missed: list[Any] = []
        self.serves = False
        self.is_ready = False
        self.groups: Mapping[str, bool] | None = None  # of which some have members
        self.readers: ReadersFound | None = None
        self.end: End | None = None
        self.told: list[str] = []
        self.last_ticket = 0

    # --- in ---

    def feed(self, event: Any) -> None:
        if not self.alive:
            return
        if self.stalled:
            self._missed.append(event)
            return
        self.process.feed(event)

    def stall(self) -> None:
        """SIGSTOP: what arrives waits, connections stay."""
        self.stalled = True

    def go_on(self) -> None:
        self.stalled = False
        missed, self._missed = self._missed, []
        for event in missed:
            self.feed(event)

    def take(self, effects: list[Any]) -> None:
        self.process.take(effects)

    def request(self, request: Request) -> None:
        self.last_ticket = request.ticket
        self.feed(request)

    # --- out ---

    def _perform(self, effect: Any) -> bool:
        match effect:
            case Ask():
                self.region.carry(self, effect)
            case Reply(ticket, message):
                self.region.bring_back(ticket, message)
            case Serve():
                self.serves = True
            case Ready():
                self.is_ready = True
            case End():
                self.end = effect
                self._stop()
            case GroupsDescribed():
                self.groups = effect.active
            case ReadersFound():
                self.readers = effect
            case Changed(what, to):
                self.told.append(f"{what}: {to}")
            case _:
                return isinstance(effect, UPWARDS)  # nobody watches
        return True

    def _stop(self) -> None:
        for effect in self.broker.stop():
            self.storage.perform(effect, self.region.now)
        self.storage.close()
        self.die()

    def die(self) -> None:
        """Its connections break: those it had made, and those on which it was to answer."""
        self.alive = False
        asked = [(each.target, t) for t, each in self.region.flights.items() if each.asker is self]
        for ticket in self.region.exchange.gone(self):
            self.region.bring_back(ticket, None, AskFailure.CLOSED)
        for node in self.region.nodes.values():
            if left := tuple(ticket for target, ticket in asked if target is node):
                node.feed(Disconnected(left))

    @property
    def deadline(self) -> int | None:
        return self.broker.deadline if self.alive else None


class Region(Timeline):
    """Its nodes, their disks and connections."""

    def __init__(self) -> None:
        super().__init__(1_000_000)
        self.exchange = Exchange(self, lambda asker, answered: asker.feed(answered))
        self.rng = random.Random(5)
        self.nodes: dict[int, Node] = {}
        self.files: dict[int, SimFiles] = {}
        # Nodes that have several directories, the metadata log's first; None is one that cannot be opened.
        self.directories: dict[int, dict[UUID, SimFiles | None]] = {}

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
                several.add(Storage(disk, directory=each, pending=several.pending))
        own = [
            OwnDirectory(f"/{each}", each if disk else None, "" if disk else "gone")
            for each, disk in disks.items()
        ]
        return several, OwnDirectories(own, metadata)

    @property
    def image(self) -> Image:
        return self.nodes[1].broker.view.image

    @property
    def flights(self) -> dict[int, Flight]:
        return self.exchange.flights

    def carry(self, asker: Any, ask: Ask) -> None:
        ticket = self.exchange.begin(asker, ask)
        self.after(LATER_MS, lambda: self._arrive(ticket, ask))

    def _arrive(self, ticket: int, ask: Ask) -> None:
        node = self.nodes.get(ask.peer.node_id)
        listener = Listener.CONTROLLER if ask.peer.port == CONTROLLER_PORT else Listener.DATA
        listens = node is not None and node.alive
        if node is None or not (listens and (listener is Listener.CONTROLLER or node.serves)):
            self.bring_back(ticket, None, AskFailure.REFUSED)
        elif ticket in self.flights:
            node.request(self.exchange.arrive(ticket, node, listener))

    def bring_back(
        self, ticket: int, message: object, failure: AskFailure = AskFailure.NONE
    ) -> None:
        self.after(LATER_MS, lambda: self.exchange.end(ticket, message, failure))

    def put(self, client: Any, node: Node, ask: Ask) -> None:
        """What a client asks arrives at once."""
        node.request(self.exchange.arrive(self.exchange.begin(client, ask), node, Listener.DATA))

    def run(self, milliseconds: int) -> None:
        """Deadlines are looked at once a millisecond, behind everything else that happens in it."""
        until = self.now + milliseconds
        while self.now < until:
            self.now = min(until, max(self.now + 1, self._next()))
            while (act := self.due(self.now)) is not None:
                act()
            for node in self._ticking():
                if node.deadline is not None and node.deadline <= self.now:
                    node.feed(TimeReached())

    def _next(self) -> int:
        deadlines = [each.deadline for each in self._ticking() if each.deadline is not None]
        return min([*deadlines, *(each[0] for each in self._heap[:1])], default=1 << 62)

    def _ticking(self) -> list[Node]:
        return [node for node in self.nodes.values() if not node.stalled]

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
