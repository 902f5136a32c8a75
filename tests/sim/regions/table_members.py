"""Members of groups that read what they commit, and keep the last value of each key, as applications with tables do."""

from tests.sim.regions.cluster import Cluster
from tests.sim.regions.members import GroupMember
from tests.sim.regions.readers import Reader


class TableMember(GroupMember):
    """It goes on where the group stands, with the table that it had."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        super().__init__(cluster, name)
        self._reader = Reader(cluster, name)

    async def _work(self) -> None:
        for partition, position in self._positions.items():
            self._reader.positions[partition] = position
            await self._reader.visit(partition)
            self._positions[partition] = max(position, self._reader.positions[partition])
        await self._commit()
        await self._heartbeat()
        await self._world.sleep(self._rng.randrange(50, 400))
