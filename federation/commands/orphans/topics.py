"""Reads and writes the partitions of one topic in Kafka's protocol, at whichever broker leads each."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from types import TracebackType
from typing import Any, Final, Protocol

from brokers.errors import KafkaError
from brokers.ids import Buffer, Instant, LeaderEpoch, Offset, ProducerId
from brokers.records.batch import HEADER_SIZE, BatchHeader, iter_headers, parse_header
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from brokers.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from brokers.wire.messages.partition_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from brokers.wire.messages.producers import InitProducerIdRequest
from federation.commands.addresses import UNREACHABLE_EXIT
from federation.commands.answers import Failure
from federation.commands.region.client import Client, NoAnswer

FETCH_BYTES: Final = 4 << 20
RETRIES: Final = 30
RETRY_SECONDS: Final = 0.5
COMMIT_SECONDS: Final = 45.0  # longer than an in-sync replica that is silent stays one
COMMIT_POLL_SECONDS: Final = 0.1
PRODUCE_MS: Final = 30_000
EARLIEST: Final = -2
# What is sent again after these, with its sequence, is stored once.
MOVED: Final = (
    KafkaError.NOT_LEADER_OR_FOLLOWER,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    KafkaError.KAFKA_STORAGE_ERROR,
    KafkaError.NOT_ENOUGH_REPLICAS,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    KafkaError.REQUEST_TIMED_OUT,
)


class TopicConnection(AbstractContextManager["TopicConnection"], Protocol):
    """To one broker."""

    def ask(self, api_key: int, message: Message) -> Any:
        """The response; raises NoAnswer."""


Connect = Callable[[str], TopicConnection]


class TopicClient:
    """A context manager: one topic of one region. Raises Failure where the region does not do what is asked."""

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        *,
        connect: Connect = Client,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`connect` opens a connection to the first of some addresses; `clock` and `sleep` are in seconds."""
        self.topic = topic
        self._bootstrap = bootstrap
        self._connect, self._clock, self._sleep = connect, clock, sleep
        self._clients: dict[str, TopicConnection] = {}
        self._partition_count = 0
        self._leaders: dict[int, str] = {}
        self._epochs: dict[int, LeaderEpoch] = {}
        self._topic_id: Any = None

    def __enter__(self) -> "TopicClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for client in self._clients.values():
            client.__exit__(kind, error, traceback)

    @property
    def partition_count(self) -> int:
        """With those that have no leader."""
        if not self._partition_count:
            self._look_up()
        return self._partition_count

    def _look_up(self) -> None:
        """Nothing has been asked yet: a region that does not answer may be named wrongly, and is not waited for."""
        try:
            self._refresh()
        except NoAnswer as error:
            raise Failure(
                f"the region of {self.topic} does not answer: {error}",
                hint="check that it runs and that the address is right",
                exit_code=UNREACHABLE_EXIT,
            ) from error

    # --- what is asked ---

    def offset_at(self, partition: int, timestamp: Instant) -> Offset:
        """The first offset at or after a time (EARLIEST: the log start); -1 where there is none."""

        def ask(client: TopicConnection) -> Any:
            wanted = ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
            topic = ListOffsetsTopic(name=self.topic, partitions=[wanted])
            request = ListOffsetsRequest(replica_id=-1, topics=[topic])
            return client.ask(ApiKey.LIST_OFFSETS, request).topics[0].partitions[0]

        return int(self._ask(partition, ask).offset)

    def batches(self, partition: int, offset: Offset) -> Iterator[tuple[BatchHeader, Buffer]]:
        """Whole batches from `offset` on, up to what is committed when it is asked for last."""
        while True:
            found = self._ask(partition, partial(self._fetch, partition, offset))
            data = memoryview(found.records or b"")
            following = offset
            for position, header in iter_headers(data):
                following = header.next_offset
                yield header, data[position : position + header.length]
            if following == offset:
                self._require_no_giant(data)
                return
            offset = following

    def appended_batches(
        self, partition: int, offset: Offset
    ) -> Iterator[tuple[BatchHeader, Buffer]]:
        """Whole batches from `offset` on, up to what the leader has appended by now: waits until that is committed.

        A client that was killed may have left a batch that is committed only when its followers have it.
        """
        end = self._log_end(partition)
        deadline = self._clock() + COMMIT_SECONDS
        while True:
            for header, batch in self.batches(partition, offset):
                offset = header.next_offset
                yield header, batch
            end = min(end, self._log_end(partition))  # another leader may not have it
            if offset >= end:
                return
            if self._clock() > deadline:
                because = f"{self.topic}-{partition} ends at {end}, and is committed up to {offset}"
                raise Failure(because, hint="look at `causeway replica status`, and ask again")
            self._sleep(COMMIT_POLL_SECONDS)

    def _log_end(self, partition: int) -> Offset:
        """The leader's: where its own epoch ends."""

        def ask(client: TopicConnection) -> Any:
            epoch = self._epochs[partition]
            wanted = OffsetForLeaderPartition(
                partition=partition, current_leader_epoch=epoch, leader_epoch=epoch
            )
            topic = OffsetForLeaderTopic(topic=self.topic, partitions=[wanted])
            request = OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic])
            return client.ask(ApiKey.OFFSET_FOR_LEADER_EPOCH, request).topics[0].partitions[0]

        return int(self._ask(partition, ask).end_offset)

    def new_producer(self, partition: int) -> tuple[ProducerId, int]:
        """A producer id and its epoch, from the partition's leader: what is appended with them and a sequence is
        stored once."""
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=PRODUCE_MS)
        answer = self._ask(partition, lambda client: client.ask(ApiKey.INIT_PRODUCER_ID, request))
        return answer.producer_id, answer.producer_epoch

    def append(self, partition: int, batch: Buffer) -> Offset:
        """Acknowledged by all in-sync replicas -> its base offset."""

        def ask(client: TopicConnection) -> Any:
            data = PartitionProduceData(index=partition, records=batch)
            topic = TopicProduceData(
                name=self.topic, topic_id=self._topic_id, partition_data=[data]
            )
            request = ProduceRequest(acks=-1, timeout_ms=PRODUCE_MS, topic_data=[topic])
            return client.ask(ApiKey.PRODUCE, request).responses[0].partition_responses[0]

        return int(self._ask(partition, ask).base_offset)

    def _fetch(self, partition: int, offset: Offset, client: TopicConnection) -> Any:
        wanted = FetchPartition(
            partition=partition, fetch_offset=offset, partition_max_bytes=FETCH_BYTES
        )
        topic = FetchTopic(topic=self.topic, topic_id=self._topic_id, partitions=[wanted])
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, isolation_level=0, session_id=0, topics=[topic]
        )
        return client.ask(ApiKey.FETCH, request).responses[0].partitions[0]

    def _require_no_giant(self, data: memoryview) -> None:
        if len(data) > HEADER_SIZE:
            at = parse_header(data).base_offset
            raise Failure(f"the batch at offset {at} of {self.topic} is cut short")

    # --- leaders ---

    def _ask(self, partition: int, ask: Any) -> Any:
        """Again, while the partition has no leader that answers."""
        if not self._partition_count:
            self._look_up()
        because = ""
        for _ in range(RETRIES):
            try:
                answer = ask(self._leader(partition))
            except NoAnswer as failure:
                because = str(failure)
                self._clients.pop(self._leaders.get(partition, ""), None)
            else:
                if not answer.error_code:
                    return answer
                because = KafkaError(answer.error_code).name
                if answer.error_code not in MOVED:
                    break
            self._leaders.clear()
            self._sleep(RETRY_SECONDS)
        raise Failure(
            f"{self.topic}-{partition}: {because}", hint="look at `causeway region topics`"
        )

    def _leader(self, partition: int) -> TopicConnection:
        if partition not in self._leaders:
            self._refresh()
        if partition not in self._leaders:
            raise NoAnswer(f"{self.topic}-{partition} has no leader")
        address = self._leaders[partition]
        if address not in self._clients:
            self._clients[address] = self._connect(address)
        return self._clients[address]

    def _refresh(self) -> None:
        topic = MetadataRequestTopic(name=self.topic)
        request = MetadataRequest(topics=[topic], allow_auto_topic_creation=False)
        with self._connect(self._bootstrap) as client:
            answer = client.ask(ApiKey.METADATA, request)
        found = answer.topics[0]
        if found.error_code == KafkaError.UNKNOWN_TOPIC_OR_PARTITION:
            raise Failure(f"there is no topic {self.topic}", hint="create it, or check the name")
        if not found.partitions:
            error = KafkaError(found.error_code).name
            raise Failure(f"{self.topic} has no partitions ({error})", hint="ask again")
        brokers = {each.node_id: f"{each.host}:{each.port}" for each in answer.brokers}
        self._topic_id = found.topic_id
        self._partition_count = 1 + max(each.partition_index for each in found.partitions)
        self._leaders = {
            each.partition_index: brokers[each.leader_id]
            for each in found.partitions
            if each.leader_id in brokers
        }
        self._epochs = {each.partition_index: each.leader_epoch for each in found.partitions}
