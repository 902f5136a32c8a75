"""A replay that is repeated appends nothing twice, whatever became of the one before."""

from collections.abc import Iterator
from typing import Any

import pytest

from brokers.errors import KafkaError
from brokers.ids import Offset
from brokers.records.batch import iter_headers, parse_header
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import open_batch
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from brokers.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from brokers.wire.messages.partition_offsets import (
    EpochEndOffset,
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from brokers.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from brokers.wire.messages.producers import InitProducerIdResponse
from federation.commands.orphans.reading import OrphanRecord
from federation.commands.orphans.replay import replay
from federation.commands.orphans.stores import Tail, TailCopy
from federation.commands.orphans.topics import TopicClient
from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.broker_double import BrokerDouble, broker_double

TOPIC, EPOCH, PRODUCER = "replayed", 7, 4
TAIL = Tail(
    "orders-0/1", (TailCopy(1, "", pb.Orphan(name="orders-0/1", topic="orders", partition=0)),)
)
ORPHANS = [
    OrphanRecord(record, 3, -1, -1, -1, is_control=False, is_transactional=False)
    for record in open_batch(
        build_batch(
            [NewRecord(b"k", b"%d" % number) for number in range(3)], timestamp=1, base_offset=40
        )
    )
]


class Leader:
    """Of one partition, whose followers are `behind` by so many fetches of a client."""

    def __init__(self) -> None:
        self.log = bytearray()
        self.end = self.committed = Offset(0)
        self.behind = 0
        self.errors: list[KafkaError] = []  # of the next produce requests, after the append
        self.broker: BrokerDouble

    def answers(self) -> dict[int, tuple[int, Any]]:
        return {
            ApiKey.PRODUCE: (9, self._produce),
            ApiKey.FETCH: (11, self._fetch),
            ApiKey.LIST_OFFSETS: (7, self._offsets),
            ApiKey.METADATA: (9, self._metadata),
            ApiKey.INIT_PRODUCER_ID: (4, self._producer),
            ApiKey.OFFSET_FOR_LEADER_EPOCH: (4, self._epoch_end),
        }

    @property
    def numbers(self) -> list[bytes | None]:
        return [
            record.value
            for position, header in iter_headers(self.log)
            for record in open_batch(memoryview(self.log)[position : position + header.length])
        ]

    def append(self, batch: bytes) -> None:
        """A sequence that it knows is stored already."""
        new = parse_header(batch)
        known = [header for _, header in iter_headers(self.log)]
        if any(
            (each.producer_id, each.base_sequence) == (new.producer_id, new.base_sequence)
            for each in known
        ):
            return
        data = bytearray(batch)
        data[:8] = self.end.to_bytes(8)
        self.log += data
        self.end += new.last_offset_delta + 1

    def _produce(self, request: Any) -> ProduceResponse:
        self.append(bytes(request.topic_data[0].partition_data[0].records))
        error = self.errors.pop(0) if self.errors else KafkaError.NONE
        done = PartitionProduceResponse(index=0, error_code=error)
        return ProduceResponse(
            responses=[TopicProduceResponse(name=TOPIC, partition_responses=[done])]
        )

    def _fetch(self, request: Any) -> FetchResponse:
        if self.behind:
            self.behind -= 1
        else:
            self.committed = self.end
        offset = request.topics[0].partitions[0].fetch_offset
        found = b"".join(
            self.log[position : position + header.length]
            for position, header in iter_headers(self.log)
            if offset <= header.base_offset < self.committed
        )
        data = PartitionData(records=found, high_watermark=self.committed)
        return FetchResponse(responses=[FetchableTopicResponse(topic=TOPIC, partitions=[data])])

    def _offsets(self, _: Any) -> ListOffsetsResponse:
        start = ListOffsetsPartitionResponse(offset=0)
        return ListOffsetsResponse(
            topics=[ListOffsetsTopicResponse(name=TOPIC, partitions=[start])]
        )

    def _metadata(self, _: Any) -> MetadataResponse:
        host, port = self.broker.bootstrap.split(":")
        led = MetadataResponsePartition(partition_index=0, leader_id=1, leader_epoch=EPOCH)
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=1, host=host, port=int(port))],
            topics=[MetadataResponseTopic(name=TOPIC, partitions=[led])],
        )

    def _producer(self, _: Any) -> InitProducerIdResponse:
        return InitProducerIdResponse(producer_id=PRODUCER, producer_epoch=0)

    def _epoch_end(self, request: Any) -> OffsetForLeaderEpochResponse:
        asked = request.topics[0].partitions[0]
        assert (asked.current_leader_epoch, asked.leader_epoch) == (EPOCH, EPOCH)
        end = EpochEndOffset(leader_epoch=EPOCH, end_offset=self.end)
        return OffsetForLeaderEpochResponse(
            topics=[OffsetForLeaderTopicResult(topic=TOPIC, partitions=[end])]
        )


@pytest.fixture
def leader() -> Iterator[Leader]:
    leader = Leader()
    with broker_double(leader.answers()) as leader.broker:
        yield leader


def replayed(leader: Leader) -> tuple[int, int]:
    with TopicClient(leader.broker.bootstrap, TOPIC) as client:
        return replay(client, TAIL, ORPHANS, "west", lambda done: None)


def test_a_repeated_replay_finds_what_is_there(leader: Leader) -> None:
    assert replayed(leader) == (3, 0)
    assert replayed(leader) == (0, 3)
    assert leader.numbers == [b"0", b"1", b"2"]


def test_what_an_earlier_one_left_and_is_not_committed_yet_is_waited_for(leader: Leader) -> None:
    """It was killed after it had sent its records, which the followers of the leader do not have yet."""
    assert replayed(leader) == (3, 0)
    leader.committed, leader.behind = Offset(0), 3
    assert replayed(leader) == (0, 3)
    assert leader.numbers == [b"0", b"1", b"2"]


@pytest.mark.parametrize(
    "error", [KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND, KafkaError.REQUEST_TIMED_OUT]
)
def test_what_was_appended_and_not_acknowledged_is_sent_again_and_stored_once(
    leader: Leader, error: KafkaError
) -> None:
    leader.errors = [error]
    assert replayed(leader) == (3, 0)
    assert leader.numbers == [b"0", b"1", b"2"]
