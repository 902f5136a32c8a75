"""A controller in a nutshell: who leads, who is in sync, who is there; Kafka's rules without its log.

Heartbeats are left out: a node that went is fenced after a while, and now and then one that is there.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from brokers.errors import KafkaError
from brokers.metadata.image.image import (
    NO_LEADER,
    BrokerImage,
    Endpoint,
    Image,
    PartitionImage,
    TopicImage,
)
from brokers.wire.messages.replication import (
    AlterPartitionResponse,
    AlterPartitionResponsePartition,
    AlterPartitionResponseTopic,
)
from tests.playbooks.replication.world import World

if TYPE_CHECKING:
    from tests.playbooks.replication.node import Node


class Controller:
    """One partition. `minds_epochs` off is a planted bug: broker epochs of a proposal are not looked at (KIP-903)."""

    def __init__(
        self,
        world: World,
        replicas: Sequence[int],
        observers: Sequence[int] = (),
        *,
        minds_epochs: bool = True,
    ) -> None:
        self._world = world
        self._minds_epochs = minds_epochs
        self._version = 0
        self._broker_epoch = 100
        self._nodes: dict[int, Node] = {}
        self._clean: dict[int, bool] = {}
        self.epochs: dict[int, int] = {}
        self.fenced: dict[int, bool] = {}
        voters = tuple(each for each in replicas if each not in observers)
        self.placed = PartitionImage(
            leader=voters[0],
            leader_epoch=0,
            partition_epoch=0,
            replicas=tuple(replicas),
            isr=voters,
            observers=tuple(observers),
        )

    # --- brokers ---

    def registered(self, node: "Node") -> None:
        """A new broker epoch. What the disk lost nobody knows, so it is out of sync (KIP-966)."""
        self._nodes[node.id] = node
        self._broker_epoch += 1
        was_here = node.id in self.epochs
        self.epochs[node.id] = self._broker_epoch
        self.fenced[node.id] = True
        if was_here:
            self._out_of_sync(node.id)
        life = node.life
        self._world.after(self._world.rng.randrange(5, 100), lambda: self._unfence(node, life))
        self._tell()

    def _unfence(self, node: "Node", life: int) -> None:
        if node.alive and node.life == life:
            self.fenced[node.id] = False
            if self.placed.leader == NO_LEADER and node.id in self.placed.isr:
                self._elect(node.id)
            self._tell()

    def went(self, node: "Node") -> None:
        """Its heartbeats end: it is fenced after a while, if it is not back before."""
        life = node.life
        self._world.after(
            self._world.rng.randrange(10, 400),
            lambda: self.fence(node.id) if node.life == life else None,
        )

    def fence(self, broker: int) -> None:
        """Also by mistake: then it is unfenced again soon."""
        if self.fenced.get(broker, True):
            return
        self._world.note(f"controller fences {broker}")
        self.fenced[broker] = True
        self._out_of_sync(broker)
        node = self._nodes[broker]
        if node.alive:
            life = node.life
            self._world.after(500, lambda: self._unfence(node, life))
        self._tell()

    def _out_of_sync(self, broker: int) -> None:
        """The last member stays: without it nobody could lead. Another leads, if it was the leader."""
        isr = tuple(each for each in self.placed.isr if each != broker)
        if isr and len(isr) < len(self.placed.isr):
            self._change(isr=isr)
        if self.placed.leader == broker:
            live = [each for each in isr if not self.fenced[each]]
            self._elect(live[0] if live else NO_LEADER)

    # --- the partition ---

    def move_leader(self) -> None:
        """Any live member of the in-sync set may be made the leader."""
        live = [each for each in self.placed.isr if not self.fenced.get(each, True)]
        if live:
            self._elect(self._world.rng.choice(live))
            self._tell()

    def _elect(self, broker: int) -> None:
        self._change(leader=broker, leader_epoch=self.placed.leader_epoch + 1)

    def _change(self, **fields: Any) -> None:
        self.placed = self.placed._replace(
            partition_epoch=self.placed.partition_epoch + 1, **fields
        )
        self._world.note(f"controller: {self.placed}")

    def alter_partition(self, request: Any) -> AlterPartitionResponse:
        topic = request.topics[0]
        asked = topic.partitions[0]
        error = self._check(request, asked)
        if error is KafkaError.NONE:
            self._change(isr=tuple(each.broker_id for each in asked.new_isr_with_epochs))
            self._tell()
        placed = self.placed
        item = AlterPartitionResponsePartition(
            partition_index=0,
            error_code=error,
            leader_id=placed.leader,
            leader_epoch=placed.leader_epoch,
            isr=list(placed.isr),
            partition_epoch=placed.partition_epoch,
        )
        answer = AlterPartitionResponseTopic(topic_id=topic.topic_id, partitions=[item])
        return AlterPartitionResponse(topics=[answer])

    def _check(self, request: Any, asked: Any) -> KafkaError:
        placed = self.placed
        members = {each.broker_id: each.broker_epoch for each in asked.new_isr_with_epochs}
        if asked.leader_epoch < placed.leader_epoch:
            return KafkaError.FENCED_LEADER_EPOCH
        if request.broker_id != placed.leader:
            return KafkaError.INVALID_REQUEST
        if asked.partition_epoch < placed.partition_epoch:
            return KafkaError.INVALID_UPDATE_VERSION
        if placed.leader not in members or not set(members) <= set(placed.replicas):
            return KafkaError.INVALID_REQUEST
        for broker, broker_epoch in members.items():
            was_another = broker_epoch not in (-1, self.epochs[broker]) and self._minds_epochs
            if self.fenced[broker] or was_another or broker in placed.observers:
                return KafkaError.INELIGIBLE_REPLICA
        return KafkaError.NONE

    # --- the image ---

    def _tell(self) -> None:
        self._version += 1
        image, version = self._image(), self._version
        for node in self._nodes.values():
            self._deliver(node, node.life, version, image)

    def _deliver(self, node: "Node", life: int, version: int, image: Image) -> None:
        """Late, but it comes: the metadata log is fetched until it is there."""
        if self._world.is_lost(0, node.id):
            self._world.after(200, lambda: self._deliver(node, life, version, image))
        else:
            self._world.after(self._world.latency(), lambda: node.told(life, version, image))

    def _image(self) -> Image:
        image = Image("region")
        image.brokers = {
            broker: BrokerImage(
                id=broker,
                broker_epoch=epoch,
                incarnation=UUID(int=epoch),
                endpoints=(Endpoint("PLAINTEXT", "host", broker),),
                fenced=self.fenced[broker],
            )
            for broker, epoch in self.epochs.items()
        }
        topic = TopicImage("orders", UUID(int=7), (self.placed,))
        image.topics_by_name = {"orders": topic}
        image.topics_by_id = {topic.id: topic}
        return image
