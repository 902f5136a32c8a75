"""The operator of two regions: asks any broker, follows to the link coordinator, and asks again until it is done."""

from collections.abc import Awaitable, Callable
from typing import Any

from brokers.ids import BrokerId
from linker.answers import MirrorDescription, Topics
from linker.commands import (
    ChangeMirrors,
    Command,
    CreateLink,
    CreateMirror,
    DescribeMirror,
    RestoreMirrors,
    SetLinkSecret,
)
from linker.config import OF_A_SOURCE
from linker.errors import LinkRefusal
from linker.events import AdminAsked, Elsewhere
from linker.records.mirror_record import MIRROR_KIND
from linker.records.mirror_state import MirrorState
from tests.sim.linked.federation import Ends, Region
from tests.sim.regions.cluster import ADMIN_PORT, TOPIC, place
from tests.sim.world import Promise

LINK = "west-to-east"
BACK = "east-to-west"
ANSWER_MS = 40_000
LOOK_MS = 20  # how soon it is known that whoever was asked is gone
CONFIGS = {
    "consumer.offset.sync.enable": "true",
    "consumer.offset.sync.ms": "1000",
    "topic.config.sync.ms": "1000",
    "availability.check.ms": "3000",
    "request.timeout.ms": "2000",
    "retry.backoff.ms": "50",
    "replica.fetch.max.bytes": "65536",
}
AUTOMATIC = {
    "auto.create.mirror.topics.enable": "true",
    "auto.create.mirror.topics.filters": '{"topicFilters":[{"name":"orders","patternType":"LITERAL",'
    '"filterType":"INCLUDE"}]}',
}


class LinkOperator:
    """One person who sees both regions of a link."""

    def __init__(self, ends: Ends, link: str = LINK, *, rate: int = 0) -> None:
        """`rate`: bytes a second that the link may carry, 0 without a limit."""
        self.link, self._rate = link, rate
        self.topic = ends.topic  # the mirror
        self._ends = ends
        self._world = ends.world
        self._rng = ends.world.rng(f"operator of {link}")
        self._last_ticket = 1 << (40 if link == LINK else 41)  # no two operators have the same
        self.mirror: MirrorDescription | None = None  # as last described
        self.fences_source = False  # producers go on at the source, whatever becomes of the mirror
        self.more: dict[str, str] = {}  # of the link's configuration
        self.answer_ms = ANSWER_MS  # how long it waits for one
        self.policy = "fail"  # where the source has lost what the mirror holds

    async def begin(self) -> None:
        """The link and the mirror."""
        fetchers = str(self._rng.choice((1, 1, 2)))
        configs = {**CONFIGS, "num.cluster.link.fetchers": fetchers}
        configs["mirror.divergence.policy"] = self.policy
        configs["source.fencing.enable"] = str(self.fences_source).lower()
        configs |= self._pace() | self._ends.names.configs() | self.more
        is_automatic = self._rng.random() < 0.3
        if is_automatic:
            configs |= AUTOMATIC
        await self._link(configs, fetchers)
        if is_automatic:
            while not isinstance(await self._ask(DescribeMirror(self.topic)), MirrorDescription):
                await self._world.sleep(200)
        else:
            await self._create()
        source, destination = self._ends.source.statements, self._ends.destination.statements
        while TOPIC not in source.made:  # it is a mirror itself, which was made and not told yet
            await self._world.sleep(LOOK_MS)
        destination.made[self.topic] = source.made[TOPIC]

    async def _create(self) -> None:
        """That there is a record is not the end: it is removed if its topic cannot be made."""
        destination = self._ends.destination
        command = CreateMirror(link=self.link, mirror_topic=self.topic)
        while isinstance(await self._until(command, "TOPIC_ALREADY_EXISTS"), LinkRefusal):
            while (MIRROR_KIND, self.topic) in destination.newest.documents:
                if self.topic in destination.newest.topics_by_name:
                    return
                await self._world.sleep(LOOK_MS)

    def _pace(self) -> dict[str, str]:
        rng = self._world.rng(f"pace of {self.link}")
        return {
            "replica.fetch.min.bytes": str(rng.choice((1, 1, 5_000))),
            "replica.fetch.wait.max.ms": str(rng.choice((50, 300))),
            "link.compression.type": rng.choice(("none", "zstd")),
            "io.max.bytes.per.second": str(self._rate),
        }

    async def _link(self, configs: dict[str, str], fetchers: str) -> None:
        if self._ends.source_dials:
            await self._dial_from_source(configs, fetchers)
        else:
            configs["bootstrap.servers"] = self._ends.source.bootstrap_servers
            await self._until(CreateLink(name=self.link, configs=configs), "CLUSTER_LINK_EXISTS")

    async def _dial_from_source(self, configs: dict[str, str], fetchers: str) -> None:
        """First at the destination, which then waits for its source."""
        here = {**configs, "connection.mode": "INBOUND"}
        await self._until(CreateLink(name=self.link, configs=here), "CLUSTER_LINK_EXISTS")
        # The answer with the secret may have been lost, so another one is made.
        described = await self._until(SetLinkSecret(self.link), "")
        there = {name: value for name, value in CONFIGS.items() if name in OF_A_SOURCE}
        there |= {"link.mode": "SOURCE", "num.cluster.link.fetchers": fetchers}
        there["bootstrap.servers"] = self._ends.destination.bootstrap_servers
        source = self._ends.source
        command = CreateLink(name=self.link, configs=there, secret=described.secret)
        await self._until(command, "CLUSTER_LINK_EXISTS", source)

    async def end(self, verb: str) -> None:
        """Promote or fail over, until the topic is an ordinary one."""
        while True:
            await self._ask(
                ChangeMirrors(verb=verb, link=self.link, topics=(self.topic,), timeout_ms=5_000)
            )
            if await self.describe() is MirrorState.STOPPED:
                self._ends.destination.stopped(self.topic)
                return

    async def mend(self) -> None:
        """For as long as there is anybody: a mirror whose source has lost what it holds is restored."""
        while True:
            await self._world.sleep(1_000)
            if await self.describe() is MirrorState.FAILED:
                await self._ask(RestoreMirrors(self.link, (TOPIC,)))

    async def restore(self, grow_to: Callable[[int], Awaitable[None]] | None = None) -> None:
        """The first region mirrors the second one: asks until it does.

        If the first one has more partitions, it is refused, or waits if they came just then: the second one is grown.
        """
        source = self._ends.source
        configs = {**CONFIGS, "bootstrap.servers": self._ends.destination.bootstrap_servers}
        await self._until(CreateLink(name=BACK, configs=configs), "CLUSTER_LINK_EXISTS", source)
        await self._restore(BACK, source, self._ends.destination, grow_to)

    async def _restore(
        self,
        link: str,
        region: Region,
        winner: Region,
        grow_to: Callable[[int], Awaitable[None]] | None,
    ) -> None:
        reason = ""
        region.will_be_restored_from(winner)
        while True:
            told = await self._ask(RestoreMirrors(link, (TOPIC,)), region)
            is_short = isinstance(told, LinkRefusal) and told.code == "INVALID_PARTITIONS"
            is_short = is_short or "add partitions at the source" in reason
            if grow_to is not None and is_short:
                await grow_to(len(region.newest.topics_by_name[TOPIC].partitions))
            answer = await self._ask(DescribeMirror(TOPIC), region)
            if isinstance(answer, MirrorDescription):
                reason = answer.reason
                if answer.record.state in (MirrorState.PENDING_RESTORE, MirrorState.ACTIVE):
                    region.is_restored_from(winner)
                if answer.record.state is MirrorState.ACTIVE:
                    region.is_back()
                    return

    async def describe(self) -> MirrorState | None:
        answer = await self._ask(DescribeMirror(self.topic))
        if not isinstance(answer, MirrorDescription):
            return None
        self.mirror = answer
        return answer.record.state

    async def _until(self, command: Command, done: str, region: Region | None = None) -> Any:
        while True:
            answer = await self._ask(command, region)
            if isinstance(answer, LinkRefusal) and answer.code == done:
                return answer
            if answer is not None and not isinstance(answer, LinkRefusal):
                return answer

    async def ask(self, command: Command) -> Any:
        """The destination."""
        return await self._ask(command)

    async def _ask(self, command: Command, region: Region | None = None) -> Any:
        """Any broker; then the coordinator, if that broker knows it. In the destination, unless it says another."""
        region = region or self._ends.destination
        answer = await self._ask_at(region, self._rng.choice(region.brokers), command)
        if isinstance(answer, Elsewhere):
            at = next(
                one for one in region.brokers if f"{place(one)}:{ADMIN_PORT}" == answer.endpoint
            )
            answer = await self._ask_at(region, at, command)
        if isinstance(answer, Elsewhere):
            answer = None
        if isinstance(answer, Topics):
            answer = next((one.refusal for one in answer.topics if one.refusal), answer)
        self._world.note("operator", f"{type(command).__name__} -> {_brief(answer)}")
        await self._world.sleep(self._rng.randrange(10, 300))
        return answer

    async def _ask_at(self, region: Region, number: BrokerId, command: Command) -> Any:
        node = region.node(number)
        if not node.up:
            return None
        self._last_ticket += 1
        promise, life = Promise(), node.life
        node.ask(self._last_ticket, AdminAsked(self._last_ticket, command), promise.settle)
        self._world.within(self.answer_ms, promise)
        while not promise.done and node.alive and node.life == life:
            await self._world.sleep(LOOK_MS)
        return promise.value


def _brief(answer: Any) -> str:
    if isinstance(answer, LinkRefusal):
        return f"{answer.code} {answer.because}"
    if isinstance(answer, MirrorDescription):
        return f"{answer.record.state.value} {answer.reason}"
    return "no answer" if answer is None else type(answer).__name__
