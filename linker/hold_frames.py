"""The frames by which a destination has the source keep what its mirrors lack, beyond the source's retention."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from brokers.ids import Offset

POSITIONS_MAX: Final = 20_000  # of a frame


class HeldTopic(NamedTuple):
    """By the source's name and topic id."""

    topic: str
    topic_id: bytes


@dataclass(frozen=True, slots=True)
class HoldRetention:
    """What the mirrors of these topics do not hold yet is to stay at the source, up to these bounds (version 6). These
    and no others; if it `is_continued`, the next frame has more of them."""

    max_bytes: int
    max_ms: int
    topics: tuple[HeldTopic, ...]
    is_continued: bool = False


@dataclass(frozen=True, slots=True)
class MirrorPositions:
    """What mirror partitions hold on all in-sync replicas: all below the offset, by subscription (version 6)."""

    positions: tuple[tuple[int, Offset], ...]


@dataclass(frozen=True, slots=True)
class RetentionHeld:
    """The source's answer to HoldRetention: its own bounds. `because`: why that is less than was asked (version 6)."""

    max_bytes: int
    max_ms: int
    because: str = ""
