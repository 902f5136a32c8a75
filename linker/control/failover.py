"""How a mirror becomes an ordinary topic: promote, which proves first, and failover, which does not.

    promote --> PENDING_STOPPED --(a beacon asked for afterwards; no lag; offsets and settings in step)--.
                     |                                                                                   |
                     '--(not in time)--> ACTIVE, with a state transition error                           v
    failover ----------------------------------------------------------------> feeds stop and drain, offsets settle
    cut written (PENDING_STOPPED, generation + 1) --> no group stands past the data --> no writer but producers, leader
    epochs above the log's --> STOPPED

From the instant the cut is written it stands: whatever interrupts what follows, it is taken up from there.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from brokers.effects import Changed
from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, TopicPartition
from brokers.metadata.commands.mirror_commands import SetTopicWriter
from linker.control.group_clamp import GroupClamp
from linker.control.group_sync import GroupSync
from linker.control.link_settings import LinkSettings
from linker.control.mirror_topic import MirrorTopic
from linker.data.destination_stream import DestinationStream
from linker.errors import SEVERAL_NODES, LinkRefusal, MirrorError
from linker.records.mirror_state import (
    TRANSITIONS,
    Cut,
    CutKind,
    CutPartition,
    MirrorState,
    MirrorTrigger,
    TransitionError,
)
from linker.region_client import Effects, RegionClient

CHECK_MS: Final = 20  # how often a promotion looks whether its proof is complete
RETRY_MS: Final = 1_000
PROMOTE_TIMEOUT_MS: Final = 60_000  # unless the operator says otherwise

Answered: TypeAlias = Callable[[LinkRefusal | None, Instant], Effects]


def refused(mirror: MirrorTopic, verb: str) -> LinkRefusal:
    """This state does not allow that."""
    return LinkRefusal(
        "INVALID_REQUEST",
        f"{mirror.topic} is {mirror.record.state.value}: {verb} is not possible now",
        hint="`causeway mirror describe` shows why",
    )


def suspended(mirror: MirrorTopic, verb: str) -> LinkRefusal:
    """The log of a follower could end below what was acknowledged, so no cut is taken from it."""
    return LinkRefusal(
        "INVALID_REQUEST",
        f"{mirror.topic}: {verb} is not possible now: {SEVERAL_NODES}",
        hint="stop and unregister the brokers that were added, then ask again",
    )


class MirrorFailover:
    """The end of one mirror topic."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        stream: DestinationStream,
        groups: GroupSync,
        mirror: MirrorTopic,
    ) -> None:
        self._region = region
        self._link = link
        self._stream = stream
        self._groups = groups
        self._mirror = mirror
        self._proof_asked = False
        self._proof_fresh = False
        self._proof = 0  # which beacon is the one that was asked for
        self._timer: int | None = None
        self._waiting: list[Answered] = []
        self._abandoned = False

    # --- what operators ask ---

    def promote(self, timeout_ms: int, answered: Answered, now: Instant) -> Effects:
        """PENDING_STOPPED is answered at once; what comes of it shows in the mirror's state."""
        mirror = self._mirror
        if self._region.has_several_brokers:
            return answered(suspended(mirror, "promote"), now)
        target = TRANSITIONS.get((mirror.record.state, MirrorTrigger.PROMOTE))
        if target is None or mirror.halted:
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
        if (mirror.record.state, MirrorTrigger.FAILOVER) not in TRANSITIONS or mirror.halted:
            return answered(refused(mirror, "failover"), now)
        self._waiting.append(answered)
        return self._halt(CutKind.FAILOVER, now)

    # --- promote: the proof ---

    def resume(self, now: Instant) -> Effects:
        """The record is new, or the link came back: go on with what is pending."""
        mirror = self._mirror
        if mirror.halted:
            return []  # on the way to the cut, or from it: whatever waits there still does
        if mirror.record.state is not MirrorState.PENDING_STOPPED:
            self._disarm()
            self.link_lost()
            return []
        if mirror.record.cut is not None:
            mirror.halted = True
            return self._hand_over(now)
        self._arm(now + CHECK_MS, self._check)
        return self._ask_proof()

    def abandon(self, now: Instant) -> Effects:
        """The topic was deleted, and its record with it: there is nothing left to stop."""
        self._abandoned = self._mirror.halted = True
        self._disarm()
        because = f"{self._mirror.topic} was deleted meanwhile"
        return self._answer(LinkRefusal("UNKNOWN_TOPIC_OR_PARTITION", because), now)

    def link_lost(self) -> None:
        """A beacon that was asked for will not come, or proves nothing any more."""
        self._proof_asked = self._proof_fresh = False
        self._proof += 1

    def _ask_proof(self) -> Effects:
        if self._proof_asked or not self._stream.is_open:
            return []
        self._proof_asked = True
        return self._stream.ask_beacon(partial(self._on_beacon, self._proof))

    def _on_beacon(self, proof: int, now: Instant) -> Effects:
        if proof != self._proof:
            return []
        self._proof_fresh = True
        return self._check(now)

    def _check(self, now: Instant) -> Effects:
        mirror = self._mirror
        record = mirror.record
        if record.state is not MirrorState.PENDING_STOPPED or mirror.halted:
            return []
        if self._proof_fresh and not self.missing():
            self._disarm()
            return self._halt(CutKind.PROMOTE, now)
        if now >= record.stop_by:
            return self._give_up(now)
        self._arm(now + CHECK_MS, self._check)
        return self._ask_proof()

    def missing(self) -> str:
        """What the proof still lacks; empty when it is complete."""
        mirror = self._mirror
        if not mirror.in_step:
            return "partitions or settings are not in step"
        for index in range(mirror.partition_count):
            feed = mirror.feeds.get(index)
            if feed is None or not feed.streams or not feed.lag.caught_up:
                return f"partition {index} is behind"
        if not self._groups.settled(mirror.record.source_topic):
            return "group offsets are behind"
        return ""

    def _give_up(self, now: Instant) -> Effects:
        mirror = self._mirror
        why = self.missing() or "no fresh beacon"
        because = f"promote gave up: {why if self._proof_fresh else 'the source did not answer'}"
        record = replace(
            mirror.record,
            state=TRANSITIONS[mirror.record.state, MirrorTrigger.GIVE_UP],
            since=now,
            stop=None,
            stop_by=0,
            reason="",
        ).with_error(TransitionError(now, "TIMEOUT_ERROR", because))
        self._disarm()
        self.link_lost()
        return [mirror.change(record, self._on_given_up)]

    def _on_given_up(self, refusal: Refusal | None, now: Instant) -> Effects:
        return self.resume(now) if refusal is not None else []

    # --- both: the cut ---

    def _halt(self, kind: CutKind, now: Instant) -> Effects:
        mirror = self._mirror
        mirror.halted = True
        self._disarm()
        drained = partial(self._on_drained, kind)
        return [*mirror.stop_feeds(), *mirror.when_drained(drained, now)]

    def _on_drained(self, kind: CutKind, now: Instant) -> Effects:
        return self._groups.settle(partial(self._on_settled, kind), now)

    def _on_settled(self, kind: CutKind, now: Instant) -> Effects:
        mirror = self._mirror
        if self._abandoned:
            return []
        if self._region.has_several_brokers or self._offline():
            return self._wait_for_logs(kind, now)
        record = replace(
            mirror.record,
            state=MirrorState.PENDING_STOPPED,
            since=now,
            stop=kind,
            stop_by=0,
            generation=mirror.record.generation + 1,
            cut=self._cut(kind, now),
        )
        return [mirror.change(record, partial(self._on_cut_written, kind))]

    def _offline(self) -> list[int]:
        """Partitions of which nobody can tell where they end."""
        mirror = self._mirror
        states = [
            self._region.view.partition_state(TopicPartition(mirror.topic, index))
            for index in range(mirror.partition_count)
        ]
        return [index for index, state in enumerate(states) if state is None or not state.online]

    def _wait_for_logs(self, kind: CutKind, now: Instant) -> Effects:
        """A cut is exact or is not made: a promotion goes back to its proof, a failover waits for the disk."""
        mirror = self._mirror
        if kind is CutKind.PROMOTE:
            mirror.halted = False
            self.link_lost()
            return mirror.refresh(now) + self.resume(now)
        self._arm(now + RETRY_MS, partial(self._on_drained, kind))
        because = f"offline: partitions {', '.join(map(str, self._offline()))}"
        if self._region.has_several_brokers:
            because = SEVERAL_NODES
        return [Changed(f"mirror {mirror.topic}", "failover waits", because)]

    def _cut(self, kind: CutKind, now: Instant) -> Cut:
        count = self._mirror.partition_count
        return Cut(kind, now, tuple(self._cut_partition(index) for index in range(count)))

    def _cut_partition(self, index: int) -> CutPartition:
        mirror = self._mirror
        state = self._region.view.partition_state(TopicPartition(mirror.topic, index))
        assert state is not None and state.online, (mirror.topic, index)
        feed = mirror.feeds.get(index)
        known = feed.lag.high_watermark if feed is not None else -1
        clock = feed.lag.moment(self._stream.clock) if feed is not None else -1
        in_log = state.epochs[-1][0] if state.epochs else -1
        leader_epoch = max(in_log, state.leader_epoch) + 1
        return CutPartition(state.log_end_offset, known, clock, leader_epoch)

    def _on_cut_written(self, kind: CutKind, refusal: Refusal | None, now: Instant) -> Effects:
        mirror = self._mirror
        if self._abandoned:
            return []
        if refusal is None or mirror.record.cut is not None:
            return self._hand_over(now)  # it stands, if only by an attempt that was taken for lost
        if refusal.error is not KafkaError.INVALID_UPDATE_VERSION:
            # The disk failed and may hold the cut all the same: nothing is placed until that is known.
            self._arm(now + RETRY_MS, partial(self._on_settled, kind))
            return [Changed(f"mirror {mirror.topic}", "the cut waits", refusal.because)]
        if kind is CutKind.FAILOVER and (
            (mirror.record.state, MirrorTrigger.FAILOVER) in TRANSITIONS
        ):
            # Somebody else decided in between: failover goes on from there.
            self._arm(now + CHECK_MS, partial(self._halt, kind))
            return []
        mirror.halted = False
        effects = self._answer(changed_meanwhile(mirror, refusal), now)
        return effects + mirror.refresh(now) + self.resume(now)

    def _hand_over(self, now: Instant) -> Effects:
        mirror = self._mirror
        topic = self._region.view.image.topics_by_name.get(mirror.topic)
        if topic is None or topic.writer != self._link.name:
            return self._finish(now)  # an earlier attempt got so far
        cut = mirror.record.cut
        assert cut is not None
        keeping = GroupClamp(self._region, mirror.topic, cut, partial(self._on_groups_kept, cut))
        return keeping.begin(now)

    def _on_groups_kept(self, cut: Cut, because: str, now: Instant) -> Effects:
        """Whoever moves here begins where its group stands."""
        mirror = self._mirror
        if self._abandoned:
            return []
        if because:
            self._arm(now + RETRY_MS, self._hand_over)
            return [Changed(f"mirror {mirror.topic}", "failover waits", because)]
        command = SetTopicWriter(
            topic=mirror.topic,
            expected_writer=self._link.name,
            writer=None,
            leader_epochs={index: one.leader_epoch for index, one in enumerate(cut.partitions)},
        )
        return [self._region.propose(command, self._on_handed_over)]

    def _on_handed_over(self, result: object, now: Instant) -> Effects:
        if self._abandoned:
            return []
        if not isinstance(result, Refusal):
            return self._finish(now)
        self._arm(now + RETRY_MS, self._hand_over)
        error = TransitionError(now, result.error.name, result.because)
        return [self._mirror.change(self._mirror.record.with_error(error), lambda *_: [])]

    def _finish(self, now: Instant) -> Effects:
        mirror = self._mirror
        if mirror.record.state is MirrorState.STOPPED:
            return self._answer(
                None, now
            )  # it was written, though the disk failed before it said so
        cut = mirror.record.cut
        assert cut is not None
        record = replace(
            mirror.record,
            state=TRANSITIONS[mirror.record.state, MirrorTrigger.CUT],
            since=now,
            error=MirrorError.NO_ERROR,
            reason=cut.kind.value.lower(),
            stop=None,
        )
        return [mirror.change(record, self._on_finished)]

    def _on_finished(self, refusal: Refusal | None, now: Instant) -> Effects:
        if self._abandoned:
            return []
        if refusal is not None:
            self._arm(now + RETRY_MS, self._hand_over)
            return []
        return self._answer(None, now)

    def _answer(self, refusal: LinkRefusal | None, now: Instant) -> Effects:
        waiting, self._waiting = self._waiting, []
        return [effect for answered in waiting for effect in answered(refusal, now)]

    def _arm(self, due: Instant, act: Callable[[Instant], Effects]) -> None:
        """One timer at a time: this one instead of another that is set."""
        self._disarm()
        self._timer = self._region.timers.set(due, act)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None


def changed_meanwhile(mirror: MirrorTopic, refusal: Refusal) -> LinkRefusal:
    """Somebody else's change came first; or the metadata log failed, and nobody knows yet what it holds."""
    because = f"{mirror.topic} was changed meanwhile: {refusal.because}"
    if refusal.error is not KafkaError.INVALID_UPDATE_VERSION:
        because = f"{mirror.topic} may or may not have been changed: {refusal.because}"
    return LinkRefusal(
        refusal.error.name,
        because,
        hint="look at `causeway mirror describe`, then ask again",
    )
