"""Directories fail, are repaired and replaced, replicas move between them and processes are killed, in any order.

What was acknowledged by all in-sync replicas is there at the end, on every replica alike.
"""

import random
from uuid import UUID

import pytest

from brokers.api import alter_replica_log_dirs
from brokers.effects import Ask, ReadRange
from brokers.errors import KafkaError
from brokers.events import RangeRead
from brokers.ids import Peer, TopicPartition
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.image.image import PartitionImage
from brokers.records.batch import iter_headers
from brokers.records.record import open_batch
from brokers.wire.messages.log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from tests.playbooks.membership.client import Client
from tests.playbooks.membership.region import DATA_PORT, Region
from tests.quick import some
from tests.sim.files import SimFiles

PARTITIONS = 4
STEPS = 60


class Storm:
    """Three nodes with two directories each. Node 1 decides alone, so the directory of its metadata log stays well."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.region = Region()
        self.numbers = 100
        for node_id in (1, 2, 3):
            self.region.directories[node_id] = {
                self.new_id(): SimFiles(),
                self.new_id(): SimFiles(),
            }
        self.region.start(1, 2, 3)
        self.region.run(500)
        self.client = Client(self.region)
        self.asked: dict[int, tuple[int, bytes]] = {}
        replicas = ((1, 2, 3), (2, 3, 1), (3, 1, 2), (2, 1, 3))
        topic = NewTopic(
            name="t", assignments=tuple(enumerate(replicas)), configs={"min.insync.replicas": "2"}
        )
        propose = self.region.nodes[1].broker.parts.forwarding.submit
        effects = propose(CreateTopics((topic,)), lambda result, now: [], self.region.now)
        self.region.nodes[1].take(effects)
        self.region.run(500)

    def new_id(self) -> UUID:
        self.numbers += 1
        return UUID(int=self.numbers)

    def placed(self, index: int) -> PartitionImage:
        placed = self.region.image.partition(TopicPartition("t", index))
        assert placed is not None
        return placed

    # --- what happens ---

    def strike(self) -> None:
        act = self.rng.choice(
            (self.write, self.write, self.write, self.write, self.move, self.fail, self.kill)
        )
        act()
        self.region.run(self.rng.choice((1, 20, 200)))

    def write(self) -> None:
        for _ in range(self.rng.randrange(1, 6)):
            index = self.rng.randrange(PARTITIONS)
            leader = self.region.nodes.get(self.placed(index).leader)
            if leader is not None and leader.alive and leader.serves:
                value = b"%d" % len(self.asked) + bytes(self.rng.choice((10, 10, 200_000)))
                self.asked[self.client.write(leader.id, index, value)] = (index, value)

    def move(self) -> None:
        node = self.region.nodes[self.rng.choice((1, 2, 3))]
        if not (node.alive and node.serves):
            return
        path = "/" + str(self.rng.choice([*self.region.directories[node.id]]))
        partitions = [self.rng.randrange(PARTITIONS)]
        named = [AlterReplicaLogDirTopic(name="t", partitions=partitions)]
        message = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=named)])
        self.numbers += 1
        ticket = 1_000_000 + self.numbers
        peer = Peer(node.id, f"n{node.id}", DATA_PORT)
        ask = Ask(ticket, peer, "client", alter_replica_log_dirs.KEY, 2, message, 10_000)
        self.region.put(self.client, node, ask)

    def fail(self) -> None:
        """For good, as far as this process is concerned."""
        node_id = self.rng.choice((1, 2, 3))
        directories = list(self.region.directories[node_id].values())
        disk = directories[self.rng.randrange(node_id == 1, len(directories))]
        assert disk is not None
        disk.break_at(self.rng.choice(("t-", "checkpoint", "future")))

    def kill(self) -> None:
        """The next process finds its disks well, or a new one in the place of one that nobody needs."""
        node_id = self.rng.choice((2, 3))
        node = self.region.nodes[node_id]
        if node.alive:
            node.die()
            self.region.run(3_000)
        self.start(node_id)

    def start(self, node_id: int) -> None:
        directories = self.region.directories[node_id]
        for disk in directories.values():
            assert disk is not None
            disk.break_at("")
        others = [{*self.placed(index).isr} - {node_id} for index in range(PARTITIONS)]
        if all(len(each) > 1 for each in others) and self.rng.random() < 0.5:
            directories.popitem()
            directories[self.new_id()] = SimFiles()
        self.region.start(node_id)
        self.region.run(2_000)

    # --- what must be so ---

    def settle(self) -> None:
        for node_id in (1, 2, 3):
            node = self.region.nodes[node_id]
            if node.alive:
                node.die()
        self.region.run(3_000)
        for node_id in (1, 2, 3):
            self.start(node_id)
        self.region.run(20_000)

    def values(self, node_id: int, index: int) -> list[bytes]:
        partition, found, position = TopicPartition("t", index), list[bytes](), 0
        storage = self.region.nodes[node_id].storage
        while True:
            wanted = ReadRange(7, partition, position, 1 << 40, 1 << 30, True)
            (read,) = storage.perform(wanted, self.region.now)
            assert isinstance(read, RangeRead) and not read.error, read
            if not len(read.data):
                return found
            data = memoryview(bytes(read.data))
            for at, header in iter_headers(data):
                batch = data[at : at + header.length]
                found += [bytes(each.value or b"") for each in open_batch(batch)]
            position = read.next_offset

    def acknowledged(self) -> list[tuple[int, bytes]]:
        told = self.client.answers
        return [
            self.asked[ticket]
            for ticket, answer in told.items()
            if ticket in self.asked and answer is not None
            and self.client.said(ticket) is KafkaError.NONE
        ]  # fmt: skip


@pytest.mark.parametrize("seed", some(range(2), quick=1))
def test_what_was_acknowledged_is_there_on_every_replica(seed: int) -> None:
    check_storm(seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 60))
def test_many_more_storms(seed: int) -> None:
    check_storm(seed)


def check_storm(seed: int) -> None:
    storm = Storm(seed)
    for _ in range(STEPS):
        storm.strike()
    storm.settle()
    held = {
        index: [storm.values(node_id, index) for node_id in (1, 2, 3)]
        for index in range(PARTITIONS)
    }
    for index, copies in held.items():
        placed = storm.placed(index)
        assert {*placed.isr} == {1, 2, 3}, (index, placed)
        assert copies[0] == copies[1] == copies[2]
    for index, value in storm.acknowledged():
        assert held[index][0].count(value) == 1, (index, value[:10])
