"""A restore is refused while a group with members reads its topic, whichever broker of the region coordinates it."""

from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from brokers.groups.offsets_partition import partition_for
from brokers.ids import OFFSETS_TOPIC, BrokerId, TopicPartition
from brokers.node.group_states import TIMEOUT_MS
from linker.answers import Topics
from linker.commands import CreateLink, RestoreMirrors
from linker.coordinator_election import coordinator_of
from linker.errors import LinkRefusal
from tests.sim.linked.federation import Region
from tests.sim.linked.operators import BACK, CONFIGS
from tests.sim.linked.transition_runs import SHAPES, TransitionRun
from tests.sim.linked.transitions import TransitionOperator
from tests.sim.memberships import SESSION_MS, Lost
from tests.sim.regions.cluster import TOPIC
from tests.sim.regions.members import GroupMember


class Member(GroupMember):
    """Of a group without offsets, or one that has committed some; it stays until `ends`."""

    ends = False

    def __init__(self, region: Region, name: str, *, commits: bool = False) -> None:
        super().__init__(region, name)
        self._region = region
        self.joined = self.has_committed = False
        self._commits = commits

    async def make_offsets_topic(self) -> None:
        """As the first consumer of a region does."""
        while OFFSETS_TOPIC not in self._region.newest.topics_by_name:
            with suppress(Lost):
                await self._find_coordinator()
            await self._world.sleep(200)

    async def run(self) -> None:
        while not self.joined:
            with suppress(Lost):  # MEMBER_ID_REQUIRED is one reason
                await self._find_coordinator()
                await self._join()
                self.joined = True
            await self._world.sleep(100)
        if self._commits:
            await self._commit_all({TopicPartition(TOPIC, 0): 1})
            self.has_committed = True
        while not self.ends:
            await self._heartbeat()
            await self._world.sleep(SESSION_MS // 4)
        await self._leave()
        self.left = True


class Operator(TransitionOperator):
    """Asks whether a restore would begin."""

    async def link_back(self) -> None:
        source, there = self._ends.regions
        configs = {**CONFIGS, "bootstrap.servers": there.bootstrap_servers}
        await self._until(CreateLink(name=BACK, configs=configs), "CLUSTER_LINK_EXISTS", source)

    async def would_restore(self) -> Any:
        return await self._ask(RestoreMirrors(BACK, (TOPIC,), validate_only=True), self._west)

    @property
    def _west(self) -> Region:
        return self._ends.source


class Run(TransitionRun):
    """The source's region has three brokers, and a tail to lose."""

    operator: Operator

    def __init__(self) -> None:
        seed = next(one for one in range(100) if _is_large(one))
        super().__init__("restore", seed=seed)
        self.operator = Operator(self.federation.first)
        self.west = self.federation.first.source

    def _make_clients(self) -> None:
        super()._make_clients()
        self.members = []

    def begin(self) -> None:
        self._begin()
        self._await(self.world.spawn(self.transition.prepare(self.operator)))
        self._await(self.world.spawn(Member(self.west, "first").make_offsets_topic()))
        self._await(self.world.spawn(self.operator.link_back()))
        self._settle(lambda: [] if len(self.coordinators) > 1 else ["one broker has all groups"])
        self._settle(lambda: [] if isinstance(self.asked(), Topics) else ["no link back"])

    def asked(self) -> Any:
        asking = self.world.spawn(self.operator.would_restore())
        self._await(asking)
        return asking.value

    @property
    def coordinators(self) -> list[BrokerId]:
        places = self.west.newest.topics_by_name[OFFSETS_TOPIC].partitions
        return sorted({each.leader for each in places} & set(self.west.brokers))

    def coordinated_by(self, broker: BrokerId) -> str:
        """A group."""
        places = self.west.newest.topics_by_name[OFFSETS_TOPIC].partitions
        names = (f"group-{each}" for each in range(10_000))
        return next(
            each for each in names if places[partition_for(each, len(places))].leader == broker
        )

    def join(self, broker: BrokerId, *, commits: bool) -> Member:
        member = Member(self.west, self.coordinated_by(broker), commits=commits)
        self.world.spawn(member.run())
        self._settle(lambda: [] if member.joined else ["nobody has joined"])
        self._settle(lambda: [] if member.has_committed == commits else ["nothing is committed"])
        return member

    def leave(self, member: Member) -> None:
        member.ends = True
        self._settle(lambda: [] if member.left else ["it has not left"])


def _is_large(seed: int) -> bool:
    return Random(f"{seed}/calm").choice(SHAPES).brokers == 3


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    run = Run()
    run.begin()
    yield run
    for node in run.federation.nodes.values():
        node.stop()


@pytest.mark.parametrize("commits", [True, False])
def test_a_group_with_members_is_seen_wherever_it_is_coordinated(run: Run, commits: bool) -> None:
    """Whether it has committed anything or not."""
    for broker in run.coordinators:
        member = run.join(broker, commits=commits)
        refused = run.asked()
        assert isinstance(refused, LinkRefusal), (broker, refused)
        assert refused.code == "CONSUMER_GROUP_IN_USE_ERROR"
        assert member.name in refused.because
        run.leave(member)
        assert isinstance(run.asked(), Topics)


def test_a_broker_that_does_not_say_what_its_groups_read_is_named(run: Run) -> None:
    coordinator = coordinator_of(run.west.newest)
    assert coordinator is not None
    silent = next(each for each in run.coordinators if each != coordinator.id)
    run.west.node(silent).freeze(TIMEOUT_MS + 1_000)
    refused = run.asked()
    assert isinstance(refused, LinkRefusal)
    assert refused.code == "COORDINATOR_NOT_AVAILABLE"
    assert f"broker {silent} does not answer" in refused.because
    run._settle(lambda: [] if isinstance(run.asked(), Topics) else ["refused for ever"])
