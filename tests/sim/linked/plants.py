"""Bugs of links between regions of several nodes, for the simulator to find: nodes that are wrong in one point each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

from brokers.api import produce
from brokers.events import Listener
from brokers.ids import OFFSET_MAX, Instant
from brokers.partition import leader
from brokers.region import (
    AnswerMirrors,
    CommitOffsets,
    MirrorStatus,
    Placed,
    ReadToHighWatermark,
    SealOrphans,
)
from federation.node import RegionNode
from linker.control.cancelling import CANCELLED, taken_back
from linker.control.cancelling import VERB as CANCEL
from linker.control.source_fencing import GENERATION_MAX
from linker.events import FrameArrived, Send
from linker.frames import AskBeacon, Declined, Subscribe, Superseded
from linker.hold_frames import MirrorPositions
from linker.records.mirror_record import TransitionError
from linker.records.mirror_state import MirrorState
from tests.sim.linked.runs import Adjust
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.linked.steps import Crash, SteppedNode
from tests.sim.nodes import Node
from tests.sim.regions.cluster import MakeNode
from tests.sim.regions.scenario import Shape


@dataclass(frozen=True)
class Plant:
    """A bug, how the run ends in which it matters, and the scenario."""

    make_node: MakeNode
    seeds: range  # in which it is found
    ending: str
    adjust: Adjust
    crash: Crash | None = None  # of a transition


def _stormy(**changes: Any) -> Adjust:
    settled = {
        "shape": Shape(3, 3, combined=True),
        "crash_mean_ms": 3_000,
        "down_ms": 1_000,
        "full_disk_mean_ms": 0,
        "ailing_disk_mean_ms": 0,
        "replication": 3,
        "observers": 0,
        "min_insync": 2,
        "wipe_mean_ms": 0,
        "meddles": False,
        "latency_ms": 10,
        "duration_ms": 9_000,
    }
    return lambda scenario: scenario.alone().unlimited().everywhere(**(settled | changes))


class _View:
    """A region's view that is wrong about a partition's state."""

    def __init__(self, view: Any, change: Callable[[Any], Any]) -> None:
        self._view = view
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def partition_state(self, partition: Any) -> Any:
        state = self._view.partition_state(partition)
        return None if state is None or not state.online else self._change(state)


class Uncommitted(Node):
    """As a source, gives away what its followers do not have yet."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        region = node._linker._region
        region.view = _View(
            self.broker.view, lambda state: state._replace(high_watermark=state.log_end_offset)
        )
        port, replicas = self.broker.parts.region_port, self.broker.parts.partitions
        read = port._read

        def read_all(event: ReadToHighWatermark) -> Any:
            replica = replicas.get(event.partition)
            if replica is None or replica.log is None:
                return read(event)
            known, replica.high_watermark = replica.high_watermark, replica.log.log_end_offset
            effects = read(event)
            replica.high_watermark = known
            return effects

        port._read = read_all  # type: ignore[method-assign]
        return node


class Hasty(Node):
    """Says that a partition has ended before it knows that the mirror is halted."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        linker = node._linker
        step = linker.step

        def hurry(event: Any, now: Instant) -> Any:
            return [
                replace(each, mirrors=tuple(map(_ended, each.mirrors)))
                if isinstance(each, AnswerMirrors)
                else each
                for each in step(event, now)
            ]

        linker.step = hurry  # type: ignore[method-assign]
        return node


def _ended(mirror: MirrorStatus) -> MirrorStatus:
    partitions = (replace(each, is_drained=True) for each in mirror.partitions)
    return replace(mirror, record_version=1 << 40, partitions=tuple(partitions))


class Unsealed(Node):
    """Says that an orphan tail is sealed, and has sealed nothing."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        writes = self.broker.parts.region_port._mirror_writes
        perform = writes.perform

        def skip(event: Any, now: Instant) -> Any:
            if isinstance(event, SealOrphans):
                return [Placed(event.ticket, event.partition, OFFSET_MAX)]
            return perform(event, now)

        writes.perform = skip  # type: ignore[method-assign]
        return node


class ByOffset(Node):
    """As a destination, follows by offset and not by lineage."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        linker = node._linker
        step = linker.step

        def forget(event: Any, now: Instant) -> Any:
            return [_without_lineage(each) for each in step(event, now)]

        linker.step = forget  # type: ignore[method-assign]
        return node


class Disowning(Node):
    """As a source, says that it has nothing of what a mirror holds where their histories part."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        linker = node._linker
        step = linker.step

        def disown(event: Any, now: Instant) -> Any:
            return [_disowned(each) for each in step(event, now)]

        linker.step = disown  # type: ignore[method-assign]
        return node


class Undrained(Node):
    """As the source of a reversal, says that all is committed when it is asked."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        linker = node._linker
        step = linker.step

        def hurry(event: Any, now: Instant) -> Any:
            if isinstance(event, FrameArrived) and isinstance(event.frame, AskBeacon):
                event = replace(event, frame=AskBeacon(event.frame.nonce))
            return step(event, now)

        linker.step = hurry  # type: ignore[method-assign]
        return node


class Ageless(Node):
    """As a source, takes every takeover for a new one, whatever its generation is."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        linker = node._linker
        step = linker.step

        def forget(event: Any, now: Instant) -> Any:
            if isinstance(event, FrameArrived) and isinstance(event.frame, Superseded):
                topics = (each._replace(generation=GENERATION_MAX) for each in event.frame.topics)
                event = replace(event, frame=Superseded(tuple(topics)))
            return step(event, now)

        linker.step = forget  # type: ignore[method-assign]
        return node


class HoldsForever(Node):
    """As a source, does not hear how far mirrors are, so what it keeps for them it keeps for good."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        linker = node._linker
        step = linker.step

        def ignore(event: Any, now: Instant) -> Any:
            is_told = isinstance(event, FrameArrived) and isinstance(event.frame, MirrorPositions)
            return [] if is_told else step(event, now)

        linker.step = ignore  # type: ignore[method-assign]
        return node


class Unheld(Node):
    """As a source, says that it holds what it was asked to, and removes it."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        node._linker.holds.by_partition = dict  # type: ignore[method-assign]
        return node


class Unbounded(Node):
    """As a source, holds whatever a mirror lacks, however much it is."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        holds = node._linker.holds
        by_partition = holds.by_partition

        def all_of_it() -> Any:
            return {
                partition: tuple(each._replace(max_bytes=1 << 40) for each in found)
                for partition, found in by_partition().items()
            }

        holds.by_partition = all_of_it  # type: ignore[method-assign]
        return node


class Impatient(Node):
    """As a source, takes writes as soon as it is up."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        node._linker.startup_wait._wait_ms = 0
        return node


class Upwards(Node):
    """As a link coordinator, commits for a group that it is at the end of the data, which it has not read."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        linker = node._linker
        step = linker.step

        def move_up(event: Any, now: Instant) -> Any:
            return [
                replace(each, offsets=dict(map(self._at_end, each.offsets.items())))
                if isinstance(each, CommitOffsets)
                else each
                for each in step(event, now)
            ]

        linker.step = move_up  # type: ignore[method-assign]
        return node

    def _at_end(self, item: tuple[Any, Any]) -> tuple[Any, Any]:
        partition, committed = item
        state = self.broker.view.partition_state(partition)
        end = 0 if state is None else state.high_watermark
        return partition, committed._replace(offset=max(committed.offset, end))


class Confused(Node):
    """As a link coordinator, keeps what groups have committed at the sources of all links in one place."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        linker = node._linker
        step, committed = linker.step, {}  # type: ignore[var-annotated]

        def confuse(event: Any, now: Instant) -> Any:
            for link in linker.links.values():
                link._groups._committed = committed
            return step(event, now)

        linker.step = confuse  # type: ignore[method-assign]
        return node


class TakesAll(Node):
    """Takes what clients write to a mirror."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        handle: Any = self.broker._handlers.by_listener[Listener.DATA][produce.KEY]
        handle.__self__._append = leader.append
        return node


class CancelsTooLate(SteppedNode):
    """As a link coordinator, cancels what was cut already."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        changes = node._linker._administration._changes
        change = changes._change

        def cancel(link: Any, mirror: Any, trigger: Any, verb: str, *more: Any) -> Any:
            if verb == CANCEL and mirror.record.cut is not None:
                return partial(_forget_the_cut, mirror)
            return change(link, mirror, trigger, verb, *more)

        changes._change = cancel  # type: ignore[method-assign, assignment]
        return node


def _forget_the_cut(mirror: Any, answered: Any, now: Instant) -> Any:
    error = TransitionError(now, CANCELLED, "cancelled")
    record = replace(taken_back(mirror.record, MirrorState.ACTIVE, error), cut=None)
    return mirror.change(record, lambda refusal, at: answered(None, at))


def _without_lineage(effect: Any) -> Any:
    if isinstance(effect, Send) and isinstance(effect.frame, Subscribe):
        return replace(effect, frame=replace(effect.frame, lineage=()))
    return effect


def _disowned(effect: Any) -> Any:
    if isinstance(effect, Send) and isinstance(effect.frame, Declined):
        offset = min(effect.frame.agreed_offset, 0)
        return replace(effect, frame=replace(effect.frame, agreed_offset=offset))
    return effect


SERVE_UNCOMMITTED = Plant(Uncommitted, range(10), "none", _stormy())
TAKE_WRITES_TO_MIRRORS = Plant(TakesAll, range(4), "none", _stormy(crash_mean_ms=0))
CUT_TOO_EARLY = Plant(
    Hasty, range(409, 412), "failover", _stormy(latency_ms=300, crash_mean_ms=0, producers=2)
)

CLAMP_UPWARDS = Plant(Upwards, range(10), "none", _stormy(groups=1, crash_mean_ms=0))

# These are found by runs with the way back.
TRUNCATE_UNSEALED = Plant(Unsealed, range(20), "restore", LinkedScenario.alone)
FOLLOW_BY_OFFSET = Plant(ByOffset, range(20), "restore", LinkedScenario.alone)

# This by runs with several rounds, which keep both regions apart for long.
FORGET_THE_GENERATION = Plant(
    Ageless,
    range(1, 8),
    "apart",
    _stormy(crash_mean_ms=1_500, cut_mean_ms=1_000, block_mean_ms=0, duration_ms=30_000),
)

# These by runs with unclean elections in the source.
FOLLOW_BY_OFFSET_UNCLEANLY = Plant(ByOffset, range(20, 21), "unclean", LinkedScenario.alone)
CUT_BACK_UNSEALED = Plant(Unsealed, range(12), "unclean", LinkedScenario.alone)
CUT_BACK_TOO_FAR = Plant(Disowning, range(1), "unclean", LinkedScenario.alone)

# These by runs with retention in the source.
HOLD_FOR_EVER = Plant(HoldsForever, range(10), "retention", LinkedScenario.alone)
IGNORE_HOLDS = Plant(Unheld, range(9, 20), "held", LinkedScenario.alone)
IGNORE_BOUNDS = Plant(Unbounded, range(4, 20), "held", LinkedScenario.alone)

# This by runs in which the source comes back.
TAKE_WRITES_AT_ONCE = Plant(Impatient, range(4), "return", lambda scenario: scenario)

# This by transitions that are cancelled, without any crash.
CANCEL_TOO_LATE = Plant(CancelsTooLate, range(20, 21), "promote-cancelled", LinkedScenario.alone)

# This by runs in which two regions have a topic, and a group, of one name.
CONFUSE_LINKS = Plant(Confused, range(10), "fan-in", _stormy(groups=1, crash_mean_ms=0))

# And this by runs with reversals.
REVERSE_UNDRAINED = Plant(Undrained, range(18, 21), "reverse", LinkedScenario.alone)
