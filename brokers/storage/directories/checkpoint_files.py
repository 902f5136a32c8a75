"""The formats of Kafka's small text files. The `parse_` functions raise `CheckpointError`."""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping

from brokers.ids import NO_BROKER_EPOCH, Buffer, LeaderEpoch, Offset, TopicPartition

CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
COMPLETE_FROM = "complete-from-offset-checkpoint"  # ours, as is the next one
MARKERS_FROM = "markers-from-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"

_VERSION = "0"


class CheckpointError(Exception):
    """A file with other content; the message says what is wrong."""


def format_clean_shutdown(broker_epoch: int) -> bytes:
    """The clean shutdown file, with the broker epoch: the controller learns that no data was lost (KIP-966)."""
    return json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":")).encode()


def parse_clean_shutdown(data: Buffer) -> int:
    """The broker epoch; `NO_BROKER_EPOCH` for other content, as of older releases."""
    try:
        epoch = json.loads(bytes(data))["brokerEpoch"]
    except (ValueError, KeyError, TypeError):
        return NO_BROKER_EPOCH
    return epoch if type(epoch) is int else NO_BROKER_EPOCH


def format_offsets(offsets: Mapping[TopicPartition, Offset]) -> bytes:
    """An offset checkpoint: one line `topic partition offset` each."""
    lines = [f"{name.topic} {name.partition} {offset}" for name, offset in offsets.items()]
    return _format(lines)


def parse_offsets(data: Buffer) -> dict[TopicPartition, Offset]:
    """The inverse of `format_offsets`."""
    offsets: dict[TopicPartition, Offset] = {}
    for line in _parse(data):
        fields = line.split(" ")
        if len(fields) != 3:
            raise CheckpointError(f"not `topic partition offset`: {line!r}")
        offsets[TopicPartition(fields[0], _number(fields[1]))] = _number(fields[2])
    return offsets


def format_epochs(entries: Iterable[tuple[LeaderEpoch, Offset]]) -> bytes:
    """`leader-epoch-checkpoint`: one line `leader-epoch first-offset` each."""
    return _format([f"{leader_epoch} {offset}" for leader_epoch, offset in entries])


def parse_epochs(data: Buffer) -> list[tuple[LeaderEpoch, Offset]]:
    """The inverse of `format_epochs`; both columns must ascend."""
    entries: list[tuple[LeaderEpoch, Offset]] = []
    for line in _parse(data):
        fields = line.split(" ")
        if len(fields) != 2:
            raise CheckpointError(f"not `epoch offset`: {line!r}")
        entry = (_number(fields[0]), _number(fields[1]))
        if entries and not (entry[0] > entries[-1][0] and entry[1] > entries[-1][1]):
            raise CheckpointError(f"{entry} does not follow {entries[-1]}")
        entries.append(entry)
    return entries


def format_topic_id(topic_id: bytes) -> bytes:
    """`partition.metadata`; the id is printed as Kafka prints ids: url-safe base64 without padding."""
    return f"version: 0\ntopic_id: {print_id(topic_id)}".encode()


def parse_topic_id(data: Buffer) -> bytes:
    """The 16 bytes of the topic id in `partition.metadata`."""
    fields = _properties(data, ": ")
    try:
        topic_id = base64.b64decode(
            fields.get("topic_id", "") + "==", altchars=b"-_", validate=True
        )
    except (binascii.Error, ValueError):
        raise CheckpointError("topic_id is not base64") from None
    if fields.get("version") != _VERSION or len(topic_id) != 16:
        raise CheckpointError("no version 0 with a topic_id of 16 bytes")
    return topic_id


def print_id(value: bytes) -> str:
    """16 bytes as Kafka prints them."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _format(lines: list[str]) -> bytes:
    return "\n".join([_VERSION, str(len(lines)), *lines, ""]).encode()


def _parse(data: Buffer) -> list[str]:
    lines = _text(data).split("\n")
    if lines[0] != _VERSION or len(lines) < 2:
        raise CheckpointError(f"version is {lines[0]!r}, not {_VERSION}")
    count = _number(lines[1])
    if lines[2 + count :] != [""]:
        raise CheckpointError(f"{count} lines announced, {len(lines) - 3} found")
    return lines[2:-1]


def _properties(data: Buffer, separator: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in _text(data).splitlines():
        name, found, value = line.partition(separator)
        if found and not line.startswith("#"):
            fields[name.strip()] = value.strip()
    return fields


def _text(data: Buffer) -> str:
    try:
        return bytes(data).decode()
    except UnicodeDecodeError:
        raise CheckpointError("not text") from None


def _number(text: str) -> int:
    if not (text.isascii() and text.removeprefix("-").isdigit()):
        raise CheckpointError(f"not a number: {text!r}")
    return int(text)
