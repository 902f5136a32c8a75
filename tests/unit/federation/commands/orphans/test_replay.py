"""A replay that is repeated appends nothing twice, whatever became of the one before."""

from collections.abc import Callable, Iterator
from dataclasses import replace
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
from federation.commands.answers import Failure
from federation.commands.orphans.provenance import provenance
from federation.commands.orphans.reading import OrphanRecord
from federation.commands.orphans.replay import replay
from federation.commands.orphans.stores import Tail, TailCopy
from federation.commands.orphans.topics import TopicClient
from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.broker_double import BrokerDouble, broker_double

TOPIC, EPOCH, PRODUCER = "replayed", 7, 4
ALL = [b"0", b"1", b"2"]
ORPHANS = [
    OrphanRecord(record, 3, -1, -1, -1, is_control=False, is_transactional=False)
    for record in open_batch(
        build_batch(
            [NewRecord(b"k", b"%d" % number) for number in range(3)], timestamp=1, base_offset=40
        )
    )
]


def tail_of(partition: int, topic: str = "orders") -> Tail:
    orphan = pb.Orphan(name=f"{topic}-{partition}/1", topic=topic, partition=partition)
    return Tail(orphan.name, (TailCopy(1, "", orphan),))


TAIL = tail_of(0)


class Partition:
    """Its followers are `behind` by so many fetches of a client."""

    def __init__(self) -> None:
        self.log = bytearray()
        self.end = self.committed = Offset(0)
        self.behind = 0
        self.errors: list[KafkaError] = []  # of the next produce requests, after the append
        self.has_leader = True

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

    def fetch(self, offset: Offset) -> bytes:
        if self.behind:
            self.behind -= 1
        else:
            self.committed = self.end
        return b"".join(
            self.log[position : position + header.length]
            for position, header in iter_headers(self.log)
            if offset <= header.base_offset < self.committed
        )


class Leader:
    """A lone broker, which leads the partitions of one topic that have a leader."""

    def __init__(self) -> None:
        self.partitions = [Partition()]
        self.producers = 0
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

    def _led(self, index: int) -> Partition:
        assert self.partitions[index].has_leader, "nobody leads it"
        return self.partitions[index]

    def _produce(self, request: Any) -> ProduceResponse:
        asked = request.topic_data[0].partition_data[0]
        partition = self._led(asked.index)
        partition.append(bytes(asked.records))
        error = partition.errors.pop(0) if partition.errors else KafkaError.NONE
        done = PartitionProduceResponse(index=asked.index, error_code=error)
        return ProduceResponse(
            responses=[TopicProduceResponse(name=TOPIC, partition_responses=[done])]
        )

    def _fetch(self, request: Any) -> FetchResponse:
        asked = request.topics[0].partitions[0]
        partition = self._led(asked.partition)
        found = partition.fetch(asked.fetch_offset)
        data = PartitionData(
            partition_index=asked.partition, records=found, high_watermark=partition.committed
        )
        return FetchResponse(responses=[FetchableTopicResponse(topic=TOPIC, partitions=[data])])

    def _offsets(self, _: Any) -> ListOffsetsResponse:
        start = ListOffsetsPartitionResponse(offset=0)
        return ListOffsetsResponse(
            topics=[ListOffsetsTopicResponse(name=TOPIC, partitions=[start])]
        )

    def _metadata(self, _: Any) -> MetadataResponse:
        host, port = self.broker.bootstrap.split(":")
        described = [
            MetadataResponsePartition(
                partition_index=index, leader_id=1 if each.has_leader else -1, leader_epoch=EPOCH
            )
            for index, each in enumerate(self.partitions)
        ]
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=1, host=host, port=int(port))],
            topics=[MetadataResponseTopic(name=TOPIC, partitions=described)],
        )

    def _producer(self, _: Any) -> InitProducerIdResponse:
        self.producers += 1
        return InitProducerIdResponse(producer_id=PRODUCER + self.producers, producer_epoch=0)

    def _epoch_end(self, request: Any) -> OffsetForLeaderEpochResponse:
        asked = request.topics[0].partitions[0]
        assert (asked.current_leader_epoch, asked.leader_epoch) == (EPOCH, EPOCH)
        end = EpochEndOffset(leader_epoch=EPOCH, end_offset=self._led(asked.partition).end)
        return OffsetForLeaderEpochResponse(
            topics=[OffsetForLeaderTopicResult(topic=TOPIC, partitions=[end])]
        )


@pytest.fixture
def leader() -> Iterator[Leader]:
    leader = Leader()
    with broker_double(leader.answers()) as leader.broker:
        yield leader


def replayed(
    leader: Leader, tail: Tail = TAIL, waits: Callable[[float], None] = lambda seconds: None
) -> tuple[int, int]:
    with TopicClient(leader.broker.bootstrap, TOPIC, sleep=waits) as client:
        return replay(client, tail, ORPHANS, "west", lambda done: None)


def test_a_copy_of_the_tail_that_ends_elsewhere_has_the_same_records(leader: Leader) -> None:
    """A replica that had fewer of them when it sealed."""
    assert replayed(leader) == (3, 0)
    shorter = Tail("orders-0/40-42.e3", TAIL.copies)
    assert replayed(leader, shorter) == (0, 3)
    assert numbers(leader) == [ALL]


def test_a_topic_of_the_same_name_in_another_region_has_other_records(leader: Leader) -> None:
    """With a tail of the same name, and records at the same offsets."""
    assert replayed(leader) == (3, 0)
    others = [replace(each, record=each.record._replace(value=b"other")) for each in ORPHANS]
    with TopicClient(leader.broker.bootstrap, TOPIC) as client:
        assert replay(client, TAIL, others, "south", lambda done: None) == (3, 0)
    assert numbers(leader) == [[*ALL, b"other", b"other", b"other"]]


def test_headers_that_a_producer_made_up_stop_no_replay(leader: Leader) -> None:
    (partition,) = leader.partitions
    (tail, *others) = provenance(ORPHANS[0], TAIL.name, "west")
    headers = (tail, *((name, b"made up") for name, _ in others))
    partition.append(build_batch([NewRecord(b"k", b"x", headers)], timestamp=1))
    assert replayed(leader) == (3, 0)


def numbers(leader: Leader) -> list[list[bytes | None]]:
    return [each.numbers for each in leader.partitions]


def test_a_repeated_replay_finds_what_is_there(leader: Leader) -> None:
    assert replayed(leader) == (3, 0)
    assert replayed(leader) == (0, 3)
    assert numbers(leader) == [ALL]


def test_what_an_earlier_one_left_and_is_not_committed_yet_is_waited_for(leader: Leader) -> None:
    """It was killed after it had sent its records, which the followers of the leader do not have yet."""
    (partition,) = leader.partitions
    assert replayed(leader) == (3, 0)
    partition.committed, partition.behind = Offset(0), 3
    assert replayed(leader) == (0, 3)
    assert numbers(leader) == [ALL]


@pytest.mark.parametrize(
    "error", [KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND, KafkaError.REQUEST_TIMED_OUT]
)
def test_what_was_appended_and_not_acknowledged_is_sent_again_and_stored_once(
    leader: Leader, error: KafkaError
) -> None:
    leader.partitions[0].errors = [error]
    assert replayed(leader) == (3, 0)
    assert numbers(leader) == [ALL]


@pytest.mark.parametrize("leaderless", [0, 1, 2])
def test_a_partition_without_leader_changes_nothing_of_where_records_go(
    leader: Leader, leaderless: int
) -> None:
    """Its leader comes back while the replay waits, or it is not waited for."""
    leader.partitions = [Partition() for _ in range(3)]
    leader.partitions[leaderless].has_leader = False

    def elect(_: float) -> None:
        leader.partitions[leaderless].has_leader = True

    assert replayed(leader, tail_of(2), elect) == (3, 0)
    elect(0)
    assert replayed(leader, tail_of(2)) == (0, 3)
    assert numbers(leader) == [[], [], ALL]


@pytest.mark.parametrize("leaderless", [{2}, {0, 1, 2}])
def test_a_partition_whose_leader_stays_away_is_refused_by_name(
    leader: Leader, leaderless: set[int]
) -> None:
    leader.partitions = [Partition() for _ in range(3)]
    for each in leaderless:
        leader.partitions[each].has_leader = False
    with pytest.raises(Failure, match="replayed-2 has no leader"):
        replayed(leader, tail_of(2))
    assert numbers(leader) == [[], [], []]


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: replay(client, TAIL, ORPHANS, "west", lambda _: None),
        lambda client: list(client.batches(0, 0)),  # as `orphans show --against` does
    ],
)
def test_a_region_that_does_not_answer_at_all_is_said_at_once(
    ask: Callable[[TopicClient], object],
) -> None:
    waits: list[float] = []
    with (
        TopicClient("127.0.0.1:1", TOPIC, sleep=waits.append) as client,
        pytest.raises(Failure) as refused,
    ):
        ask(client)
    assert not waits
    assert refused.value.exit_code == 4
    assert "127.0.0.1:1" in str(refused.value) and "address" in refused.value.hint


def test_a_side_topic_that_grew_is_searched_where_its_records_went_before(leader: Leader) -> None:
    assert replayed(leader, tail_of(2)) == (3, 0)
    leader.partitions += [Partition(), Partition()]
    assert replayed(leader, tail_of(2)) == (0, 3)
    assert numbers(leader) == [ALL, [], []]


def test_a_replay_that_was_interrupted_before_the_topic_grew_goes_on_in_its_partition(
    leader: Leader,
) -> None:
    with TopicClient(leader.broker.bootstrap, TOPIC) as client:
        replay(client, tail_of(2), ORPHANS[:1], "west", lambda done: None)
    leader.partitions += [Partition(), Partition()]
    assert replayed(leader, tail_of(2)) == (2, 1)
    assert numbers(leader) == [ALL, [], []]


def test_the_topic_itself_takes_a_tail_into_its_own_partition_only(leader: Leader) -> None:
    leader.partitions = [Partition() for _ in range(2)]
    with pytest.raises(Failure, match="has 2 partitions there, and replayed-2/1 is of partition 2"):
        replayed(leader, tail_of(2, TOPIC))
    leader.partitions.append(Partition())
    leader.partitions[0].has_leader = False
    assert replayed(leader, tail_of(2, TOPIC)) == (3, 0)
    assert numbers(leader) == [[], [], ALL]


def test_a_topic_whose_partitions_are_not_there_yet_is_refused(leader: Leader) -> None:
    leader.partitions = []
    with pytest.raises(Failure, match="replayed has no partitions"):
        replayed(leader)
