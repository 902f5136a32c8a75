"""What follows the cut of a mirror topic: groups are moved back, the topic gets its writers, and STOPPED is written."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant
from brokers.metadata.commands.document_commands import PutDocuments
from linker.control.failover_phases import FailoverProgress, FailoverTrigger
from linker.control.link_settings import LinkSettings
from linker.control.mirror_reports import MirrorReports
from linker.control.mirror_topic import MirrorTopic
from linker.control.writer_changes import given_to_producers
from linker.errors import MirrorError
from linker.records import hole_ledger
from linker.records.decision import Decision, put
from linker.records.hole_ledger import Hole
from linker.records.mirror_record import Asked, Cut, TransitionError, verb_of
from linker.records.mirror_state import TRANSITIONS, MirrorTrigger
from linker.region_client import Effects, RegionClient

CHECK_MS: Final = 20  # how often the brokers are asked whether they have moved back their groups


class MirrorHandover:
    """Of one mirror topic. `go` takes a trigger of the failover's phases. Each step may be repeated after a crash."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        reports: MirrorReports,
        mirror: MirrorTopic,
        progress: FailoverProgress,
        go: Callable[[FailoverTrigger, Instant], Effects],
    ) -> None:
        self._region = region
        self._link = link
        self._reports = reports
        self._mirror = mirror
        self._progress = progress
        self._go = go

    @property
    def _cut(self) -> Cut:
        cut = self._mirror.record.cut
        assert cut is not None, self._mirror.topic
        return cut

    def clamp_groups(self, now: Instant) -> Effects:
        """Before clients can write: no group offset may be past the data."""
        topic = self._region.view.image.topics_by_name.get(self._mirror.topic)
        if topic is None or topic.writer != self._link.name:
            return self._go(FailoverTrigger.HANDED_OVER, now)  # by an earlier attempt
        mirror = self._mirror
        effects = mirror.clamp.follow(mirror.record, mirror.version, now)
        clamped = self._progress.in_this_phase(self._on_clamps)
        return effects + self._reports.collect((mirror.topic,), clamped, now, groups=True)

    def _on_clamps(self, now: Instant) -> Effects:
        if self._reports.is_clamped(self._mirror.topic, self._mirror.version):
            return self._go(FailoverTrigger.CLAMPED, now)
        again = self._progress.in_this_phase(self.clamp_groups)
        self._reports.pace.looked(self._mirror.topic, self._mirror.partition_count, now)
        self._region.timers.set(now + self._reports.pace.pause(CHECK_MS), again)
        return []

    def hand_over(self, now: Instant) -> Effects:
        """A hole that was recorded, and not skipped, is none: what lies there will be the topic's own."""
        holes = self._region.holes.of(self._region.view.image, self._mirror.topic)
        untrue = [one for one in hole_ledger.in_order(holes) if not self._is_done(one, now)]
        if not untrue:
            return self._give_writers(now)
        withdrawn = self._progress.in_this_phase(self._on_withdrawn)
        command = PutDocuments(tuple(map(hole_ledger.withdraw, untrue)))
        return [self._region.propose(command, withdrawn)]

    def _is_done(self, hole: Hole, now: Instant) -> bool:
        """Whether the mirror has skipped it, or, where a restore was to cut the log, has cut it."""
        if not hole.is_cut:
            ends = {index: one.offset for index, one in enumerate(self._cut.partitions)}
            return hole.base_offset < ends.get(hole.partition.partition, 0)
        report = self._reports.of(hole.partition, now)
        if report is None:
            return True  # the tail is sealed all the same
        return report.log_end_offset <= hole.base_offset or report.last_epoch > hole.tail_epoch

    def _on_withdrawn(self, result: object, now: Instant) -> Effects:
        if isinstance(result, Refusal):
            return self._on_handed_over(result, now)
        return self._give_writers(now)

    def _give_writers(self, now: Instant) -> Effects:
        """Producers may write from now on, in a leader epoch above all that the mirror holds."""
        epochs = {index: one.leader_epoch for index, one in enumerate(self._cut.partitions)}
        command = given_to_producers(self._region, self._mirror, epochs)
        handed_over = self._progress.in_this_phase(self._on_handed_over)
        return self._region.set_writer(command, handed_over)

    def _on_handed_over(self, result: object, now: Instant) -> Effects:
        if not isinstance(result, Refusal):
            return self._go(FailoverTrigger.HANDED_OVER, now)
        if result.error is KafkaError.INVALID_UPDATE_VERSION:
            return self._go(FailoverTrigger.REFUSED, now)  # the record is a newer one: it leads on
        error = TransitionError(now, result.error.name, result.because)
        record = self._mirror.record.with_error(error)
        written = self._mirror.change(record, lambda *_: [])
        return [*written, *self._go(FailoverTrigger.REFUSED, now)]

    def finish(self, now: Instant) -> Effects:
        """The decision is on record; then STOPPED."""
        decision = self._decision(now)
        if decision is None:
            return self._stop(now)
        return self._region.put(put(decision), self._progress.in_this_phase(self._on_recorded))

    def _decision(self, now: Instant) -> Decision | None:
        """None where the topic was deleted."""
        record, cut = self._mirror.record, self._cut
        topic = self._region.view.image.topics_by_name.get(record.topic)
        if topic is None:
            return None
        return Decision(
            topic=record.topic,
            topic_id=topic.id,
            link=record.link,
            kind=cut.kind,
            generation=record.generation,
            asked=record.asked or Asked("", cut.at, "", ""),
            cut_at=cut.at,
            done_at=now,
            partitions=cut.partitions,
            origins=record.origins,
        )

    def _on_recorded(self, refusal: Refusal | None, now: Instant) -> Effects:
        if refusal is not None:
            return self._go(FailoverTrigger.REFUSED, now)
        return self._stop(now)

    def _stop(self, now: Instant) -> Effects:
        mirror = self._mirror
        record = replace(
            mirror.record,
            state=TRANSITIONS[mirror.record.state, MirrorTrigger.CUT],
            since=now,
            error=MirrorError.NO_ERROR,
            reason=verb_of(self._cut.kind),
            stop=None,
        )
        return mirror.change(record, self._progress.in_this_phase(self._on_not_finished))

    def _on_not_finished(self, refusal: Refusal | None, now: Instant) -> Effects:
        """Still in the same phase, so the record is not STOPPED: it was not written, or nobody knows yet."""
        return self._go(FailoverTrigger.REFUSED, now)
