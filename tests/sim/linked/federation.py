"""Two regions of several nodes each, `west` linked to `east`, on one network."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from brokers.ids import BrokerId, Offset, TopicPartition
from tests.sim.disks import Disk
from tests.sim.evidence import Batch, folder_of, parse
from tests.sim.network import Network
from tests.sim.nodes import Node
from tests.sim.regions.cluster import DATA_PORT, LINK_PORT, TOPIC, Cluster, MakeNode, place
from tests.sim.regions.weather import RegionWeather, Shape
from tests.sim.world import World

SOURCE, DESTINATION = "west", "east"
FIRST_OF_DESTINATION = 21


class MirrorBroken(Exception):
    """A mirror holds what its source does not."""


class Region(Cluster):
    """A region that says what is written to it."""

    def __init__(
        self,
        world: World,
        weather: RegionWeather,
        make_node: MakeNode,
        region: str,
        network: Network,
    ) -> None:
        self.written: dict[tuple[TopicPartition, Offset], set[bytes]] = {}
        self.source: Region | None = None
        self.is_mirror = True  # of `source`, until it is stopped
        self._marks: dict[TopicPartition, Offset] = {}
        super().__init__(world, weather, make_node, Disk, region=region, network=network)

    def on_write(self, number: BrokerId, path: str, data: bytes) -> None:
        super().on_write(number, path, data)
        partition = folder_of(path)
        if partition is None or partition.topic != TOPIC:
            return
        for batch in parse(data):
            known = self.written.setdefault((partition, batch.base_offset), set())
            if self.source is not None and self.is_mirror and batch.data not in known:
                self._check(number, partition, batch)  # else it is a copy of what is here
            known.add(batch.data)

    def _check(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> None:
        """P2, at each write: the source wrote these bytes at this offset, and has committed them."""
        assert self.source is not None
        topic = self.node(number).broker.view.image.topics_by_name.get(TOPIC)
        if topic is not None and topic.writer is None:
            return  # it has not heard yet, and leads nobody: what it takes is never acknowledged
        if batch.data not in self.source.written.get((partition, batch.base_offset), ()):
            raise MirrorBroken(
                f"n{number} writes {partition}@{batch.base_offset}, which is not the source's"
            )
        committed = self.source.high_watermark(partition)
        if batch.next_offset > committed:
            raise MirrorBroken(
                f"n{number} writes {partition} up to {batch.next_offset}, the source has committed {committed}"
            )

    def high_watermark(self, partition: TopicPartition) -> Offset:
        """The highest that any replica knew while it lived."""
        for node in self.nodes.values():
            self._learn(node, partition)
        return self._marks.get(partition, 0)

    def remember_ends(self) -> None:
        """What a node knew when it ends counts, too: what it sent may arrive later. Call it once storms are there."""
        for node in self.nodes.values():
            node.on_end = partial(self._on_end, node, node.on_end)

    def _on_end(self, node: Node, then: Callable[[], None]) -> None:
        for partition in self.partitions():
            self._learn(node, partition)
        then()

    def _learn(self, node: Node, partition: TopicPartition) -> None:
        state = node.broker.view.partition_state(partition) if node.life else None
        if state is not None:
            self._marks[partition] = max(self._marks.get(partition, 0), state.high_watermark)

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"{place(number)}:{DATA_PORT}" for number in self.brokers)


class LinkedFederation:
    """Both regions have the same weather."""

    def __init__(
        self,
        world: World,
        weather: RegionWeather,
        make_node: MakeNode = Node,
        *,
        source_dials: bool = False,
    ) -> None:
        self.source_dials = source_dials
        self.world = world
        self.weather = weather
        self.network = Network(world, weather)
        self.source = Region(world, weather, make_node, SOURCE, self.network)
        self.destination = Region(
            world, _of_destination(weather), make_node, DESTINATION, self.network
        )
        self.destination.source = self.source
        self.destination.testimony.idempotent = self.source.testimony.idempotent
        directory = {
            f"{place(number)}:{port}": node
            for number, node in self.nodes.items()
            for port in (DATA_PORT, LINK_PORT)
        }
        for node in self.nodes.values():
            node.streams.directory = directory

    @property
    def regions(self) -> tuple[Region, Region]:
        return self.source, self.destination

    @property
    def nodes(self) -> dict[BrokerId, Node]:
        return {**self.source.nodes, **self.destination.nodes}

    def partitions(self) -> list[TopicPartition]:
        return self.source.partitions()


def _of_destination(weather: RegionWeather) -> RegionWeather:
    shape = weather.shape
    there = Shape(shape.controllers, shape.brokers, shape.combined, FIRST_OF_DESTINATION)
    return replace(weather, shape=there)
