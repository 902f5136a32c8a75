"""The proof of a promotion or reversal: the mirror has all that its source had when, or after, it was asked for.

For a reversal the source's topic becomes read-only first, so that nothing follows the proof.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Protocol

from brokers.errors import Refusal
from brokers.ids import Instant
from linker.control import cancelling, mirror_cut, reversing
from linker.control.failover_phases import (
    PROVING,
    FailoverPhase,
    FailoverProgress,
    FailoverTrigger,
)
from linker.control.group_sync import GroupSync
from linker.control.mirror_reports import MirrorReports
from linker.control.mirror_topic import MirrorTopic
from linker.control.source_brokers import SourceBrokers
from linker.records.mirror_record import CutKind, TransitionError, verb_of
from linker.records.mirror_state import TRANSITIONS, MirrorTrigger
from linker.region_client import Effects, RegionClient
from linker.reversal_frames import ReversalRefused

CHECK_MS: Final = 20  # how often a promotion looks whether its proof is complete
NOT_FENCED: Final = "the source's topic is not read-only yet"


class ProofHost(Protocol):
    """The failover that the proof is of."""

    def go(self, trigger: FailoverTrigger, now: Instant) -> Effects:
        """Changes the phase and begins the new one, unless the phase ignores the trigger."""

    def caught_up(self, now: Instant) -> Effects:
        """The proof is complete."""

    def set_timer(self, due: Instant, act: Callable[[Instant], Effects]) -> None:
        """Acts then, unless the phase has changed by then."""


class MirrorProof:
    """Of one mirror topic. The public methods begin the phases of PROVING. `deadline`: by this broker's clock."""

    def __init__(
        self,
        region: RegionClient,
        sources: SourceBrokers,
        groups: GroupSync,
        reports: MirrorReports,
        mirror: MirrorTopic,
        progress: FailoverProgress,
        host: ProofHost,
    ) -> None:
        self.deadline: Instant = 0
        self._is_noting = False  # a record that says that the source is fenced is being written
        self._region = region
        self._sources = sources
        self._groups = groups
        self._reports = reports
        self._mirror = mirror
        self._progress = progress
        self._host = host

    def lacks(self, now: Instant) -> str:
        """What it waits for, for the operator."""
        if not self._mirror.record.is_provable:
            return NOT_FENCED
        lacking = mirror_cut.lacking(self._mirror, self._groups, self._reports, now)
        return lacking or "waiting for a fresh beacon"

    def source_changed(self, now: Instant) -> Effects:
        """The source's topic is new: it may be read-only now."""
        is_awaited = self._progress.phase is FailoverPhase.AWAITING_FENCE
        return self._note_fence(now) if is_awaited else []

    def source_refused(self, frame: ReversalRefused, now: Instant) -> Effects:
        """The source cannot be reversed."""
        record = self._mirror.record
        is_of_this = record.is_reversing and record.generation == frame.generation
        if not is_of_this or self._progress.phase not in PROVING:
            return []
        return self.give_up(frame.because, now, frame.code)

    def await_link(self, now: Instant) -> Effects:
        effects = self._mirror.refresh(now)
        self._check_soon(now)
        if self._sources.reaches_all:
            effects += self._host.go(FailoverTrigger.LINK_OPENED, now)
        return effects

    def await_fence(self, now: Instant) -> Effects:
        if self._mirror.record.is_provable:
            return self._host.go(FailoverTrigger.FENCED, now)
        self._check_soon(now)
        return self._note_fence(now)

    def _note_fence(self, now: Instant) -> Effects:
        """From this record on, every broker asks for the proof."""
        mirror = self._mirror
        is_fenced = reversing.is_fenced(self._region, mirror)
        if self._is_noting or not is_fenced or mirror.source_state is None:
            return []
        self._is_noting = True
        record = replace(mirror.record, fenced_at=mirror.source_state.metadata_offset)
        return mirror.change(record, self._on_noted)

    def _on_noted(self, refusal: Refusal | None, now: Instant) -> Effects:
        """If it was refused, the next look tries again."""
        self._is_noting = False
        return []

    def ask_beacon(self, now: Instant) -> Effects:
        """From every broker that sends topics or groups: the leaders of partitions ask for what they copy."""
        self._check_soon(now)
        streams = list(self._sources.metadata_streams)
        missing = len(streams)
        beacon = self._progress.in_this_phase(self._on_beacon)

        def one(at: Instant) -> Effects:
            nonlocal missing
            missing -= 1
            return [] if missing else beacon(at)

        return [effect for stream in streams for effect in stream.ask_beacon(one)]

    def _on_beacon(self, now: Instant) -> Effects:
        return self._host.go(FailoverTrigger.BEACON, now)

    def check(self, now: Instant) -> Effects:
        if self._progress.phase is FailoverPhase.AWAITING_FENCE:
            return self._check_again(NOT_FENCED, now) + self._note_fence(now)
        if self._progress.phase is not FailoverPhase.CATCHING_UP:
            return self._check_again(self._sources.why_silent, now, "CLUSTER_LINK_UNAVAILABLE")
        collected = self._progress.in_this_phase(self._on_collected)
        return self._reports.collect((self._mirror.topic,), collected, now)

    def _on_collected(self, now: Instant) -> Effects:
        mirror = self._mirror
        if lost := reversing.lost_fence(self._region, mirror):
            return self.give_up(lost, now)
        is_behind = mirror.record.is_reversing and not reversing.is_fenced(self._region, mirror)
        if is_behind:  # of before the fence: partitions may have been added since
            return self._check_again(NOT_FENCED, now)
        why = mirror_cut.lacking(mirror, self._groups, self._reports, now)
        if why:
            return self._check_again(why, now)
        return self._host.caught_up(now)

    def _check_again(self, why: str, now: Instant, code: str = "TIMEOUT_ERROR") -> Effects:
        if now >= self.deadline:
            return self.give_up(why, now, code)
        self._check_soon(now)
        return []

    def _check_soon(self, now: Instant) -> None:
        self._reports.pace.looked(self._mirror.topic, self._mirror.partition_count, now)
        self._host.set_timer(now + self._reports.pace.pause(CHECK_MS), self.check)

    def give_up(self, why: str, now: Instant, code: str = "TIMEOUT_ERROR") -> Effects:
        mirror, kind = self._mirror, self._mirror.record.stop or CutKind.PROMOTE
        target = TRANSITIONS[mirror.record.state, MirrorTrigger.GIVE_UP]
        error = TransitionError(now, code, f"{verb_of(kind)} gave up: {why}")
        record = cancelling.taken_back(mirror.record, target, error)
        effects = self._host.go(FailoverTrigger.TOO_LATE, now)
        given_up = self._progress.in_this_phase(self._on_given_up)
        return [*effects, *mirror.change(record, given_up)]

    def _on_given_up(self, refusal: Refusal | None, now: Instant) -> Effects:
        """Still in the same phase, so the record is not ACTIVE: it was not written."""
        return self._host.go(FailoverTrigger.REFUSED, now)
