"""Two or three regions of several nodes each on one network; `west` is linked to `east`, and either to `north`, or
`north` to `east`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import permutations

from brokers.ids import OFFSET_MAX, OFFSETS_TOPIC, BrokerId, LeaderEpoch, Offset, TopicPartition
from brokers.metadata.image.image import Image
from linker.records.mirror_record import MIRROR_KIND, Cut, decode_mirror
from linker.records.mirror_state import MirrorState
from tests.sim.disks import Disk
from tests.sim.evidence import Batch, batches, commits, folder_of, parse
from tests.sim.linked.names import SAME, Names
from tests.sim.linked.takeovers import Takeovers, ends_of
from tests.sim.network import Network
from tests.sim.nodes import Node
from tests.sim.regions.cluster import DATA_PORT, LINK_PORT, TOPIC, Cluster, MakeNode, place
from tests.sim.regions.scenario import RegionScenario
from tests.sim.world import World

SOURCE, DESTINATION, THIRD = "west", "east", "north"
FIRST_OF = {SOURCE: 1, DESTINATION: 21, THIRD: 41}  # the number of its first node


OnBatch = Callable[[BrokerId, TopicPartition, Batch], None]


class MirrorBroken(Exception):
    """A mirror holds what its source does not."""


class Topology(Enum):
    """Where the third region is, if there is one."""

    PAIR = "west-east"
    CHAIN = "west-east-north"
    FAN_OUT = "west-east+west-north"
    FAN_IN = "west-east+north-east"


@dataclass
class Mirrored:
    """A topic of `source` that another region mirrors, by the names that it has there."""

    source: "Region"
    names: Names = SAME
    is_mirror: bool = True  # until it is stopped


class Region(Cluster):
    """A region that says what is written to it."""

    def __init__(
        self,
        world: World,
        scenario: RegionScenario,
        make_node: MakeNode,
        region: str,
        network: Network,
    ) -> None:
        self.written: dict[tuple[TopicPartition, Offset], set[bytes]] = {}
        self.covered: dict[TopicPartition, set[tuple[Offset, Offset]]] = {}  # what was ever written
        # By batch, who has written it; None where nobody asks.
        self.holders: dict[tuple[TopicPartition, bytes], set[BrokerId]] | None = None
        # Records of tails that an operator has discarded.
        self.discarded: set[tuple[TopicPartition, Offset, bytes]] = set()
        self.source: Region | None = None
        self.is_mirror = True  # of `source`, until it is stopped
        self.prefixed: dict[str, Mirrored] = {}  # mirrors besides, by their names here
        self.cuts: dict[TopicPartition, Offset] = {}  # where another region took the topic over
        self.takeovers = Takeovers(self.written)
        self._reads_again = False  # what it mirrors, since it was restored
        self._winner: Region | None = None  # it is being restored from
        self._marks: dict[TopicPartition, Offset] = {}
        self._commits: set[tuple[LeaderEpoch, Offset, str, TopicPartition, Offset]] = set()
        self.on_heard: Callable[[], None] = lambda: None  # a batch of any topic, or of the metadata
        # Who judges what is written, once that is known here.
        self.on_batch: OnBatch = lambda number, partition, batch: None
        super().__init__(world, scenario, make_node, Disk, region=region, network=network)
        network.regions.update({place(number): region for number in self.nodes})
        self.statements.is_cut = self.takeovers.cuts_value

    def on_write(self, number: BrokerId, path: str, data: bytes) -> None:
        if (partition := folder_of(path)) is None:
            return
        for batch in parse(data):
            if partition.topic in self.topics and self.evidence.history is not None:
                self._check_compacted(number, partition, batch)
            self.evidence.hear(number, partition, batch)
            self.on_heard()
            if partition.topic == OFFSETS_TOPIC:
                self._check_commits(number, batch)
            elif partition.topic in self.topics:
                self._hear(number, partition, batch)
                self.on_batch(number, partition, batch)

    @property
    def topics(self) -> tuple[str, ...]:
        """That clients write here, or links."""
        return TOPIC, *self.prefixed

    def partitions(self) -> list[TopicPartition]:
        made = self.statements.made
        return [
            TopicPartition(topic, index)
            for topic in self.topics
            for index in range(made.get(topic, 0))
        ]

    def mirror_of(self, topic: str) -> Mirrored | None:
        """What it mirrors under that name; None once it does not."""
        if topic == TOPIC:
            found = None if self.source is None else Mirrored(self.source, SAME, self.is_mirror)
        else:
            found = self.prefixed.get(topic)
        return found if found is not None and found.is_mirror else None

    def stopped(self, topic: str) -> None:
        """It is an ordinary topic from now on."""
        if topic == TOPIC:
            self.is_mirror = False
        else:
            self.prefixed[topic].is_mirror = False

    def has_records_of(self, topic: str, other: "Region") -> None:
        """Its topic has what is written to the one of all clients in another region."""
        if self.evidence.history is not None and other.evidence.history is not None:
            self.evidence.history.is_copied(topic, other.evidence.history, TOPIC)

    def names_from(self, source: "Region") -> Names:
        """Of what it mirrors of that region."""
        found = (each.names for each in self.prefixed.values() if each.source is source)
        return next(found, SAME)

    def _hear(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> None:
        known = self.written.setdefault((partition, batch.base_offset), set())
        is_new = batch.data not in known and self.evidence.history is None
        if is_new and (mirror := self.mirror_of(partition.topic)) is not None:
            self._check(number, mirror, partition, batch)  # else it is a copy of what is here
        known.add(batch.data)
        if self.holders is not None:
            self.holders.setdefault((partition, batch.data), set()).add(number)
        self.covered.setdefault(partition, set()).add((batch.base_offset, batch.next_offset))

    def watch_holders(self) -> None:
        """From now on; what a power cut takes from a disk is not held there any more."""
        self.holders = {}
        for number, node in self.nodes.items():
            node.disk.on_crash = partial(self._lose_power, number)

    def _lose_power(self, number: BrokerId, crash: Callable[[], None]) -> None:
        before = self._stored(number)
        crash()
        assert self.holders is not None
        for lost in before - self._stored(number):
            self.holders[lost].discard(number)

    def _stored(self, number: BrokerId) -> set[tuple[TopicPartition, bytes]]:
        disk, places = self.node(number).disk, self.holders or ()
        return {
            (partition, batch.data)
            for partition in {partition for partition, _ in places}
            for batch in batches(disk, partition)
        }

    def _check(
        self, number: BrokerId, mirror: Mirrored, partition: TopicPartition, batch: Batch
    ) -> None:
        """P2, at each write: the source wrote these bytes at this offset, and has committed them."""
        if self._is_late(number, partition.topic):
            return
        place = mirror.names.there(partition), batch.base_offset
        if batch.data not in mirror.source.written.get(place, ()):
            raise MirrorBroken(
                f"n{number} writes {partition}@{batch.base_offset}, which is not the source's"
            )
        self._check_committed(number, mirror, partition, batch)

    def _check_compacted(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> None:
        """The same by record: the source may have removed some of a batch."""
        history = self.evidence.history
        assert history is not None
        mirror = self.mirror_of(partition.topic)
        if mirror is None or self._is_late(number, partition.topic):
            return
        if history.knows(partition, batch):
            return  # it is a copy of what is here
        if found := history.foreign(partition, batch):
            raise MirrorBroken(f"n{number} writes to {partition} what is not the source's: {found}")
        self._check_committed(number, mirror, partition, batch)

    def follows(self, number: BrokerId, topic: str) -> bool:
        """Whether this is a mirror, as far as a node has heard."""
        return self.mirror_of(topic) is not None and not self._is_late(number, topic)

    def _is_late(self, number: BrokerId, name: str) -> bool:
        """It has not heard yet, and leads nobody: what it takes is never acknowledged."""
        topic = self.node(number).broker.view.image.topics_by_name.get(name)
        return topic is not None and topic.writer is None

    def _check_committed(
        self, number: BrokerId, mirror: Mirrored, partition: TopicPartition, batch: Batch
    ) -> None:
        committed = mirror.source.high_watermark(mirror.names.there(partition))
        if batch.next_offset > committed:
            raise MirrorBroken(
                f"n{number} writes {partition} up to {batch.next_offset}, the source has committed {committed}"
            )

    def _check_commits(self, number: BrokerId, batch: Batch) -> None:
        """P6, at the first write: no group is taken beyond the data here, nor further than its members have asked.

        A replica that comes back gets what was committed while the group stood elsewhere.
        """
        self.look_for_restore()
        for group, partition, offset in commits(batch):
            commit = batch.leader_epoch, batch.base_offset, group, partition, offset
            if commit in self._commits:
                continue
            self._commits.add(commit)
            mirror = self.mirror_of(partition.topic)
            if mirror is None:
                continue
            tried = self.may_stand(group, partition, mirror)
            if offset > tried:
                raise MirrorBroken(
                    f"n{number} commits {offset} of {partition} for {group}, which came to {tried}"
                )
            held = self.high_watermark(partition)
            if offset > held:
                raise MirrorBroken(
                    f"n{number} commits {offset} of {partition} for {group}, the mirror has {held}"
                )

    def will_be_restored_from(self, winner: "Region") -> None:
        self._winner = winner

    def look_for_restore(self) -> None:
        """Its brokers follow the winner before an operator hears of it, and so do its members."""
        if self._winner is None:
            return
        document = self.newest.documents.get((MIRROR_KIND, TOPIC))
        if document is None:
            return
        state = decode_mirror(TOPIC, document.body).state
        if state in (MirrorState.PENDING_RESTORE, MirrorState.ACTIVE):
            self.is_restored_from(self._winner)

    def is_restored_from(self, winner: "Region") -> None:
        """What its members have read beyond the cut is gone; from now on they read what the winner has."""
        self._winner = None
        if self.is_mirror and self.source is winner:
            return
        tried = self.statements.tried
        tried.update({key: min(offset, self._common(key[1])) for key, offset in tried.items()})
        self.is_reversed_to(winner)

    def is_reversed_to(self, winner: "Region") -> None:
        """It has what the winner has, and its members read on here."""
        self.source, self.is_mirror, self._reads_again = winner, True, True

    def _common(self, partition: TopicPartition) -> Offset:
        """Up to where both regions have the same records of what was read here."""
        return OFFSET_MAX if self._reads_again else self.cuts.get(partition, 0)

    def fails_over(self, cut: Cut) -> None:
        """What it has beyond that may be cut from its log."""
        self.takeovers.declare(cut)
        self.statements.was_taken_over(ends_of(cut))

    def is_back(self) -> None:
        """It has been restored: every log has been cut."""
        for partition in self.partitions():
            if (placed := self.newest.partition(partition)) is not None:
                self.statements.is_restored(partition, placed.leader_epoch)

    def was_taken_over(self, cuts: dict[TopicPartition, Offset]) -> None:
        self.cuts, self._reads_again = cuts, False

    def may_stand(
        self, group: str, partition: TopicPartition, mirror: Mirrored | None = None
    ) -> Offset:
        """How far a group may be: as its members came in the source, or here in what both regions have."""
        own = min(self.statements.tried.get((group, partition), 0), self._common(partition))
        if mirror is None:
            assert self.source is not None
            mirror = Mirrored(self.source)
        key = mirror.names.group_there(group), mirror.names.there(partition)
        return max(mirror.source.statements.tried.get(key, 0), own)

    def high_watermark(self, partition: TopicPartition) -> Offset:
        """The highest that any replica knew while it lived."""
        for node in self.nodes.values():
            self._learn(node, partition)
        return self._marks.get(partition, 0)

    def remember_marks(self) -> None:
        """What a node knew when it sent something counts: it may know less when that arrives."""
        for node in self.nodes.values():
            node.streams.on_chunk = partial(self._learn_all, node)

    def _learn_all(self, node: Node) -> None:
        for name in self.topics:
            topic = node.broker.view.image.topics_by_name.get(name)
            for partition in topic.each() if topic is not None else ():
                self._learn(node, partition)

    def _learn(self, node: Node, partition: TopicPartition) -> None:
        state = node.broker.view.partition_state(partition) if node.life else None
        if state is not None:
            self._marks[partition] = max(self._marks.get(partition, 0), state.high_watermark)

    @property
    def newest(self) -> Image:
        """The metadata of whoever has heard most, or had when it ended."""
        images = [node.broker.view.image for node in self.nodes.values() if node.life]
        return max(images, key=lambda image: image.next_offset)

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"{place(number)}:{DATA_PORT}" for number in self.brokers)


@dataclass(frozen=True)
class Ends:
    """The two regions of one link, who dials, and what the link calls topics and groups in its destination."""

    world: World
    source: Region
    destination: Region
    source_dials: bool = False
    names: Names = SAME

    @property
    def topic(self) -> str:
        """The mirror."""
        return self.names.topic(TOPIC)

    @property
    def regions(self) -> tuple[Region, Region]:
        return self.source, self.destination


class LinkedFederation:
    """`scenarios` has each region's, by its name. `first` is the link from `west` to `east`."""

    def __init__(
        self,
        world: World,
        scenarios: Mapping[str, RegionScenario],
        make_node: MakeNode = Node,
        *,
        topology: Topology = Topology.PAIR,
        source_dials: bool = False,
    ) -> None:
        self.world = world
        self.network = Network(world, scenarios[SOURCE])
        self.regions = tuple(
            Region(world, scenario, make_node, name, self.network)
            for name, scenario in scenarios.items()
        )
        self.source, self.destination = self.regions[:2]
        self.destination.source = self.source
        self.third = self.regions[2] if len(self.regions) > 2 else None
        if self.third is not None and topology is not Topology.FAN_IN:
            is_chain = topology is Topology.CHAIN
            self.third.source = self.destination if is_chain else self.source
        if topology is not Topology.FAN_IN:
            for region, other in permutations(self.regions, 2):
                region.has_records_of(TOPIC, other)
        self.first = Ends(world, self.source, self.destination, source_dials)
        self._join()

    def _join(self) -> None:
        """Every node reaches every other, and clients are the same people wherever their topic is mirrored."""
        directory = {
            f"{place(number)}:{port}": node
            for number, node in self.nodes.items()
            for port in (DATA_PORT, LINK_PORT)
        }
        for node in self.nodes.values():
            node.streams.directory = directory
        for region in self.regions[1:]:
            region.statements.idempotent = self.source.statements.idempotent
            if region.source is None:
                continue  # its topic is another one
            region.statements.tried = self.source.statements.tried
            region.statements.trims = self.source.statements.trims

    @property
    def nodes(self) -> dict[BrokerId, Node]:
        return {number: node for region in self.regions for number, node in region.nodes.items()}

    def partitions(self) -> list[TopicPartition]:
        return self.source.partitions()
