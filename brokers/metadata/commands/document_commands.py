"""Commands about documents: opaque records that links keep in the metadata log."""

from dataclasses import dataclass, field

from brokers.ids import Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """`expected_version` 0 is "absent", None is "whatever it is"; a `body` of None deletes."""

    kind: str
    name: str
    body: bytes | None = field(repr=False)
    expected_version: Offset | None = None


@dataclass(frozen=True, slots=True)
class PutDocuments:
    """All or none -> {(kind, name): its version now, 0 if deleted}, or `Refusal` INVALID_UPDATE_VERSION."""

    items: tuple[DocumentChange, ...]
