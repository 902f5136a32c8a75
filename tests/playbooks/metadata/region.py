"""Several metadata planes, their disks and a network between them, under one clock: a seed decides what goes wrong."""

import heapq
import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.effects import Append, Ask, Changed, Hangup, Reply, TruncateLog
from brokers.events import Answered, AskFailure, Listener, LogFailed, LogOpened, Request, Written
from brokers.ids import METADATA_PARTITION
from brokers.metadata.controller.active_controller import CommandCompleted
from brokers.metadata.log.effects import MetadataUpdated
from brokers.metadata.log.raft_manager import RaftManager
from brokers.records.batch import iter_headers
from tests.playbooks.metadata.host import NOW, STORAGE, Disk, contents

VOTERS = "1@host-1:9093,2@host-2:9093,3@host-3:9093"


def settings(node_id: int, **more: object) -> BrokerConfig:
    role = "broker,controller" if node_id <= 3 else "broker"
    listeners = f"PLAINTEXT://host-{node_id}:9092"
    if node_id <= 3:
        listeners += f",CONTROLLER://host-{node_id}:9093"
    return from_settings(
        {
            "node.id": node_id,
            "log.dirs": "data",
            "cluster.id": "region-one",
            "process.roles": role,
            "listeners": listeners,
            "controller.quorum.voters": VOTERS,
            **more,
        }
    )


class Node:
    """One life of a node's plane. What it is told of its image adds up to a copy, which must be the image."""

    def __init__(self, region: "Region", node_id: int) -> None:
        self.region, self.id = region, node_id
        self.disk = region.disks[node_id]
        self.plane = RaftManager(
            region.config(node_id), "region-one", region.rng, directory=region.directories[node_id]
        )
        self.is_over = False
        self.failing: str | None = None
        self.changes: list[Changed] = []
        self.topics: set[str] = set()  # as the deltas tell
        self.decided: dict[int, Any] = {}
        self._timer: int | None = None
        self._disk_due = 0
        self.take(self.plane.on_started(region.now))

    def take(self, effects: list[Any]) -> None:
        for effect in effects:
            self._perform(effect)
        self._arm()

    def later(self, delay: int, act: Callable[[], list[Any]]) -> None:
        self.region.later(delay, lambda: None if self.is_over else self.take(act()))

    def _perform(self, effect: Any) -> None:
        match effect:
            case Ask():
                self.region.ask(self, effect)
            case Reply(ticket, message):
                self.region.answer(self, ticket, Answered(0, message))
            case Hangup(ticket):
                self.region.answer(self, ticket, Answered(0, None, AskFailure.CLOSED))
            case CommandCompleted():
                assert effect.token not in self.decided, "answered twice"
                self.decided[effect.token] = effect
            case MetadataUpdated(delta):
                self.topics -= set(delta.topics_deleted)
                self.topics |= set(delta.topics_created)
            case Changed():
                self.changes.append(effect)
            case _ if isinstance(effect, (*STORAGE, TruncateLog)):
                self._disk_due = max(
                    self._disk_due, self.region.now + self.region.rng.randint(0, 4)
                )
                self.later(self._disk_due - self.region.now, lambda: self._store(effect))

    def _store(self, effect: Any) -> list[Any]:
        now = self.region.now
        if self.failing is not None:
            return self.plane.on_event(LogFailed(METADATA_PARTITION, self.failing), now)
        event = self.disk.perform(effect)
        return [] if event is None else self.plane.on_event(event, now)

    def _arm(self) -> None:
        due = self.plane.deadline
        if due is not None and due != self._timer:
            self._timer = due
            self.region.later(max(0, due - self.region.now), lambda: self._on_timer(due))

    def _on_timer(self, due: int) -> None:
        if not self.is_over and self._timer == due:
            self._timer = None
            self.take(self.plane.on_time(self.region.now))

    def propose(self, command: Any, token: int) -> None:
        self.take(self.plane.propose(command, token, self.region.now))


class CutDisk(Disk):
    """A disk that can cut its log, and that of a node that never votes, which need not sync."""

    def perform(self, effect: Any) -> Any:
        match effect:
            case TruncateLog(partition, offset):
                while self.batches and _header(self.batches[-1]).next_offset > offset:
                    self.batches.pop()
                return LogOpened(partition, self.open())
            case Append(partition, headers, buffers, False):
                self.batches += [bytes(buffer) for buffer in buffers]
                return Written(partition, headers[-1].next_offset)
        return super().perform(effect)


def _header(batch: bytes) -> Any:
    return next(iter_headers(batch))[1]


class Region:
    """`run` lets time pass."""

    def __init__(self, seed: int, *, nodes: int = 3, **more: object) -> None:
        self.rng = random.Random(seed)
        self.now = NOW
        self._more = more
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self._flights: dict[int, tuple[Node, int]] = {}
        self.cut: set[tuple[int, int]] = set()
        self.nodes: dict[int, Node] = {}
        self.disks = {node_id: CutDisk() for node_id in range(1, nodes + 1)}
        self.directories = {node_id: UUID(int=node_id + 500) for node_id in self.disks}
        for node_id in self.disks:
            self.start(node_id)

    def config(self, node_id: int) -> BrokerConfig:
        return settings(node_id, **self._more)

    def start(self, node_id: int) -> Node:
        self.nodes[node_id] = Node(self, node_id)
        return self.nodes[node_id]

    def crash(self, node_id: int) -> None:
        node = self.nodes.pop(node_id)
        node.is_over = True
        for ticket, (asker, own_ticket) in list(self._flights.items()):
            if asker is node:
                del self._flights[ticket]
            else:
                self.answer(node, ticket, Answered(own_ticket, None, AskFailure.CLOSED))

    # --- time and network ---

    def later(self, delay: int, act: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._heap, (self.now + delay, self._count, act))

    def run(self, duration: int) -> "Region":
        end = self.now + duration
        while self._heap and self._heap[0][0] <= end:
            self.now, _, act = heapq.heappop(self._heap)
            act()
        self.now = end
        return self

    def run_until(self, is_so: Callable[[], bool], bound: int = 20_000) -> int:
        begun = self.now
        while not is_so():
            assert self.now - begun < bound, "it takes too long"
            self.run(10)
        return self.now - begun

    def ask(self, asker: Node, ask: Ask) -> None:
        self._count += 1
        ticket = self._count
        self._flights[ticket] = (asker, ask.ticket)
        self.later(ask.timeout_ms, lambda: self._end(ticket, AskFailure.TIMEOUT, None))
        if (asker.id, ask.peer.node_id) not in self.cut:
            self.later(self.rng.randint(0, 3), lambda: self._arrive(ticket, ask))

    def _arrive(self, ticket: int, ask: Ask) -> None:
        target = self.nodes.get(ask.peer.node_id)
        if ticket not in self._flights:
            return
        if target is None:
            self._end(ticket, AskFailure.REFUSED, None)
            return
        request = Request(
            ticket, ask.api_key, ask.api_version, None, "h", ask.message, Listener.CONTROLLER
        )
        target.take(target.plane.on_request(request, self.now))

    def answer(self, target: Node, ticket: int, answered: Answered) -> None:
        flight = self._flights.get(ticket)
        if flight is not None and (target.id, flight[0].id) not in self.cut:
            delay = self.rng.randint(0, 3)
            self.later(delay, lambda: self._end(ticket, answered.failure, answered.message))

    def _end(self, ticket: int, failure: AskFailure, message: object) -> None:
        flight = self._flights.pop(ticket, None)
        if flight is not None and not flight[0].is_over:
            asker, own = flight
            asker.take(asker.plane.on_answer(Answered(own, message, failure), self.now))

    # --- what there is ---

    @property
    def active(self) -> Node | None:
        found = [node for node in self.nodes.values() if node.plane.is_active]
        return max(found, key=lambda node: node.plane.leader_epoch, default=None)

    def require_active(self) -> Node:
        self.run_until(lambda: self.active is not None)
        assert self.active is not None
        return self.active

    def decide(self, command: Any, token: int) -> Any:
        """The result of a command, from the active controller."""
        node = self.require_active()
        node.propose(command, token)
        self.run_until(lambda: token in node.decided)
        return node.decided[token].result

    def is_even(self) -> bool:
        """Everyone's image is the same."""
        active = self.active
        if active is None:
            return False
        wanted = contents(active.plane.image)
        return all(contents(node.plane.image) == wanted for node in self.nodes.values())
