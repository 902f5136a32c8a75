"""An image as a file: Kafka's `<end offset>-<leader epoch>.checkpoint` (KIP-630).

A header control record, the records that rebuild the image, a footer control record. A file without its footer is none.
"""

from collections.abc import Iterator
from itertools import islice

from brokers.ids import METADATA_PARTITION, Buffer, Instant, LeaderEpoch, Offset
from brokers.metadata.batches import (
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
    control_batch,
    data_batch,
    read_batches,
)
from brokers.metadata.broker_records import registration_record
from brokers.metadata.image import Image, TopicImage
from brokers.metadata.partition_records import partition_record
from brokers.metadata.records import MetadataLogError
from brokers.metadata.replay import replay
from brokers.wire.message import Message
from brokers.wire.messages.control_records import SnapshotFooterRecord, SnapshotHeaderRecord
from brokers.wire.messages.metadata_records import (
    ConfigRecord,
    DocumentRecord,
    FeatureLevelRecord,
    ProducerIdsRecord,
    TopicRecord,
    TopicWriterRecord,
)

BATCH_RECORDS = 1_000


def name(end_offset: Offset, leader_epoch: LeaderEpoch) -> str:
    """The file's name below the data directory."""
    return f"{METADATA_PARTITION}/{end_offset:020}-{leader_epoch:010}.checkpoint"


def end_offset(file_name: str) -> Offset:
    """The offset that the image in a file stands at; raises `MetadataLogError` for another kind of name."""
    digits = file_name.removeprefix(f"{METADATA_PARTITION}/").partition("-")[0]
    if not (file_name.endswith(".checkpoint") and digits.isdigit()):
        raise MetadataLogError(f"{file_name!r} is not the name of a snapshot")
    return int(digits)


def encode(image: Image, leader_epoch: LeaderEpoch, now: Instant) -> bytes:
    """The file for this image; its own offsets count from 0, as in Kafka."""
    header = SnapshotHeaderRecord(version=0, last_contained_log_timestamp=now)
    out = bytearray(
        control_batch(SNAPSHOT_HEADER, header, base_offset=0, leader_epoch=leader_epoch, now=now)
    )
    offset, records = 1, records_of(image)
    while chunk := list(islice(records, BATCH_RECORDS)):
        out += data_batch(chunk, base_offset=offset, leader_epoch=leader_epoch, now=now)
        offset += len(chunk)
    footer = SnapshotFooterRecord(version=0)
    out += control_batch(
        SNAPSHOT_FOOTER, footer, base_offset=offset, leader_epoch=leader_epoch, now=now
    )
    return bytes(out)


def decode(data: Buffer, cluster_id: str, next_offset: Offset) -> Image:
    """The image in a file; raises `MetadataLogError` where it is damaged or not whole."""
    messages: list[Message] = []
    controls: list[int] = []
    for _, content in read_batches(data):
        if isinstance(content, int):
            controls.append(content)
        else:
            messages += content
    if controls != [SNAPSHOT_HEADER, SNAPSHOT_FOOTER]:
        raise MetadataLogError("a snapshot without its header or its footer")
    image = Image(cluster_id)
    replay(image, messages, next_offset)
    return image


def records_of(image: Image) -> Iterator[Message]:
    """Records that make this image of an empty one."""
    for feature, level in sorted(image.features.items()):
        yield FeatureLevelRecord(name=feature, feature_level=level)
    for _, broker in sorted(image.brokers.items()):
        yield registration_record(broker)
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


def _topic(topic: TopicImage) -> Iterator[Message]:
    yield TopicRecord(name=topic.name, topic_id=topic.id)
    for index, partition in enumerate(topic.partitions):
        yield partition_record(topic.id, index, partition)
    if topic.writer is not None:
        yield TopicWriterRecord(topic_id=topic.id, writer=topic.writer)
