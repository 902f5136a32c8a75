"""Metadata records to and from record values of the metadata log (Kafka's MetadataRecordSerde).

A value is: frame version (varint, 1), record type (varint), record version (varint), message (KIP-631).
"""

from brokers.ids import Buffer
from brokers.quorum.control_records import MetadataLogError as MetadataLogError
from brokers.wire import codec
from brokers.wire.message import Message
from brokers.wire.primitives import WireError, read_unsigned_varint, write_unsigned_varint

FRAME_VERSION = 1
# The record versions that are written, as by a Kafka 4.x controller for the same fields. All others are 0.
VERSIONS = {
    "BrokerRegistrationChangeRecord": 2,
    "PartitionChangeRecord": 2,
    "PartitionRecord": 2,
    "RegisterBrokerRecord": 3,
}


# Those with cordoned log directories (KIP-1066), which Kafka writes from metadata.version 4.3 on.
CORDONED_VERSIONS = {"BrokerRegistrationChangeRecord": 3, "RegisterBrokerRecord": 4}


def encode(record: Message) -> bytes:
    """The value of a log record."""
    name = type(record).__name__
    version = VERSIONS.get(name, 0)
    if name in CORDONED_VERSIONS and record.cordoned_log_dirs is not None:  # type: ignore[attr-defined]
        version = CORDONED_VERSIONS[name]
    frame = (FRAME_VERSION, codec.METADATA_RECORD_TYPES[name], version)
    return b"".join(map(write_unsigned_varint, frame)) + codec.encode_record(record, version)


def decode(value: Buffer) -> Message:
    """The record in a log record's value. Raises MetadataLogError for an unknown type or version, or for damage."""
    try:
        frame, position = read_unsigned_varint(value, 0)
        kind, position = read_unsigned_varint(value, position)
        version, position = read_unsigned_varint(value, position)
        if frame != FRAME_VERSION or kind not in codec.METADATA_RECORDS:
            raise MetadataLogError(f"metadata record type {kind} in frame {frame} is unknown")
        return codec.decode_record(codec.METADATA_RECORDS[kind], version, value, position)
    except WireError as error:
        raise MetadataLogError(f"a metadata record cannot be read: {error}") from None
