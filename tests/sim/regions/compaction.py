"""Compacted topics: how they are set up in a run, and the records that clients write to them.

A client's value says whose it is, as everywhere (`name:number:`), then its key. A deletion marker has none, so it has
the same in a header.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, Final

from brokers.records.builder import NewRecord

if TYPE_CHECKING:
    from tests.sim.regions.scenario import RegionScenario

DAY_MS: Final = 86_400_000
IDENTITY: Final = b"identity"
_KEYS: Final = b"abcdefgh"


@dataclass(frozen=True)
class Compaction:
    """`delete_retention_ms` of a day is never over in a run."""

    deletes: bool  # the policy is both, and the operator deletes records
    delete_retention_ms: int
    min_lag_ms: int
    dirty_ratio: float
    backoff_ms: int
    threads: int
    io_bytes: int
    load_factor: float  # small ones leave room for some dozen keys
    markers: float  # share of batches that delete keys

    def __str__(self) -> str:
        return (
            f"{self.policy} delete.retention={self.delete_retention_ms} lag={self.min_lag_ms}"
            f" ratio={self.dirty_ratio} backoff={self.backoff_ms} threads={self.threads}"
            f" io={self.io_bytes} load={self.load_factor} markers={self.markers}"
        )

    @property
    def policy(self) -> str:
        return "compact,delete" if self.deletes else "compact"

    @property
    def markers_last(self) -> bool:
        """Whether no deletion marker's time is over before the run is."""
        return self.delete_retention_ms >= DAY_MS

    def of_topic(self) -> Iterator[tuple[str, str]]:
        yield "cleanup.policy", self.policy
        yield "delete.retention.ms", str(self.delete_retention_ms)
        yield "min.compaction.lag.ms", str(self.min_lag_ms)
        yield "min.cleanable.dirty.ratio", str(self.dirty_ratio)

    def of_node(self) -> dict[str, Any]:
        """`__consumer_offsets` is cleaned, too."""
        return {
            "log.cleaner.backoff.ms": self.backoff_ms,
            "log.cleaner.threads": self.threads,
            "log.cleaner.dedupe.buffer.size": self.threads << 20,
            "log.cleaner.io.buffer.size": self.io_bytes,
            "log.cleaner.io.buffer.load.factor": self.load_factor,
            "log.cleaner.min.cleanable.ratio": self.dirty_ratio,
        }


def drawn(rng: Random) -> Compaction:
    return Compaction(
        deletes=rng.random() < 0.25,
        delete_retention_ms=rng.choice((0, 3_000, DAY_MS, DAY_MS)),
        min_lag_ms=rng.choice((0, 0, 0, 2_000)),
        dirty_ratio=rng.choice((0.01, 0.01, 0.4)),
        backoff_ms=rng.choice((200, 1_000)),
        threads=rng.choice((1, 2)),
        io_bytes=rng.choice((500, 20_000)),
        load_factor=rng.choice((0.9, 0.9, 0.0005)),
        markers=rng.choice((0.1, 0.3)),
    )


def compacted(scenario: "RegionScenario", compaction: Compaction) -> "RegionScenario":
    """The same scenario over compacted topics. Records are deleted only where the policy lets an operator do so."""
    return replace(
        scenario,
        compaction=compaction,
        segment_bytes=800,
        trims=scenario.trims and compaction.deletes,
    )


def compacting(seed: int) -> "Callable[[RegionScenario], RegionScenario]":
    """What changes the scenario of a seed so."""
    compaction = drawn(Random(f"{seed}/compaction"))
    return lambda scenario: compacted(scenario, compaction)


def keys(rng: Random, count: int) -> list[bytes]:
    """Of the records of one batch."""
    return [bytes([rng.choice(_KEYS)]) for _ in range(count)]


def key_of(value: bytes) -> bytes:
    """As the producer says in its value."""
    return value.split(b":", 3)[2]


def is_marker(value: bytes) -> bool:
    return value.endswith(b":deleted")


def keyed(value: bytes) -> NewRecord:
    """The record that a client sends as this value."""
    if is_marker(value):
        return NewRecord(key_of(value), None, ((IDENTITY, value),))
    return NewRecord(key_of(value), value)
