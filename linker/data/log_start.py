"""The log start offset of a mirror partition: it follows its source's (retention, DeleteRecords).

It follows once all replicas of the source that are in sync have. One of them that leads next would else have what the
mirror has deleted, and that would be a hole.

A source that was a mirror itself may have begun above its own source's log start (`mirror.start.offset.spec`). A region
that it took over from, and that is its mirror now, has records below that which nobody else has: nobody has deleted
them, so they stay until the source's log start is above where its log began.
"""

from collections.abc import Callable

from brokers.ids import Instant, Offset, TopicPartition
from brokers.region import PartitionState, Placed, PlaceRefused, TrimMirror
from linker.data.mirror_link import LinkOfMirror, ReplicatorHost
from linker.frames import Agreed
from linker.region_client import Effects, RegionClient


class LogStart:
    """`of_source` is what to follow, by the newest frame. `moved` is called when the region has answered."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkOfMirror,
        partition: TopicPartition,
        host: ReplicatorHost,
        moved: Callable[[Instant], Effects],
    ) -> None:
        self.of_source: Offset = 0
        self.is_moving = False
        self._began_at: Offset = 0  # below it the source never held anything
        self._region = region
        self._link = link
        self._partition = partition
        self._host = host
        self._moved = moved

    def agreed(self, frame: Agreed, *, is_first: bool) -> None:
        """`is_first`: of a subscription."""
        if frame.began_at >= 0:
            self._began_at = frame.began_at
        elif is_first:
            # An older release does not say whether its log began there. What it deletes from now on moves that.
            may_lack = self._host.was_primary(self._partition.topic)
            self._began_at = frame.bounds.log_start_offset if may_lack else 0

    def may_skip(self, state: PartitionState) -> bool:
        """Whether the log may begin anew where the source's does, which deletes what it holds."""
        return _is_empty(state) or self._host.may_trim(self._partition.topic)

    def never_skips(self, frame: Agreed, state: PartitionState) -> str:
        """Why what it holds would be deleted although nobody else has it; empty: it would not."""
        begins_at = max(frame.start_offset, frame.bounds.log_start_offset)
        if _is_empty(state) or begins_at > self._began_at:
            return ""
        return (
            f"the source's log began at offset {self._began_at}, and this one ends at {state.log_end_offset}:"
            " what it holds would be deleted, and the source has never had it"
        )

    def follow(self, state: PartitionState) -> Effects:
        """Trim the mirror, up to its high watermark at most."""
        wanted = self.of_source
        is_above = state.log_start_offset < wanted <= state.high_watermark
        if self.is_moving or not is_above or wanted <= self._began_at:
            return []
        if not self._host.may_trim(self._partition.topic):
            return []
        self.is_moving = True
        return [
            self._region.ask(
                lambda ticket: TrimMirror(ticket, self._link.name, self._partition, wanted),
                self._on_trimmed,
            )
        ]

    def _on_trimmed(self, answer: Placed | PlaceRefused, now: Instant) -> Effects:
        self.is_moving = False
        return self._moved(now)


def contradiction(frame: Agreed, expected: Offset) -> str:
    """Why no source can mean this; empty if it can. The mirror stands at `expected`; what is skipped is deleted."""
    start, end = frame.start_offset, frame.bounds.high_watermark
    if start < expected:
        return f"the source goes on at {start}, the mirror stands at {expected}"
    if start > max(expected, end):
        return f"the source goes on at {start}, beyond its own high watermark {end}"
    return ""


def _is_empty(state: PartitionState) -> bool:
    return state.log_start_offset == state.log_end_offset
