"""Random days of a compacted topic, its mirror, and a mirror of that mirror: each region cleans when it likes.

In the end the middle may fail over and go on alone, with the first region as its mirror. Or an operator takes that
back, and the middle is restored from the first region, below what the last one has copied.
"""

import random
from typing import Any

from linker.answers import Topics
from linker.commands import ChangeMirrors, CreateLink, CreateMirror, RestoreMirrors
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.compacted_storms import Found, Told, above, different, said
from tests.playbooks.linker.test_compacted import (
    BACKOFF_MS,
    CLEANER,
    TABLE,
    Negotiating,
    filled,
    put,
    records,
    state,
    table,
)
from tests.playbooks.linker.world import Host

ACTS = 40
KEYS = "abcdefgh"
FILLER = b"filler"


class ChainWorld(Negotiating):
    """west -> east -> north. `severed` are the pairs of regions that do not reach each other."""

    def __init__(self) -> None:
        super().__init__()
        self.north = Host(self, "north")
        self.hosts = (self.source, self.destination, self.north)
        self.severed: set[frozenset[str]] = set()
        for host in self.hosts:
            host.settings, host.works_off = {**CLEANER, "log.flush.interval.messages": 1}, True

    def dial(self, host: Host, stream: int, address: str) -> None:
        if frozenset((host.name, address.removesuffix(":9092"))) in self.severed:
            address, was = "west:9092", self.reachable
            self.reachable = False
            super().dial(host, stream, address)
            self.reachable = was
            return
        super().dial(host, stream, address)

    def sever(self, one: Host, other: Host) -> None:
        self.severed.add(frozenset((one.name, other.name)))
        self.cut()


class Chain:
    """One seed. `source` is written to, `mirrors` are (mirror, its source)."""

    def __init__(self, seed: int, **configs: str) -> None:
        self.rng = random.Random(f"chain {seed}")
        choice = self.rng.choice
        self.world = ChainWorld()
        self.is_durable = self.rng.random() < 0.7
        if not self.is_durable:  # a power cut may take what the next region has copied
            for host in self.world.hosts:
                host.settings = CLEANER
        self.world.start()
        self.west, self.east, self.north = self.world.hosts
        self.north.start()
        settings = {
            "cleanup_policy": "compact",
            "internal_segment_bytes": "400",
            "delete_retention_ms": choice(("0", "3000", "86400000")),
            "min_compaction_lag_ms": choice(("0", "0", "2000")),
            "flush_messages": "1",
            **configs,
        }
        self.told = Told({})
        self.known_stale: set[bytes] = set()  # of the source, which was a mirror
        self.source = self.west
        self.mirrors = [(self.east, self.west), (self.north, self.east)]
        assert clients.create_topic(self.west, "table", **settings) == 0
        for mirror, source in self.mirrors:
            self.link(mirror, source)
            ask(mirror, CreateMirror(link=name(mirror, source), mirror_topic="table"))

    def link(self, mirror: Host, source: Host) -> None:
        given = {
            "bootstrap.servers": f"{source.name}:9092",
            "retention.hold.enable": self.rng.choice(("true", "false")),
            "source.fencing.enable": "false",  # what the old primary takes is an orphan
            "mirror.divergence.policy": "fail" if self.is_durable else "truncate",
        }
        ask(mirror, CreateLink(name=name(mirror, source), configs=given))

    def run(self) -> None:
        acts = [self.write] * 3 + [self.roll, self.wait, self.outage, self.crash, self.pause]
        for _ in range(ACTS):
            self.rng.choice(acts)()
        self.settle()
        self.judge()
        self.rng.choice((self.fail_over, self.there_and_back, lambda: None))()

    # --- what happens ---

    def write(self) -> None:
        for _ in range(self.rng.randrange(1, 4)):
            keys = self.rng.sample(KEYS, self.rng.randrange(1, 4))
            deletes = self.rng.random() < 0.3
            self.put({key: None if deletes else f"{key}{self.world.now}" for key in keys})

    def put(self, values: dict[str, str | None]) -> None:
        base = put(self.source, **values)
        for number, (key, value) in enumerate(values.items()):
            self.told.history[base + number] = key, value

    def roll(self) -> None:
        for _ in range(self.rng.randrange(3, 9)):
            self.put({"filler": f"{self.world.now:060}"})

    def wait(self) -> None:
        self.world.run(self.rng.randrange(1, 4 * BACKOFF_MS))

    def outage(self) -> None:
        mirror, source = self.rng.choice(self.mirrors)
        pair = frozenset((mirror.name, source.name))
        if pair in self.world.severed:
            self.world.severed.discard(pair)
        else:
            self.world.sever(mirror, source)

    def crash(self) -> None:
        host = self.rng.choice(self.world.hosts)
        host.stop()
        if self.rng.random() < 0.5:
            host.files.crash(self.rng)
        host.start()

    def pause(self) -> None:
        mirror, source = self.rng.choice(self.mirrors)
        for verb in ("pause", "resume"):
            mirror.ask(ChangeMirrors(verb=verb, link=name(mirror, source), topics=("table",)))
            self.world.run(self.rng.randrange(100, 2_000))

    def settle(self) -> None:
        self.world.severed.clear()
        for _ in range(2):
            for mirror, source in self.mirrors:
                self.world.run_until(lambda m=mirror, s=source: even(m, s), 120_000)  # type: ignore[misc]
            self.world.run(self.rng.choice((0, 5 * BACKOFF_MS)))

    def alone(self) -> None:
        """East fails over, and goes on; north copies what it can."""
        self.world.sever(self.east, self.west)
        if self.rng.random() < 0.5:
            self.world.sever(self.north, self.east)
        ask(self.east, stopped(self.east, self.west))

    def fail_over(self) -> None:
        self.alone()
        self.orphans(self.west)
        self.source, self.known_stale = self.east, stale(self.east, self.west)
        self.go_on()
        self.mirrors = [(self.north, self.east), (self.west, self.east)]
        self.link(self.west, self.east)
        self.restore(self.west, self.east)
        self.settle()
        self.judge()

    def there_and_back(self) -> None:
        """North has what east wrote last, and what the way back cuts off."""
        self.fail_over()
        self.world.sever(self.west, self.east)
        self.orphans(self.east)
        ask(self.west, stopped(self.west, self.east))
        self.source, self.known_stale = self.west, self.known_stale | stale(self.west, self.east)
        self.go_on()
        self.mirrors = [(self.east, self.west), (self.north, self.east)]
        self.restore(self.east, self.west)
        self.world.run(30_000)
        if self.north.mirror("table").shown is not MirrorState.ACTIVE:
            self.restore(self.north, self.east)
        self.settle()
        self.judge()

    def orphans(self, old: Host) -> None:
        """What is lost with the cut."""
        for _ in range(self.rng.randrange(4)):
            put(old, **{self.rng.choice(KEYS): self.rng.choice((None, f"orphan{self.world.now}"))})
            filled(old, self.rng.randrange(8))
            self.world.run(self.rng.randrange(3 * BACKOFF_MS))

    def go_on(self) -> None:
        """The new primary alone, then with the others."""
        end = state(self.source).log_end_offset
        self.told.history = {at: one for at, one in self.told.history.items() if at < end}
        for _ in range(self.rng.randrange(1, 8)):
            self.rng.choice((self.write, self.roll, self.wait))()
        self.world.severed.clear()

    def restore(self, mirror: Host, source: Host) -> None:
        self.world.run(10_000)  # the link has come back
        ask(mirror, RestoreMirrors(name(mirror, source), ("table",)))
        self.world.run_until(lambda: mirror.mirror("table").shown is MirrorState.ACTIVE)

    # --- what must be so ---

    def judge(self) -> None:
        if wrong := different(table(self.source), self.told.table()) - self.known_stale:
            raise Found(f"{self.source.name} differs from what clients were told in {wrong}")
        for mirror, source in self.mirrors:
            self.judge_mirror(mirror, source)

    def judge_mirror(self, mirror: Host, source: Host) -> None:
        which = f"{mirror.name} of {source.name}"
        known = stale(mirror, source) | stale(source, mirror)
        if wrong := different(table(source), table(mirror)) - known:
            raise Found(f"{which} differs in {wrong}: {table(source)} and {table(mirror)}")
        for offset, key, value in records(mirror):
            if key not in (None, FILLER) and self.told.history.get(offset) != said(key, value):
                raise Found(f"{which} has {key!r}={value!r} at {offset}")
        clean = max(state(source).complete_from, state(mirror).complete_from)
        if above(source, clean) != above(mirror, clean):
            raise Found(f"{which} has other bytes from {clean} on")


def name(mirror: Host, source: Host) -> str:
    return f"{source.name}-{mirror.name}"


def stopped(mirror: Host, source: Host) -> ChangeMirrors:
    return ChangeMirrors(verb="failover", link=name(mirror, source), topics=("table",))


def ask(host: Host, command: Any) -> None:
    answer = host.ask(command)
    assert not isinstance(answer, Exception), (answer, getattr(answer, "problems", ""))
    for one in answer.topics if isinstance(answer, Topics) else ():
        assert one.refusal is None, one.refusal


def even(mirror: Host, source: Host) -> bool:
    """Whether both logs end at the same offset, and all of it is committed."""
    found = [host.view.partition_state(TABLE) for host in (mirror, source)]
    ends = {(one.log_end_offset, one.high_watermark) for one in found if one is not None}
    return len(ends) == 1 and None not in found


def stale(mirror: Host, source: Host) -> set[bytes]:
    """Keys that a region may have although the other has deleted them, by its own ledger: it is or was a mirror."""
    if ("mirror", "table") not in mirror.view.image.documents:
        return set()
    missed = [hole.base_offset for hole in mirror.mirror("table").holes]
    live = table(source)
    return {
        key
        for offset, key, _ in records(mirror)
        if key is not None and key not in live and any(offset < base for base in missed)
    }
