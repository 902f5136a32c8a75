"""A failover in the middle of a reversal: of the source, which has its topic back, or of the mirror, which goes alone.

Where the other region was faster, the reversal is begun again, or what is no region's topic is restored.
"""

from linker.commands import ChangeMirrors
from linker.records.mirror_record import MIRROR_KIND, CutKind, MirrorRecord, decode_mirror
from linker.records.mirror_state import MirrorState
from tests.sim.linked.cancellations import LONG_MS
from tests.sim.linked.federation import Region
from tests.sim.linked.operators import LOOK_MS
from tests.sim.linked.replays import ReplayingOperator
from tests.sim.regions.cluster import TOPIC


class PendingFailoverOperator(ReplayingOperator):
    """Sees the records of both regions."""

    has_restored = False  # what one region had beyond the other one's cut is sealed

    async def take_back(self) -> None:
        """In the source, while it is PENDING_MIRROR: the mirror gives up, or was cut and is restored."""
        source, mirror = self._ends.regions
        while True:
            there, here = self._seen_in(source), self._seen_in(mirror)
            states = _state(there), _state(here)
            if states == (MirrorState.STOPPED, MirrorState.STOPPED):
                await self._restore_half(mirror, source)
            elif _is_cut(there, CutKind.WITHDRAW) and states[1] is MirrorState.ACTIVE:
                return
            elif states[0] is MirrorState.PENDING_MIRROR:
                await self._fail_over_in(source)
            else:
                await self._reverse_anew(*states)

    async def take_over(self) -> None:
        """In the mirror's region, while the source is PENDING_MIRROR: it stays so, and is restored."""
        source, mirror = self._ends.regions
        while True:
            there, here = self._seen_in(source), self._seen_in(mirror)
            states = _state(there), _state(here)
            if _is_cut(here, CutKind.FAILOVER):
                return await self._restore_half(source, mirror)
            if states == (MirrorState.PENDING_MIRROR, MirrorState.PENDING_SYNCHRONIZE):
                await self._fail_over_in(mirror)
            else:
                await self._reverse_anew(*states)

    def _seen_in(self, region: Region) -> MirrorRecord | None:
        document = region.newest.documents.get((MIRROR_KIND, TOPIC))
        return None if document is None else decode_mirror(TOPIC, document.body)

    async def _restore_half(self, region: Region, winner: Region) -> None:
        self.has_restored = True
        await self._restore(self.link, region, winner, None)

    async def _fail_over_in(self, region: Region) -> None:
        command = ChangeMirrors(
            verb="failover", link=self.link, topics=(TOPIC,), timeout_ms=LONG_MS
        )
        await self._ask(command, region)

    async def _reverse_anew(self, there: MirrorState | None, here: MirrorState | None) -> None:
        """A reversal that went through is followed by one back; what is pending comes to its end."""
        source, mirror = self._ends.regions
        if here is MirrorState.STOPPED and there in (MirrorState.ACTIVE, MirrorState.PAUSED):
            await self._change_back(source, mirror)
        elif here is MirrorState.ACTIVE and there in (None, MirrorState.STOPPED):
            command = ChangeMirrors(
                verb="reverse-and-start", link=self.link, topics=(TOPIC,), timeout_ms=LONG_MS
            )
            asked = self._world.spawn(self._ask(command, mirror))
            while not asked.done and _state(self._seen_in(source)) is there:
                await self._world.sleep(LOOK_MS)
        else:
            await self._world.sleep(LOOK_MS)


def _state(record: MirrorRecord | None) -> MirrorState | None:
    return None if record is None else record.state


def _is_cut(record: MirrorRecord | None, kind: CutKind) -> bool:
    is_stopped = record is not None and record.state is MirrorState.STOPPED
    return is_stopped and record is not None and record.cut is not None and record.cut.kind is kind
