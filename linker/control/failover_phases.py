"""The phases of a promote or failover, as a table. Drawn in `linker/README.md`."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, ParamSpec

from linker.region_client import Effects

Arguments = ParamSpec("Arguments")


class FailoverPhase(Enum):
    """What the failover of one mirror topic does or waits for now."""

    IDLE = "nothing is asked for"
    AWAITING_LINK = "promote: the link does not reach the source"
    AWAITING_FENCE = "reversal: the source's topic is not read-only yet"
    AWAITING_BEACON = "promote: the source was asked for a beacon"
    CATCHING_UP = "promote: the beacon came; partitions, settings or group offsets may be behind"
    GIVING_UP = "promote: too late; the record is set back to ACTIVE"
    HALTING = "the record is written by which every broker stops its replicators"
    HALT_REFUSED = "it could not be written; a pause"
    DRAINING = "the leaders are asked whether what they had begun to place is placed and replicated"
    SETTLING_GROUPS = "group offsets that are known are committed"
    WRITING_CUT = "the cut is written to the metadata log"
    CUT_UNCERTAIN = "the disk failed, and may hold the cut all the same; a pause"
    CHECKING_CUT = "the record is written as it was, which succeeds only where there is no cut"
    CUT_CONFLICT = "another change of the record came first; a pause"
    CLAMPING_GROUPS = "every broker moves back group offsets past the cut"
    HANDING_OVER = "the topic's writer is taken from the link"
    FINISHING = "STOPPED is written"
    RETRYING = "one of the last two was refused; a pause"
    DONE = "the topic is an ordinary one"
    ABANDONED = "the topic was deleted"


class FailoverTrigger(Enum):
    """What moves a failover on."""

    # From outside: any phase can meet these.
    PROMOTION_FOUND = "the record is PENDING_STOPPED or PENDING_SYNCHRONIZE, and not halted"
    FENCED = "the same, and of a reversal: the source's topic is read-only"
    HALT_FOUND = "the record is halted, without a cut"
    CUT_FOUND = "the record is PENDING_STOPPED with a cut"
    STOPPED_FOUND = "the record is STOPPED"
    NOTHING_FOUND = "the record is in any other state"
    FAILOVER_ASKED = "the operator asks for failover"
    LINK_OPENED = "the stream from the source is open"
    LINK_LOST = "the stream from the source is gone"
    TOPIC_DELETED = "the topic was deleted, and its record"
    # Answers: only the phase that asked meets these.
    BEACON = "the source has answered with a beacon"
    CAUGHT_UP = "the mirror lacks nothing"
    TOO_LATE = "`stop_by` is reached"
    DRAINED = "the end of every partition is known"
    SETTLED = "the commits are answered, and every end is known still"
    ENDS_LOST = "the end of a partition is not known any more"
    GROUPS_BEHIND = "the offsets of a group that had members here are not committed yet"
    OVERTAKEN = "another change of the record came first"
    DISK_FAILED = "the metadata log failed"
    NO_CUT = "the record holds no cut"
    PAUSE_OVER = "the timer has fired"
    CLAMPED = "no group offset is past the cut"
    HANDED_OVER = "the link is not the topic's writer any more"
    REFUSED = "the metadata log refused"


ALL: Final = frozenset(FailoverPhase)
PROVING: Final = frozenset(
    {
        FailoverPhase.AWAITING_LINK,
        FailoverPhase.AWAITING_FENCE,
        FailoverPhase.AWAITING_BEACON,
        FailoverPhase.CATCHING_UP,
    }
)
CUTTING: Final = frozenset(
    {
        FailoverPhase.DRAINING,
        FailoverPhase.SETTLING_GROUPS,
        FailoverPhase.WRITING_CUT,
        FailoverPhase.CUT_UNCERTAIN,
        FailoverPhase.CHECKING_CUT,
        FailoverPhase.CUT_CONFLICT,
    }
)
BEFORE_HALT: Final = frozenset({FailoverPhase.HALTING, FailoverPhase.HALT_REFUSED})
# The cut is in the record, and is final.
AFTER_CUT: Final = frozenset(
    {
        FailoverPhase.CLAMPING_GROUPS,
        FailoverPhase.HANDING_OVER,
        FailoverPhase.FINISHING,
        FailoverPhase.RETRYING,
    }
)
FINAL: Final = frozenset({FailoverPhase.DONE, FailoverPhase.ABANDONED})
HALTED: Final = BEFORE_HALT | CUTTING | AFTER_CUT | FINAL  # nothing of the source is placed
BEFORE_CUT: Final = ALL - AFTER_CUT - FINAL

TRANSITIONS: Final[Mapping[tuple[FailoverPhase, FailoverTrigger], FailoverPhase]] = {
    **{(phase, FailoverTrigger.TOPIC_DELETED): FailoverPhase.ABANDONED for phase in ALL - FINAL},
    **{(phase, FailoverTrigger.STOPPED_FOUND): FailoverPhase.DONE for phase in ALL - FINAL},
    **{(phase, FailoverTrigger.CUT_FOUND): FailoverPhase.CLAMPING_GROUPS for phase in BEFORE_CUT},
    **{(phase, FailoverTrigger.FAILOVER_ASKED): FailoverPhase.HALTING for phase in ALL - HALTED},
    **{
        (phase, FailoverTrigger.HALT_FOUND): FailoverPhase.DRAINING
        for phase in BEFORE_CUT - CUTTING
    },
    **{
        (phase, FailoverTrigger.NOTHING_FOUND): FailoverPhase.IDLE
        for phase in PROVING | CUTTING | {FailoverPhase.GIVING_UP}
    },
    **{
        (phase, FailoverTrigger.TOO_LATE): FailoverPhase.GIVING_UP
        for phase in PROVING | {FailoverPhase.DRAINING}
    },
    (FailoverPhase.IDLE, FailoverTrigger.PROMOTION_FOUND): FailoverPhase.AWAITING_LINK,
    (FailoverPhase.AWAITING_LINK, FailoverTrigger.LINK_OPENED): FailoverPhase.AWAITING_FENCE,
    (FailoverPhase.AWAITING_FENCE, FailoverTrigger.LINK_LOST): FailoverPhase.AWAITING_LINK,
    (FailoverPhase.AWAITING_FENCE, FailoverTrigger.FENCED): FailoverPhase.AWAITING_BEACON,
    (FailoverPhase.AWAITING_BEACON, FailoverTrigger.LINK_LOST): FailoverPhase.AWAITING_LINK,
    (FailoverPhase.AWAITING_BEACON, FailoverTrigger.BEACON): FailoverPhase.CATCHING_UP,
    (FailoverPhase.CATCHING_UP, FailoverTrigger.LINK_LOST): FailoverPhase.AWAITING_LINK,
    (FailoverPhase.CATCHING_UP, FailoverTrigger.CAUGHT_UP): FailoverPhase.HALTING,
    (FailoverPhase.GIVING_UP, FailoverTrigger.REFUSED): FailoverPhase.AWAITING_LINK,
    (FailoverPhase.HALTING, FailoverTrigger.OVERTAKEN): FailoverPhase.HALT_REFUSED,
    (FailoverPhase.HALTING, FailoverTrigger.REFUSED): FailoverPhase.IDLE,
    (FailoverPhase.HALT_REFUSED, FailoverTrigger.PAUSE_OVER): FailoverPhase.HALTING,
    (FailoverPhase.DRAINING, FailoverTrigger.DRAINED): FailoverPhase.SETTLING_GROUPS,
    (FailoverPhase.SETTLING_GROUPS, FailoverTrigger.SETTLED): FailoverPhase.WRITING_CUT,
    (FailoverPhase.SETTLING_GROUPS, FailoverTrigger.ENDS_LOST): FailoverPhase.DRAINING,
    (FailoverPhase.SETTLING_GROUPS, FailoverTrigger.GROUPS_BEHIND): FailoverPhase.DRAINING,
    (FailoverPhase.WRITING_CUT, FailoverTrigger.DISK_FAILED): FailoverPhase.CUT_UNCERTAIN,
    (FailoverPhase.WRITING_CUT, FailoverTrigger.OVERTAKEN): FailoverPhase.CUT_CONFLICT,
    (FailoverPhase.CUT_UNCERTAIN, FailoverTrigger.PAUSE_OVER): FailoverPhase.CHECKING_CUT,
    (FailoverPhase.CHECKING_CUT, FailoverTrigger.DISK_FAILED): FailoverPhase.CUT_UNCERTAIN,
    (FailoverPhase.CHECKING_CUT, FailoverTrigger.NO_CUT): FailoverPhase.DRAINING,
    (FailoverPhase.CUT_CONFLICT, FailoverTrigger.PAUSE_OVER): FailoverPhase.DRAINING,
    (FailoverPhase.CLAMPING_GROUPS, FailoverTrigger.CLAMPED): FailoverPhase.HANDING_OVER,
    (FailoverPhase.CLAMPING_GROUPS, FailoverTrigger.HANDED_OVER): FailoverPhase.FINISHING,
    (FailoverPhase.HANDING_OVER, FailoverTrigger.HANDED_OVER): FailoverPhase.FINISHING,
    (FailoverPhase.HANDING_OVER, FailoverTrigger.REFUSED): FailoverPhase.RETRYING,
    (FailoverPhase.FINISHING, FailoverTrigger.REFUSED): FailoverPhase.RETRYING,
    (FailoverPhase.RETRYING, FailoverTrigger.PAUSE_OVER): FailoverPhase.CLAMPING_GROUPS,
}

# Triggers from outside that a phase does not need. What is neither here nor in the table cannot happen.
IGNORED: Final[Mapping[FailoverTrigger, frozenset[FailoverPhase]]] = {
    FailoverTrigger.PROMOTION_FOUND: ALL - {FailoverPhase.IDLE},
    FailoverTrigger.FENCED: ALL - {FailoverPhase.AWAITING_FENCE},
    FailoverTrigger.HALT_FOUND: CUTTING | AFTER_CUT | FINAL,
    FailoverTrigger.CUT_FOUND: AFTER_CUT | FINAL,
    FailoverTrigger.STOPPED_FOUND: FINAL,
    FailoverTrigger.NOTHING_FOUND: (HALTED - CUTTING) | {FailoverPhase.IDLE},
    FailoverTrigger.FAILOVER_ASKED: HALTED,
    FailoverTrigger.LINK_OPENED: ALL - {FailoverPhase.AWAITING_LINK},
    FailoverTrigger.LINK_LOST: ALL - (PROVING - {FailoverPhase.AWAITING_LINK}),
    FailoverTrigger.TOPIC_DELETED: FINAL,
}


class FailoverProgress:
    """The phase in which the failover of one mirror topic is; `take` is the only way to change it."""

    def __init__(self) -> None:
        self.phase = FailoverPhase.IDLE
        self._changes = 0

    @property
    def is_halted(self) -> bool:
        """Whether a cut is being made or has been made: nothing of the source is placed any more."""
        return self.phase in HALTED

    def reset(self) -> None:
        """Another broker carries it out; a late answer has no effect."""
        self.phase = FailoverPhase.IDLE
        self._changes += 1

    def take(self, trigger: FailoverTrigger) -> bool:
        """Whether the phase has changed. Raises KeyError for a trigger that cannot happen in this phase."""
        if self.phase in IGNORED.get(trigger, ()):
            return False
        self.phase = TRANSITIONS[self.phase, trigger]
        self._changes += 1
        return True

    def in_this_phase(self, then: Callable[Arguments, Effects]) -> Callable[Arguments, Effects]:
        """Calls `then` while the phase has not changed; after that, a late answer has no effect."""
        changes = self._changes

        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Effects:
            return then(*args, **kwargs) if self._changes == changes else []

        return call
