"""A person who begins a reversal, a promotion or a failover, and cancels it at once, until one was cancelled.

Where the cut came first, a reversal is followed by one back, and the others are the end of the mirror.
"""

from linker.answers import MirrorDescription
from linker.commands import ChangeMirrors, DescribeMirror
from linker.control.cancelling import CANCELLED
from linker.records.mirror_record import MirrorRecord
from linker.records.mirror_state import MirrorState
from tests.sim.linked.federation import Region
from tests.sim.linked.reversals import ReversingOperator
from tests.sim.regions.cluster import TOPIC

SOON_MS = (5, 150)
LONG_MS = 120_000  # nothing gives up by itself


def was_cancelled(record: MirrorRecord) -> bool:
    return any(error.code == CANCELLED for error in record.transition_errors)


class CancellingOperator(ReversingOperator):
    """Asks the mirror's region for all of them."""

    is_ended = False

    async def _begin_and_cancel(self, verb: str) -> None:
        """The cancel may come before the answer to what it cancels."""
        mirror = self._ends.destination
        begun = ChangeMirrors(verb=verb, link=self.link, topics=(TOPIC,), timeout_ms=LONG_MS)
        asked = self._world.spawn(self._ask(begun, mirror))
        await self._world.sleep(self._rng.randrange(*SOON_MS))
        await self._ask(ChangeMirrors(verb="cancel", link=self.link, topics=(TOPIC,)), mirror)
        await asked

    async def cancel_reversal(self) -> None:
        source, mirror = self._ends.regions
        verb = self._rng.choice(("reverse-and-start", "reverse-and-pause"))
        while True:
            record = await self._settled(mirror)
            if record.state is MirrorState.STOPPED:
                await self._change_back(source, mirror)
            elif record.state is MirrorState.ACTIVE and was_cancelled(record):
                return
            else:
                await self._begin_and_cancel(verb)

    async def _change_back(self, source: Region, mirror: Region) -> None:
        while (await self._settled(source)).state is MirrorState.PAUSED:
            resume = ChangeMirrors(verb="resume", link=self.link, topics=(TOPIC,))
            await self._ask(resume, source)
        await self.swap(mirror, source)

    async def cancel_promotion(self) -> None:
        await self._cancel_the_end("promote")

    async def cancel_failover(self) -> None:
        await self._cancel_the_end("failover")

    async def _cancel_the_end(self, verb: str) -> None:
        mirror = self._ends.destination
        while True:
            record = await self._settled(mirror)
            if record.state is MirrorState.STOPPED:
                while await self.describe() is not MirrorState.STOPPED:
                    pass  # the verdict looks at the cut, and whoever was asked is gone
                mirror.is_mirror, self.is_ended = False, True
                return
            if record.state is MirrorState.ACTIVE and was_cancelled(record):
                return
            await self._begin_and_cancel(verb)

    async def _settled(self, region: Region) -> MirrorRecord:
        """What is pending is cancelled; what was cut comes to its end."""
        while True:
            answer = await self._ask(DescribeMirror(TOPIC), region)
            if isinstance(answer, MirrorDescription):
                transition = answer.transition
                if transition is None:
                    return answer.record
                if transition.can_be_cancelled:
                    cancel = ChangeMirrors(verb="cancel", link=self.link, topics=(TOPIC,))
                    await self._ask(cancel, region)
