"""Unclean elections in a source: a leader alone takes records, and is gone when another replica, without them, leads.

That is what a region does whose topics allow it (`unclean.leader.election.enable`), or whose operator asks for it.
"""

from collections.abc import Iterator

from brokers.ids import BrokerId, TopicPartition
from brokers.wire.messages.replication import ElectLeadersRequest, TopicPartitions
from tests.sim.linked.federation import Region
from tests.sim.nodes import Node
from tests.sim.regions.admins import ELECT_LEADERS, Admin, brief
from tests.sim.regions.cluster import TOPIC
from tests.sim.regions.routes import Routes

UNCLEAN = 1
LOOK_MS = 200
LOOKS_MAX = 50  # at a partition that is not as it has to be for an unclean election


class UncleanAdmin(Admin):
    """Allows them for the topic, or does not: then they wait for him."""

    allows = False

    def _settings(self) -> Iterator[tuple[str, str]]:
        yield from super()._settings()
        yield "unclean.leader.election.enable", str(self.allows).lower()


class Usurper:
    """What happens to brokers of the source, one partition at a time."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._world = region.world
        self._rng = region.world.rng("usurper")
        self._routes = Routes(region, "usurper")
        self.elections = 0

    def hold_down(self) -> None:
        """From now on whoever is down stays down, until the usurper starts it."""
        for node in self._region.nodes.values():
            node.on_end = lambda: None

    async def strike(self) -> None:
        """Everybody who copies a partition is down for a while; then they are up, and its leader is down."""
        for _ in range(LOOKS_MAX):
            await self._world.sleep(LOOK_MS)
            partition = self._rng.choice(self._region.partitions())
            placed = self._region.newest.partition(partition)
            if placed is None or placed.leader < 0 or len(placed.replicas) < 2:
                continue
            leader = self._region.node(placed.leader)
            others = [self._region.node(one) for one in placed.replicas if one != placed.leader]
            if all(node.is_ready for node in (leader, *others)):
                self._world.note("usurper", f"{leader.place} is to lead {partition} alone")
                await self._usurp(partition, leader, others)
                return

    async def _usurp(self, partition: TopicPartition, leader: Node, others: list[Node]) -> None:
        for node in others:
            node.kill()
        await self._world.sleep(self._rng.randrange(500, 4_000))
        leader.kill()
        if self._rng.random() < 0.3:
            self._world.note(leader.place, "gets another disk")
            leader.disk.wipe(self._region.new_directory())
        for node in others:
            _start(node)
        await self._wait_for_leader(partition, leader)
        await self._world.sleep(self._rng.randrange(500, 3_000))
        _start(leader)
        self.elections += 1

    async def _wait_for_leader(self, partition: TopicPartition, former: Node) -> None:
        for _ in range(LOOKS_MAX):
            await self._world.sleep(LOOK_MS)
            placed = self._region.newest.partition(partition)
            if placed is not None and placed.leader >= 0 and self._is_up(placed.leader, former):
                return
            await self.elect()

    def _is_up(self, number: BrokerId, former: Node) -> bool:
        node = self._region.node(number)
        return node is not former and node.is_ready

    async def elect(self) -> None:
        """Whichever partition has no leader: others of the broker that is down may have none either."""
        indexes = [partition.partition for partition in self._region.partitions()]
        topic = TopicPartitions(topic=TOPIC, partitions=indexes)
        request = ElectLeadersRequest(
            election_type=UNCLEAN, topic_partitions=[topic], timeout_ms=2_000
        )
        answer = await self._routes.ask_anyone(ELECT_LEADERS, request, timeout_ms=3_000)
        said = "no answer" if answer is None else brief(answer)
        self._world.note("usurper", f"elects uncleanly: {said}")

    async def rescue(self) -> None:
        """For as long as there is anybody: no partition stays without a leader."""
        while True:
            await self._world.sleep(5_000)
            topic = self._region.newest.topics_by_name.get(TOPIC)
            if topic is not None and any(each.leader < 0 for each in topic.partitions):
                await self.elect()


def _start(node: Node) -> None:
    if not node.alive:
        node.start()
