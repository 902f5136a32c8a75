"""Members of a group that go where the topic is: they leave one region, and go on in the other as it tells them.

How far a group is taken meanwhile is judged by what its members are told: never further than they came, of the records
that both regions have (P6).
"""

from brokers.ids import TopicPartition
from tests.sim.linked.federation import Region
from tests.sim.memberships import Lost
from tests.sim.regions.cluster import TOPIC
from tests.sim.regions.members import GroupMember
from tests.sim.regions.routes import Routes

LOOK_MS = 50


class Follower(GroupMember):
    """The only member of its group that moves forwards. It reads no further than there is data."""

    def __init__(self, region: Region, name: str) -> None:
        super().__init__(region, name)
        self._region = region
        self._is_halted = False
        self._lingers = False
        self.is_away = True  # in no region
        self.lingering: dict[str, None] = {}  # regions that may still take it for a member

    def halt(self, *, lingers: bool = False) -> None:
        """It leaves at the next opportunity; one that lingers goes on as long as its membership would have lasted."""
        self._is_halted, self._lingers = True, lingers

    def go(self, region: Region) -> None:
        """It goes on in this region, where that says that the group stands."""
        self._cluster = self._region = region
        self._statements = region.statements
        self._routes = Routes(region, f"{self.name} in {region.region}")
        self._coordinator, self._member_id = -1, ""
        self._positions.clear()
        self._is_halted = False

    async def wait_until_away(self) -> None:
        while not self.is_away:
            await self._world.sleep(LOOK_MS)

    async def _begin(self) -> None:
        self.is_away = True
        if self._is_halted or not self._region.partitions():
            raise Lost
        self.is_away = False
        self.lingering[self._region.region] = None
        await super()._begin()
        self._lingers = self._lingers and not self._is_halted  # it came too late to linger

    async def _leave(self) -> bool:
        region = self._region.region
        if is_gone := await super()._leave():
            self.lingering.pop(region, None)
        return is_gone

    async def _resume(self) -> None:
        for item in await self._committed(self._cluster.partitions()):
            partition = TopicPartition(TOPIC, item.partition_index)
            came = self._statements.tried.get((self.name, partition), 0)
            if not item.error_code and item.committed_offset > came:
                told = f"{self.name} came to {came} of {partition}, and is told {item.committed_offset}"
                self._statements.contradicts("P6", told)
        await super()._resume()

    async def _work(self) -> None:
        if self._is_halted and not self._lingers:
            return
        self._region.look_for_restore()  # what it reads from now on is the winner's
        for partition, position in self._positions.items():
            end = max(position, self._region.high_watermark(partition))
            self._positions[partition] = min(end, position + self._rng.randrange(0, 3))
        await self._commit()
        await self._heartbeat()
        await self._world.sleep(self._rng.randrange(50, 400))


class EarlyMember(Follower):
    """Of the same group, in the region of the mirror: while it is there, the link leaves the group's offsets alone.

    It has read nothing, and commits again what it was told.
    """

    def __init__(self, region: Region, name: str) -> None:
        super().__init__(region, name)
        self._rng = region.world.rng(f"early member of {name}")

    async def _resume(self) -> None:
        items = await self._committed(self._cluster.partitions())
        if any(item.error_code for item in items):
            raise Lost
        self._positions = {
            TopicPartition(TOPIC, item.partition_index): item.committed_offset
            for item in items
            if item.committed_offset >= 0
        }
        self._joins += 1

    async def _work(self) -> None:
        if self._is_halted:
            return
        if self._positions:
            await self._commit_all(self._positions)
        await self._heartbeat()
        await self._world.sleep(self._rng.randrange(50, 400))
