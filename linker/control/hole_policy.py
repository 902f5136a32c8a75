"""What `mirror.hole.policy` makes of a hole in a mirror topic that already holds data: skip it, pause, or fail."""

from dataclasses import replace
from typing import Final

from brokers.effects import Changed
from brokers.ids import Instant
from linker.config import HolePolicy
from linker.control.link_settings import LinkSettings
from linker.control.mirror_topic import RETRY_MS, MirrorTopic
from linker.errors import MirrorError
from linker.records.hole_ledger import Hole
from linker.records.mirror_state import TRANSITIONS, MirrorTrigger
from linker.region_client import Effects, RegionClient

GATHER_MS: Final = (
    1_000  # other partitions of the topic may have holes, too, that one decision should cover
)


class HolePolicyOfMirror:
    """Of one mirror topic. What is not skipped waits in the source, or is lost there; the mirror stays as it is."""

    def __init__(self, region: RegionClient, link: LinkSettings, mirror: MirrorTopic) -> None:
        self._region = region
        self._link = link
        self._mirror = mirror
        self._found: dict[int, Hole] = {}
        self._timer: int | None = None
        self._retry: int | None = None
        self._is_overdue = False  # a promotion was in the way

    def refuse(self, hole: Hole, now: Instant) -> Effects | None:
        """None: the hole is recorded and skipped. Else the partition must stop."""
        policy = self._link.config.hole_policy
        if policy is HolePolicy.CONTINUE_AND_RECORD or self._was_shown(hole):
            return None
        if policy is HolePolicy.FAIL:
            return self._mirror.fail(MirrorError.ILLEGAL_STATE, _because([hole], policy), now)
        self._found[hole.partition.partition] = hole
        if self._timer is None:
            pause = 0 if self._is_overdue else GATHER_MS
            self._timer = self._region.timers.set(now + pause, self._pause)
        return [Changed(f"mirror {hole.partition}", "stands still", _because([hole], policy))]

    def _was_shown(self, hole: Hole) -> bool:
        """The mirror stood at it when it was paused. It may have grown since: the source does not wait for people."""
        shown = self._mirror.record.holes_shown.get(hole.partition.partition, 0)
        return hole.base_offset < shown

    def _pause(self, now: Instant) -> Effects:
        self._timer = None
        # One that was found again while the pause for it was being written may have been accepted since.
        self._found = {index: one for index, one in self._found.items() if not self._was_shown(one)}
        if not self._found:
            return []
        record = self._mirror.record
        target = TRANSITIONS.get((record.state, MirrorTrigger.PAUSE))
        self._is_overdue = target is None or self._mirror.is_halted
        if target is None or self._is_overdue:
            # A promotion goes on until it is given up; then the hole is found again.
            if self._retry is None:
                self._retry = self._region.timers.set(now + RETRY_MS, self._try_again)
            return []
        found, self._found = self._found, {}
        shown = {index: hole.next_offset for index, hole in sorted(found.items())}
        paused = replace(
            record,
            state=target,
            since=now,
            reason=_because(list(found.values()), HolePolicy.PAUSE),
            holes_shown={**record.holes_shown, **shown},
        )
        change = self._mirror.change(paused, self._mirror.when_stopped)
        return [*self._mirror.stop_replicators(), *change]

    def _try_again(self, now: Instant) -> Effects:
        self._retry = None
        return self._mirror.refresh(now)


def _because(holes: list[Hole], policy: HolePolicy) -> str:
    spans = ", ".join(
        f"{one.partition} [{one.base_offset}, {one.next_offset})"
        + (" (deletion markers)" if one.lacks_markers else "")
        for one in holes[:3]
    )
    more = f" and {len(holes) - 3} more" if len(holes) > 3 else ""
    return f"the source deleted what was not mirrored yet: {spans}{more} (mirror.hole.policy={policy.value})"
