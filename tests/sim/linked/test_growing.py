"""Both regions of a link get a broker, which takes over all that is copied, change their controller, and shrink."""

from dataclasses import replace

import pytest

from brokers.ids import TopicPartition
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import UnregisterBrokerRequest
from tests.sim.linked.federation import Region
from tests.sim.linked.runs import LinkedRun
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.nodes import Node
from tests.sim.regions.admins import Admin
from tests.sim.regions.cluster import TOPIC
from tests.sim.regions.routes import Routes
from tests.sim.regions.scenario import Shape
from tests.sim.runs import Stuck

PARTITIONS = 2
LOOK_MS = 50
FOLLOWS_MS = 10_000


class Late(Node):
    """Is not installed yet while it `waits`."""

    waits = False

    def start(self) -> bool:
        return not self.waits and super().start()


def controller_of(region: Region) -> Node | None:
    alive = (region.node(each) for each in region.controllers if region.node(each).alive)
    return next((node for node in alive if node.broker.parts.raft.is_active), None)


class GrowingRun(LinkedRun):
    """The last broker of each region comes later, and the first one leaves for good; clients go on."""

    def __init__(self, seed: int, *, source_dials: bool) -> None:
        def adjust(scenario: LinkedScenario) -> LinkedScenario:
            calm = scenario.calm().unlimited()
            calm = calm.everywhere(
                shape=Shape(3, 2, combined=False),
                replication=1,
                min_insync=1,
                racks=0,
                partitions=PARTITIONS,
                duration_ms=2_000,
            )
            return replace(calm, source_dials=source_dials)

        super().__init__(seed, adjust=adjust, make_node=Late, ending="none")
        self.left: dict[str, int] = {}
        for region in self.federation.regions:
            self._newcomer(region).waits = True

    def _newcomer(self, region: Region) -> Late:
        node = region.node(region.brokers[-1])
        assert isinstance(node, Late)
        return node

    async def _link(self) -> None:
        await super()._link()
        for region, admin in zip(self.federation.regions, self.admins, strict=True):
            await self._grow(region, admin)
            await self._follows("a new broker")
            await self._change_controller(region)
            await self._follows("another controller")
            await self._shrink(region)
            await self._follows("one broker less")

    async def _follows(self, after: str) -> None:
        """What is written from now on is copied, in time."""
        source, mirror = self.ends.regions
        due = self.world.now + FOLLOWS_MS
        for index in range(PARTITIONS):
            partition = TopicPartition(TOPIC, index)
            wanted = source.high_watermark(partition) + 1
            while mirror.high_watermark(partition) < wanted:
                if self.world.now > due:
                    raise Stuck(f"{partition} is not copied after {after}")
                await self.world.sleep(LOOK_MS)

    async def _grow(self, region: Region, admin: Admin) -> None:
        newcomer, number = self._newcomer(region), region.brokers[-1]
        newcomer.waits = False
        newcomer.start()
        for index in range(PARTITIONS):
            await admin.place(TopicPartition(TOPIC, index), number)

    async def _change_controller(self, region: Region) -> None:
        before = controller_of(region)
        assert before is not None
        before.kill()  # it comes back
        while controller_of(region) in (None, before) or not before.alive:
            await self.world.sleep(LOOK_MS)

    async def _shrink(self, region: Region) -> None:
        number = region.brokers[0]
        node = region.node(number)
        assert isinstance(node, Late)
        node.waits = True  # nobody starts it again
        node.leave()
        while node.alive:
            await self.world.sleep(LOOK_MS)
        region.brokers.remove(number)
        routes = Routes(region, region.name("operator"))
        while number in region.newest.brokers:
            request = UnregisterBrokerRequest(broker_id=number)
            await routes.ask_anyone(ApiKey.UNREGISTER_BROKER, request, version=0, timeout_ms=5_000)
            await self.world.sleep(LOOK_MS)
        self.left[region.region] = number

    def _missing(self) -> list[str]:
        """Of those that stay."""
        for region in self.federation.regions:
            region.nodes.pop(self.left[region.region], None)
        return super()._missing()


@pytest.mark.parametrize("source_dials", [False, True])
def test_a_link_follows_regions_that_grow_change_their_controller_and_shrink(
    source_dials: bool,
) -> None:
    run = GrowingRun(1, source_dials=source_dials)
    outcome = run.execute()  # both regions hold the same, and all that was acknowledged
    assert outcome.acknowledged > 20
    for region in run.federation.regions:
        image = region.newest
        assert run.left[region.region] not in image.brokers
        leaders = {placed.leader for placed in image.topics_by_name[TOPIC].partitions}
        assert leaders == {region.brokers[-1]}
