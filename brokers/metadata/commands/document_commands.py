"""Commands about documents: opaque records that links keep in the metadata log."""

from dataclasses import dataclass, field

from brokers.ids import Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """`expected_version` 0: the document must not exist; None: any version. A `body` of None deletes."""

    kind: str
    name: str
    body: bytes | None = field(repr=False)
    expected_version: Offset | None = None


@dataclass(frozen=True, slots=True)
class PutDocuments:
    """All changes or none -> {(kind, name): new version, 0 if deleted}, or `Refusal` INVALID_UPDATE_VERSION."""

    items: tuple[DocumentChange, ...]
