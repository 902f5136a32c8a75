"""Random days of a compacted topic and its mirror: keyed writes, cleanings, kills, power cuts, outages, and a way back.

What is judged in the end: the source has what its clients were told, by key; each record lies where it was written; the
mirror has the same last record of each key, but for deletion markers that it missed, which the ledger names; above what
either has cleaned every byte is the same; and an audit of the two disks agrees.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from brokers.records.batch import iter_headers
from federation.audit.verdict.verdicts import Verdict
from linker.commands import ChangeMirrors
from tests.playbooks.linker.audits import audited
from tests.playbooks.linker.test_compacted import (
    BACKOFF_MS,
    Negotiating,
    failed_over,
    filled,
    holes,
    put,
    records,
    restored,
    started,
    state,
    table,
)
from tests.playbooks.linker.world import Host, caught_up, linked

ACTS = 40
KEYS = "abcdefgh"
Plant = Callable[[Negotiating], None]


class Found(Exception):
    """An invariant was broken."""


@dataclass
class Told:
    """What clients wrote and were told of, by offset; None deletes."""

    history: dict[int, tuple[str, str | None]]

    def table(self) -> dict[bytes, bytes]:
        latest = dict(self.history[offset] for offset in sorted(self.history))
        return {key.encode(): value.encode() for key, value in latest.items() if value is not None}


class Storm:
    """One seed. `plant` makes the world wrong in one point."""

    def __init__(self, seed: int, plant: Plant | None = None, **configs: str) -> None:
        self.rng = random.Random(f"compacted {seed}")
        choice = self.rng.choice
        settings = {
            "delete_retention_ms": choice(("0", "3000", "86400000")),
            "min_compaction_lag_ms": choice(("0", "0", "2000")),
            "flush_messages": "1",
            **configs,
        }
        self.delete_retention_ms = int(settings["delete_retention_ms"])
        self.world = started(**settings)
        self.told = Told({})
        self.sides = (self.world.source, self.world.destination)
        if plant is not None:
            plant(self.world)
        hold = {"retention_hold_enable": choice(("true", "false"))}
        linked(self.world, topic="table", source_fencing_enable="false", **hold)

    def run(self) -> None:
        acts = [
            self.write,
            self.write,
            self.write,
            self.roll,
            self.wait,
            self.outage,
            self.crash,
            self.pause,
        ]
        for _ in range(ACTS):
            self.rng.choice(acts)()
        self.settle()
        self.judge()
        if self.rng.random() < 0.4:
            self.fail_over_and_back()

    # --- what happens ---

    def write(self) -> None:
        source = self.world.source
        for _ in range(self.rng.randrange(1, 4)):
            keys = self.rng.sample(KEYS, self.rng.randrange(1, 4))
            deletes = self.rng.random() < 0.3
            values = {key: None if deletes else f"{key}{self.world.now}" for key in keys}
            base = put(source, **values)
            for number, (key, value) in enumerate(values.items()):
                self.told.history[base + number] = key, value

    def roll(self) -> None:
        before = state(self.world.source).log_end_offset
        filled(self.world.source, self.rng.randrange(3, 9))
        for offset in range(before, state(self.world.source).log_end_offset):
            self.told.history[offset] = "filler", None  # its value is not looked at

    def wait(self) -> None:
        self.world.run(self.rng.randrange(1, 4 * BACKOFF_MS))

    def outage(self) -> None:
        self.world.reachable = not self.world.reachable
        if not self.world.reachable:
            self.world.cut()

    def crash(self) -> None:
        host = self.rng.choice((self.world.source, self.world.destination))
        host.stop()
        if self.rng.random() < 0.5:
            host.files.crash(self.rng)
        host.start()

    def pause(self) -> None:
        for verb in ("pause", "resume"):
            command = ChangeMirrors(verb=verb, link="west-east", topics=("table",))
            self.world.destination.ask(command)
            self.world.run(self.rng.randrange(100, 2_000))

    def settle(self) -> None:
        self.world.reachable = True
        self.world.run_until(lambda: caught_up(self.world, "table"), 120_000)
        self.world.run(self.rng.choice((0, 5 * BACKOFF_MS)))
        self.world.run_until(lambda: caught_up(self.world, "table"), 120_000)

    def fail_over_and_back(self) -> None:
        world = self.world
        failed_over(world)
        for _ in range(self.rng.randrange(1, 5)):  # orphans
            put(world.source, **{self.rng.choice(KEYS): f"orphan{world.now}"})
            filled(world.source, self.rng.randrange(8))
            world.run(self.rng.randrange(3 * BACKOFF_MS))
        for _ in range(self.rng.randrange(3)):
            put(world.destination, **{self.rng.choice(KEYS): f"new{world.now}"})
        self.sides = (world.destination, world.source)
        world.on_way_back()
        restored(world)
        stale = self.stale()
        if different(table(world.source), table(world.destination)) - stale:
            raise Found(f"restored: {table(world.source)} is not {table(world.destination)}")

    # --- what must be so ---

    def judge(self) -> None:
        source, mirror = self.world.source, self.world.destination
        self.judge_source(source)
        stale = self.stale()
        if wrong := different(table(source), table(mirror)) - stale:
            raise Found(f"the mirror differs in {wrong}: {table(source)} and {table(mirror)}")
        for offset, key, value in records(mirror):
            if (
                key is not None
                and key != b"filler"
                and self.told.history.get(offset) != said(key, value)
            ):
                raise Found(f"the mirror has {key!r}={value!r} at {offset}")
        clean = max(state(source).complete_from, state(mirror).complete_from)
        if above(source, clean) != above(mirror, clean):
            raise Found(f"other bytes from {clean} on")
        if holes(self.world) and not state(source).markers_from:
            raise Found(f"{holes(self.world)} are recorded, and no marker was removed")

    def judge_source(self, source: Host) -> None:
        found = {offset: said(key or b"", value) for offset, key, value in records(source)}
        for offset, record in found.items():
            if record[0] != "filler" and self.told.history.get(offset) != record:
                raise Found(f"the source has {record} at {offset}")
        wanted = self.told.table()
        if different(table(source), wanted):
            raise Found(f"the source has {table(source)}, clients were told {wanted}")
        if self.delete_retention_ms < 86_400_000:
            return
        latest = {self.told.history[offset][0]: offset for offset in sorted(self.told.history)}
        for key, offset in latest.items():
            if key != "filler" and offset not in found:
                raise Found(f"the last record of {key}, at {offset}, was removed before its time")

    def stale(self) -> set[bytes]:
        """Keys that the mirror may have although the source has deleted them, by the ledger."""
        missed = [base for base, _, _ in holes(self.world)]
        live = table(self.world.source)
        return {
            key
            for offset, key, _ in records(self.world.destination)
            if key is not None and key not in live and any(offset < base for base in missed)
        }

    def audited(self, folder: Path) -> Verdict:
        """Of the stopped regions."""
        source, mirror = self.sides
        return audited(source, mirror, folder).verdict


def said(key: bytes, value: bytes | None) -> tuple[str, str | None]:
    return key.decode(), None if value is None else value.decode()


def different(one: dict[bytes, bytes], other: dict[bytes, bytes]) -> set[bytes]:
    return {
        key
        for key in one.keys() | other.keys()
        if key != b"filler" and one.get(key) != other.get(key)
    }


def above(host: Host, offset: int) -> bytes:
    log = host.log("table", 0)
    return b"".join(
        log[position : position + header.length]
        for position, header in iter_headers(log)
        if header.base_offset >= offset
    )
