"""How a mirror becomes an ordinary topic: promote, which proves first, and failover, which does not.

A reversal is a promotion whose source is made read-only first, so that nothing follows the proof.

The phases are those of `failover_phases`. A cut that is written is final: what interrupts the rest only delays it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from brokers.effects import Changed
from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant
from linker.control import cancelling, mirror_cut, reversing
from linker.control.failover_phases import (
    CUTTING,
    FailoverPhase,
    FailoverProgress,
    FailoverTrigger,
)
from linker.control.group_sync import GroupSync
from linker.control.link_settings import LinkSettings
from linker.control.mirror_handover import MirrorHandover
from linker.control.mirror_proof import CHECK_MS, MirrorProof
from linker.control.mirror_refusals import (
    changed_meanwhile,
    coordinated_elsewhere,
    deleted_meanwhile,
    not_made_yet,
    overtaken,
    refused,
)
from linker.control.mirror_reports import MirrorReports
from linker.control.mirror_topic import MirrorTopic
from linker.control.source_brokers import SourceBrokers
from linker.errors import LinkRefusal
from linker.records.mirror_record import Asked, CutKind, verb_of
from linker.records.mirror_state import (
    MAY_HAVE_DIVERGED,
    TRANSITIONS,
    UNDER_WAY,
    MirrorState,
    MirrorTrigger,
)
from linker.region_client import Effects, RegionClient

CONFLICT_MS: Final = 20
RETRY_MS: Final = 1_000
PROMOTE_TIMEOUT_MS: Final = 60_000  # unless the operator says otherwise

Answered: TypeAlias = Callable[[LinkRefusal | None, Instant], Effects]


class MirrorFailover:
    """The end of one mirror topic. `_enter` names the method of each phase that begins something."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        sources: SourceBrokers,
        groups: GroupSync,
        reports: MirrorReports,
        mirror: MirrorTopic,
        progress: FailoverProgress,
    ) -> None:
        self._region = region
        self._link = link
        self._groups = groups
        self._reports = reports
        self._mirror = mirror
        self._progress = progress
        self._kind = CutKind.FAILOVER  # of the cut that is being made
        self._asked: Asked | None = None  # for the failover that is being made
        self._over: Asked | None = None  # what was asked of the mirror before
        self._timer: int | None = None
        self._waited_for = ""  # what the operator's log has
        self._waiting: list[Answered] = []
        self.proof = MirrorProof(region, sources, groups, reports, mirror, progress, self)
        self._handover = MirrorHandover(region, link, reports, mirror, progress, self.go)
        self._enter: Mapping[FailoverPhase, Callable[[Instant], Effects]] = {
            FailoverPhase.AWAITING_LINK: self.proof.await_link,
            FailoverPhase.AWAITING_FENCE: self.proof.await_fence,
            FailoverPhase.AWAITING_BEACON: self.proof.ask_beacon,
            FailoverPhase.CATCHING_UP: self.proof.check,
            FailoverPhase.HALTING: self._halt,
            FailoverPhase.HALT_REFUSED: partial(self._pause, CONFLICT_MS),
            FailoverPhase.DRAINING: self._drain,
            FailoverPhase.SETTLING_GROUPS: self._settle_groups,
            FailoverPhase.WRITING_CUT: self._write_cut,
            FailoverPhase.CUT_UNCERTAIN: partial(self._pause, RETRY_MS),
            FailoverPhase.CHECKING_CUT: self._check_cut,
            FailoverPhase.CUT_CONFLICT: partial(self._pause, CONFLICT_MS),
            FailoverPhase.CLAMPING_GROUPS: self._handover.clamp_groups,
            FailoverPhase.HANDING_OVER: self._handover.hand_over,
            FailoverPhase.FINISHING: self._handover.finish,
            FailoverPhase.RETRYING: partial(self._pause, RETRY_MS),
            FailoverPhase.DONE: partial(self._answer, None),
            FailoverPhase.ABANDONED: partial(self._answer, deleted_meanwhile(mirror.topic)),
        }

    # --- what operators ask ---

    def promote(
        self, kind: CutKind, timeout_ms: int, asked: Asked, answered: Answered, now: Instant
    ) -> Effects:
        """Or reverse. What is pending is answered at once; the mirror's state shows the outcome later."""
        mirror = self._mirror
        trigger = MirrorTrigger.REVERSE if kind.is_reversal else MirrorTrigger.PROMOTE
        target = TRANSITIONS.get((mirror.record.state, trigger))
        verb = verb_of(kind)
        if not mirror.is_made:
            return answered(not_made_yet(mirror), now)
        if target is None or mirror.is_halted:
            return answered(refused(mirror, verb), now)
        record = replace(
            mirror.record,
            state=target,
            since=now,
            generation=reversing.generation_of(mirror, kind),
            stop=kind,
            stop_by=now + timeout_ms,
            fenced_at=-1,
            reason=verb,
            asked=asked,
        )
        return mirror.change(record, partial(self._on_pending, answered))

    def _on_pending(self, answered: Answered, refusal: Refusal | None, now: Instant) -> Effects:
        if refusal is not None:
            return answered(changed_meanwhile(self._mirror.topic, refusal), now)
        return answered(None, now)

    def failover(self, asked: Asked, answered: Answered, now: Instant) -> Effects:
        """Answered when the topic is writable."""
        mirror = self._mirror
        if mirror.record.cut is not None and mirror.record.state is MirrorState.PENDING_STOPPED:
            self._waiting.append(answered)  # it is being cut already
            return []
        if not mirror.is_made:
            return answered(not_made_yet(mirror), now)
        if (mirror.record.state, MirrorTrigger.FAILOVER) not in TRANSITIONS or mirror.is_halted:
            return answered(refused(mirror, "failover"), now)
        self._waiting.append(answered)
        is_withdrawn = mirror.record.state is MirrorState.PENDING_MIRROR
        self._kind = CutKind.WITHDRAW if is_withdrawn else CutKind.FAILOVER
        self._asked, self._over = asked, mirror.record.asked
        return self.go(FailoverTrigger.FAILOVER_ASKED, now)

    def waits_for(self, now: Instant) -> str:
        """What a pending promotion or failover waits for, for the operator."""
        if self._mirror.record.halted:
            return (
                mirror_cut.unknown_ends(self._mirror, self._reports, now) or "the cut is being made"
            )
        return self.proof.lacks(now)

    # --- what happens to the mirror ---

    def follow_record(self, now: Instant) -> Effects:
        """The record is new: go on with what is pending."""
        record = self._mirror.record
        if record.state is MirrorState.STOPPED:
            return self.go(FailoverTrigger.STOPPED_FOUND, now)
        if record.state not in (MirrorState.PENDING_STOPPED, MirrorState.PENDING_SYNCHRONIZE):
            was_cutting = self._progress.phase in CUTTING
            effects = self.go(FailoverTrigger.NOTHING_FOUND, now)
            return effects + (self._follow_again(now) if was_cutting else [])
        if record.cut is not None:
            return self.go(FailoverTrigger.CUT_FOUND, now)
        if self._progress.phase is FailoverPhase.IDLE:
            # By this broker's clock from now on: another one may have written the record.
            self.proof.deadline = now + max(0, record.stop_by - record.since)
        if record.halted:
            self._kind = record.stop or CutKind.FAILOVER
            return self.go(FailoverTrigger.HALT_FOUND, now)
        effects = self.go(FailoverTrigger.PROMOTION_FOUND, now)
        return effects + (self.go(FailoverTrigger.FENCED, now) if record.is_provable else [])

    def _follow_again(self, now: Instant) -> Effects:
        """It was cancelled: what was halted goes on, and whoever waits for it is told."""
        effects = self._mirror.refresh(now) + self._mirror.follow(now)
        return effects + self._answer(overtaken(self._mirror), now)

    def link_opened(self, now: Instant) -> Effects:
        return self.go(FailoverTrigger.LINK_OPENED, now)

    def link_lost(self, now: Instant) -> Effects:
        """A beacon that was asked for will not come."""
        return self.go(FailoverTrigger.LINK_LOST, now)

    def resign(self, now: Instant) -> Effects:
        """Another broker coordinates now, and goes on from the record."""
        self._progress.reset()
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
        return self._answer(coordinated_elsewhere(self._mirror.topic), now)

    def abandon(self, now: Instant) -> Effects:
        """The topic was deleted, and its record with it."""
        return self.go(FailoverTrigger.TOPIC_DELETED, now)

    # --- the phases ---

    def go(self, trigger: FailoverTrigger, now: Instant) -> Effects:
        """Changes the phase and begins the new one, unless the phase ignores the trigger."""
        if not self._progress.take(trigger):
            return []
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
        enter = self._enter.get(self._progress.phase)
        return enter(now) if enter is not None else []

    def caught_up(self, now: Instant) -> Effects:
        """The proof is complete."""
        self._kind = self._mirror.record.stop or CutKind.PROMOTE
        return self.go(FailoverTrigger.CAUGHT_UP, now)

    def _then(self, trigger: FailoverTrigger) -> Callable[[Instant], Effects]:
        """Takes the trigger, if the phase is still this one."""
        return self._progress.in_this_phase(partial(self.go, trigger))

    def set_timer(self, due: Instant, act: Callable[[Instant], Effects]) -> None:
        self._timer = self._region.timers.set(due, self._progress.in_this_phase(act))

    def _pause(self, pause_ms: int, now: Instant) -> Effects:
        self.set_timer(now + pause_ms, self._then(FailoverTrigger.PAUSE_OVER))
        return []

    def _changed(self, to: str, because: str) -> Changed:
        return Changed(f"mirror {self._mirror.topic}", to, because)

    def _answer(self, refusal: LinkRefusal | None, now: Instant) -> Effects:
        waiting, self._waiting = self._waiting, []
        return [effect for answered in waiting for effect in answered(refusal, now)]

    # --- the cut ---

    def _halt(self, now: Instant) -> Effects:
        """From this record on, no broker places anything; each says when it has placed what it had begun."""
        mirror = self._mirror
        if self._is_cancelled:
            effects = self.go(FailoverTrigger.REFUSED, now)
            effects += self._answer(overtaken(mirror), now)
            return effects + mirror.refresh(now) + self.follow_record(now)
        is_pending = mirror.record.state is MirrorState.PENDING_STOPPED
        record = replace(
            mirror.record,
            state=MirrorState.PENDING_STOPPED,
            since=mirror.record.since if is_pending else now,
            stop=self._kind,
            halted=True,
            may_have_diverged=mirror.record.state in MAY_HAVE_DIVERGED,
            known=mirror_cut.source_ends(mirror, self._reports, now),
            before=None if self._kind.is_proven else cancelling.before_failover(mirror.record),
            reason=verb_of(self._kind),
            asked=mirror.record.asked if self._kind.is_proven else self._asked,
        )
        halted = self._progress.in_this_phase(self._on_halt_refused)
        return [*mirror.stop_replicators(), *mirror.change(record, halted)]

    @property
    def _is_cancelled(self) -> bool:
        """Whether somebody has taken the failover back before it was in the record."""
        record = self._mirror.record
        is_new = record.asked != self._over and not self._kind.is_proven
        return is_new and record.state not in UNDER_WAY

    def _on_halt_refused(self, refusal: Refusal | None, now: Instant) -> Effects:
        """Still in the same phase, so the record is not halted: it was not written, or nobody knows yet."""
        assert refusal is not None
        mirror = self._mirror
        is_possible = (mirror.record.state, MirrorTrigger.FAILOVER) in TRANSITIONS
        if self._kind.is_proven:
            is_possible = mirror.record.is_promoting
        if is_possible:
            return self.go(FailoverTrigger.OVERTAKEN, now)
        effects = self.go(FailoverTrigger.REFUSED, now)
        effects += self._answer(changed_meanwhile(mirror.topic, refusal), now)
        return effects + mirror.refresh(now) + self.follow_record(now)

    def _drain(self, now: Instant) -> Effects:
        asked = self._progress.in_this_phase(self._on_asked)
        return self._reports.collect((self._mirror.topic,), asked, now)

    def _on_asked(self, now: Instant) -> Effects:
        because = mirror_cut.unknown_ends(self._mirror, self._reports, now)
        if self._kind.is_proven:
            lost = mirror_cut.lost(self._mirror, self._reports, now)
            lost = lost or reversing.lost_fence(self._region, self._mirror)
            late = (because or self._groups_behind(now)) if now >= self.proof.deadline else ""
            if lost or late:
                return self.proof.give_up(lost or late, now)
        if not because:
            return self.go(FailoverTrigger.DRAINED, now)
        self._reports.pace.looked(self._mirror.topic, self._mirror.partition_count, now)
        self.set_timer(now + self._reports.pace.pause(CHECK_MS), self._drain)
        if self._waited_for == because:
            return []
        self._waited_for = because
        return [self._changed(f"{verb_of(self._kind)} waits", because)]

    def _settle_groups(self, now: Instant) -> Effects:
        return self._groups.settle(self._progress.in_this_phase(self._on_settled), now)

    def _on_settled(self, now: Instant) -> Effects:
        """A cut is exact or is not made. Members that have left only now have groups whose proof there is not yet."""
        because = mirror_cut.unknown_ends(self._mirror, self._reports, now)
        if not because and self._kind.is_proven and self._groups_behind(now):
            pause_ms = self._reports.pace.pause(CHECK_MS)
            self.set_timer(now + pause_ms, self._then(FailoverTrigger.GROUPS_BEHIND))
            return []
        return self.go(FailoverTrigger.ENDS_LOST if because else FailoverTrigger.SETTLED, now)

    def _groups_behind(self, now: Instant) -> str:
        is_settled = self._groups.settled(self._mirror.record.source_topic, now)
        return "" if is_settled else mirror_cut.GROUPS_BEHIND

    def _write_cut(self, now: Instant) -> Effects:
        mirror = self._mirror
        is_begun = self._kind.is_reversal  # with a generation of its own
        record = replace(
            mirror.record,
            state=MirrorState.PENDING_STOPPED,
            since=now,
            stop=self._kind,
            stop_by=0,
            generation=mirror.record.generation if is_begun else reversing.next_generation(mirror),
            before=None,
            cut=mirror_cut.cut_of(mirror, self._reports, self._kind, now),
        )
        return mirror.change(record, self._progress.in_this_phase(self._on_cut_refused))

    def _on_cut_refused(self, refusal: Refusal | None, now: Instant) -> Effects:
        """Still in the same phase, so the record holds no cut: it was not written, or nobody knows yet."""
        assert refusal is not None
        if refusal.error is not KafkaError.INVALID_UPDATE_VERSION:
            changed = self._changed("the cut waits", refusal.because)
            return [changed, *self.go(FailoverTrigger.DISK_FAILED, now)]
        return self.go(FailoverTrigger.OVERTAKEN, now)

    def _check_cut(self, now: Instant) -> Effects:
        """Nothing is placed until it is known whether the metadata log holds the cut: a write in its place shows it."""
        checked = self._progress.in_this_phase(self._on_checked)
        return self._mirror.change(self._mirror.record, checked)

    def _on_checked(self, refusal: Refusal | None, now: Instant) -> Effects:
        if refusal is None or refusal.error is KafkaError.INVALID_UPDATE_VERSION:
            return self.go(FailoverTrigger.NO_CUT, now)
        return self.go(FailoverTrigger.DISK_FAILED, now)
