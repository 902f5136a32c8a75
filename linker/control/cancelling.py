"""cancel: takes back what a mirror topic is in the middle of, until its cut is written.

The record in the metadata log of the mirror's region is the decision, of a reversal, too. A cancel and the cut each
replace the version of it that they know, so the log takes one of the two. The source's region never decides: it hears
of a reversal that was cancelled as of one that was given up (`reversing`), as soon as it is reached, and is read-only
until then.

Of a topic that a command has not come to (`stop_lists`) the record says that this was cancelled: so nobody comes to it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant
from linker.control.mirror_refusals import (
    changed_meanwhile,
    coordinated_elsewhere,
    deleted_meanwhile,
)
from linker.control.mirror_topic import MirrorTopic
from linker.errors import LinkRefusal
from linker.records.mirror_record import (
    MIRROR_KIND,
    Asked,
    Before,
    CutKind,
    MirrorRecord,
    TransitionError,
    verb_of,
)
from linker.records.mirror_state import (
    RESTORING,
    STOPPING,
    TRANSITIONS,
    UNDER_WAY,
    MirrorState,
    MirrorTrigger,
)
from linker.records.stop_list import Stop
from linker.region_client import Effects, RegionClient

VERB: Final = "cancel"
CANCELLED: Final = "CANCELLED"
CONFLICT_MS: Final = 20
_TRIGGERS: Final = {
    MirrorState.ACTIVE: MirrorTrigger.CANCEL,
    MirrorState.PAUSED: MirrorTrigger.CANCEL_PAUSED,
    MirrorState.FAILED: MirrorTrigger.CANCEL_FAILED,
}
_ACTIVE: Final = Before(MirrorState.ACTIVE, "")

Answered = Callable[[LinkRefusal | None, Instant], Effects]


def before_failover(record: MirrorRecord) -> Before | None:
    """What a failover of this mirror leads back to where it is cancelled; None where it ends something that has no way
    back: a restore, or a reversal that the other region decides."""
    if record.state in STOPPING:
        return _ACTIVE  # the promotion or reversal is cancelled, too
    return Before(record.state, record.reason) if record.state in _TRIGGERS else None


def taken_back(record: MirrorRecord, state: MirrorState, error: TransitionError) -> MirrorRecord:
    """The mirror goes on in `state`. The generation of a reversal ends with it: what the source did for it is past."""
    return replace(
        record,
        state=state,
        since=error.at,
        generation=record.generation + (record.stop is not CutKind.PROMOTE),
        reason="",
        stop=None,
        stop_by=0,
        fenced_at=-1,
        halted=False,
        known=(),
        before=None,
    ).with_error(error)


def why_not(record: MirrorRecord, listed: Stop | None = None) -> LinkRefusal | None:
    """Why what the mirror is in the middle of cannot be cancelled; None if it can be. `listed`: the command whose list
    has it, and which has not come to it."""
    if listed is not None and record.state not in UNDER_WAY:
        return None
    because, hint = _obstacle(record)
    return (
        LinkRefusal("INVALID_REQUEST", f"{record.topic} {because}", hint=hint) if because else None
    )


def _obstacle(record: MirrorRecord) -> tuple[str, str]:
    state = record.state.value
    if record.state not in UNDER_WAY:
        return f"is {state}: there is nothing to cancel", (
            "`causeway mirror transitions` lists what is under way"
        )
    if record.state is MirrorState.PENDING_MIRROR:
        region = record.origins[0] if record.origins else "the other one"
        return f"is {state}: the reversal is region {region}'s to cancel", (
            "ask there; `causeway mirror failover` here takes the topic back without that region"
        )
    if record.state in RESTORING:
        return f"is {state}: truncate-and-restore is not cancelled", (
            "`causeway mirror failover` makes the topic writable here, with what it holds"
        )
    if record.cut is not None:
        return (
            f"is {state}, and was cut: {verb_of(record.cut.kind)} cannot be cancelled any more",
            (_way_back(record.cut.kind)),
        )
    if _before(record) is None:
        return f"is {state}: it is made this region's own, which is not cancelled", (
            "wait until it is STOPPED; `causeway mirror describe` shows what it waits for"
        )
    return "", ""


def _way_back(kind: CutKind) -> str:
    if kind.is_reversal:
        return "once it is STOPPED, reverse-and-start in the other region changes places again"
    if kind is CutKind.WITHDRAW:
        return "once it is STOPPED, ask for the reversal again"
    return (
        "once it is STOPPED, truncate-and-restore in the source's region makes that one the mirror"
    )


def _before(record: MirrorRecord) -> Before | None:
    is_proven = record.stop is not None and record.stop.is_proven
    return _ACTIVE if is_proven else record.before


def cancelled(record: MirrorRecord, asked: Asked, listed: Stop | None = None) -> MirrorRecord:
    """What takes the place of `record`, which can be cancelled."""
    if listed is not None and record.state not in UNDER_WAY:
        return replace(record, asked=asked).with_error(_error(listed.kind, asked))
    before = _before(record)
    assert before is not None and record.stop is not None, record
    target = TRANSITIONS[record.state, _TRIGGERS[before.state]]
    error = _error(record.stop, asked)
    return replace(taken_back(record, target, error), reason=before.reason, asked=asked)


def _error(kind: CutKind, asked: Asked) -> TransitionError:
    why = f": {asked.why}" if asked.why else ""
    by = f" by {asked.by}" if asked.by else ""
    return TransitionError(asked.at, CANCELLED, f"{verb_of(kind)} was cancelled{by}{why}")


class Cancelling:
    """One cancel of one mirror topic, by the link coordinator."""

    def __init__(
        self,
        region: RegionClient,
        mirror: MirrorTopic,
        asked: Asked,
        answered: Answered,
        listed: Callable[[str], Stop | None],
    ) -> None:
        """`answered` is called once: with None when the record says that it is cancelled. `listed`: the command that
        has not come to the topic yet."""
        self._region = region
        self._mirror = mirror
        self._asked = asked
        self._answered = answered
        self._listed = listed

    def begin(self, now: Instant) -> Effects:
        mirror = self._mirror
        listed = self._listed(mirror.topic)
        refusal = why_not(mirror.record, listed)
        if refusal is not None:
            return self._answered(refusal, now)
        known = mirror.version
        record = cancelled(mirror.record, self._asked, listed)
        return mirror.change(record, partial(self._on_written, known))

    def _on_written(self, known: int, refusal: Refusal | None, now: Instant) -> Effects:
        """What was written in this place may be a step before the cut: then there is something to cancel still."""
        if refusal is None:
            return self._answered(None, now)
        if refusal.error is not KafkaError.INVALID_UPDATE_VERSION:
            return self._answered(changed_meanwhile(self._mirror.topic, refusal), now)
        return self.begin(now) if self._mirror.version != known else self._again(refusal, now)

    def _again(self, refusal: Refusal, now: Instant) -> Effects:
        """The metadata that this broker has is behind, or the mirror is another one's by now."""
        document = self._region.view.image.documents.get((MIRROR_KIND, self._mirror.topic))
        if document is None:
            return self._answered(deleted_meanwhile(self._mirror.topic), now)
        if document.version != self._mirror.version:
            return self._answered(changed_meanwhile(self._mirror.topic, refusal), now)
        if not self._region.is_coordinator:
            return self._answered(coordinated_elsewhere(self._mirror.topic), now)
        self._region.timers.set(now + CONFLICT_MS, self.begin)
        return []
