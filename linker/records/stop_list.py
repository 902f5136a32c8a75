"""Topics that one command is to stop, written down before the first of them is stopped.

A command that stops several topics has one of these documents, or several if they are many. They are written in one
proposal, and each is removed once none of its topics is left. Which are left their mirrors' records say: a mirror is
left while nobody has decided anything about it since.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from brokers.ids import Instant
from brokers.metadata.commands.document_commands import DocumentChange
from brokers.metadata.image.image import Image
from linker.records.documents import decode, encode
from linker.records.link_state import LINK_KIND
from linker.records.mirror_record import Asked, CutKind, MirrorRecord

STOP_LIST_KIND: Final = "stop-list"
LIST_TOPICS_MAX: Final = (
    1_000  # of one document: a third of what it may have, with the longest names
)


class Stop(NamedTuple):
    """What is asked for. `timeout_ms`: of a promotion or reversal, from when its topic's turn comes."""

    kind: CutKind
    timeout_ms: int
    asked: Asked


class ListedTopic(NamedTuple):
    """A mirror when the command came. `decision_id`: of what was asked of it last; empty: nothing was."""

    topic: str
    created_at: Instant
    decision_id: str

    def is_left(self, record: MirrorRecord) -> bool:
        """Whether it is the same mirror, and nobody has stopped it, or cancelled that, since the command."""
        return listed(record) == self


@dataclass(frozen=True, slots=True, kw_only=True)
class StopList:
    """The `part`-th document of a command, from 0 on."""

    link: str
    stop: Stop
    part: int
    topics: tuple[ListedTopic, ...]

    @property
    def name(self) -> str:
        return f"{self.stop.asked.decision_id}/{self.part}"


def listed(record: MirrorRecord) -> ListedTopic:
    return ListedTopic(
        record.topic, record.created_at, record.asked.decision_id if record.asked else ""
    )


def in_parts(
    link: str, stop: Stop, records: Sequence[MirrorRecord], topics_max: int = LIST_TOPICS_MAX
) -> Iterator[StopList]:
    """All of a command."""
    for part, begin in enumerate(range(0, len(records), topics_max)):
        topics = tuple(map(listed, records[begin : begin + topics_max]))
        yield StopList(link=link, stop=stop, part=part, topics=topics)


def put(stop_list: StopList) -> DocumentChange:
    """The change that writes a new one. 20,000 topics with names of 30 characters are 1.3 MB."""
    stop = stop_list.stop
    body = {
        "link": stop_list.link,
        "kind": stop.kind.value,
        "timeout_ms": stop.timeout_ms,
        "asked": stop.asked,
        "part": stop_list.part,
        "topics": stop_list.topics,
    }
    return DocumentChange(
        kind=STOP_LIST_KIND, name=stop_list.name, body=encode(body), expected_version=0
    )


def removals(names: Iterable[str]) -> tuple[DocumentChange, ...]:
    """Whatever their versions: a list is never changed."""
    return tuple(DocumentChange(kind=STOP_LIST_KIND, name=name, body=None) for name in names)


def decode_stop_list(body: bytes) -> StopList:
    fields = decode(body)
    stop = Stop(CutKind(fields["kind"]), int(fields["timeout_ms"]), Asked(*fields["asked"]))
    return StopList(
        link=str(fields["link"]),
        stop=stop,
        part=int(fields["part"]),
        topics=tuple(map(_topic, fields["topics"])),
    )


def _topic(fields: Any) -> ListedTopic:
    topic, created_at, decision_id = fields
    return ListedTopic(str(topic), int(created_at), str(decision_id))


def stop_lists(image: Image) -> Iterator[StopList]:
    for (kind, _), document in list(image.documents.items()):
        if kind == STOP_LIST_KIND:
            yield decode_stop_list(document.body)


def left_behind(image: Image) -> Iterator[str]:
    """The names of lists whose link is gone: a link coordinator of a release that does not know them has deleted it."""
    for one in stop_lists(image):
        if (LINK_KIND, one.link) not in image.documents:
            yield one.name
