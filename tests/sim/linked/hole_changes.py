"""Holes of a mirror whose `mirror.hole.policy` is pause: an operator accepts them with `resume`."""

from collections.abc import Iterator
from itertools import pairwise

from linker.commands import ChangeMirrors
from linker.records.mirror_record import MIRROR_KIND, decode_mirror
from linker.records.mirror_state import MirrorState
from tests.sim.linked import verdict
from tests.sim.linked.hold_changes import RETENTION_MS, HoldChanger
from tests.sim.linked.link_changes import Logs
from tests.sim.regions.admins import Admin
from tests.sim.regions.cluster import TOPIC

LONG_MS = 7 * 24 * 3_600_000  # nothing is deleted any more


class HoleChanger(HoldChanger):
    """Asks the mirror's region."""

    async def begin_behind_retention(self) -> None:
        """The source has deleted what the mirror, which holds something and was paused, does not have."""
        self.more = {"mirror.hole.policy": "pause"}
        await self.begin_with_retention()
        mirror, admin = self._ends.destination, Admin(self._ends.source)
        await self._while(lambda: not all(map(mirror.high_watermark, mirror.partitions())))
        await self._change_mirror("pause", MirrorState.PAUSED)
        await admin.expire(RETENTION_MS)
        await self._while(lambda: not self._removed_beyond(self._ends_of_mirror(), min))
        await admin.expire(LONG_MS)

    async def accept_holes(self) -> None:
        """The mirror pauses at them until it has shown all: each `resume` skips those that were."""
        while True:
            state = await self.describe()
            if state is MirrorState.PAUSED:
                resume = ChangeMirrors(verb="resume", link=self.link, topics=(TOPIC,))
                await self._ask(resume)
            elif not self._removed_beyond(self._ends_of_mirror(), min) and state is not None:
                return

    def not_accepted_once(self, _: Logs) -> Iterator[str]:
        """Each offset that was skipped is in one entry of the ledger, and was shown before."""
        mirror = self._ends.destination
        shown = decode_mirror(TOPIC, mirror.newest.documents[MIRROR_KIND, TOPIC].body).holes_shown
        yield from self._without_holes()
        for partition, holes in verdict.ledger(mirror).items():
            if any(after[0] < before[1] for before, after in pairwise(sorted(holes))):
                yield f"{partition} has skipped {holes}, some of it twice"
            if max(base for base, _ in holes) >= shown.get(partition.partition, 0):
                yield f"{partition} has skipped {holes}, and nobody was asked: {shown}"
