"""Sends changes of in-sync sets to the controller, all that wait in one AlterPartition (KIP-497)."""

from functools import partial
from uuid import UUID

from brokers.effects import Changed, Effect
from brokers.errors import KafkaError, error_from_code
from brokers.ids import Instant
from brokers.partition.isr_state import INELIGIBLE_RETRY_MS, REVERT, PendingIsr
from brokers.partition.replica import Replica
from brokers.replication.host import Host
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.replication import (
    AlterPartitionRequest,
    AlterPartitionRequestPartition,
    AlterPartitionRequestTopic,
    AlterPartitionResponse,
    AlterPartitionResponsePartition,
    BrokerState,
)

RECOVERED = 0  # a leader has recovered its partition when it starts to lead (KIP-704)
RETRY_MS = 50


class AlterPartitionManager:
    """`put` collects proposals, `flush` sends them at the end of a step."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.unsent: dict[Replica, PendingIsr] = {}
        self._sent: dict[Replica, PendingIsr] = {}
        self._is_backing_off = False
        self.failed = 0  # proposals that the controller refused

    def put(self, replica: Replica, proposal: PendingIsr) -> None:
        self.unsent[replica] = proposal

    def flush(self, now: Instant) -> list[Effect]:
        """Send the proposals, unless a request is in flight."""
        if not self.unsent or self._sent or self._is_backing_off:
            return []
        self._sent, self.unsent = self.unsent, {}
        return self._host.control(ApiKey.ALTER_PARTITION, self._request(), self._on_response, now)

    def _request(self) -> AlterPartitionRequest:
        node_id = self._host.config.node_id
        own = self._host.image.brokers.get(node_id)
        request = AlterPartitionRequest(
            broker_id=node_id, broker_epoch=-1 if own is None else own.broker_epoch
        )
        topics: dict[UUID, AlterPartitionRequestTopic] = {}
        for replica, proposal in self._sent.items():
            topic_id = UUID(bytes=replica.topic_id)
            topic = topics.get(topic_id)
            if topic is None:
                topic = topics[topic_id] = AlterPartitionRequestTopic(topic_id=topic_id)
                request.topics.append(topic)
            topic.partitions.append(self._partition(replica, proposal, request.broker_epoch))
        return request

    def _partition(
        self, replica: Replica, proposal: PendingIsr, broker_epoch: int
    ) -> AlterPartitionRequestPartition:
        own = self._host.config.node_id
        return AlterPartitionRequestPartition(
            partition_index=replica.partition.partition,
            leader_epoch=proposal.leader_epoch,
            partition_epoch=proposal.partition_epoch,
            leader_recovery_state=RECOVERED,
            new_isr_with_epochs=[
                BrokerState(broker_id=broker, broker_epoch=broker_epoch if broker == own else epoch)
                for broker, epoch in proposal.isr
            ],
        )

    def _on_response(self, response: object, now: Instant) -> list[Effect]:
        """The result is unknown without an `AlterPartitionResponse`: send the same again."""
        sent, self._sent = self._sent, {}
        if not isinstance(response, AlterPartitionResponse) or response.error_code:
            return self._retry(sent, now)
        answers = {
            (topic.topic_id, item.partition_index): item
            for topic in response.topics
            for item in topic.partitions
        }
        effects: list[Effect] = []
        for replica, proposal in sent.items():
            item = answers.get((UUID(bytes=replica.topic_id), replica.partition.partition))
            effects += self._on_partition(replica, proposal, item, now)
        return effects

    def _on_partition(
        self,
        replica: Replica,
        proposal: PendingIsr,
        item: AlterPartitionResponsePartition | None,
        now: Instant,
    ) -> list[Effect]:
        leadership = replica.leadership
        if leadership is None:
            return []
        before = leadership.isr_state.isr
        if item is None:
            item = AlterPartitionResponsePartition(error_code=KafkaError.OPERATION_NOT_ATTEMPTED)
        error, isr = error_from_code(item.error_code), tuple(item.isr)
        self.failed += error is not KafkaError.NONE
        if error in REVERT:
            self._host.timers.set(now + INELIGIBLE_RETRY_MS, partial(_expand, replica))
        effects = leadership.on_response(proposal, error, item.partition_epoch, isr, now)
        after = leadership.isr_state.isr
        if before != after:
            why = f"was {before}, high watermark {replica.high_watermark}"
            effects.append(Changed(f"in-sync set of {replica.partition}", str(after), why))
        return effects

    def _retry(self, sent: dict[Replica, PendingIsr], now: Instant) -> list[Effect]:
        """Send again later; a partition's newer proposal replaces its older one."""
        self.unsent = {
            replica: proposal
            for replica, proposal in (sent | self.unsent).items()
            if replica.leadership is not None and replica.leadership.isr_state.proposal is proposal
        }
        self._is_backing_off = True
        self._host.timers.set(now + RETRY_MS, self._after_backoff)
        return []

    def _after_backoff(self, now: Instant) -> list[Effect]:
        self._is_backing_off = False
        return self.flush(now)


def _expand(replica: Replica, now: Instant) -> list[Effect]:
    if replica.leadership is not None:
        replica.leadership.expand(now)
    return []
