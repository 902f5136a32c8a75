"""Commands about documents: opaque records that links keep in the metadata log."""

from dataclasses import dataclass, field

from brokers.ids import Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """`expected_version` 0: the document must not exist; None: any version. A `body` of None deletes.

    With `unless_writer` there must be no topic of the document's name that this link writes. `partition_epochs` are of
    the first partitions of that topic, and what the change was decided by: no leader and no in-sync set of them may
    have changed since. A controller of an older release does not look.
    """

    kind: str
    name: str
    body: bytes | None = field(repr=False)
    expected_version: Offset | None = None
    unless_writer: str = ""
    partition_epochs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PutDocuments:
    """All changes or none -> {(kind, name): new version, 0 if deleted}, or `Refusal` INVALID_UPDATE_VERSION.

    TOPIC_ALREADY_EXISTS where a topic has the writer that it must not have.
    """

    items: tuple[DocumentChange, ...]
