"""Metadata records to and from the values of the metadata log, in Kafka's frame.

A value is: frame version (varint, 1), record type (varint), record version (varint), message. KIP-631.
"""

from brokers.ids import Buffer
from brokers.quorum.control_records import MetadataLogError as MetadataLogError
from brokers.wire import codec
from brokers.wire.message import Message
from brokers.wire.primitives import WireError, read_unsigned_varint, write_unsigned_varint

FRAME_VERSION = 1
# The versions that we write: what a 4.x controller writes for what we say. All others are 0.
VERSIONS = {
    "BrokerRegistrationChangeRecord": 2,
    "PartitionChangeRecord": 2,
    "PartitionRecord": 2,
    "RegisterBrokerRecord": 3,
}


def encode(record: Message) -> bytes:
    """One record as the value of a log record."""
    name = type(record).__name__
    version = VERSIONS.get(name, 0)
    frame = (FRAME_VERSION, codec.METADATA_RECORD_TYPES[name], version)
    return b"".join(map(write_unsigned_varint, frame)) + codec.encode_record(record, version)


def decode(value: Buffer) -> Message:
    """The record in the value of a log record; raises `MetadataLogError`."""
    try:
        frame, position = read_unsigned_varint(value, 0)
        kind, position = read_unsigned_varint(value, position)
        version, position = read_unsigned_varint(value, position)
        if frame != FRAME_VERSION or kind not in codec.METADATA_RECORDS:
            raise MetadataLogError(f"metadata record type {kind} in frame {frame} is unknown")
        return codec.decode_record(codec.METADATA_RECORDS[kind], version, value, position)
    except WireError as error:
        raise MetadataLogError(f"a metadata record cannot be read: {error}") from None
