"""A mirror topic's record in the metadata log, with what a stop or a restore of it has found."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from brokers.ids import Instant, LeaderEpoch, Offset
from linker.errors import MirrorError
from linker.records.documents import decode, encode
from linker.records.mirror_state import LIVE, MAY_HAVE_DIVERGED, RESTORING, MirrorState

MIRROR_KIND: Final = "mirror"
TRANSITION_ERRORS_MAX: Final = 10  # the newest are kept
READERS_MAX: Final = 1_000  # of all partitions of a topic


class CutKind(Enum):
    """How a mirror became writable. WITHDRAW: it was PENDING_MIRROR, of a reversal that did not happen."""

    PROMOTE = "PROMOTE"
    FAILOVER = "FAILOVER"
    REVERSE_AND_START = "REVERSE_AND_START"
    REVERSE_AND_PAUSE = "REVERSE_AND_PAUSE"
    WITHDRAW = "WITHDRAW"

    @property
    def is_reversal(self) -> bool:
        """Whether the source becomes the mirror."""
        return self in (CutKind.REVERSE_AND_START, CutKind.REVERSE_AND_PAUSE)

    @property
    def is_proven(self) -> bool:
        """Whether it is made only once the mirror lacks nothing."""
        return self is CutKind.PROMOTE or self.is_reversal


def verb_of(kind: CutKind) -> str:
    """As operators write it."""
    return kind.value.lower().replace("_", "-")


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
    """The end of each partition at a promotion or failover. `topic_id`: the mirror's; older releases did not say."""

    kind: CutKind
    at: Instant
    partitions: tuple[CutPartition, ...]
    topic_id: UUID | None = None

    @property
    def missing(self) -> int:
        """Records of the source beyond the cut that were known of; -1: nothing was known somewhere."""
        each = [partition.missing for partition in self.partitions]
        return -1 if min(each, default=0) < 0 else sum(each)

    @property
    def is_missing_exact(self) -> bool:
        """Whether there were no others: nobody could write at the source then. Else it is a lower bound."""
        return self.kind.is_reversal


class Asked(NamedTuple):
    """The command behind a decision. `by` is the address that it came from: there are no principals yet."""

    decision_id: str
    at: Instant
    by: str
    why: str


class Before(NamedTuple):
    """What a mirror was before a failover of it, and is again if that is cancelled."""

    state: MirrorState
    reason: str


class TailReader(NamedTuple):
    """A group that has read beyond what a restored topic has in common with its source: all below `offset`."""

    group: str
    partition: int
    offset: Offset


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


class TopicSpec(NamedTuple):
    """How the operator wants the mirror's topic: its own configurations; a replication factor, -1 for the default."""

    configs: tuple[tuple[str, str], ...] = ()
    replication_factor: int = -1


NO_SPEC: Final = TopicSpec()


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorRecord:
    """What is stored of a mirror topic. `generation` rises when another becomes its writer.

    `origins`: the cluster ids that its records come through, the nearest first. `holes_shown`: by partition, where the
    last hole ended at which the mirror was paused; who resumes it accepts that hole, wherever it ends by then.
    `known_at`: an offset of the source's metadata log at which its topic was there; what a broker says of it that has
    not got so far is ignored. `source_generation`: the last in which the source has taken its topic over, or an
    operator has decided for it there, as far as is known; 0: neither. In
    PENDING_STOPPED and PENDING_SYNCHRONIZE, `stop` says for which command, and `stop_by` is the deadline of a promotion
    or reversal; in PENDING_MIRROR, `stop` is the reversal. `fenced_at`: the offset of the source's metadata log from
    which on no producer writes its topic, -1 before that. A reversal is of the generation in which it begins, in both
    regions. From the time that `halted` is written, no broker places anything of the source, so that the ends can be
    known; `may_have_diverged`: its log and the source's may hold different records then. `known` has what was known of
    the source then, by partition; `before`, of a failover, is what a cancel leads back to, and None where nothing does.
    `cut` has the ends. `restore` has the ends of what a restored topic had in common with its source, by partition,
    once all are known, and `began_at` the offsets below which the source never held anything; -1: it does not say.
    `spec` is for the creation of the topic, which may be late.
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
    fenced_at: Offset = -1
    known_at: Offset = 0
    source_generation: int = 0
    halted: bool = False
    may_have_diverged: bool = False
    known: tuple[SourceEnd, ...] = ()
    before: Before | None = None
    cut: Cut | None = None
    transition_errors: tuple[TransitionError, ...] = ()
    holes_shown: Mapping[int, Offset] = field(default_factory=dict)
    origins: tuple[str, ...] = ()
    spec: TopicSpec = NO_SPEC
    restore: tuple[RestorePoint, ...] = ()
    began_at: tuple[Offset, ...] = ()
    readers: tuple[TailReader, ...] = ()  # of what a restore removes, the furthest READERS_MAX
    asked: Asked | None = None  # what is pending, or was done last

    @property
    def is_promoting(self) -> bool:
        """Whether a promotion or reversal waits for its proof: the mirror still follows its source."""
        is_pending = self.state is MirrorState.PENDING_STOPPED and self.stop is CutKind.PROMOTE
        is_pending |= self.state is MirrorState.PENDING_SYNCHRONIZE
        return is_pending and not self.halted and self.cut is None

    @property
    def is_provable(self) -> bool:
        """Whether what the source has now is all that the mirror needs: for a reversal, nobody writes it any more."""
        return self.is_promoting and (self.stop is CutKind.PROMOTE or self.fenced_at >= 0)

    @property
    def takes_group_offsets(self) -> bool:
        """Whether the source's apply: both logs hold the same records, and this one is not cut yet."""
        has_diverged = self.state in MAY_HAVE_DIVERGED
        if self.state is MirrorState.PENDING_STOPPED and self.halted:
            has_diverged = self.may_have_diverged
        return self.state in LIVE and self.cut is None and not has_diverged

    @property
    def is_reversing(self) -> bool:
        """Whether a reversal is pending that has no cut: the source's topic is to be read-only."""
        return self.stop is not None and self.stop.is_reversal and self.cut is None

    @property
    def streams(self) -> bool:
        """Whether data of the source is placed."""
        return self.state is MirrorState.ACTIVE or self.state in RESTORING or self.is_promoting

    @property
    def stands_at_holes(self) -> bool:
        """Whether `mirror.hole.policy` has paused it, and not an operator."""
        is_paused = self.state is MirrorState.PAUSED
        return is_paused and bool(self.reason) and bool(self.holes_shown)

    @property
    def is_idle(self) -> bool:
        """Whether it is a mirror of which nothing is placed, until an operator decides."""
        return self.state in (MirrorState.PAUSED, MirrorState.FAILED)

    @property
    def ends(self) -> tuple[Offset, ...]:
        """By partition, the offsets that no group may be past while the topic's state changes; empty: none are set."""
        if self.state is MirrorState.PENDING_STOPPED and self.cut is not None:
            return tuple(partition.offset for partition in self.cut.partitions)
        if self.state is MirrorState.PENDING_SETUP_FOR_RESTORE:
            return tuple(point.offset for point in self.restore)
        return ()

    def restored(
        self, state: MirrorState, reason: str, now: Instant, by: str = "", why: str = ""
    ) -> "MirrorRecord":
        """The same mirror, whose log will be compared with its source's anew. Nobody asked where no operator has."""
        return replace(
            self,
            state=state,
            since=now,
            error=MirrorError.NO_ERROR,
            reason=reason,
            stop=None,
            stop_by=0,
            fenced_at=-1,
            halted=False,
            known=(),
            before=None,
            restore=(),
            began_at=(),
            readers=(),
            asked=restore_asked(self, now, by, why),
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
                "fenced_at": self.fenced_at,
                "known_at": self.known_at,
                "source_generation": self.source_generation,
                "halted": self.halted,
                "may_have_diverged": self.may_have_diverged,
                "known": self.known,
                "before": [self.before.state.value, self.before.reason] if self.before else None,
                "cut": _encode_cut(self.cut),
                "transition_errors": [
                    [one.at, one.code, one.because] for one in self.transition_errors
                ],
                "origins": self.origins,
                "restore": self.restore,
                "began_at": self.began_at,
                "readers": self.readers,
                "spec": self.spec,
                "asked": self.asked,
                "holes_shown": [[index, offset] for index, offset in self.holes_shown.items()],
            }
        )


def restore_asked(former: MirrorRecord | None, now: Instant, by: str, why: str) -> Asked:
    """Of a restore, which is no decision of its own: a stop that was listed before it may still have its turn."""
    before = former.asked if former is not None else None
    return Asked(before.decision_id if before is not None else "", now, by, why)


@lru_cache(maxsize=4096)  # each stream and each part of a broker reads what has changed
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
        fenced_at=int(fields.get("fenced_at", -1)),
        known_at=int(fields.get("known_at", 0)),
        source_generation=int(fields.get("source_generation", 0)),
        halted=bool(fields.get("halted", False)),
        may_have_diverged=bool(fields.get("may_have_diverged", False)),
        known=tuple(SourceEnd(*one) for one in fields.get("known", ())),
        before=_decode_before(fields.get("before")),
        cut=_decode_cut(fields["cut"]),
        transition_errors=tuple(TransitionError(*one) for one in fields["transition_errors"]),
        holes_shown={int(index): int(offset) for index, offset in fields.get("holes_shown", ())},
        origins=tuple(str(one) for one in fields.get("origins", ())),
        spec=_decode_spec(fields.get("spec")),
        restore=tuple(RestorePoint(*one) for one in fields.get("restore", ())),
        began_at=tuple(int(one) for one in fields.get("began_at", ())),
        readers=tuple(TailReader(*one) for one in fields.get("readers", ())),
        asked=Asked(*fields["asked"]) if fields.get("asked") else None,
    )


def _decode_before(fields: Any) -> Before | None:
    if not fields:
        return None
    state, reason = fields
    return Before(MirrorState(state), str(reason))


def _encode_cut(cut: Cut | None) -> Any:
    if cut is None:
        return None
    partitions = [
        [one.offset, one.source_high_watermark, one.source_clock, one.leader_epoch]
        for one in cut.partitions
    ]
    return {
        "kind": cut.kind.value,
        "at": cut.at,
        "partitions": partitions,
        "topic_id": cut.topic_id.hex if cut.topic_id is not None else "",
    }


def _decode_cut(fields: Any) -> Cut | None:
    if fields is None:
        return None
    partitions = tuple(CutPartition(*one) for one in fields["partitions"])
    topic_id = UUID(fields["topic_id"]) if fields.get("topic_id") else None
    return Cut(CutKind(fields["kind"]), int(fields["at"]), partitions, topic_id)


def _decode_spec(fields: Any) -> TopicSpec:
    if not fields:
        return NO_SPEC
    configs, replication_factor = fields
    return TopicSpec(
        tuple((str(name), str(value)) for name, value in configs), int(replication_factor)
    )
