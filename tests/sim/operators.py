"""The operator: makes topics, a link and its mirror, changes things under faults, in the end promotes or fails over.

Asks again until the answer is the wanted one, as a person with a script does; an answer may be lost with its process.
"""

from typing import Any

from brokers.errors import KafkaError
from brokers.wire.message import Message
from brokers.wire.messages.partition_offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from brokers.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
)
from linker.answers import Topics
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    Command,
    CreateLink,
    CreateMirror,
    DescribeMirror,
)
from linker.errors import LinkRefusal
from linker.events import AdminAsked
from linker.records.mirror_state import MirrorState
from tests.sim.clients import Client
from tests.sim.evidence import Region
from tests.sim.federation import LINK, SOURCE, TOPIC, Federation
from tests.sim.nodes import Node
from tests.sim.storms import Storm
from tests.sim.world import Promise

CREATE_TOPICS, DELETE_RECORDS, CREATE_PARTITIONS = 19, 21, 37
ANSWER_MS = 15_000
GIVEN_UP_MAX = 5  # promotions, until the operator pauses the producers
LINK_CONFIGS = {
    "bootstrap.servers": f"{SOURCE}:9092",
    "consumer.offset.sync.enable": "true",
    "consumer.offset.sync.ms": "1000",
    "topic.config.sync.ms": "1000",
    "availability.check.ms": "3000",
    "request.timeout.ms": "2000",
    "retry.backoff.ms": "50",
    "replica.fetch.max.bytes": "65536",
    "source.fencing.enable": "false",  # producers go on at the source, whatever becomes of the mirror
}
RESUME_LINK = AlterLinkConfigs(name=LINK, sets={"cluster.link.paused": "false"})


class Operator:
    """One person who sees both regions."""

    def __init__(self, federation: Federation, storm: Storm) -> None:
        self._federation = federation
        self._world = federation.world
        self._scenario = federation.scenario
        self._statements = federation.statements
        self._storm = storm
        self._rng = federation.world.rng("operator")
        self._clients = {
            region: Client(federation.world, federation.network, f"operator-{region}")
            for region in federation.nodes
        }
        self._last_ticket = 0
        self._meddled = Promise()

    # --- asking ---

    async def _kafka(self, node: Node, key: int, request: Message) -> Any:
        client = self._clients[node.region]
        if not client.connected and not await client.connect(node):
            await self._world.sleep(200)
            return None
        return await client.ask(key, request)

    async def _link(self, command: Command) -> Any:
        """The answer of the destination's administration; None when there was none."""
        node = self._federation.destination
        if not node.up:
            await self._world.sleep(200)
            return None
        self._last_ticket += 1
        promise = Promise()
        node.ask(self._last_ticket, AdminAsked(self._last_ticket, command), promise.settle)
        answer = await self._world.within(ANSWER_MS, promise)
        if isinstance(answer, Topics):
            answer = next((one.refusal for one in answer.topics if one.refusal), answer)
        self._world.note("operator", f"{type(command).__name__} -> {_brief(answer)}")
        await self._world.sleep(self._rng.randrange(10, 200))
        return answer

    async def _until(self, command: Command, done: str) -> Any:
        """Ask until it is done; a refusal by the code `done` says that an earlier attempt did it."""
        while True:
            answer = await self._link(command)
            if answer is not None and not isinstance(answer, LinkRefusal):
                return answer
            if answer is not None and answer.code == done:
                return answer

    async def describe(self) -> None:
        """Hear about the mirror."""
        answer = await self._link(DescribeMirror(TOPIC))
        if answer is not None and not isinstance(answer, LinkRefusal):
            self._statements.mirror = answer

    async def watch(self) -> None:
        """Keep hearing about the mirror; what was paused by a request that seemed to fail is resumed."""
        while True:
            await self.describe()
            shown = self._statements.mirror.shown if self._statements.mirror else None
            if shown is MirrorState.PAUSED and not self._statements.ending_asked:
                await self._link(self._verb("resume"))
            if shown is MirrorState.LINK_PAUSED:
                await self._link(RESUME_LINK)
            await self._world.sleep(500)

    # --- the beginning ---

    async def prepare(self) -> None:
        """A topic, before the faults begin."""
        configs = {
            "internal.segment.bytes": self._scenario.segment_bytes,
            "retention.bytes": self._scenario.retention_bytes,
        }
        topic = CreatableTopic(
            name=TOPIC,
            num_partitions=self._scenario.partitions,
            replication_factor=1,
            configs=[
                CreatableTopicConfig(name=name, value=str(value)) for name, value in configs.items()
            ],
        )
        answer = None
        while answer is None:
            request = CreateTopicsRequest(topics=[topic])
            answer = await self._kafka(self._federation.source, CREATE_TOPICS, request)
        assert answer.topics[0].error_code == 0, answer
        self._statements.partition_count = self._scenario.partitions

    async def mirror(self) -> None:
        """A link and a mirror of the topic, sooner or later."""
        await self._world.sleep(self._rng.choice((0, 0, 2_000)))
        configs = {**LINK_CONFIGS, "mirror.hole.policy": self._scenario.hole_policy}
        if self._scenario.latest:
            configs["mirror.start.offset.spec"] = "latest"
        await self._until(CreateLink(name=LINK, configs=configs), "CLUSTER_LINK_EXISTS")
        self._statements.mirror_asked = True
        await self._until(CreateMirror(link=LINK, mirror_topic=TOPIC), "TOPIC_ALREADY_EXISTS")
        while self._statements.mirror is None or not self._statements.mirror.lags:
            await self.describe()

    # --- under faults ---

    def begin_meddling(self) -> None:
        """Change things while they run, until the ending."""
        self._meddled = self._world.spawn(self._meddle())

    async def _meddle(self) -> None:
        acts = [self._trim] if self._scenario.trims else []
        acts += [self._grow] if self._scenario.grows else []
        acts += [self._pause_mirror, self._pause_link] if self._scenario.pauses else []
        while acts and not self._statements.ending_asked and not self._federation.stopping:
            await self._world.sleep(self._rng.randrange(300, 3_000))
            await self._rng.choice(acts)()

    async def _trim(self) -> None:
        """Delete records at the source, which the mirror may not have yet.

        Where producers are idempotent only what they know to be stored: whoever begins above the deleted, as a mirror
        may, can't tell that a batch below was stored, and a retry of it is out of order there, as in Kafka.
        """
        partition = self._rng.choice(self._federation.partitions())
        if self._scenario.idempotent:
            held = self._statements.told_end(SOURCE, partition)
        else:
            held = Region(SOURCE, self._federation.source.disk).end(partition)
        offset = self._rng.randrange(0, held + 1)
        self._statements.tries_trim(SOURCE, partition, offset)
        asked = DeleteRecordsPartition(partition_index=partition.partition, offset=offset)
        topic = DeleteRecordsTopic(name=TOPIC, partitions=[asked])
        request = DeleteRecordsRequest(topics=[topic], timeout_ms=1_000)
        await self._kafka(self._federation.source, DELETE_RECORDS, request)

    async def _grow(self) -> None:
        if self._statements.partition_count < self._scenario.partitions + 2:
            await self._grow_to(self._federation.source, self._statements.partition_count + 1)

    async def _grow_to(self, node: Node, count: int) -> bool:
        """Whether the topic has so many partitions now; that it has as many already is an error to Kafka."""
        topic = CreatePartitionsTopic(name=TOPIC, count=count, assignments=None)
        answer = await self._kafka(node, CREATE_PARTITIONS, CreatePartitionsRequest(topics=[topic]))
        done = (KafkaError.NONE, KafkaError.INVALID_PARTITIONS)
        if answer is None or answer.results[0].error_code not in done:
            return False
        self._statements.partition_count = count
        return True

    async def _pause_mirror(self) -> None:
        await self._link(ChangeMirrors(verb="pause", link=LINK, topics=(TOPIC,)))
        await self._world.sleep(self._rng.randrange(100, 3_000))
        await self._until(self._verb("resume"), "INVALID_REQUEST")

    async def _pause_link(self) -> None:
        await self._link(AlterLinkConfigs(name=LINK, sets={"cluster.link.paused": "true"}))
        await self._world.sleep(self._rng.randrange(100, 3_000))
        await self._until(RESUME_LINK, "CLUSTER_LINK_NOT_FOUND")

    def _verb(self, verb: str) -> Command:
        return ChangeMirrors(verb=verb, link=LINK, topics=(TOPIC,), timeout_ms=5_000)

    # --- the ending ---

    async def end(self, how: str) -> None:
        """Move everything to the destination: promote, failover, or failover after the source has gone for good."""
        self._statements.ending_asked = True
        await self._meddled
        if how == "disaster":
            self._storm.lose(self._federation.source)
        if how == "promote":
            self._statements.planned = self._rng.random() < 0.5
        while self._statements.planned and not self._federation.drained:
            await self._world.sleep(100)
        while self._state is not MirrorState.STOPPED:
            failed = self._state is MirrorState.FAILED
            verb = "promote" if how == "promote" and not failed else "failover"
            if verb == "promote" and self._state is MirrorState.PAUSED:
                verb = "resume"  # a hole came in between
            await self._link(self._verb(verb))
            await self._world.sleep(500)
            await self.describe()
            self._statements.paused |= self._given_up >= GIVEN_UP_MAX
        await self._complete()
        self._statements.moved = True
        self._world.note("operator", "moves the clients")

    @property
    def _given_up(self) -> int:
        """Promotions that found no end, as producers go on: the README of links says to pause them then."""
        mirror = self._statements.mirror
        errors = mirror.record.transition_errors if mirror is not None else ()
        return sum(error.because.startswith("promote gave up") for error in errors)

    async def _complete(self) -> None:
        """Partitions that the mirror had not followed yet are made here."""
        cut = self._statements.cut
        assert cut is not None
        wanted = self._statements.partition_count
        while len(cut) < wanted and not await self._grow_to(self._federation.destination, wanted):
            await self._world.sleep(200)

    @property
    def _state(self) -> MirrorState | None:
        mirror = self._statements.mirror
        return mirror.record.state if mirror is not None else None


def _brief(answer: Any) -> str:
    if isinstance(answer, LinkRefusal):
        return f"{answer.code}: {answer.because}"
    if hasattr(answer, "shown"):
        return f"{answer.shown.value} {answer.reason}"
    return "no answer" if answer is None else type(answer).__name__
