"""What an operator changes of a link that is there: it is paused, gets another secret, or makes mirrors by itself.

Also: the source's half is made again, a topic that another region took over is written here again, and a mirror is
deleted and made anew.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from brokers.ids import BrokerId, TopicPartition
from brokers.metadata.commands.mirror_commands import superseder_of
from brokers.metadata.image.image import Image, TopicImage
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from brokers.wire.messages.topics import DeleteTopicsRequest
from linker.answers import Configs, LinkDescription
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DescribeLink,
    SetLinkSecret,
    UnfenceTopics,
)
from linker.config import parse
from linker.errors import LinkError
from linker.records.link_secret import is_secret
from linker.records.link_state import LINK_KIND, LinkRecord, LinkState, decode_link
from linker.records.mirror_state import MirrorState
from tests.sim.evidence import Batch, batches
from tests.sim.linked import verdict
from tests.sim.linked.cancellations import CancellingOperator
from tests.sim.linked.federation import MirrorBroken, Region
from tests.sim.linked.operators import LOOK_MS
from tests.sim.regions.admins import Admin
from tests.sim.regions.checks import end_of
from tests.sim.regions.cluster import TOPIC
from tests.sim.regions.routes import Routes

Logs = Mapping[str, verdict.Disks]  # by region
OTHERS = ("extra1", "extra2")  # topics that no producer writes to
OTHERS_ADMITTED = {
    "auto.create.mirror.topics.enable": "true",
    "auto.create.mirror.topics.filters": '{"topicFilters":[{"name":"extra","patternType":"PREFIXED",'
    '"filterType":"INCLUDE"}]}',
}
PRODUCE, DELETE_TOPICS = 0, 20
DELETE_MS = 40_000  # a region without a controller answers after 30 s
SETTLED_MS = 500  # what was under way when a link was paused has come
WATCHED_MS = 1_000  # how long nothing comes


class LinkChanger(CancellingOperator):
    """One person who sees both regions."""

    former_secret = secret = ""

    async def alter(self, region: Region, sets: dict[str, str]) -> None:
        """The link's configuration; asks until it is told that it is so."""
        command = AlterLinkConfigs(name=self.link, sets=sets)
        while not isinstance(await self._ask(command, region), Configs):
            pass

    def _record_in(self, region: Region) -> LinkRecord:
        half = self._half_of(region.newest)
        assert half is not None
        return half

    async def _change_mirror(self, verb: str, state: MirrorState) -> None:
        while await self.describe() is not state:
            await self._ask(ChangeMirrors(verb=verb, link=self.link, topics=(TOPIC,)))

    async def _while(self, is_so: Callable[[], bool]) -> None:
        while is_so():
            await self._world.sleep(LOOK_MS)

    # --- paused ---

    async def pause_link(self) -> None:
        """In the mirror's region, and then where the source has a half of it: nothing is copied meanwhile."""
        halves = [self._ends.destination]
        halves += [self._ends.source] if self._ends.source_dials else []
        for region in halves:
            await self.alter(region, {"cluster.link.paused": "true"})
            await self._while(lambda region=region: not self._knows_pause(region))
            await self._world.sleep(SETTLED_MS)
            with self._nothing_placed(f"the link is paused in {region.region}"):
                await self._world.sleep(WATCHED_MS)
            await self.alter(region, {"cluster.link.paused": "false"})

    @contextmanager
    def _nothing_placed(self, why: str) -> Iterator[None]:
        """By a leader. Its followers may fetch what it has, and what no follower has yet may go with it."""
        mirror = self._ends.destination
        judge = mirror.on_batch

        def refuse(number: BrokerId, partition: TopicPartition, batch: Batch) -> None:
            judge(number, partition, batch)
            state = mirror.node(number).broker.view.partition_state(partition)
            if state is not None and state.is_leader:
                raise MirrorBroken(f"{why}, and n{number} places {partition}@{batch.base_offset}")

        mirror.on_batch = refuse
        yield
        mirror.on_batch = judge

    def _knows_pause(self, region: Region) -> bool:
        return self._is_everywhere(region, lambda half: half is not None and _is_paused(half))

    def _is_everywhere(self, region: Region, is_so: Callable[[LinkRecord | None], bool]) -> bool:
        """Every broker is there, and has a record, or none, of which this is so."""
        nodes = [region.node(number) for number in region.brokers]
        return all(node.is_ready and is_so(self._half_of(node.broker.view.image)) for node in nodes)

    def _half_of(self, image: Image) -> LinkRecord | None:
        document = image.documents.get((LINK_KIND, self.link))
        return None if document is None else decode_link(self.link, document.body)

    # --- another secret ---

    async def renew_secret(self) -> None:
        """The destination makes it, and shows it once: an answer that was lost is followed by another secret."""
        self.former_secret = self._record_in(self._ends.source).secret
        self.secret = (await self._until(SetLinkSecret(self.link), "")).secret
        await self._give(self.secret)

    async def _give(self, secret: str) -> None:
        command = SetLinkSecret(self.link, secret)
        while not isinstance(await self._ask(command, self._ends.source), LinkDescription):
            pass

    async def remake_source_half(self) -> None:
        """It is deleted, and made again with another secret: nothing is copied in between."""
        source = self._ends.source
        former = self._record_in(source)
        while self._half_of(source.newest) is not None:
            await self._ask(DeleteLink(name=self.link, force=True), source)
        await self._while(lambda: not self._is_everywhere(source, lambda half: half is None))
        await self._world.sleep(SETTLED_MS)
        with self._nothing_placed("the source's half is deleted"):
            await self._world.sleep(WATCHED_MS)
        self.former_secret = former.secret
        self.secret = (await self._until(SetLinkSecret(self.link), "")).secret
        anew = CreateLink(name=self.link, configs=former.configs, secret=self.secret)
        while self._half_of(source.newest) is None:
            await self._ask(anew, source)

    async def prove_secret(self) -> None:
        """The former one is not taken. A source whose destination has made another one since is refused when it dials,
        and says so; with that one it is let in."""
        for finding in self.wrong_secrets({}):
            raise MirrorBroken(finding)
        source = self._ends.source
        await self._give_in_vain(self.former_secret)
        self.former_secret = self.secret
        self.secret = (await self._until(SetLinkSecret(self.link), "")).secret
        await self.alter(source, {"cluster.link.paused": "true"})
        await self.alter(source, {"cluster.link.paused": "false"})
        await self._described(LinkState.FAILED, LinkError.AUTHENTICATION_ERROR)
        await self._give(self.secret)
        await self._described(LinkState.ACTIVE, LinkError.NO_ERROR)

    async def _give_in_vain(self, secret: str) -> None:
        """It is stored only where the destination is out of reach, and cannot be asked."""
        while True:
            answer = await self._ask(SetLinkSecret(self.link, secret), self._ends.source)
            if isinstance(answer, LinkDescription):
                await self._give(self.secret)
            elif answer is not None and answer.code == LinkError.AUTHENTICATION_ERROR.value:
                return

    async def _described(self, state: LinkState, error: LinkError) -> None:
        """By the source."""
        while True:
            found = await self._ask(DescribeLink(self.link), self._ends.source)
            if not isinstance(found, LinkDescription):
                continue
            if (found.state, found.error) == (state.value, error.value):
                return

    def wrong_secrets(self, _: Logs) -> Iterator[str]:
        """What the metadata of both regions has."""
        digest = self._record_in(self._ends.destination).secret_digest
        if not self.secret or self.secret == self.former_secret:
            yield "the destination made no other secret"
        if self._record_in(self._ends.source).secret != self.secret:
            yield "the source has another secret than it was given"
        if not is_secret(digest, self.secret) or is_secret(digest, self.former_secret):
            yield "the destination takes another secret than the one that it showed"

    # --- mirrors that the link makes by itself ---

    async def begin_beside_others(self) -> None:
        """The source has more topics, with a record each."""
        await self.begin()
        for topic in OTHERS:
            await Admin(self._ends.source).make(topic, 1)
            await self._write(TopicPartition(topic, 0), b"once:0:" + topic.encode())

    async def _write(self, partition: TopicPartition, value: bytes) -> None:
        records = build_batch([NewRecord(key=value, value=value)], timestamp=self._world.now)
        data = PartitionProduceData(index=partition.partition, records=records)
        topic = TopicProduceData(name=partition.topic, partition_data=[data])
        request = ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=[topic])
        routes = Routes(self._ends.source, f"writer of {partition}")
        while True:
            answer = await routes.ask_leader(partition, PRODUCE, request)
            if answer is not None:
                if not answer.responses[0].partition_responses[0].error_code:
                    return
                await routes.refresh(partition.topic)

    async def admit_others(self) -> None:
        """By its filters."""
        here = self._ends.destination
        await self.alter(here, OTHERS_ADMITTED)
        for topic in OTHERS:
            while True:
                record = await self.record_of(here, topic)
                if record is not None and record.state is MirrorState.ACTIVE:
                    break

    def unlike_others(self, _: Logs) -> Iterator[str]:
        """The mirrors that the link made have the record that each source has. They may have come after the last look
        at the regions' metadata."""
        for topic in OTHERS:
            place = TopicPartition(topic, 0)
            there, here = (_log_of(region, place) for region in self._ends.regions)
            if not there or [one.data for one in there] != [one.data for one in here]:
                yield f"{topic} has {there}, its mirror {here}"

    async def wait_for_others(self) -> None:
        await self._while(lambda: any(self._empty_others()))

    def _empty_others(self) -> Iterator[str]:
        for topic in OTHERS:
            place = TopicPartition(topic, 0)
            placed = self._ends.destination.newest.partition(place)
            replicas = () if placed is None else placed.replicas
            disks = [self._ends.destination.node(one).disk for one in replicas]
            if not disks or not all(end_of(disk, place) for disk in disks):
                yield topic

    # --- a mirror that is made anew ---

    async def fail_over_for_a_look(self) -> None:
        """The source stays the topic's home; what is written to the mirror meanwhile is of no use."""
        self.fences_source = False
        here = self._ends.destination.statements
        here.loses = here.rewrites = True
        await self.begin()
        await self.end("failover")

    async def make_anew(self) -> None:
        """The topic, which was a mirror, is deleted and mirrored again; by the link itself, where it makes mirrors."""
        here = self._ends.destination
        deleted = here.newest.topics_by_name[TOPIC].id
        routes = Routes(here, "deleter")
        request = DeleteTopicsRequest(topic_names=[TOPIC], timeout_ms=20_000)
        while (topic := here.newest.topics_by_name.get(TOPIC)) and topic.id == deleted:
            await routes.ask_anyone(DELETE_TOPICS, request, timeout_ms=DELETE_MS)
            await self._world.sleep(LOOK_MS)
        here.is_mirror = True
        create = CreateMirror(link=self.link, mirror_topic=TOPIC)
        while await self.describe() is not MirrorState.ACTIVE:
            await self._ask(
                create
            )  # refused where it is being made, or the broker has not heard of the deletion

    # --- a topic that was taken over ---

    @property
    def _old_primary(self) -> TopicImage:
        return self._ends.source.newest.topics_by_name[TOPIC]

    async def fail_over_and_fence(self) -> None:
        """The old primary has heard that its topic was taken over."""
        await self.begin()
        await self.end("failover")
        await self._while(lambda: superseder_of(self._old_primary.writer) is None)

    async def unfence(self) -> None:
        while self._old_primary.writer is not None:
            await self._ask(UnfenceTopics((TOPIC,)), self._ends.source)
            await self._world.sleep(LOOK_MS)

    def fenced_again(self, _: Logs) -> Iterator[str]:
        """The other region says on each new stream that it took the topic over, and that counts no more."""
        if writer := self._old_primary.writer:
            yield f"{TOPIC} of {self._ends.source.region} is read-only again: {writer}"
        assert self.mirror is not None
        assert self.mirror.record.cut is not None
        cuts = dict(enumerate(self.mirror.record.cut.partitions))
        for partition in self._ends.source.partitions():
            stored = [
                one.place.offset
                for one in self._ends.source.statements.acknowledged
                if one.place.partition == partition
            ]
            if max(stored, default=-1) < cuts[partition.partition].offset:
                yield f"nothing was written to {partition} beyond the cut"


def _is_paused(half: LinkRecord) -> bool:
    return parse(half.configs).paused


def _log_of(region: Region, partition: TopicPartition) -> list[Batch]:
    """Of its first replica; all are equal."""
    placed = region.newest.partition(partition)
    return [] if placed is None else batches(region.node(placed.replicas[0]).disk, partition)
