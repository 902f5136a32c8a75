"""The source's side of a reversal, on its link coordinator: from PENDING_MIRROR to a mirror that runs or is paused.

    PENDING_MIRROR       the link becomes the topic's writer: producers are refused, and what they wrote is committed
    ACTIVE, PAUSED       the other region's topic is writable, in the generation of this reversal

Until then a failover, or the other region that gives up, makes the topic this region's own again. The logs are equal
at the cut, so there is nothing to truncate.
"""

from dataclasses import replace
from typing import Final

from brokers.errors import Refusal
from brokers.ids import Instant
from brokers.metadata.commands.mirror_commands import SetTopicWriter
from linker.control.mirror_topic import MirrorTopic
from linker.control.writer_changes import given_to_producers, taken_by_link
from linker.frames import Former
from linker.records.mirror_record import CutKind
from linker.records.mirror_state import TRANSITIONS, MirrorState, MirrorTrigger
from linker.region_client import Effects, RegionClient

RETRY_MS: Final = 500


class PendingMirror:
    """Of one mirror topic. `because`: what it waits for."""

    def __init__(self, region: RegionClient, mirror: MirrorTopic) -> None:
        self.because = ""
        self._region = region
        self._mirror = mirror
        self._is_asking = False  # an answer will lead on
        self._timer: int | None = None

    def follow(self, now: Instant) -> Effects:
        """The record or the source's topic is new, this broker coordinates now, or an answer has come."""
        record, is_over = self._mirror.record, self._mirror.is_forgotten
        topic = self._region.view.image.topics_by_name.get(record.topic)
        if not self._region.is_coordinator or self._is_asking or topic is None or is_over:
            return []
        if record.state is MirrorState.STOPPED and topic.writer == record.link:
            return self._hand_over()
        if record.state is not MirrorState.PENDING_MIRROR:
            return []
        if topic.writer is None:
            self.because = "producers are refused from now on"
            return self._write(taken_by_link(self._region, self._mirror, None))
        source = self._mirror.source_state
        former = Former(self._region.view.cluster_id, topic.id.bytes, record.generation)
        if source is None or source.former != former:
            self.because = "the other region has not taken the topic over yet"
            return []
        return self._begin(now)

    def _hand_over(self) -> Effects:
        """A link became the writer although its mirror was stopped meanwhile: the answer came late."""
        record = self._mirror.record
        assert record.cut is not None, record.topic
        epochs = {index: one.leader_epoch for index, one in enumerate(record.cut.partitions)}
        return self._write(given_to_producers(self._region, self._mirror, epochs))

    def _write(self, command: SetTopicWriter) -> Effects:
        self._is_asking = True
        return self._region.set_writer(command, self._on_answer)

    def _begin(self, now: Instant) -> Effects:
        record = self._mirror.record
        is_paused = record.stop is CutKind.REVERSE_AND_PAUSE
        trigger = MirrorTrigger.MIRROR_PAUSED if is_paused else MirrorTrigger.MIRROR
        self._is_asking = True
        begun = replace(
            record, state=TRANSITIONS[record.state, trigger], since=now, stop=None, reason=""
        )
        return self._mirror.change(begun, self._on_answer)

    def _on_answer(self, result: object, now: Instant) -> Effects:
        self._is_asking = False
        if not isinstance(result, Refusal):
            return self.follow(now)
        self.because = result.because
        if self._timer is None:
            self._timer = self._region.timers.set(now + RETRY_MS, self._on_time)
        return []

    def _on_time(self, now: Instant) -> Effects:
        self._timer = None
        return self.follow(now)
