"""What another region has asked this one to keep: the records of a topic that its mirror there does not hold yet.

How far the mirror is, its subscriptions say; it is not stored.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from brokers.ids import Instant
from brokers.metadata.commands.document_commands import DocumentChange
from brokers.metadata.image.image import Image
from linker.records.documents import decode, encode

HOLD_KIND: Final = "retention-hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldRecord:
    """Of one topic, for link `link` of region `cluster_id`. `dropped_at`: an operator of this region has ended it."""

    cluster_id: str
    link: str
    topic: str
    topic_id: UUID
    max_bytes: int  # of a partition
    max_ms: int  # how old a record may be
    since: Instant
    dropped_at: Instant | None = None

    @property
    def name(self) -> str:
        return f"{self.cluster_id}/{self.link}/{self.topic}"


def put(hold: HoldRecord) -> DocumentChange:
    """The change that writes it."""
    body = {
        "cluster_id": hold.cluster_id,
        "link": hold.link,
        "topic": hold.topic,
        "topic_id": hold.topic_id.hex,
        "max_bytes": hold.max_bytes,
        "max_ms": hold.max_ms,
        "since": hold.since,
        "dropped_at": hold.dropped_at,
    }
    return DocumentChange(kind=HOLD_KIND, name=hold.name, body=encode(body))


def delete(hold: HoldRecord) -> DocumentChange:
    """The change that removes it."""
    return DocumentChange(kind=HOLD_KIND, name=hold.name, body=None)


def decode_hold(body: bytes) -> HoldRecord:
    fields = decode(body)
    return HoldRecord(
        cluster_id=str(fields["cluster_id"]),
        link=str(fields["link"]),
        topic=str(fields["topic"]),
        topic_id=UUID(fields["topic_id"]),
        max_bytes=int(fields["max_bytes"]),
        max_ms=int(fields["max_ms"]),
        since=int(fields["since"]),
        dropped_at=fields["dropped_at"],
    )


class HoldIndex:
    """The holds of the metadata log, by name; `of_link` and `all` are what they are looked up by."""

    def __init__(self) -> None:
        self._by_link: dict[tuple[str, str], dict[str, HoldRecord]] = {}

    def follow(self, image: Image, changed: Iterable[tuple[str, str]]) -> None:
        """`changed` are documents of any kind, by kind and name."""
        for kind, name in changed:
            if kind != HOLD_KIND:
                continue
            cluster_id, link, topic = name.split("/")
            of_link = self._by_link.setdefault((cluster_id, link), {})
            of_link.pop(topic, None)
            document = image.documents.get((HOLD_KIND, name))
            if document is not None:
                of_link[topic] = decode_hold(document.body)
            if not of_link:
                del self._by_link[cluster_id, link]

    def of_link(self, cluster_id: str, link: str) -> dict[str, HoldRecord]:
        """By topic."""
        return dict(self._by_link.get((cluster_id, link), {}))

    @property
    def links(self) -> int:
        """Of how many links there are holds."""
        return len(self._by_link)

    def all(self) -> Iterator[HoldRecord]:
        for of_link in self._by_link.values():
            yield from of_link.values()
