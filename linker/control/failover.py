"""How a mirror becomes an ordinary topic: promote, which proves first, and failover, which does not.

The phases are those of `failover_phases`. A cut that is written is final: what interrupts the rest only delays it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from brokers.effects import Changed
from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant
from brokers.metadata.commands.mirror_commands import SetTopicWriter
from linker.control import mirror_cut
from linker.control.failover_phases import FailoverPhase, FailoverProgress, FailoverTrigger
from linker.control.group_clamp import GroupClamp
from linker.control.group_sync import GroupSync
from linker.control.link_settings import LinkSettings
from linker.control.mirror_refusals import (
    changed_meanwhile,
    deleted_meanwhile,
    refused,
    suspended,
)
from linker.control.mirror_topic import MirrorTopic
from linker.data.destination_stream import DestinationStream
from linker.errors import LinkRefusal, MirrorError
from linker.records.mirror_state import (
    TRANSITIONS,
    Cut,
    CutKind,
    MirrorState,
    MirrorTrigger,
    TransitionError,
)
from linker.region_client import Effects, RegionClient

CHECK_MS: Final = 20  # how often a promotion looks whether its proof is complete
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
        stream: DestinationStream,
        groups: GroupSync,
        mirror: MirrorTopic,
        progress: FailoverProgress,
    ) -> None:
        self._region = region
        self._link = link
        self._stream = stream
        self._groups = groups
        self._mirror = mirror
        self._progress = progress
        self._kind = CutKind.FAILOVER  # of the cut that is being made
        self._timer: int | None = None
        self._waiting: list[Answered] = []
        self._enter: Mapping[FailoverPhase, Callable[[Instant], Effects]] = {
            FailoverPhase.AWAITING_LINK: self._await_link,
            FailoverPhase.AWAITING_BEACON: self._ask_beacon,
            FailoverPhase.CATCHING_UP: self._check,
            FailoverPhase.DRAINING: self._drain,
            FailoverPhase.SETTLING_GROUPS: self._settle_groups,
            FailoverPhase.WAITING_FOR_LOGS: partial(self._pause, RETRY_MS),
            FailoverPhase.WRITING_CUT: self._write_cut,
            FailoverPhase.CUT_UNCERTAIN: partial(self._pause, RETRY_MS),
            FailoverPhase.CHECKING_CUT: self._check_cut,
            FailoverPhase.CUT_CONFLICT: partial(self._pause, CONFLICT_MS),
            FailoverPhase.CLAMPING_GROUPS: self._clamp_groups,
            FailoverPhase.HANDING_OVER: self._hand_over,
            FailoverPhase.FINISHING: self._finish,
            FailoverPhase.RETRYING: partial(self._pause, RETRY_MS),
            FailoverPhase.DONE: partial(self._answer, None),
            FailoverPhase.ABANDONED: partial(self._answer, deleted_meanwhile(mirror)),
        }

    # --- what operators ask ---

    def promote(self, timeout_ms: int, answered: Answered, now: Instant) -> Effects:
        """PENDING_STOPPED is answered at once; the mirror's state shows the outcome later."""
        mirror = self._mirror
        if self._region.has_several_brokers:
            return answered(suspended(mirror, "promote"), now)
        target = TRANSITIONS.get((mirror.record.state, MirrorTrigger.PROMOTE))
        if target is None or mirror.is_halted:
            return answered(refused(mirror, "promote"), now)
        record = replace(
            mirror.record,
            state=target,
            since=now,
            stop=CutKind.PROMOTE,
            stop_by=now + timeout_ms,
            reason="promote",
        )
        return [mirror.change(record, partial(self._on_pending, answered))]

    def _on_pending(self, answered: Answered, refusal: Refusal | None, now: Instant) -> Effects:
        if refusal is not None:
            return answered(changed_meanwhile(self._mirror, refusal), now)
        return answered(None, now)

    def failover(self, answered: Answered, now: Instant) -> Effects:
        """Answered when the topic is writable."""
        mirror = self._mirror
        if mirror.record.cut is not None and mirror.record.state is MirrorState.PENDING_STOPPED:
            self._waiting.append(answered)  # it is being cut already
            return []
        if self._region.has_several_brokers:
            return answered(suspended(mirror, "failover"), now)
        if (mirror.record.state, MirrorTrigger.FAILOVER) not in TRANSITIONS or mirror.is_halted:
            return answered(refused(mirror, "failover"), now)
        self._waiting.append(answered)
        self._kind = CutKind.FAILOVER
        return self._go(FailoverTrigger.FAILOVER_ASKED, now)

    def waits_for(self) -> str:
        """What a pending promotion waits for, for the operator."""
        return mirror_cut.lacking(self._mirror, self._groups) or "waiting for a fresh beacon"

    # --- what happens to the mirror ---

    def follow_record(self, now: Instant) -> Effects:
        """The record is new: go on with what is pending."""
        record = self._mirror.record
        if record.state is MirrorState.STOPPED:
            return self._go(FailoverTrigger.STOPPED_FOUND, now)
        if record.state is not MirrorState.PENDING_STOPPED:
            return self._go(FailoverTrigger.NOTHING_FOUND, now)
        if record.cut is not None:
            return self._go(FailoverTrigger.CUT_FOUND, now)
        return self._go(FailoverTrigger.PROMOTION_FOUND, now)

    def link_opened(self, now: Instant) -> Effects:
        return self._go(FailoverTrigger.LINK_OPENED, now)

    def link_lost(self, now: Instant) -> Effects:
        """A beacon that was asked for will not come."""
        return self._go(FailoverTrigger.LINK_LOST, now)

    def abandon(self, now: Instant) -> Effects:
        """The topic was deleted, and its record with it."""
        return self._go(FailoverTrigger.TOPIC_DELETED, now)

    # --- the phases ---

    def _go(self, trigger: FailoverTrigger, now: Instant) -> Effects:
        """Changes the phase and begins the new one, unless the phase ignores the trigger."""
        if not self._progress.take(trigger):
            return []
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
        enter = self._enter.get(self._progress.phase)
        return enter(now) if enter is not None else []

    def _then(self, trigger: FailoverTrigger) -> Callable[[Instant], Effects]:
        """Takes the trigger, if the phase is still this one."""
        return self._progress.in_this_phase(partial(self._go, trigger))

    def _set_timer(self, due: Instant, act: Callable[[Instant], Effects]) -> None:
        self._timer = self._region.timers.set(due, self._progress.in_this_phase(act))

    def _pause(self, pause_ms: int, now: Instant) -> Effects:
        self._set_timer(now + pause_ms, self._then(FailoverTrigger.PAUSE_OVER))
        return []

    def _changed(self, to: str, because: str) -> Changed:
        return Changed(f"mirror {self._mirror.topic}", to, because)

    def _answer(self, refusal: LinkRefusal | None, now: Instant) -> Effects:
        waiting, self._waiting = self._waiting, []
        return [effect for answered in waiting for effect in answered(refusal, now)]

    # --- promote: the proof ---

    def _await_link(self, now: Instant) -> Effects:
        effects = self._mirror.refresh(now)
        self._set_timer(now + CHECK_MS, self._check)
        if self._stream.is_open:
            effects += self._go(FailoverTrigger.LINK_OPENED, now)
        return effects

    def _ask_beacon(self, now: Instant) -> Effects:
        self._set_timer(now + CHECK_MS, self._check)
        return self._stream.ask_beacon(self._then(FailoverTrigger.BEACON))

    def _check(self, now: Instant) -> Effects:
        why = "the source did not answer"
        if self._progress.phase is FailoverPhase.CATCHING_UP:
            why = mirror_cut.lacking(self._mirror, self._groups)
            if not why:
                self._kind = CutKind.PROMOTE
                return self._go(FailoverTrigger.CAUGHT_UP, now)
        if now >= self._mirror.record.stop_by:
            return self._give_up(why, now)
        self._set_timer(now + CHECK_MS, self._check)
        return []

    def _give_up(self, why: str, now: Instant) -> Effects:
        mirror = self._mirror
        record = replace(
            mirror.record,
            state=TRANSITIONS[mirror.record.state, MirrorTrigger.GIVE_UP],
            since=now,
            stop=None,
            stop_by=0,
            reason="",
        ).with_error(TransitionError(now, "TIMEOUT_ERROR", f"promote gave up: {why}"))
        effects = self._go(FailoverTrigger.TOO_LATE, now)
        given_up = self._progress.in_this_phase(self._on_given_up)
        return [*effects, mirror.change(record, given_up)]

    def _on_given_up(self, refusal: Refusal | None, now: Instant) -> Effects:
        """Still in the same phase, so the record is not ACTIVE: it was not written."""
        return self._go(FailoverTrigger.REFUSED, now)

    # --- both: the cut ---

    def _drain(self, now: Instant) -> Effects:
        effects = self._mirror.stop_replicators()
        return effects + self._mirror.when_drained(self._then(FailoverTrigger.DRAINED), now)

    def _settle_groups(self, now: Instant) -> Effects:
        return self._groups.settle(self._progress.in_this_phase(self._on_settled), now)

    def _on_settled(self, now: Instant) -> Effects:
        """A cut is exact or is not made: a promotion goes back to its proof, a failover waits for the logs."""
        because = mirror_cut.unknown_ends(self._region, self._mirror)
        if not because:
            return self._go(FailoverTrigger.SETTLED, now)
        if self._kind is CutKind.PROMOTE:
            return self._go(FailoverTrigger.PROOF_LOST, now)
        changed = self._changed("failover waits", because)
        return [changed, *self._go(FailoverTrigger.LOGS_OFFLINE, now)]

    def _write_cut(self, now: Instant) -> Effects:
        mirror = self._mirror
        record = replace(
            mirror.record,
            state=MirrorState.PENDING_STOPPED,
            since=now,
            stop=self._kind,
            stop_by=0,
            generation=mirror.record.generation + 1,
            cut=mirror_cut.cut_of(self._region, mirror, self._stream.clock, self._kind, now),
        )
        return [mirror.change(record, self._progress.in_this_phase(self._on_cut_refused))]

    def _on_cut_refused(self, refusal: Refusal | None, now: Instant) -> Effects:
        """Still in the same phase, so the record holds no cut: it was not written, or nobody knows yet."""
        assert refusal is not None
        if refusal.error is not KafkaError.INVALID_UPDATE_VERSION:
            changed = self._changed("the cut waits", refusal.because)
            return [changed, *self._go(FailoverTrigger.DISK_FAILED, now)]
        mirror = self._mirror
        if self._kind is CutKind.FAILOVER and (
            (mirror.record.state, MirrorTrigger.FAILOVER) in TRANSITIONS
        ):
            return self._go(FailoverTrigger.OVERTAKEN, now)
        effects = self._go(FailoverTrigger.REFUSED, now)
        effects += self._answer(changed_meanwhile(mirror, refusal), now)
        return effects + mirror.refresh(now) + self.follow_record(now)

    def _check_cut(self, now: Instant) -> Effects:
        """Nothing is placed until it is known whether the metadata log holds the cut: a write in its place shows it."""
        checked = self._progress.in_this_phase(self._on_checked)
        return [self._mirror.change(self._mirror.record, checked)]

    def _on_checked(self, refusal: Refusal | None, now: Instant) -> Effects:
        if refusal is None or refusal.error is KafkaError.INVALID_UPDATE_VERSION:
            return self._go(FailoverTrigger.NO_CUT, now)
        return self._go(FailoverTrigger.DISK_FAILED, now)

    # --- both: after the cut ---

    @property
    def _cut(self) -> Cut:
        cut = self._mirror.record.cut
        assert cut is not None, self._mirror.topic
        return cut

    def _clamp_groups(self, now: Instant) -> Effects:
        """Before clients can write: no group offset may be past the data."""
        topic = self._region.view.image.topics_by_name.get(self._mirror.topic)
        if topic is None or topic.writer != self._link.name:
            return self._go(FailoverTrigger.HANDED_OVER, now)  # by an earlier attempt
        clamped = self._progress.in_this_phase(self._on_clamped)
        return GroupClamp(self._region, self._mirror.topic, self._cut, clamped).begin(now)

    def _on_clamped(self, because: str, now: Instant) -> Effects:
        if not because:
            return self._go(FailoverTrigger.CLAMPED, now)
        changed = self._changed("failover waits", because)
        return [changed, *self._go(FailoverTrigger.REFUSED, now)]

    def _hand_over(self, now: Instant) -> Effects:
        command = SetTopicWriter(
            topic=self._mirror.topic,
            expected_writer=self._link.name,
            writer=None,
            leader_epochs={
                index: partition.leader_epoch
                for index, partition in enumerate(self._cut.partitions)
            },
        )
        handed_over = self._progress.in_this_phase(self._on_handed_over)
        return [self._region.propose(command, handed_over)]

    def _on_handed_over(self, result: object, now: Instant) -> Effects:
        if not isinstance(result, Refusal):
            return self._go(FailoverTrigger.HANDED_OVER, now)
        error = TransitionError(now, result.error.name, result.because)
        record = self._mirror.record.with_error(error)
        written = self._mirror.change(record, lambda *_: [])
        return [written, *self._go(FailoverTrigger.REFUSED, now)]

    def _finish(self, now: Instant) -> Effects:
        mirror = self._mirror
        record = replace(
            mirror.record,
            state=TRANSITIONS[mirror.record.state, MirrorTrigger.CUT],
            since=now,
            error=MirrorError.NO_ERROR,
            reason=self._cut.kind.value.lower(),
            stop=None,
        )
        return [mirror.change(record, self._progress.in_this_phase(self._on_not_finished))]

    def _on_not_finished(self, refusal: Refusal | None, now: Instant) -> Effects:
        """Still in the same phase, so the record is not STOPPED: it was not written, or nobody knows yet."""
        return self._go(FailoverTrigger.REFUSED, now)
