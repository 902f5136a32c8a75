"""An image as a file: Kafka's `<end offset>-<leader epoch>.checkpoint` (KIP-630).

The file has control records (a header and the voters), the records of the image, and a footer. A file without its
footer is invalid.
"""

from collections.abc import Iterator
from itertools import islice

from brokers.ids import Buffer, Instant, LeaderEpoch, Offset
from brokers.metadata.image.broker_records import registration_record
from brokers.metadata.image.controller_records import controller_record
from brokers.metadata.image.image import Image, TopicImage
from brokers.metadata.image.operation_records import operation_record
from brokers.metadata.image.partition_records import partition_record
from brokers.metadata.image.record_batches import data_batch, read_batches
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.metadata.image.replay import replay
from brokers.quorum.control_records import control_batch
from brokers.quorum.voters import VoterSet, voters_of
from brokers.wire.message import Message
from brokers.wire.messages.control_records import (
    KRaftVersionRecord,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)
from brokers.wire.messages.metadata_records import (
    ConfigRecord,
    DocumentRecord,
    FeatureLevelRecord,
    ProducerIdsRecord,
    TopicRecord,
    TopicWriterRecord,
)

BATCH_RECORDS = 1_000


def encode(
    image: Image, leader_epoch: LeaderEpoch, now: Instant, *, voters: VoterSet | None = None
) -> bytes:
    """The file for this image; its offsets count from 0, as in Kafka. `voters`: where the log holds a voter set."""
    begin = _beginning(now, voters)
    out = bytearray(control_batch(begin, base_offset=0, leader_epoch=leader_epoch, now=now))
    offset, records = len(begin), records_of(image)
    while chunk := list(islice(records, BATCH_RECORDS)):
        out += data_batch(chunk, base_offset=offset, leader_epoch=leader_epoch, now=now)
        offset += len(chunk)
    end = [SnapshotFooterRecord(version=0)]
    out += control_batch(end, base_offset=offset, leader_epoch=leader_epoch, now=now)
    return bytes(out)


def _beginning(now: Instant, voters: VoterSet | None) -> list[Message]:
    header = SnapshotHeaderRecord(version=0, last_contained_log_timestamp=now)
    if voters is None:
        return [header]
    return [header, KRaftVersionRecord(version=0, kraft_version=1), voters.record()]


def decode(data: Buffer, cluster_id: str, next_offset: Offset) -> Image:
    """The image in a file. Raises MetadataLogError where the file is damaged or incomplete."""
    messages: list[Message] = []
    controls: list[Message] = []
    for header, found in read_batches(data):
        (controls if header.is_control else messages).extend(found)
    ends = [each for each in controls if not isinstance(each, KRaftVersionRecord | VotersRecord)]
    if [type(each) for each in ends] != [SnapshotHeaderRecord, SnapshotFooterRecord]:
        raise MetadataLogError("a snapshot without its header or its footer")
    image = Image(cluster_id)
    replay(image, messages, next_offset)
    return image


def voters_in(data: Buffer) -> VoterSet | None:
    """The voters as of a snapshot; None where the log held no voter set. Raises as `decode`."""
    for _, found in read_batches(data):
        records = [each for each in found if isinstance(each, VotersRecord)]
        return voters_of(records[-1]) if records else None
    return None


def records_of(image: Image) -> Iterator[Message]:
    """The records that turn an empty image into this one."""
    for feature, level in sorted(image.features.items()):
        yield FeatureLevelRecord(name=feature, feature_level=level)
    for _, broker in sorted(image.brokers.items()):
        yield registration_record(broker)
    for _, controller in sorted(image.controllers.items()):
        yield controller_record(controller)
    for topic in image.topics_by_name.values():
        yield from _topic(topic)
    for (kind, owner), settings in image.configs.items():
        for key, value in settings.items():
            yield ConfigRecord(resource_type=kind, resource_name=owner, name=key, value=value)
    yield ProducerIdsRecord(broker_id=-1, broker_epoch=-1, next_producer_id=image.next_producer_id)
    for document in image.documents.values():
        yield DocumentRecord(
            kind=document.kind, name=document.name, version=document.version, body=document.body
        )
    for operation in image.operations:
        yield operation_record(operation, oldest=image.operations[0].number)


def _topic(topic: TopicImage) -> Iterator[Message]:
    yield TopicRecord(name=topic.name, topic_id=topic.id)
    for index, partition in enumerate(topic.partitions):
        yield partition_record(topic.id, index, partition)
    if topic.writer is not None:
        yield TopicWriterRecord(topic_id=topic.id, writer=topic.writer)
