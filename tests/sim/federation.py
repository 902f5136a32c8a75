"""One run's federation: two regions of one node each on simulated disks, their network, and the evidence about them."""

from typing import Protocol

from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.ids import TopicPartition
from tests.sim import checking
from tests.sim.disks import Disk
from tests.sim.evidence import Chronicle, Region
from tests.sim.network import Network
from tests.sim.nodes import Node
from tests.sim.scenario import Crashes, Scenario
from tests.sim.statements import Statements
from tests.sim.world import World

SOURCE, DESTINATION = "west", "east"
LINK = "west-to-east"
TOPIC = "orders"


class Drainable(Protocol):
    """A producer, as the operator sees it."""

    @property
    def drained(self) -> bool: ...


class Federation:
    """`west` is linked to `east`. Clients live in `home`: the source until the operator moves them."""

    def __init__(self, world: World, scenario: Scenario) -> None:
        self.world = world
        self.scenario = scenario
        self.network = Network(world, scenario)
        self.evidence = checking.Evidence(
            statements=Statements(),
            chronicle=Chronicle(),
            regions={},
            source=SOURCE,
            destination=DESTINATION,
            durable=scenario.crashes is not Crashes.UNSYNCED,
            retains=scenario.retention_bytes < 0,
        )
        self.nodes: dict[str, Node] = {}
        for number, region in enumerate((SOURCE, DESTINATION), 1):
            self.nodes[region] = self._node(region, number)
        for node in self.nodes.values():
            node.streams.directory = {f"{name}:9092": peer for name, peer in self.nodes.items()}
        self.stopping = False  # clients finish what they have
        self.producers: list[Drainable] = []

    def _node(self, region: str, number: int) -> Node:
        disk = Disk(lambda path, data: self._witness(region, path, data))
        self.evidence.regions[region] = Region(region, disk)
        config = settings(region, number, self.scenario)
        return Node(self.world, self.network, self.scenario, region, config, disk)

    def _witness(self, region: str, path: str, data: bytes) -> None:
        for partition, batch in self.evidence.chronicle.witness(region, path, data):
            checking.check_write(self.evidence, region, partition, batch)

    @property
    def statements(self) -> Statements:
        return self.evidence.statements

    @property
    def source(self) -> Node:
        return self.nodes[SOURCE]

    @property
    def destination(self) -> Node:
        return self.nodes[DESTINATION]

    @property
    def home(self) -> Node:
        """Where producers and groups live now."""
        return self.destination if self.statements.moved else self.source

    @property
    def holding(self) -> bool:
        """Producers finish what they have and begin nothing."""
        stand_still = self.statements.planned or self.statements.paused
        return self.stopping or (stand_still and not self.statements.moved)

    @property
    def drained(self) -> bool:
        """Whether no producer has anything left to send."""
        return all(producer.drained for producer in self.producers)

    def partitions(self) -> list[TopicPartition]:
        """Those that the topic has, as the operator knows."""
        return [TopicPartition(TOPIC, index) for index in range(self.statements.partition_count)]


def settings(region: str, number: int, scenario: Scenario) -> BrokerConfig:
    """Small numbers, so that rolls, snapshots and checkpoints come often."""
    synced = {"log.flush.interval.messages": 1} if scenario.crashes is Crashes.POWER else {}
    return from_settings(
        {
            "node.id": number,
            "log.dirs": "data",
            "cluster.id": region,
            "listeners": f"PLAINTEXT://{region}:9092",
            "auto.create.topics.enable": False,
            "offsets.topic.num.partitions": 2,
            "group.initial.rebalance.delay.ms": 100,
            "group.min.session.timeout.ms": 1_000,
            "log.retention.check.interval.ms": 1_500,
            "log.segment.delete.delay.ms": 2_000,
            "replica.high.watermark.checkpoint.interval.ms": 2_000,
            "log.index.interval.bytes": 200,
            "metadata.log.max.record.bytes.between.snapshots": 6_000,
            **synced,
        }
    )
