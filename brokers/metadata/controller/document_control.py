"""Documents: opaque records, by kind and name, that links keep in the metadata log, by compare-and-set."""

from brokers.errors import KafkaError, Refusal
from brokers.ids import Offset
from brokers.metadata.commands.controller_result import ControllerResult
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.image.image import Image
from brokers.wire.messages.metadata_records import DocumentRecord

DOCUMENT_BYTES_MAX = 1 << 20  # the metadata log is in every node's memory


def put_documents(image: Image, command: PutDocuments, next_offset: Offset) -> ControllerResult:
    """A version is the offset of the document's record, so a document that is created again gets no earlier version.

    Raises Refusal.
    """
    if len({(item.kind, item.name) for item in command.items}) < len(command.items):
        raise Refusal(KafkaError.INVALID_REQUEST, "a document appears twice in one request")
    records: list[DocumentRecord] = []
    versions: dict[tuple[str, str], Offset] = {}
    for item in command.items:
        _check(image, item)
        version = next_offset + len(records)
        versions[item.kind, item.name] = 0 if item.body is None else version
        records.append(
            DocumentRecord(kind=item.kind, name=item.name, version=version, body=item.body)
        )
    return ControllerResult(tuple(records), versions)


def _check(image: Image, item: DocumentChange) -> None:
    version = image.document_version(item.kind, item.name)
    if item.expected_version is not None and item.expected_version != version:
        because = f"{item.kind} {item.name} is at version {version}, not {item.expected_version}"
        raise Refusal(KafkaError.INVALID_UPDATE_VERSION, because)
    topic = image.topics_by_name.get(item.name) if item.unless_writer else None
    if topic is not None and topic.writer == item.unless_writer:
        because = f"link {topic.writer} has made topic {topic.name} meanwhile"
        raise Refusal(KafkaError.TOPIC_ALREADY_EXISTS, because)
    if item.partition_epochs != _partition_epochs(image, item):
        because = f"a leader or an in-sync set of topic {item.name} has changed meanwhile"
        raise Refusal(KafkaError.INVALID_UPDATE_VERSION, because)
    if item.body is not None and len(item.body) > DOCUMENT_BYTES_MAX:
        because = f"{item.kind} {item.name} is larger than {DOCUMENT_BYTES_MAX} bytes"
        raise Refusal(KafkaError.POLICY_VIOLATION, because)


def _partition_epochs(image: Image, item: DocumentChange) -> tuple[int, ...]:
    """Of as many partitions as the change names."""
    topic = image.topics_by_name.get(item.name)
    found = topic.partitions if topic is not None else ()
    return tuple(each.partition_epoch for each in found[: len(item.partition_epochs)])
