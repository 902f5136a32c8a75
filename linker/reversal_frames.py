"""The frames by which a mirror and its source change places."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from brokers.ids import Offset

CHECKED_MAX: Final = 1_000  # topics of one CheckReversals: each may have its reason in the answer


class ReversedTopic(NamedTuple):
    """By the source's name and topic id. `generation` is the mirror's since the reversal began; the mirror is there at
    `metadata_offset` of its region's metadata log."""

    topic: str
    topic_id: bytes
    mirror_topic_id: bytes
    generation: int
    is_paused: bool  # once it is the mirror
    metadata_offset: Offset


@dataclass(frozen=True, slots=True)
class Reverse:
    """The source is to make these topics read-only, and its mirrors' mirrors once those are writable (version 4)."""

    topics: tuple[ReversedTopic, ...]


class WithdrawnReversal(NamedTuple):
    """The reversal of this generation will not happen."""

    topic: str
    topic_id: bytes
    generation: int


@dataclass(frozen=True, slots=True)
class WithdrawReversals:
    """The source's topics are its own again (version 4)."""

    topics: tuple[WithdrawnReversal, ...]


@dataclass(frozen=True, slots=True)
class ReversalRefused:
    """The source's answer to Reverse where it cannot be done; `code` is a name of a refusal's code (version 4)."""

    topic: str
    generation: int
    code: str
    because: str


@dataclass(frozen=True, slots=True)
class CheckReversals:
    """Which of these the source would refuse, if they came in Reverse: it changes nothing (version 12)."""

    nonce: int
    topics: tuple[ReversedTopic, ...]


@dataclass(frozen=True, slots=True)
class ReversalsChecked:
    """The source's answer to CheckReversals: those that it would refuse (version 12)."""

    nonce: int
    refused: tuple[ReversalRefused, ...]
