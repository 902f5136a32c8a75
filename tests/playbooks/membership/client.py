"""A client of a region in one process: writes to the topic t, straight to one broker."""

from typing import Any

from brokers.api import produce
from brokers.effects import Ask
from brokers.errors import KafkaError
from brokers.events import Answered
from brokers.ids import Peer
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from tests.playbooks.membership.region import DATA_PORT, Region


class Client:
    """Asks brokers; `answers` has what they said."""

    alive = True

    def __init__(self, region: Region) -> None:
        self._region = region
        self.answers: dict[int, Any] = {}
        self._asked = 0

    def feed(self, event: Any) -> None:
        assert isinstance(event, Answered)
        self.answers[event.ticket] = event.message

    def write(
        self, node_id: int, index: int, value: bytes, *, acks: int = -1, version: int = 9
    ) -> int:
        """Straight to one broker -> the ticket of its answer."""
        batch = bytes(build_batch([NewRecord(None, value)], timestamp=self._region.now))
        data = PartitionProduceData(index=index, records=batch)
        message = ProduceRequest(
            acks=acks,
            timeout_ms=10_000,
            topic_data=[TopicProduceData(name="t", partition_data=[data])],
        )
        return self.ask(node_id, produce.KEY, version, message)

    def ask(self, node_id: int, key: ApiKey, version: int, message: Message) -> int:
        """-> the ticket of its answer."""
        self._asked += 1
        peer = Peer(node_id, f"n{node_id}", DATA_PORT)
        ask = Ask(self._asked, peer, "client", key, version, message, 10_000)
        self._region.put(self, self._region.nodes[node_id], ask)
        return self._asked

    def said(self, ticket: int) -> KafkaError:
        return KafkaError(self._item(ticket).error_code)

    def named(self, ticket: int) -> tuple[int, int]:
        """The leader that the answer names, and its epoch; -1 where it names none."""
        leader = self._item(ticket).current_leader
        return (-1, -1) if leader is None else (leader.leader_id, leader.leader_epoch)

    def _item(self, ticket: int) -> PartitionProduceResponse:
        item = self.answers[ticket].responses[0].partition_responses[0]
        assert isinstance(item, PartitionProduceResponse)
        return item
