"""What mirror topics are in the middle of, by their records, and what each waits for, as the link coordinator knows."""

from dataclasses import replace
from typing import Final

from brokers.ids import Instant
from linker.answers import Transition, TransitionStep
from linker.control.cancelling import why_not
from linker.control.cluster_link import ClusterLink
from linker.control.mirror_topic import MirrorTopic
from linker.control.reversing import NOT_TAKEN_BACK, unheard_withdrawal
from linker.records.mirror_record import CutKind, MirrorRecord, verb_of
from linker.records.mirror_state import RESTORING, STOPPING, MirrorState
from linker.records.stop_list import Stop
from linker.region_client import RegionClient

RESTORE: Final = "truncate-and-restore"
CUT_IS_FINAL: Final = "the cut is final: groups are moved back, then the topic is writable"


def transition_of(
    region: RegionClient, link: ClusterLink, mirror: MirrorTopic, now: Instant
) -> Transition | None:
    """None where nothing is under way."""
    record = mirror.record
    if (listed := link.stop_lists.stop_of(mirror.topic)) is not None:
        return _listed(link, record, listed)
    if record.state in STOPPING:
        return _stopping(link, mirror, now)
    if record.state is MirrorState.PENDING_MIRROR:
        waits_for = link.reversal_waits_for(mirror.topic)
        return _of(record, _verb(record), TransitionStep.AWAITING_CUT, record.since, waits_for)
    if record.state in RESTORING:
        waits_for = link.restore_waits_for(mirror.topic)
        return _asked(record, _of(record, RESTORE, _restoring(record), record.since, waits_for))
    if unheard_withdrawal(region, mirror) is None:
        return None
    verb = verb_of(CutKind.WITHDRAW)
    return _of(record, verb, TransitionStep.WITHDRAWING, record.since, NOT_TAKEN_BACK)


def _stopping(link: ClusterLink, mirror: MirrorTopic, now: Instant) -> Transition:
    record = mirror.record
    is_cut = record.cut is not None
    waits_for = CUT_IS_FINAL if is_cut else link.promotion_waits_for(mirror.topic, now)
    since = record.since if record.asked is None else record.asked.at
    gives_up = record.stop is not None and record.stop.is_proven and not is_cut
    told = _asked(record, _of(record, _verb(record), _step(record), since, waits_for))
    return replace(told, gives_up_at=record.stop_by if gives_up else 0)


def _asked(record: MirrorRecord, transition: Transition) -> Transition:
    """Who has asked for it, and why."""
    if record.asked is None:
        return transition
    return replace(transition, asked_by=record.asked.by, why=record.asked.why)


def _listed(link: ClusterLink, record: MirrorRecord, stop: Stop) -> Transition:
    """A command of several topics has not come to this one."""
    asked = stop.asked
    count = dict(link.stop_lists.left)[stop]
    return Transition(
        verb=verb_of(stop.kind),
        step=TransitionStep.LISTED,
        since=asked.at,
        waits_for=f"its turn: {asked.decision_id} has {count} topics left",
        can_be_cancelled=why_not(record, stop) is None,
        asked_by=asked.by,
        why=asked.why,
    )


def _step(record: MirrorRecord) -> TransitionStep:
    if record.cut is not None:
        return TransitionStep.HANDING_OVER
    if record.halted:
        return TransitionStep.CUTTING
    return TransitionStep.PROVING if record.is_provable else TransitionStep.FENCING


def _restoring(record: MirrorRecord) -> TransitionStep:
    if record.state is MirrorState.PENDING_RESTORE:
        return TransitionStep.TRUNCATING
    return TransitionStep.SEALING if record.restore else TransitionStep.COMPARING


def _verb(record: MirrorRecord) -> str:
    return verb_of(record.stop) if record.stop is not None else "stop"


def _of(
    record: MirrorRecord, verb: str, step: TransitionStep, since: Instant, waits_for: str
) -> Transition:
    return Transition(
        verb=verb,
        step=step,
        since=since,
        waits_for=waits_for,
        can_be_cancelled=why_not(record) is None,
    )
