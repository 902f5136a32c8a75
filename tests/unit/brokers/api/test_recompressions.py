"""A host may compress beforehand what a Produce request brings: the log is the same."""

import uuid

import pytest

from brokers.api import produce
from brokers.api.recompressions import BYTES_MIN, Recompressions
from brokers.events import Request
from brokers.ids import TopicPartition
from brokers.records.builder import NewRecord, build_batch
from brokers.storage.storage import Storage
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.unit.brokers.api.whole import NOW, Whole
from tests.unit.brokers.partition.replicas import batch

LARGE = build_batch([NewRecord(b"key", b"value " * 10)] * 1_000, timestamp=NOW)
assert len(LARGE) > BYTES_MIN


@pytest.mark.parametrize(("codec", "is_slow"), [("gzip", True), ("lz4", False), ("snappy", False)])
def test_a_fast_codec_is_left_to_the_handler(codec: str, is_slow: bool) -> None:
    whole = Whole()
    whole.create("packed", 3, compression_type=codec)
    found = Recompressions(whole.broker.parts.raft, whole.broker.parts.partitions)
    assert len(found.of(asked(whole, 12))) == (2 if is_slow else 0)


@pytest.mark.parametrize("version", [12, 13])
def test_the_log_is_the_same_and_what_is_small_or_kept_is_left(version: int) -> None:
    logs = []
    for is_ahead in (False, True):
        whole = Whole()
        whole.create("packed", 3, compression_type="zstd")
        whole.create("kept", 1)
        request = asked(whole, version)
        if is_ahead:
            found = Recompressions(whole.broker.parts.raft, whole.broker.parts.partitions)
            jobs = found.of(request)
            parts = [each for topic in request.message.topic_data for each in topic.partition_data]  # type: ignore[attr-defined]
            assert [key for key, _ in jobs] == [id(parts[0]), id(parts[2])]
            request.recompressed = {key: job.run() for key, job in jobs}  # type: ignore[misc]
        whole.feed(request)
        codes = [
            each.error_code
            for topic in whole.answers[request.ticket].responses
            for each in topic.partition_responses
        ]
        assert codes == [0, 0, 0, 0, 3 if version < 13 else 100]
        logs.append([held(whole, "packed", number) for number in range(3)])
    assert logs[0] == logs[1]
    assert len(logs[0][0]) < len(LARGE) // 4


def asked(whole: Whole, version: int) -> Request:
    topics = []
    for topic, sent in (("packed", [LARGE, batch(2), LARGE]), ("kept", [LARGE]), ("none", [LARGE])):
        unknown = uuid.UUID(int=1)
        known = whole.broker.parts.raft.image.topics_by_name
        naming = (
            {"name": topic}
            if version < 13
            else {"topic_id": whole.topic_id(topic) if topic in known else unknown}
        )
        parts = [
            PartitionProduceData(index=number, records=memoryview(bytearray(data)))
            for number, data in enumerate(sent)
        ]
        topics.append(TopicProduceData(partition_data=parts, **naming))
    message = ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=topics)
    return whole.requested(produce, version, message)


def held(whole: Whole, topic: str, number: int) -> bytes:
    log = whole.broker.parts.partitions.all[TopicPartition(topic, number)].require_log()
    assert log.log_end_offset > 0
    path = f"{topic}-{number}/{0:020d}.log"
    assert isinstance(whole.storage, Storage)
    files = whole.storage.files
    return bytes(files.read(path, 0, files.size(path)))
