"""One run's region: its nodes on simulated disks, their network, and the evidence about them."""

from collections.abc import Callable
from random import Random
from typing import Any
from uuid import UUID

from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.config.endpoints import Address
from brokers.events import Listener
from brokers.ids import BrokerId, TopicPartition
from brokers.storage.cleaning.log_cleaning import LogCleaning
from tests.sim.disks import Disk, Witness
from tests.sim.network import Network
from tests.sim.nodes import Node
from tests.sim.regions import checking
from tests.sim.regions.racks import far_brokers, placement_of, rack_of
from tests.sim.regions.scenario import RegionScenario, Shape
from tests.sim.regions.statements import RegionStatements
from tests.sim.scenario import Crashes
from tests.sim.world import World

REGION = "west"
TOPIC = "orders"
DATA_PORT, CONTROLLER_PORT, LINK_PORT, ADMIN_PORT = 9092, 9093, 9094, 9095

MakeNode = Callable[..., Node]
MakeDisk = Callable[[Witness, UUID], Disk]


class Cluster:
    """`make_node` and `make_disk` are other than the real ones where a bug is planted."""

    def __init__(
        self,
        world: World,
        scenario: RegionScenario,
        make_node: MakeNode = Node,
        make_disk: MakeDisk = Disk,
        *,
        region: str = REGION,
        network: Network | None = None,
    ) -> None:
        self.world = world
        self.scenario = scenario
        self.region = region
        self.network = network or Network(world, scenario)
        self.statements = RegionStatements(
            region,
            is_compacted=scenario.compaction is not None,
            never_in_sync=_lasting_observers(scenario),
        )
        self.evidence = checking.Evidence(self.statements)
        self.evidence.judge_compaction(scenario.compaction)
        self.stopping = False  # clients finish what they have
        self.reseating = False  # an operator changes who votes, or may have
        self._rng: Random = world.rng(self.name("cluster"))
        self.nodes: dict[BrokerId, Node] = {
            number: self._node(number, make_node, make_disk) for number in scenario.shape.numbers
        }
        self.brokers = [number for number in self.nodes if scenario.shape.is_broker(number)]
        self.controllers = [number for number in self.nodes if scenario.shape.is_controller(number)]
        directory = dict(self._listeners())
        for node in self.nodes.values():
            node.peers.directory = directory

    def _node(self, number: BrokerId, make_node: MakeNode, make_disk: MakeDisk) -> Node:
        disk = make_disk(lambda path, data: self.on_write(number, path, data), self.new_directory())
        self.evidence.disks[number] = disk
        config = settings(number, self.scenario, self.region)
        node = make_node(
            self.world, self.network, self.scenario, self.region, config, disk, place(number)
        )
        node.on_change = self.statements.told_change
        if self.scenario.compaction is not None and node.make_cleaning is None:
            node.make_cleaning = LogCleaning
        return node

    def name(self, who: str) -> str:
        """Of somebody in this region: each draws from a stream of its own."""
        return who if self.region == REGION else f"{self.region} {who}"

    def on_write(self, number: BrokerId, path: str, data: bytes) -> None:
        """Bytes reached a log."""
        self.evidence.witness(number, path, data)

    def _listeners(self) -> Any:
        for number, node in self.nodes.items():
            yield Address(place(number), DATA_PORT), (node, Listener.DATA)
            yield Address(place(number), CONTROLLER_PORT), (node, Listener.CONTROLLER)

    def new_directory(self) -> UUID:
        return UUID(bytes=self._rng.randbytes(16), version=4)

    def node(self, number: BrokerId) -> Node:
        return self.nodes[number]

    def partitions(self) -> list[TopicPartition]:
        """Of the topic that every client uses, as far as the operator was told."""
        count = self.statements.made.get(TOPIC, 0)
        return [TopicPartition(TOPIC, index) for index in range(count)]


def place(number: BrokerId) -> str:
    """Where a node is in the network."""
    return f"n{number}"


def settings(number: BrokerId, scenario: RegionScenario, region: str = REGION) -> BrokerConfig:
    """Small numbers, so that rolls, snapshots and checkpoints come often."""
    synced = {"log.flush.interval.messages": 1} if scenario.crashes is Crashes.POWER else {}
    return from_settings(
        {
            "node.id": number,
            "log.dirs": "data",
            "cluster.id": region,
            **_links(number, scenario.shape),
            **_roles(number, scenario.shape),
            **_racks(number, scenario),
            **_placed_by_default(scenario),
            "broker.session.timeout.ms": scenario.session_ms,
            "broker.heartbeat.interval.ms": scenario.session_ms // 5,
            "auto.create.topics.enable": False,
            "min.insync.replicas": scenario.min_insync,
            "offsets.topic.num.partitions": 2,
            "group.initial.rebalance.delay.ms": 100,
            "group.min.session.timeout.ms": 1_000,
            "log.retention.check.interval.ms": 1_500,
            "log.segment.delete.delay.ms": 2_000,
            "replica.high.watermark.checkpoint.interval.ms": 2_000,
            "log.index.interval.bytes": 200,
            "metadata.log.max.record.bytes.between.snapshots": 6_000,
            "metadata.max.idle.interval.ms": scenario.idle_ms,
            "replica.lag.time.max.ms": scenario.lag_ms,
            **synced,
            **({} if scenario.compaction is None else scenario.compaction.of_node()),
        }
    )


def _roles(number: BrokerId, shape: Shape) -> dict[str, str]:
    listeners, roles = [], []
    if shape.is_broker(number):
        listeners.append(f"PLAINTEXT://{place(number)}:{DATA_PORT}")
        roles.append("broker")
    if shape.is_controller(number):
        listeners.append(f"CONTROLLER://{place(number)}:{CONTROLLER_PORT}")
        roles.append("controller")
    voters = (each for each in shape.numbers if shape.is_controller(each))
    return {
        "process.roles": ",".join(roles),
        "listeners": ",".join(listeners),
        "controller.quorum.voters": ",".join(
            f"{each}@{place(each)}:{CONTROLLER_PORT}" for each in voters
        ),
    }


def _links(number: BrokerId, shape: Shape) -> dict[str, str]:
    if not shape.is_broker(number):
        return {}
    addresses = {"link.listener": LINK_PORT, "admin.listener": ADMIN_PORT}
    return {name: f"{place(number)}:{port}" for name, port in addresses.items()}


def _lasting_observers(scenario: RegionScenario) -> frozenset[BrokerId]:
    """Those that nothing in a run promotes: no observer leads unless somebody asks for an unclean election."""
    lasts = scenario.promotion == "leader-is-observer"
    return frozenset(far_brokers(scenario)) if lasts else frozenset()


def _placed_by_default(scenario: RegionScenario) -> dict[str, Any]:
    """Mirrors, whose operator does not say where they are, are placed as the topics that he makes."""
    placement = placement_of(scenario)
    default = {} if placement is None else {"confluent.log.placement.constraints": placement}
    return {"default.replication.factor": scenario.replication, **default}


def _racks(number: BrokerId, scenario: RegionScenario) -> dict[str, str]:
    rack = rack_of(number, scenario)
    selector = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
    return {} if rack is None else {"broker.rack": rack, "replica.selector.class": selector}
