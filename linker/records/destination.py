"""A region that mirrors topics of this one, and may take them over: what its link has said last.

It is written again whenever this region is known to go on living: so what it has at an offset below the registration of
a broker was said before that broker started.
"""

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from brokers.ids import Instant, Offset
from brokers.metadata.commands.document_commands import DocumentChange
from brokers.metadata.image.image import Image
from linker.records.documents import decode, encode

DESTINATION_KIND: Final = "destination"
_ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationRecord:
    """Of link `link` of region `cluster_id`. `told_at`: when the link said that it mirrors these."""

    cluster_id: str
    link: str
    topic_ids: frozenset[UUID]
    told_at: Instant

    @property
    def name(self) -> str:
        return name_of(self.cluster_id, self.link)


def name_of(cluster_id: str, link: str) -> str:
    """Of the record of a link of another region."""
    return f"{cluster_id}/{link}"


def put(record: DestinationRecord, expected_version: Offset) -> DocumentChange:
    """The change that writes it. 20,000 topics are 430 kB."""
    ids = b"".join(sorted(each.bytes for each in record.topic_ids))
    body = {
        "cluster_id": record.cluster_id,
        "link": record.link,
        "topic_ids": base64.b64encode(ids).decode(),
        "told_at": record.told_at,
    }
    return _change(record, encode(body), expected_version)


def delete(record: DestinationRecord, expected_version: Offset) -> DocumentChange:
    """The change that removes it."""
    return _change(record, None, expected_version)


def _change(
    record: DestinationRecord, body: bytes | None, expected_version: Offset
) -> DocumentChange:
    return DocumentChange(
        kind=DESTINATION_KIND, name=record.name, body=body, expected_version=expected_version
    )


def decode_destination(body: bytes) -> DestinationRecord:
    fields = decode(body)
    ids = base64.b64decode(str(fields["topic_ids"]))
    each = (ids[at : at + _ID_BYTES] for at in range(0, len(ids), _ID_BYTES))
    return DestinationRecord(
        cluster_id=str(fields["cluster_id"]),
        link=str(fields["link"]),
        topic_ids=frozenset(UUID(bytes=one) for one in each),
        told_at=int(fields["told_at"]),
    )


class DestinationIndex:
    """The records of the metadata log and their versions, by name."""

    def __init__(self) -> None:
        self.records: dict[str, DestinationRecord] = {}
        self.versions: dict[str, Offset] = {}

    def follow(self, image: Image, changed: Iterable[tuple[str, str]]) -> None:
        """`changed` are documents of any kind, by kind and name."""
        for kind, name in changed:
            if kind != DESTINATION_KIND:
                continue
            self.records.pop(name, None)
            self.versions.pop(name, None)
            document = image.documents.get((DESTINATION_KIND, name))
            if document is not None:
                self.records[name] = decode_destination(document.body)
                self.versions[name] = document.version
