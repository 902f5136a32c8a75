"""Regions in one process: the real cores, disks in memory, a network that delays and cuts as it is told.

Two are there from the beginning; another one is made by its name.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from brokers.config.broker_config import from_settings
from brokers.effects import Changed, CleanLog, Hangup, Reply
from brokers.events import Request, Started, TimeReached
from brokers.ids import TopicPartition
from brokers.metadata.commands.commands import Submitted
from brokers.node.broker import Broker
from brokers.records.batch import iter_headers
from brokers.region import Ready
from brokers.storage.storage import Storage
from federation.node import RegionNode
from federation.shell.limits import node_limits
from linker.answers import MirrorDescription
from linker.commands import Command, CreateLink, CreateMirror, DescribeMirror
from linker.errors import LinkError
from linker.events import (
    AdminAnswered,
    AdminAsked,
    ChunkSent,
    CloseStream,
    Dial,
    FrameArrived,
    Send,
    StreamAccepted,
    StreamDialed,
    StreamLost,
)
from linker.frames import CHUNK_BYTES_MAX, Chunk
from linker.linker import Linker
from tests.kernel.background import work_off
from tests.kernel.planted_faults import FaultyView
from tests.kernel.process import Process
from tests.kernel.timeline import Alarm, Schedule
from tests.sim.files import SimFiles

START = 1_800_000_000_000


class Host:
    """One region of one node, with everything a process would do for it."""

    def __init__(self, world: "World", name: str) -> None:
        self.world = world
        self.name = name
        world.by_address[f"{name}:9092"] = self
        self.files = SimFiles()
        self.changes: list[Changed] = []
        self.answers: dict[int, Any] = {}
        self.clock_skew = 0
        self.settings: dict[str, Any] = {}  # of its node, beside the usual ones
        self.limits: dict[str, Any] = {}  # of NodeLimits, lower than settings may be
        self.cluster_id = f"cluster-{name}"
        self.works_off = False  # digests and cleanings
        self.works_on: Callable[[CleanLog], CleanLog] = lambda effect: effect
        self.on_start: Callable[[], None] = lambda: None
        self.up = False
        self._ticket = 0

    def start(self) -> "Host":
        given = {"node.id": 1, "log.dirs": self.name, "log.segment.bytes": 1 << 20}
        retention = {"mirror.hole.retention.ms": self.world.hole_retention_ms}
        at_once = {"link.source.startup.wait.ms": 0}  # most tests write as soon as a region is up
        config = from_settings({**given, **retention, **at_once, **self.settings})
        rng = random.Random(f"{self.world.seed} {self.name}")
        self.storage = Storage(self.files, index_interval_bytes=4096)
        broker = self.broker = Broker(config, self.cluster_id, rng)
        self.faults = FaultyView(broker.view)
        self.linker = Linker(
            self.faults,
            rng,
            config.mirror_hole_retention_ms,
            config.link_queued_max_bytes,
            is_fencing_enabled=config.link_fencing_enable,
            hold_limits=config.hold_limits,
            startup_wait_ms=config.link_source_startup_wait_ms,
            limits=replace(node_limits(config), chunk_bytes_max=CHUNK_BYTES_MAX, **self.limits),
        )
        self.view = broker.view
        self.node = RegionNode(broker, self.linker)
        self._process = Process(self.node, self.storage, self._outward, lambda: self.now)
        self._alarm = Alarm(self.world, partial(self._ring, self.node))
        self.up = True
        self.ready = False
        self.on_start()
        self.feed(Started())
        assert self.ready
        return self

    def stop(self) -> None:
        """As kill -9 does: what was written stays, nothing is said to anyone."""
        self.up = False
        self.world.lose_streams_of(self)

    @property
    def now(self) -> int:
        return self.world.now + self.clock_skew

    def feed(self, event: Any) -> None:
        if not self.up:
            return
        self._process.feed(event)
        if self.works_off:
            work_off(self.storage, self._process.feed, self.works_on)
        due = self.node.deadline
        self._alarm.set(due, None if due is None else due - self.now)

    def _ring(self, node: RegionNode) -> None:
        if self.node is node:
            self.feed(TimeReached())

    def _outward(self, effect: Any) -> bool:
        match effect:
            case Changed():
                self.changes.append(effect)
            case Ready():
                self.ready = True
            case Reply(ticket, message) | AdminAnswered(ticket, message):
                self.answers[ticket] = message
            case Dial(stream, bootstrap_servers, _):
                self.world.dial(self, stream, bootstrap_servers[0])
            case Send(stream, frame):
                self.world.send(self, stream, frame)
            case CloseStream(stream):
                self.world.close(self, stream)
            case Hangup():
                raise AssertionError(effect)
            case _:
                return False
        return True

    # --- what people ask ---

    def ask_with(self, fault: str, command: Command) -> Any:
        """The answer to an operator, where what this host needs for it at once raises."""
        self.faults.raising = (fault,)
        ticket = self._asked(command)
        self.faults.raising = ()
        return self.answers.pop(ticket)

    def _asked(self, command: Command) -> int:
        self._ticket += 1
        self.feed(AdminAsked(self._ticket, command))
        return self._ticket

    def ask(self, command: Command, timeout_ms: int = 60_000) -> Any:
        """The answer to an operator."""
        ticket = self._asked(command)
        self.world.run_until(lambda: ticket in self.answers, timeout_ms)
        return self.answers.pop(ticket)

    def request(self, key: int, version: int, message: Any, timeout_ms: int = 0) -> Any:
        """The answer to a Kafka client; at once, unless it may take its time."""
        ticket = self.submit(key, version, message)
        self.world.run_until(lambda: ticket in self.answers, timeout_ms)
        return self.answers.pop(ticket)

    def submit(self, key: int, version: int, message: Any) -> int:
        """A Kafka client asks; `answers` will have what it is told, by this number."""
        self._ticket += 1
        self.feed(Request(self._ticket, key, version, "test", "127.0.0.1", message))
        return self._ticket

    # --- what the disk holds ---

    def log(self, topic: str, partition: int) -> bytes:
        """All segments of a partition, in order."""
        folder = f"{topic}-{partition}"
        names = [name for name in self.files.list(folder) if name.endswith(".log")]
        return b"".join(
            bytes(self.files.read(f"{folder}/{name}", 0, self.files.size(f"{folder}/{name}")))
            for name in names
        )

    def segments(self, topic: str, partition: int) -> dict[str, bytes]:
        folder = f"{topic}-{partition}"
        names = [name for name in self.files.list(folder) if name.endswith(".log")]
        return {
            name: bytes(self.files.read(f"{folder}/{name}", 0, self.files.size(f"{folder}/{name}")))
            for name in names
        }

    def offsets(self, topic: str, partition: int) -> list[int]:
        return [header.base_offset for _, header in iter_headers(self.log(topic, partition))]

    def mirror(self, topic: str) -> MirrorDescription:
        found = self.ask(DescribeMirror(topic))
        assert isinstance(found, MirrorDescription), found
        return found


class World(Schedule):
    """Virtual time, one queue. Frames of one stream arrive in order, after `delay_ms`."""

    def __init__(self, seed: int = 0, hole_retention_ms: int = 86_400_000) -> None:
        super().__init__(START)
        self.hole_retention_ms = hole_retention_ms
        self.seed = seed
        self.rng = random.Random(seed)
        self.delay_ms = 5
        self.reachable = True
        self.bytes_under_way = 0
        self.mute = False  # connections stand, and carry nothing
        self._peers: dict[tuple[str, int], tuple[Host, int]] = {}
        self._last_arrival: dict[tuple[str, int], int] = {}
        self._streams = 0
        self.by_address: dict[str, Host] = {}
        self.source = Host(self, "west")
        self.destination = Host(self, "east")

    def start(self) -> "World":
        self.source.start()
        self.destination.start()
        return self

    # --- time ---

    def run_until(self, done: Callable[[], bool], timeout_ms: int = 60_000) -> None:
        """Let things happen; what takes longer than `timeout_ms` of virtual time is stuck."""
        limit = self.now + timeout_ms
        while not done():
            act = self.due(limit)
            assert act is not None, f"stuck for {timeout_ms} ms"
            act()

    def run(self, duration_ms: int) -> None:
        over: list[bool] = []
        self.at(self.now + duration_ms, lambda: over.append(True))
        self.run_until(lambda: bool(over), duration_ms)

    # --- the network ---

    def dial(self, host: Host, stream: int, address: str) -> None:
        target = self.by_address.get(address)
        if target is None or not target.up or not self.reachable:
            error = LinkError.BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR
            if target is None:
                error = LinkError.UNRESOLVABLE_BOOTSTRAP_ERROR
            lost = StreamLost(stream, error, f"{address} does not answer")
            self.at(self.now + self.delay_ms, lambda: host.feed(lost))
            return
        self._streams += 1
        accepted = self._streams
        self._peers[host.name, stream] = (target, accepted)
        self._peers[target.name, accepted] = (host, stream)
        self._deliver(target, accepted, StreamAccepted(accepted))
        self._deliver(host, stream, StreamDialed(stream))

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if isinstance(frame, Chunk):
            self.at(self.now, lambda: host.feed(ChunkSent(stream)))
        peer = self._peers.get((host.name, stream))
        if peer is None or self.mute:
            return
        size = len(frame.data) if isinstance(frame, Chunk) else 0
        self.bytes_under_way += size
        self._deliver(peer[0], peer[1], FrameArrived(peer[1], frame), size)

    def streams_of(self, host: Host) -> list[int]:
        """The streams of this end that stand."""
        return [stream for name, stream in self._peers if name == host.name]

    def _deliver(self, host: Host, stream: int, event: Any, size: int = 0) -> None:
        arrival = max(self.now + self.delay_ms, self._last_arrival.get((host.name, stream), 0))
        self._last_arrival[host.name, stream] = arrival

        def arrive() -> None:
            self.bytes_under_way -= size
            if (host.name, stream) in self._peers:
                host.feed(event)

        self.at(arrival, arrive)

    def close(self, host: Host, stream: int) -> None:
        """What was sent still arrives; then the other end hears that it is over."""
        peer = self._peers.pop((host.name, stream), None)
        if peer is None:
            return
        other, number = peer
        lost = StreamLost(number, LinkError.UNKNOWN, "closed by the other region")

        def arrive() -> None:
            if self._peers.pop((other.name, number), None) is not None:
                other.feed(lost)

        self.at(max(self.now, self._last_arrival.get((other.name, number), 0)) + 1, arrive)

    def cut(self) -> None:
        """Every connection breaks; what was under way is lost."""
        for (name, stream), (host, number) in list(self._peers.items()):
            self._peers.pop((name, stream), None)
            because = "connection reset"
            lost = StreamLost(number, LinkError.BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR, because)
            self.at(self.now, lambda host=host, lost=lost: host.feed(lost))

    def lose_streams_of(self, host: Host) -> None:
        self.cut()


class Unlucky:
    """A power cut that takes everything it may."""

    def random(self) -> float:
        return 0.0

    def randbytes(self, n: int, /) -> bytes:
        return bytes(n)

    def randrange(self, start: int, stop: int, /) -> int:
        return start


def submit(host: Host, command: Submitted) -> Any:
    """What a link coordinator has asked the controller for, and what comes late."""
    region, told = host.linker._region, []

    def answered(result: Any, _: int) -> list[Any]:
        told.append(result)
        return []

    region.timers.set(host.now, lambda _: [region.propose(command, answered)])
    host.feed(TimeReached())
    host.world.run_until(lambda: bool(told))
    return told[0]


def linked(world: World, topic: str = "orders", **configs: str) -> None:
    """A link from west to east with one mirror topic, as an operator makes them."""
    given = {"bootstrap.servers": "west:9092"}
    given.update({name.replace("_", "."): value for name, value in configs.items()})
    answer = world.destination.ask(CreateLink(name="west-east", configs=given))
    assert not isinstance(answer, Exception), (answer, getattr(answer, "problems", ""))
    answer = world.destination.ask(CreateMirror(link="west-east", mirror_topic=topic))
    assert not isinstance(answer, Exception), answer


def caught_up(world: World, topic: str = "orders") -> bool:
    """Whether the mirror holds what the source holds, by their logs."""
    image = world.source.view.image.topics_by_name[topic]
    for index in range(len(image.partitions)):
        here = world.destination.view.partition_state(TopicPartition(topic, index))
        there = world.source.view.partition_state(TopicPartition(topic, index))
        if here is None or there is None or here.high_watermark != there.high_watermark:
            return False
    return True
