"""A node of a region: the real cores and the real storage, hosted as `brokers/shell/node.py` hosts them.

    stopped --start--> starting --Serve | Ready--> up --stop | leave | kill | power cut--> stopped

The clock is its own: skewed, drifting, never running backwards within a life. A sync takes time, one a partition, and
appends that come meanwhile share the next. An exception out of a core is a finding, never swallowed.
"""

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from typing import Any

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Ask, Changed, End, ExpectCleaning, Hangup, Reply, Serve
from brokers.events import EndAsked, Started, TimeReached
from brokers.events import Listener as Kind
from brokers.ids import Instant, TopicPartition
from brokers.node.broker import Broker
from brokers.ports import DiskError
from brokers.region import Ready
from brokers.storage.logs.writing import Write
from brokers.storage.storage import Storage
from federation.node import LinkerDue, RegionNode
from linker.events import AdminAnswered, CloseStream, Dial, Send
from linker.linker import Linker
from linker.node_limits import UNLIMITED
from tests.kernel.cleaning import MakeCleaning
from tests.sim.background_work import BackgroundWork
from tests.sim.briefs import brief
from tests.sim.disks import Disk, Killed
from tests.sim.links import Streams
from tests.sim.listeners import Listener
from tests.sim.network import Network
from tests.sim.peers import Peers
from tests.sim.scenario import CommonScenario
from tests.sim.world import CoreRaised, World

WRITES_A_SYNC = 20  # the page cache takes as many while a disk syncs once


class Node:
    """One process at a time over one disk, at a `place` of the network; a lone node is where its region is."""

    make_storage = Storage
    make_cleaning: MakeCleaning | None = None  # nothing is compacted
    limits = UNLIMITED  # of its links: no window grows

    def __init__(
        self,
        world: World,
        network: Network,
        scenario: CommonScenario,
        region: str,
        config: BrokerConfig,
        disk: Disk,
        place: str = "",
    ) -> None:
        self.world = world
        self.region = region
        self.place = place or region
        self.config = config
        self.disk = disk
        self.up = False  # answers clients and links
        self.is_ready = False  # says so to whoever supervises it
        self.life = 0  # which process this is
        self.alive = False
        self.has_power = True
        self.performing: Any = None  # the effect of storage that changes the disk just now
        self.listener = Listener(self, network)
        self.streams = Streams(self, network)
        self.peers = Peers(self, network)
        self.on_start: Callable[[], None] = lambda: None  # the last life is still known
        self.on_made: Callable[[], None] = lambda: None  # its broker has had no event yet
        self.on_end: Callable[[], None] = lambda: None
        self.on_word: Callable[[], None] = lambda: None  # someone heard what they will rely on
        self.on_change: Callable[[Changed], None] = lambda change: None
        self._scenario = scenario
        self._rng: Random = world.rng(f"node {self.place}")
        self._frozen_until = 0
        self._waiting: list[tuple[int, Callable[[], None]]] = []  # each in its life
        self._admin: dict[int, Callable[[Any], None]] = {}

    # --- a life ---

    def start(self) -> bool:
        """Whether the process came up so far that it opened its directory."""
        assert not self.alive
        self.on_start()
        self.life += 1
        self.alive, self.has_power, self.up, self.is_ready = True, True, False, False
        skew = self._rng.randrange(-self._scenario.skew_ms, self._scenario.skew_ms + 1)
        self._born, self._clock_at_birth = self.world.now, self.world.now + skew
        self._rate = 1 + self._rng.uniform(-self._scenario.drift, self._scenario.drift)
        self._events = deque[Any]()
        self._feeding, self.performing, self._timer = False, None, 0
        self._timer_due: Instant | None = None
        self._syncing: dict[TopicPartition, None] = {}
        self._writing: dict[TopicPartition, None] = {}
        self.world.note(self.place, f"starts, life {self.life}, clock {skew:+} ms")
        try:
            self._storage = self.make_storage(
                self.disk,
                index_interval_bytes=self.config.log_index_interval_bytes,
                writes_behind=True,
                behind_from_bytes=0,
            )
        except (DiskError, Killed) as error:
            self._end(f"could not start: {str(error) or 'killed'}", silently=False)
            return False
        life = self.life
        self._background = BackgroundWork(
            self._storage,
            self.world.rng(f"{self.place} {life} digests"),
            delay_ms=lambda: self._scenario.sync_ms,
            later=lambda delay, act: self.world.after(
                delay, lambda: self.when_awake(life, lambda: self._guarded(act))
            ),
            feed=self.feed,
            make_cleaning=self.make_cleaning,
        )
        self._core = self._compose(self.world.rng(f"{self.place} {self.life}"))
        self.feed(Started())
        return self.alive

    def _compose(self, rng: Random) -> RegionNode:
        self.broker = Broker(
            self.config,
            self.region,
            rng,
            directory=self.disk.directory,
            previous_broker_epoch=self._storage.previous_broker_epoch,
        )
        self.on_made()
        linker = Linker(
            self.broker.view,
            self.world.rng(f"{self.place} {self.life} links"),
            self.config.mirror_hole_retention_ms,
            self.config.link_queued_max_bytes,
            hold_limits=self.config.hold_limits,
            startup_wait_ms=self.config.link_source_startup_wait_ms,
            limits=self.limits,
        )
        return RegionNode(self.broker, linker)

    def kill(self) -> None:
        """SIGKILL: what was written stays."""
        if self.alive:
            self._end("is killed", silently=False)

    def cut_power(self) -> None:
        """The machine stops: what was not synced survives by luck."""
        if self.alive:
            self._end("loses power", silently=True)
        self.disk.crash(self._rng)

    def boot(self) -> None:
        """The machine runs again, the process does not yet."""
        self.has_power = True

    def leave(self) -> None:
        """SIGTERM: the node may have something to hand over before it ends."""
        if self.alive:
            self.deliver(EndAsked())

    def stop(self) -> None:
        """The orderly end, at once."""
        if not self.alive:
            return
        try:
            for effect in self._core.stop():
                self._storage.perform(effect, self.now)
            if self.is_ready:  # before, some logs were not looked at: nobody may trust them
                self._storage.close()
        except (DiskError, Killed) as error:
            self._end(f"dies while it stops: {error}", silently=False)
            return
        self._end("stops", silently=False)

    def _end(self, how: str, *, silently: bool) -> None:
        self.world.note(self.place, how)
        self.alive = self.up = self.is_ready = False
        self.has_power = not silently
        self.disk.fuse = None
        self.disk.end_process()
        self.listener.die()
        self.peers.die()
        self.streams.die(silently=silently)
        self._admin.clear()
        self.on_end()

    def freeze(self, milliseconds: int) -> None:
        """The process is not scheduled for a while; what arrives waits."""
        self._frozen_until = self.world.now + milliseconds
        self.world.at(self._frozen_until, self._thaw)

    def wake(self) -> None:
        """Scheduled from now on."""
        self._frozen_until = min(self._frozen_until, self.world.now)
        self._thaw()

    def _thaw(self) -> None:
        """What has waited comes in its order, unless the process is frozen again."""
        if self.world.now >= self._frozen_until:
            waiting, self._waiting = self._waiting, []
            for life, act in waiting:
                self.when_awake(life, act)

    def when_awake(self, life: int, act: Callable[[], None]) -> None:
        """In this life, once the process is scheduled."""
        if not self.alive or life != self.life:
            return
        if self.world.now < self._frozen_until:
            self._waiting.append((life, act))
        else:
            act()

    def listens(self, kind: Kind) -> bool:
        """Controllers hear one another from the start, clients are let in once everything is open."""
        if kind is Kind.CONTROLLER:
            return self.alive and self.config.controller_listener is not None
        return self.up

    # --- its clock ---

    @property
    def now(self) -> Instant:
        return self._clock_at_birth + int((self.world.now - self._born) * self._rate)

    def _until(self, due: Instant) -> int:
        """Milliseconds of the world until the node's clock shows `due`."""
        return max(0, int((due - self.now) / self._rate) + 1) if due > self.now else 0

    # --- events in, effects out ---

    def deliver(self, event: Any) -> None:
        """From outside: an event for this life, once the process is scheduled again."""
        self.when_awake(self.life, lambda: self.feed(event))

    def feed(self, event: Any) -> None:
        self._events.append(event)
        if self._feeding:
            return
        self._feeding = True
        self._guarded(self._run)
        self._feeding = False
        if self.alive:
            self._arm()

    def _run(self) -> None:
        while self._events and self.alive:
            self._step(self._events.popleft())

    def _guarded(self, act: Callable[[], None]) -> None:
        """What ends the process ends here."""
        try:
            act()
        except Killed:
            self._killed_midway()
        except DiskError as error:
            self._end(f"dies of its disk: {error}", silently=False)

    def _step(self, event: Any) -> None:
        self.world.note(self.place, f"< {brief(event)}")
        now = self.now
        try:
            effects = self._core.step(event, now)
        except Exception as error:
            raise CoreRaised(
                f"{self.place} on {event!r:.300}: {type(error).__name__}: {error}"
            ) from error
        self._carry_out(effects, now)

    def _carry_out(self, effects: Iterable[Any], now: Instant) -> None:
        for effect in effects:
            if not self.alive:
                return
            self._perform(effect, now)

    def _killed_midway(self) -> None:
        if self._scenario.crashes.value == "kill":
            self._end("is killed midway", silently=False)
        else:
            self._end("loses power midway", silently=True)
            self.disk.crash(self._rng)

    def _perform(self, effect: Any, now: Instant) -> None:
        match effect:
            case Reply(ticket, message):
                self.listener.reply(ticket, message)
                self.on_word()
            case Hangup(ticket, reason):
                self.listener.hang_up(ticket, reason)
            case Changed("request", "failed", why):
                raise CoreRaised(f"{self.place}: {why}")
            case Changed(what, to, why):
                self.world.note(self.place, f"! {what}: {to} ({why})")
                self.on_change(effect)
            case Ask():
                self.peers.ask(effect)
            case Serve():
                self.up = True
            case Ready():
                self.up = self.is_ready = True
                self.world.note(self.place, "is ready")
            case End(reason):
                if reason:
                    self.world.note(self.place, f"! is refused: {reason}")
                self.stop()
            case ExpectCleaning():
                pass
            case LinkerDue():
                self._events.append(effect)
            case Dial() | Send() | CloseStream():
                self.streams.perform(effect)
            case AdminAnswered(ticket, answer):
                self._admin.pop(ticket)(answer)
            case _:
                self._store(effect, now)

    def _store(self, effect: Any, now: Instant) -> None:
        self.performing = effect
        self._events.extend(self._storage.perform(effect, now))
        self.performing = None
        if self._storage.unwritten:
            self._write()
        if self._storage.unsynced:
            self._sync()
        self._background.begin()

    # --- writes, syncs and timers ---

    def _write(self) -> None:
        for partition in list(self._storage.unwritten):
            if partition not in self._writing:
                self._begin_write(partition)

    def _begin_write(self, partition: TopicPartition) -> None:
        """Done at once and told late, or done late."""
        self._writing[partition] = None
        write = self._storage.begin_write(partition)
        if self._rng.random() < 0.5:
            write.run()
        life, delay = self.life, self._rng.randrange(0, self._scenario.sync_ms // WRITES_A_SYNC + 1)
        end = partial(self._end_write, partition, write)
        self.world.after(delay, lambda: self.when_awake(life, lambda: self._guarded(end)))

    def _end_write(self, partition: TopicPartition, write: Write) -> None:
        self._writing.pop(partition)
        for event in self._storage.end_write(partition, write):
            self.feed(event)
        if self.alive:
            self._write()
            self._sync()

    def _sync(self) -> None:
        for partition in list(self._storage.unsynced):
            if partition not in self._syncing:
                self._begin_sync(partition)

    def _begin_sync(self, partition: TopicPartition) -> None:
        """The disk may do it at once and tell late, or do it late."""
        self._syncing[partition] = None
        work = self._storage.begin_sync(partition)
        done = work() if self._rng.random() < 0.5 else None
        life, delay = self.life, self._rng.randrange(0, self._scenario.sync_ms + 1)
        end = partial(self._finish_sync, partition, done or work)
        self.world.after(delay, lambda: self.when_awake(life, lambda: self._guarded(end)))

    def _finish_sync(self, partition: TopicPartition, done: Any) -> None:
        result = done() if callable(done) else done
        self._syncing.pop(partition)
        for event in self._storage.end_sync(partition, result):
            self.feed(event)
        if self.alive:
            self._sync()
            self._background.begin()

    def _arm(self) -> None:
        due = self._core.deadline
        if due == self._timer_due:
            return
        self._timer_due = due
        self._timer += 1
        if due is not None:
            life, timer = self.life, self._timer
            late = self._rng.randrange(0, 3)
            ring = partial(self.when_awake, life, lambda: self._on_timer(timer))
            self.world.after(self._until(due) + late, ring)

    def _on_timer(self, timer: int) -> None:
        if timer == self._timer:
            self._timer_due = None
            self.feed(TimeReached())

    def ask(self, ticket: int, event: Any, answered: Callable[[Any], None]) -> None:
        """An administrator's question, already inside the process."""
        self._admin[ticket] = answered
        self.deliver(event)
