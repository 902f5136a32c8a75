"""Ask a live region for its offsets, as any stock client would: ListOffsets through librdkafka."""

import socket
from collections.abc import Iterable
from enum import Enum

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 10.0


class Which(Enum):
    """The two offsets that an audit asks for; LATEST is the high watermark."""

    EARLIEST = "earliest"
    LATEST = "latest"


class Unanswered(Exception):
    """The region could not be asked; the message says why."""


def offsets(
    bootstrap: str, partitions: Iterable[tuple[str, int]], which: Which
) -> dict[tuple[str, int], int]:
    """Offsets of the partitions that the region knows; raises Unanswered when it does not answer at all."""
    wanted = sorted(partitions)
    if not wanted:
        return {}
    _connect(bootstrap)
    try:
        from confluent_kafka import KafkaException, TopicPartition
        from confluent_kafka.admin import AdminClient
        from confluent_kafka.admin._listoffsets import EarliestSpec, LatestSpec, OffsetSpec
    except ImportError as error:
        raise Unanswered("no Kafka client is installed (pip install confluent-kafka)") from error
    wants = {Which.EARLIEST: EarliestSpec, Which.LATEST: LatestSpec}
    spec: OffsetSpec = wants[which]()  # type: ignore[no-untyped-call]
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    request = {TopicPartition(topic, partition): spec for topic, partition in wanted}
    found: dict[tuple[str, int], int] = {}
    reason = "it answered for no partition"
    for partition, answer in admin.list_offsets(request, request_timeout=ANSWER_SECONDS).items():
        try:
            found[partition.topic, partition.partition] = answer.result().offset
        except KafkaException as error:
            reason = str(error.args[0].str()) if error.args else str(error)
    if not found:
        raise Unanswered(f"{bootstrap}: {reason}")
    return found


def brokers(bootstrap: str) -> dict[int, str]:
    """The region's brokers: host:port by node id; raises Unanswered."""
    try:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient
    except ImportError as error:
        raise Unanswered("no Kafka client is installed (pip install confluent-kafka)") from error
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    try:
        found = admin.list_topics(timeout=ANSWER_SECONDS).brokers
    except KafkaException as error:
        raise Unanswered(f"{bootstrap}: {error}") from error
    return {one.id: f"{one.host}:{one.port}" for one in found.values()}


def _connect(bootstrap: str) -> None:
    """A dead region refuses at once; librdkafka would go on trying until its timeout."""
    reason = ""
    for address in bootstrap.split(","):
        host, _, port = address.strip().rpartition(":")
        try:
            socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
            return
        except (OSError, ValueError) as error:
            reason = f"{address.strip()}: {error}"
    raise Unanswered(reason)
