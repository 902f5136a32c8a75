"""An operator's word that a topic of this region is written here again, although another region took it over."""

from typing import Final, NamedTuple
from uuid import UUID

from brokers.metadata.commands.document_commands import DocumentChange
from brokers.metadata.image.image import Image
from linker.records.documents import decode, encode

UNFENCED_KIND: Final = "unfenced"


class UnfencedTopic(NamedTuple):
    """It holds against takeovers up to `generation`, of the topic with this id."""

    topic: str
    topic_id: UUID
    generation: int


def put(unfenced: UnfencedTopic) -> DocumentChange:
    body = {"topic_id": unfenced.topic_id.hex, "generation": unfenced.generation}
    return DocumentChange(kind=UNFENCED_KIND, name=unfenced.topic, body=encode(body))


def unfenced_generation(image: Image, topic: str, topic_id: UUID) -> int:
    """0 where no operator has unfenced the topic with this id."""
    document = image.documents.get((UNFENCED_KIND, topic))
    fields = decode(document.body) if document is not None else {}
    return int(fields["generation"]) if fields.get("topic_id") == topic_id.hex else 0
