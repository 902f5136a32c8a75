"""What clients are answered where a partition has other replicas: who leads, who is in sync, what is committed."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from brokers.api import (
    delete_records,
    fetch,
    list_offsets,
    metadata,
    offset_for_leader_epoch,
    produce,
)
from brokers.effects import Ask
from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.metadata.image.image import BrokerImage, Endpoint, PartitionImage
from brokers.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from brokers.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from brokers.wire.messages.partition_offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.unit.brokers.api.whole import Whole
from tests.unit.brokers.partition.replicas import batch

PARTITION = TopicPartition("t", 0)


class Region(Whole):
    """Node 1 of a region of three, whose controller is played by tests."""

    def __init__(self, *, min_insync: int = 1, **settings: object) -> None:
        super().__init__(**settings)
        self.create("t", min_insync_replicas=str(min_insync))
        self.brokers(2, 3)
        self.place(leader=1)

    @property
    def image(self) -> Any:
        return self.broker.parts.raft.image

    @property
    def replica(self) -> Any:
        return self.broker.parts.partitions.all[PARTITION]

    def brokers(self, *ids: int, fenced: bool = False, rack: str | None = None) -> None:
        for number in ids:
            endpoint = Endpoint("PLAINTEXT", "far", 9000 + number)
            self.image.brokers[number] = BrokerImage(
                number, number * 10, UUID(int=number), (endpoint,), rack=rack, fenced=fenced
            )

    def place(
        self, leader: int, isr: tuple[int, ...] = (1, 2, 3), writer: str | None = None
    ) -> PartitionImage:
        topic = self.image.topics_by_name["t"]
        was = topic.partitions[0]
        placed = was._replace(
            leader=leader,
            leader_epoch=was.leader_epoch + (leader != was.leader),
            partition_epoch=was.partition_epoch + 1,
            replicas=(1, 2, 3),
            isr=isr,
        )
        topic = replace(topic, partitions=(placed,))
        self.image.topics_by_name["t"] = self.image.topics_by_id[topic.id] = topic
        self.process.take(
            self.broker.parts.replication.apply_partition(self.replica, placed, writer, self.now)
        )
        return placed

    def _take(self, effect: Any) -> bool:
        """Nobody answers what this node asks of others."""
        return isinstance(effect, Ask) or super()._take(effect)

    def put(
        self,
        count: int = 1,
        *,
        acks: int = -1,
        timeout_ms: int = 5_000,
        version: int = 9,
        **fields: int,
    ) -> int:
        records = batch(count, timestamp=self.now, **fields)
        data = [PartitionProduceData(index=0, records=records)]
        topic = TopicProduceData(name="t", partition_data=data)
        message = ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=[topic])
        return self.start(produce, version, message)

    def put_answer(self, ticket: int) -> Any:
        return self.answers[ticket].responses[0].partition_responses[0]

    def follow(self, broker: int, offset: int, *, log_start: int = 0) -> None:
        """A follower says how far it is."""
        asked = FetchPartition(
            partition=0, fetch_offset=offset, log_start_offset=log_start, partition_max_bytes=1
        )
        message = FetchRequest(
            replica_state=ReplicaState(replica_id=broker, replica_epoch=broker * 10),
            topics=[FetchTopic(topic_id=self.topic_id("t"), partitions=[asked])],
        )
        answer = self.ask(fetch, 18, message)
        assert answer.responses[0].partitions[0].error_code == 0

    def consume(self, offset: int = 0, *, version: int = 12, rack: str = "") -> Any:
        return self.answers[self.poll(offset, version=version, rack=rack)]

    def poll(
        self, offset: int, *, version: int = 12, rack: str = "", max_wait_ms: int = 0, **place: int
    ) -> int:
        """The ticket of a consumer's Fetch. `place`: more fields of its partition."""
        asked = FetchPartition(
            partition=0, fetch_offset=offset, partition_max_bytes=1 << 20, **place
        )
        named = {"topic": "t"} if version < 13 else {"topic_id": self.topic_id("t")}
        message = FetchRequest(
            topics=[FetchTopic(partitions=[asked], **named)],
            rack_id=rack,
            min_bytes=1,
            max_wait_ms=max_wait_ms,
        )
        return self.start(fetch, version, message)

    def polled(self, ticket: int) -> Any:
        return self.answers[ticket].responses[0].partitions[0]

    def latest(self, version: int = 7, timestamp: int = -1) -> Any:
        asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        message = ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=[asked])])
        return self.ask(list_offsets, version, message).topics[0].partitions[0]


def test_all_means_every_in_sync_replica_and_one_means_this_node() -> None:
    region = Region()
    every, one = region.put(), region.put(acks=1)
    assert region.put_answer(one).base_offset == 1
    region.follow(2, 2)
    assert every not in region.answers
    region.follow(3, 1)
    assert region.put_answer(every).base_offset == 0
    assert region.replica.high_watermark == 1


def test_too_few_in_sync_are_refused_and_what_was_appended_before_waits_for_more() -> None:
    region = Region(min_insync=2)
    ticket = region.put()
    region.follow(2, 1)
    region.brokers(3, fenced=True)
    region.place(leader=1, isr=(1,))
    refused = region.put()
    assert region.put_answer(refused).error_code == KafkaError.NOT_ENOUGH_REPLICAS
    assert region.replica.log.log_end_offset == 1
    assert ticket not in region.answers
    assert region.put_answer(region.put(acks=1)).error_code == 0
    region.place(leader=1, isr=(1, 2))
    assert region.put_answer(ticket).error_code == 0


def test_what_nobody_acknowledges_in_time_times_out_and_may_still_be_committed() -> None:
    region = Region()
    ticket = region.put(timeout_ms=700)
    region.wait(699)
    assert ticket not in region.answers
    region.wait(1)
    assert region.put_answer(ticket).error_code == KafkaError.REQUEST_TIMED_OUT
    for broker in (2, 3):
        region.follow(broker, 1)
    assert region.replica.high_watermark == 1


def test_a_lost_leadership_is_told_to_whoever_waits() -> None:
    region = Region()
    ticket = region.put()
    region.place(leader=2)
    assert region.put_answer(ticket).error_code == KafkaError.NOT_LEADER_OR_FOLLOWER
    later = region.put(version=10)
    item = region.put_answer(later)
    assert item.error_code == KafkaError.NOT_LEADER_OR_FOLLOWER
    assert (item.current_leader.leader_id, item.current_leader.leader_epoch) == (2, 1)
    [endpoint] = region.answers[later].node_endpoints
    assert (endpoint.node_id, endpoint.host, endpoint.port) == (2, "far", 9002)


def test_an_idempotent_producer_hears_that_its_batch_may_be_stored_when_its_leader_is_lost() -> (
    None
):
    """librdkafka takes NOT_LEADER_OR_FOLLOWER for "not stored", and sends the records again in other batches."""
    region = Region()
    ticket = region.put(producer_id=7, producer_epoch=0, base_sequence=0)
    region.place(leader=2)
    error = region.put_answer(ticket).error_code
    assert error == KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    later = region.put(producer_id=7, producer_epoch=0, base_sequence=0)
    assert region.put_answer(later).error_code == KafkaError.NOT_LEADER_OR_FOLLOWER


def test_only_the_leader_tells_offsets() -> None:
    region = Region()
    region.put(acks=1)
    region.place(leader=2)
    assert region.latest().error_code == KafkaError.NOT_LEADER_OR_FOLLOWER
    asked = OffsetForLeaderPartition(partition=0, leader_epoch=0)
    message = OffsetForLeaderEpochRequest(
        topics=[OffsetForLeaderTopic(topic="t", partitions=[asked])]
    )
    [topic] = region.ask(offset_for_leader_epoch, 4, message).topics
    assert topic.partitions[0].error_code == KafkaError.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    ("version", "error"),
    [(4, KafkaError.LEADER_NOT_AVAILABLE), (5, KafkaError.OFFSET_NOT_AVAILABLE)],
)
def test_a_new_leader_tells_no_end_until_it_knows_what_was_committed(
    version: int, error: KafkaError
) -> None:
    region = Region()
    region.put(acks=1)
    region.place(leader=2)
    region.place(leader=1)
    assert region.latest(version).error_code == error
    assert region.latest(version, timestamp=region.now).error_code == error
    assert region.latest(version, timestamp=-2).error_code == 0
    for broker in (2, 3):
        region.follow(broker, 1)
    assert (region.latest(version).error_code, region.latest(version).offset) == (0, 1)
    assert region.latest(version, timestamp=region.now).offset == 0


def test_a_follower_serves_clients_that_know_it_may_up_to_what_it_knows_is_committed() -> None:
    region = Region()
    region.put(count=3, acks=1)
    for broker in (2, 3):
        region.follow(broker, 3)
    region.put(count=2, acks=1)
    region.place(leader=2)
    item = region.consume().responses[0].partitions[0]
    assert (item.error_code, item.high_watermark) == (0, 3)
    assert len(item.records) == len(batch(3))
    old = region.consume(version=10).responses[0].partitions[0]
    assert old.error_code == KafkaError.NOT_LEADER_OR_FOLLOWER


def test_a_long_poll_is_told_of_a_new_leader_epoch() -> None:
    region = Region()
    region.put(acks=1)
    ticket = region.poll(1, max_wait_ms=500, current_leader_epoch=0)
    assert ticket not in region.answers
    region.place(leader=2)
    assert region.polled(ticket).error_code == KafkaError.FENCED_LEADER_EPOCH


def test_a_long_poll_is_told_where_another_log_parts_that_takes_the_place_of_the_one_it_came_to() -> (
    None
):
    """After an unclean election, or the way back after a failover (KIP-320)."""
    region = Region()
    region.put(count=3, acks=1)
    ticket = region.poll(3, max_wait_ms=500, last_fetched_epoch=0)
    region.place(leader=2)
    region.process.take(region.replica.truncate(0))
    region.place(leader=1, isr=(1,))
    assert ticket not in region.answers
    region.put(count=5, acks=1)
    item = region.polled(ticket)
    parted = item.diverging_epoch
    assert (parted.epoch, parted.end_offset, item.records) == (0, 0, b"")


def test_a_mirrors_follower_serves_nobody_before_its_leader_has_compared_their_logs() -> None:
    """A restore cuts logs below what was committed; one that has not heard of it may lack what another one kept."""
    region = Region()
    region.put(count=3, acks=1)
    for broker in (2, 3):
        region.follow(broker, 3)
    region.place(leader=2, writer="link")
    item = region.consume().responses[0].partitions[0]
    assert (item.error_code, item.records) == (KafkaError.NOT_LEADER_OR_FOLLOWER, b"")
    region.place(leader=3)
    assert region.consume().responses[0].partitions[0].error_code == item.error_code
    region.process.take(region.replica.update_leader_high_watermark(3, region.now))
    assert len(region.consume().responses[0].partitions[0].records) == len(batch(3))


def test_a_reader_is_sent_to_the_replica_in_its_rack() -> None:
    selector = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
    region = Region(broker_rack="a", replica_selector_class=selector)
    region.brokers(2, rack="b")
    region.put(acks=1)
    region.follow(2, 1)
    item = region.consume(rack="b").responses[0].partitions[0]
    assert (item.preferred_read_replica, item.records) == (2, b"")
    assert region.consume(rack="a").responses[0].partitions[0].preferred_read_replica == -1
    assert region.consume(offset=9, rack="b").responses[0].partitions[0].error_code == 1


def test_a_refused_reader_is_told_who_leads() -> None:
    region = Region()
    region.place(leader=2)
    asked = FetchPartition(partition=0, fetch_offset=0, current_leader_epoch=0)
    topic = FetchTopic(topic_id=region.topic_id("t"), partitions=[asked])
    answer = region.ask(fetch, 16, FetchRequest(topics=[topic]))
    item = answer.responses[0].partitions[0]
    assert item.error_code == KafkaError.FENCED_LEADER_EPOCH
    assert (item.current_leader.leader_id, item.current_leader.leader_epoch) == (2, 1)
    assert [endpoint.node_id for endpoint in answer.node_endpoints] == [2]


def delete(region: Region, offset: int, timeout_ms: int = 5_000) -> int:
    asked = DeleteRecordsPartition(partition_index=0, offset=offset)
    topics = [DeleteRecordsTopic(name="t", partitions=[asked])]
    message = DeleteRecordsRequest(topics=topics, timeout_ms=timeout_ms)
    return region.start(delete_records, 2, message)


def deleted(region: Region, ticket: int) -> tuple[int, int]:
    item = region.answers[ticket].topics[0].partitions[0]
    return item.error_code, item.low_watermark


def test_records_are_deleted_when_every_live_replica_has_deleted_them() -> None:
    region = Region()
    region.put(count=5, acks=1)
    for broker in (2, 3):
        region.follow(broker, 5)
    ticket = delete(region, 4)
    assert region.replica.log.log_start_offset == 4
    region.follow(2, 5, log_start=4)
    assert ticket not in region.answers
    region.follow(3, 5, log_start=4)
    assert deleted(region, ticket) == (0, 4)
    assert deleted(region, delete(region, 3)) == (0, 4)


def test_a_replica_that_is_not_there_is_not_waited_for_and_one_that_is_not_for_ever() -> None:
    region = Region()
    region.put(count=5, acks=1)
    for broker in (2, 3):
        region.follow(broker, 5)
    region.brokers(3, fenced=True)
    ticket = delete(region, 4, timeout_ms=300)
    region.wait(300)
    assert deleted(region, ticket) == (KafkaError.REQUEST_TIMED_OUT, -1)
    again = delete(region, 4)
    region.follow(2, 5, log_start=4)
    assert deleted(region, again) == (0, 4)


def test_only_the_leader_deletes() -> None:
    region = Region()
    region.place(leader=2)
    assert deleted(region, delete(region, 0)) == (KafkaError.NOT_LEADER_OR_FOLLOWER, -1)


def test_metadata_tell_which_replicas_are_not_there() -> None:
    region = Region()
    region.brokers(2, fenced=True)
    message = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
    [topic] = region.ask(metadata, 12, message).topics
    [item] = topic.partitions
    assert (item.leader_id, item.replica_nodes, item.isr_nodes) == (1, [1, 2, 3], [1, 2, 3])
    assert item.offline_replicas == [2]
