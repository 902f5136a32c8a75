"""A mirror topic's states as tables, drawn in `linker/README.md`, and its record in the metadata log."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, NamedTuple
from uuid import UUID

from brokers.ids import Instant, LeaderEpoch, Offset
from linker.errors import MirrorError
from linker.records.documents import decode, encode
from linker.records.link_state import LinkState

MIRROR_KIND: Final = "mirror"
TRANSITION_ERRORS_MAX: Final = 10  # the newest are kept


class MirrorState(Enum):
    """Names of Confluent Cluster Linking. PENDING_MIRROR and PENDING_SYNCHRONIZE, of reversals, do not exist yet."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    LINK_PAUSED = "LINK_PAUSED"
    SOURCE_UNAVAILABLE = "SOURCE_UNAVAILABLE"
    LINK_FAILED = "LINK_FAILED"
    FAILED = "FAILED"
    PENDING_STOPPED = "PENDING_STOPPED"
    STOPPED = "STOPPED"
    PENDING_MIRROR = "PENDING_MIRROR"
    PENDING_SYNCHRONIZE = "PENDING_SYNCHRONIZE"
    PENDING_SETUP_FOR_RESTORE = "PENDING_SETUP_FOR_RESTORE"
    PENDING_RESTORE = "PENDING_RESTORE"


STORED: Final = (
    MirrorState.ACTIVE,
    MirrorState.PAUSED,
    MirrorState.FAILED,
    MirrorState.PENDING_STOPPED,
    MirrorState.PENDING_SETUP_FOR_RESTORE,
    MirrorState.PENDING_RESTORE,
    MirrorState.STOPPED,
)
LIVE: Final = STORED[:-1]  # the link is the topic's writer
RESTORING: Final = (MirrorState.PENDING_SETUP_FOR_RESTORE, MirrorState.PENDING_RESTORE)


class MirrorTrigger(Enum):
    """What can happen to a mirror topic."""

    PAUSE = "pause"
    RESUME = "resume"
    FAIL = "the source can not be followed"
    PROMOTE = "promote"
    FAILOVER = "failover"
    GIVE_UP = "the proof for promote did not come in time"
    CUT = "the cut is made"
    RESTORE = "truncate-and-restore"
    SEALED = "every orphan tail is sealed"
    RESTORED = "every partition follows its source"


# What is not here is refused, with the state in the answer.
TRANSITIONS: Final[Mapping[tuple[MirrorState, MirrorTrigger], MirrorState]] = {
    (MirrorState.ACTIVE, MirrorTrigger.PAUSE): MirrorState.PAUSED,
    (MirrorState.PAUSED, MirrorTrigger.PAUSE): MirrorState.PAUSED,
    (MirrorState.ACTIVE, MirrorTrigger.RESUME): MirrorState.ACTIVE,
    (MirrorState.PAUSED, MirrorTrigger.RESUME): MirrorState.ACTIVE,
    (MirrorState.ACTIVE, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.PAUSED, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.PENDING_STOPPED, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.ACTIVE, MirrorTrigger.PROMOTE): MirrorState.PENDING_STOPPED,
    (MirrorState.ACTIVE, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.PAUSED, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.FAILED, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.PENDING_STOPPED, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.PENDING_STOPPED, MirrorTrigger.GIVE_UP): MirrorState.ACTIVE,
    (MirrorState.PENDING_STOPPED, MirrorTrigger.CUT): MirrorState.STOPPED,
    (MirrorState.STOPPED, MirrorTrigger.RESTORE): MirrorState.PENDING_SETUP_FOR_RESTORE,
    (MirrorState.FAILED, MirrorTrigger.RESTORE): MirrorState.PENDING_SETUP_FOR_RESTORE,
    (MirrorState.PENDING_SETUP_FOR_RESTORE, MirrorTrigger.SEALED): MirrorState.PENDING_RESTORE,
    (MirrorState.PENDING_RESTORE, MirrorTrigger.RESTORED): MirrorState.ACTIVE,
    (MirrorState.PENDING_SETUP_FOR_RESTORE, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.PENDING_RESTORE, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.PENDING_SETUP_FOR_RESTORE, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.PENDING_RESTORE, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
}

# (stored state, the link's state) -> the state in descriptions.
SHOWN: Final[Mapping[tuple[MirrorState, LinkState], MirrorState]] = {
    **{(state, link): state for state in STORED for link in LinkState},
    (MirrorState.ACTIVE, LinkState.PAUSED): MirrorState.LINK_PAUSED,
    (MirrorState.PAUSED, LinkState.PAUSED): MirrorState.LINK_PAUSED,
    (MirrorState.ACTIVE, LinkState.UNAVAILABLE): MirrorState.SOURCE_UNAVAILABLE,
    (MirrorState.ACTIVE, LinkState.FAILED): MirrorState.LINK_FAILED,
}


class Category(Enum):
    """How a link counts its mirrors."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    PENDING = "PENDING"
    IN_ERROR = "IN_ERROR"
    NOT_APPLICABLE = "NOT_APPLICABLE"


CATEGORIES: Final[Mapping[MirrorState, Category]] = {
    MirrorState.ACTIVE: Category.ACTIVE,
    MirrorState.PAUSED: Category.PAUSED,
    MirrorState.LINK_PAUSED: Category.PAUSED,
    MirrorState.SOURCE_UNAVAILABLE: Category.IN_ERROR,
    MirrorState.LINK_FAILED: Category.IN_ERROR,
    MirrorState.FAILED: Category.IN_ERROR,
    MirrorState.PENDING_STOPPED: Category.PENDING,
    MirrorState.STOPPED: Category.NOT_APPLICABLE,
    MirrorState.PENDING_MIRROR: Category.PENDING,
    MirrorState.PENDING_SYNCHRONIZE: Category.PENDING,
    MirrorState.PENDING_SETUP_FOR_RESTORE: Category.PENDING,
    MirrorState.PENDING_RESTORE: Category.PENDING,
}


class CutKind(Enum):
    """How a mirror became writable."""

    PROMOTE = "PROMOTE"
    FAILOVER = "FAILOVER"


class SourceEnd(NamedTuple):
    """The source's high watermark of a partition, and its clock when it had that; -1 unknown."""

    high_watermark: Offset
    clock: Instant


@dataclass(frozen=True, slots=True)
class CutPartition:
    """Where one partition was cut, and what was known of its source then; -1 for what was not known."""

    offset: Offset
    source_high_watermark: Offset
    source_clock: Instant
    leader_epoch: LeaderEpoch  # of what is written after the cut

    @property
    def missing(self) -> int:
        """Offsets that the source was known to have beyond the cut; -1 unknown."""
        if self.source_high_watermark < 0:
            return -1
        return max(0, self.source_high_watermark - self.offset)


@dataclass(frozen=True, slots=True)
class Cut:
    """The end of each partition at a promotion or failover."""

    kind: CutKind
    at: Instant
    partitions: tuple[CutPartition, ...]


class Asked(NamedTuple):
    """The command behind a decision. `by` is the address that it came from: there are no principals yet."""

    decision_id: str
    at: Instant
    by: str
    why: str


class RestorePoint(NamedTuple):
    """What one partition has in common with its source: everything below `offset`.

    `end` was the log end offset when that was found. What lies between is the orphan tail. Its batches have leader
    epochs up to `leader_epoch`, and those of the source that take their place later ones.
    """

    offset: Offset
    end: Offset
    leader_epoch: LeaderEpoch


@dataclass(frozen=True, slots=True)
class TransitionError:
    """Why a change of state that an operator asked for did not happen."""

    at: Instant
    code: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorRecord:
    """What is stored of a mirror topic. `generation` rises when another becomes its writer.

    `origins`: the cluster ids that its records come through, the nearest first. `holes_shown`: by partition, where the
    last hole ended at which the mirror was paused; who resumes it accepts that hole, wherever it ends by then. In
    PENDING_STOPPED, `stop` says for which command, and `stop_by` is the deadline of a promotion. From the time that
    `halted` is written, no broker places anything of the source, so that the ends can be known; `known` has what was
    known of the source then, by partition. `cut` has the ends. `restore` has the ends of what a restored topic had in
    common with its source, by partition, once all are known.
    """

    topic: str
    link: str
    source_topic: str
    source_topic_id: UUID
    created_at: Instant
    state: MirrorState
    since: Instant
    generation: int = 1
    error: MirrorError = MirrorError.NO_ERROR
    reason: str = ""
    stop: CutKind | None = None
    stop_by: Instant = 0
    halted: bool = False
    known: tuple[SourceEnd, ...] = ()
    cut: Cut | None = None
    transition_errors: tuple[TransitionError, ...] = ()
    holes_shown: Mapping[int, Offset] = field(default_factory=dict)
    origins: tuple[str, ...] = ()
    restore: tuple[RestorePoint, ...] = ()
    asked: Asked | None = None  # what is pending, or was done last

    @property
    def is_promoting(self) -> bool:
        """Whether a promotion waits for its proof: the mirror still follows its source."""
        is_pending = self.state is MirrorState.PENDING_STOPPED and self.stop is CutKind.PROMOTE
        return is_pending and not self.halted and self.cut is None

    @property
    def streams(self) -> bool:
        """Whether data of the source is placed."""
        return self.state is MirrorState.ACTIVE or self.state in RESTORING or self.is_promoting

    @property
    def ends(self) -> tuple[Offset, ...]:
        """By partition, the offsets that no group may be past while the topic's state changes; empty: none are set."""
        if self.state is MirrorState.PENDING_STOPPED and self.cut is not None:
            return tuple(partition.offset for partition in self.cut.partitions)
        if self.state is MirrorState.PENDING_SETUP_FOR_RESTORE:
            return tuple(point.offset for point in self.restore)
        return ()

    def restored(self, state: MirrorState, reason: str, now: Instant) -> "MirrorRecord":
        """The same mirror, whose log will be compared with its source's anew."""
        return replace(
            self,
            state=state,
            since=now,
            error=MirrorError.NO_ERROR,
            reason=reason,
            stop=None,
            stop_by=0,
            halted=False,
            known=(),
            restore=(),
        )

    def with_error(self, error: TransitionError) -> "MirrorRecord":
        return replace(
            self, transition_errors=(*self.transition_errors, error)[-TRANSITION_ERRORS_MAX:]
        )

    def encode(self) -> bytes:
        return encode(
            {
                "link": self.link,
                "source_topic": self.source_topic,
                "source_topic_id": self.source_topic_id.hex,
                "created_at": self.created_at,
                "state": self.state.value,
                "since": self.since,
                "generation": self.generation,
                "error": self.error.value,
                "reason": self.reason,
                "stop": self.stop.value if self.stop else None,
                "stop_by": self.stop_by,
                "halted": self.halted,
                "known": self.known,
                "cut": _encode_cut(self.cut),
                "transition_errors": [
                    [one.at, one.code, one.because] for one in self.transition_errors
                ],
                "origins": self.origins,
                "restore": self.restore,
                "asked": self.asked,
                "holes_shown": [[index, offset] for index, offset in self.holes_shown.items()],
            }
        )


def decode_mirror(topic: str, body: bytes) -> MirrorRecord:
    fields = decode(body)
    return MirrorRecord(
        topic=topic,
        link=str(fields["link"]),
        source_topic=str(fields["source_topic"]),
        source_topic_id=UUID(fields["source_topic_id"]),
        created_at=int(fields["created_at"]),
        state=MirrorState(fields["state"]),
        since=int(fields["since"]),
        generation=int(fields["generation"]),
        error=MirrorError(fields["error"]),
        reason=str(fields["reason"]),
        stop=CutKind(fields["stop"]) if fields["stop"] else None,
        stop_by=int(fields["stop_by"]),
        halted=bool(fields.get("halted", False)),
        known=tuple(SourceEnd(*one) for one in fields.get("known", ())),
        cut=_decode_cut(fields["cut"]),
        transition_errors=tuple(TransitionError(*one) for one in fields["transition_errors"]),
        holes_shown={int(index): int(offset) for index, offset in fields.get("holes_shown", ())},
        origins=tuple(str(one) for one in fields.get("origins", ())),
        restore=tuple(RestorePoint(*one) for one in fields.get("restore", ())),
        asked=Asked(*fields["asked"]) if fields.get("asked") else None,
    )


def _encode_cut(cut: Cut | None) -> Any:
    if cut is None:
        return None
    partitions = [
        [one.offset, one.source_high_watermark, one.source_clock, one.leader_epoch]
        for one in cut.partitions
    ]
    return {"kind": cut.kind.value, "at": cut.at, "partitions": partitions}


def _decode_cut(fields: Any) -> Cut | None:
    if fields is None:
        return None
    partitions = tuple(CutPartition(*one) for one in fields["partitions"])
    return Cut(CutKind(fields["kind"]), int(fields["at"]), partitions)
