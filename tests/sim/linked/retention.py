"""One run of one seed: a source whose retention runs ahead of its mirror; half of the links ask it to wait.

While a hold is known to a broker, within its bounds, it removes nothing that the mirror does not have; beyond them, and
once the mirror has all, retention goes on as without it. DeleteRecords removes what is held, too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from brokers.ids import BrokerId, Offset, TopicPartition
from brokers.region import PartitionState
from brokers.wire.messages.partition_offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from linker.commands import ChangeMirrors
from linker.records.retention_hold import HOLD_KIND
from tests.sim.disks import Disk
from tests.sim.evidence import base_offset, log_start, segments
from tests.sim.linked.federation import MirrorBroken, Region
from tests.sim.linked.runs import Adjust, LinkedRun
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.nodes import Node
from tests.sim.regions.admins import DELETE_RECORDS, Admin, brief
from tests.sim.regions.cluster import TOPIC, MakeNode
from tests.sim.regions.routes import Routes
from tests.sim.world import Promise

RETENTION_BYTES = 3_000
SEGMENT_BYTES = 1_500
LARGE, SMALL = 1 << 30, 3_000  # bounds of holds
SLACK_BYTES = 3_000  # what may be appended between two looks
LOOK_MS = 100
ROUNDS_MS = 6_000  # some rounds of retention, and of what mirrors tell of themselves


class RetainingAdmin(Admin):
    """The topic's logs are short."""

    def _settings(self) -> Iterator[tuple[str, str]]:
        yield from super()._settings()
        yield "retention.bytes", str(RETENTION_BYTES)


@dataclass(frozen=True)
class Look:
    """At one replica of the source. `unmirrored`: bytes of segments that the mirror lacks some of."""

    log_start: Offset
    is_held: bool
    mirrored: Offset
    unmirrored: int


class RetentionRun(LinkedRun):
    """`asks`: the share of links that ask for holds."""

    asks = 0.5

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Adjust = lambda scenario: scenario,
        make_node: MakeNode = Node,
    ) -> None:
        super().__init__(
            seed,
            show,
            adjust=lambda scenario: adjust(_retaining(scenario)),
            make_node=make_node,
            ending="retention",
        )
        self._rng = self.world.rng("retention")
        self.holds = self._rng.random() < self.asks
        self.max_bytes = self._rng.choice((LARGE, LARGE, SMALL))
        self._deletes = self._rng.random() < 0.4
        is_bounded = self.holds and self.max_bytes == SMALL
        self.stays_paused = (
            is_bounded and self._rng.random() < 0.6
        )  # from then on, what is beyond goes
        if self.holds:
            self.operator.more = {
                "retention.hold.enable": "true",
                "retention.hold.max.bytes": str(self.max_bytes),
            }
        self.admins[0] = RetainingAdmin(self.federation.source)
        self.readers = []
        self._looks: dict[tuple[BrokerId, TopicPartition], Look] = {}
        self._deleted: dict[TopicPartition, Offset] = {}  # asked for with DeleteRecords
        self._quiet_since: int | None = None
        self.let_go = 0  # offsets that retention removed before the mirror had them

    async def _end(self, begun: Promise) -> None:
        """The mirror is paused now and then, and falls behind."""
        self.world.spawn(self._look_on())
        await begun
        for left in reversed(range(self._rng.choice((1, 2)))):
            await self.world.sleep(self._rng.randrange(500, 3_000))
            if self._deletes:
                await self._delete_records()
            await self._change("pause")
            await self.world.sleep(self._rng.randrange(2_000, 9_000))
            if self.stays_paused and not left:
                await self.world.sleep(6_000)
            if left or not self.stays_paused:
                await self._change("resume")

    async def _change(self, verb: str) -> None:
        state = {"pause": "PAUSED", "resume": "ACTIVE"}[verb]
        while True:
            await self.operator.ask(
                ChangeMirrors(verb=verb, link=self.operator.link, topics=(TOPIC,))
            )
            found = await self.operator.describe()
            if found is not None and found.value == state:
                return

    async def _delete_records(self) -> None:
        source = self.federation.source
        partition = self._rng.choice(source.partitions())
        offset = self._rng.randrange(0, source.high_watermark(partition) + 1)
        self._deleted[partition] = max(offset, self._deleted.get(partition, 0))
        asked = DeleteRecordsPartition(partition_index=partition.partition, offset=offset)
        request = DeleteRecordsRequest(
            topics=[DeleteRecordsTopic(name=TOPIC, partitions=[asked])], timeout_ms=2_000
        )
        routes = Routes(source, "deleter")
        await routes.refresh(TOPIC)
        answer = await routes.ask_leader(partition, DELETE_RECORDS, request)
        said = "no answer" if answer is None else brief(answer)
        self.world.note("deleter", f"delete {partition} up to {offset}: {said}")

    # --- looking on ---

    async def _look_on(self) -> None:
        while True:
            for number, node in self.federation.source.nodes.items():
                for partition in self.federation.source.partitions():
                    self._look(number, node, partition)
            await self.world.sleep(LOOK_MS)

    def _look(self, number: BrokerId, node: Node, partition: TopicPartition) -> None:
        key = (number, partition)
        state = node.broker.view.partition_state(partition) if node.is_ready else None
        if state is None or not state.online:
            self._looks.pop(key, None)
            return
        trims = self.federation.source.statements.trims
        trims[partition] = max(state.log_start_offset, trims.get(partition, 0))
        mirrored = self.federation.destination.high_watermark(partition)
        before = self._looks.get(key)
        if before is not None and state.log_start_offset > before.log_start:
            self._judge_removal(node, partition, before, state, mirrored)
        self._looks[key] = Look(
            state.log_start_offset,
            self._is_held(node),
            mirrored,
            _bytes_from(state, mirrored),
        )

    def _is_held(self, node: Node) -> bool:
        documents = node.broker.view.image.documents
        return any(kind == HOLD_KIND for kind, _ in documents)

    def _judge_removal(
        self,
        node: Node,
        partition: TopicPartition,
        before: Look,
        state: PartitionState,
        mirrored: Offset,
    ) -> None:
        removed = state.log_start_offset
        if removed <= max(mirrored, self._deleted.get(partition, 0)):
            return
        self.let_go += removed - mirrored
        is_within = before.unmirrored + SLACK_BYTES <= self.max_bytes
        if before.is_held and self._is_held(node) and is_within:
            raise MirrorBroken(
                f"unheld: {node.place} removes {partition} up to {removed}, the mirror has {mirrored}"
            )

    # --- the verdict ---

    def _missing(self) -> list[str]:
        """Nobody writes any more; then some rounds of retention."""
        if left := super()._missing():
            self._quiet_since = None
            return left
        self._quiet_since = self._quiet_since or self.world.now
        wait = self._quiet_since + ROUNDS_MS - self.world.now
        return [f"{wait} ms are to pass"] if wait > 0 else []

    @property
    def mirrored(self) -> list[tuple[Region, Region]]:
        return [] if self.stays_paused else [self.federation.first.regions]

    def _judge_mirrors(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        super()._judge_mirrors(disks)
        if self.holds and not any(kind == HOLD_KIND for kind, _ in self._documents):
            raise MirrorBroken("the link has asked for holds, and there are none")
        for finding in self._kept_too_long():
            raise MirrorBroken(f"held for ever: {finding}")

    @property
    def _documents(self) -> list[tuple[str, str]]:
        return list(self.federation.source.newest.documents)

    def _kept_too_long(self) -> Iterator[str]:
        """Each log is as short as retention makes it, but for what the mirror lacks, up to the bound.

        A follower whose segments begin elsewhere begins in the middle of one, where its leader's log starts.
        """
        most = RETENTION_BYTES + (self.max_bytes if self.stays_paused else 0)
        for number, node in self.federation.source.nodes.items():
            for partition in self.federation.source.partitions():
                names = segments(node.disk, partition)
                sizes = [node.disk.size(f"{partition}/{name}") for name in names]
                start = log_start(node.disk, partition, names)
                is_inside = any(base_offset(name) < start for name in names[:1])
                if sum(sizes[1:]) >= most + is_inside * SEGMENT_BYTES:
                    yield f"broker {number} has {sizes} bytes of {partition}"


def _retaining(scenario: LinkedScenario) -> LinkedScenario:
    return (
        scenario.pair()
        .unlimited()
        .everywhere(
            groups=0, meddles=False, trims=False, wipe_mean_ms=0, segment_bytes=SEGMENT_BYTES
        )
    )


def _bytes_from(state: PartitionState, offset: Offset) -> int:
    """Of the segments that hold anything from `offset` on."""
    ends = [*state.segment_bases[1:], state.log_end_offset]
    sizes = zip(ends, state.segment_sizes, strict=True)
    return sum(size for end, size in sizes if end > offset)
