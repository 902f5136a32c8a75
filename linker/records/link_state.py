"""A link's states as a table, drawn in `linker/README.md`, and its record in the metadata log."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from brokers.ids import Instant
from linker.records.documents import decode, encode, text_map

LINK_KIND: Final = "link"


class LinkState(Enum):
    """Names of Confluent Cluster Linking. UNKNOWN: the source has not been dialed yet."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    UNAVAILABLE = "UNAVAILABLE"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"


class LinkTrigger(Enum):
    """What can happen to a link."""

    WELCOMED = "the source region answered as expected"
    UNREACHABLE = "too many availability checks in a row failed"
    REFUSED = "the source region refused, or is not the one expected"
    PAUSE = "cluster.link.paused was set"
    RESUME = "cluster.link.paused was cleared"


TRANSITIONS: Final[Mapping[tuple[LinkState, LinkTrigger], LinkState]] = {
    (state, trigger): (
        LinkState.PAUSED
        if state is LinkState.PAUSED and trigger is not LinkTrigger.RESUME
        else target
    )
    for state in LinkState
    for trigger, target in (
        (LinkTrigger.WELCOMED, LinkState.ACTIVE),
        (LinkTrigger.UNREACHABLE, LinkState.UNAVAILABLE),
        (LinkTrigger.REFUSED, LinkState.FAILED),
        (LinkTrigger.PAUSE, LinkState.PAUSED),
        # Only a paused link can be resumed; the source has not been dialed yet then.
        (LinkTrigger.RESUME, LinkState.UNKNOWN if state is LinkState.PAUSED else state),
    )
}


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """What is stored of a link. Its state is not: a restart begins with UNKNOWN."""

    name: str
    link_id: str
    # Of the other region, also with link.mode SOURCE; empty until it first answered.
    source_cluster_id: str
    configs: Mapping[str, str]
    created_at: Instant
    secret: str = field(default="", repr=False)  # with link.mode SOURCE
    secret_digest: str = ""  # with connection.mode INBOUND

    def encode(self) -> bytes:
        return encode(
            {
                "link_id": self.link_id,
                "source_cluster_id": self.source_cluster_id,
                "configs": dict(self.configs),
                "created_at": self.created_at,
                "secret": self.secret,
                "secret_digest": self.secret_digest,
            }
        )


def decode_link(name: str, body: bytes) -> LinkRecord:
    fields = decode(body)
    return LinkRecord(
        name=name,
        link_id=str(fields["link_id"]),
        source_cluster_id=str(fields["source_cluster_id"]),
        configs=text_map(fields["configs"]),
        created_at=int(fields["created_at"]),
        secret=str(fields.get("secret", "")),
        secret_digest=str(fields.get("secret_digest", "")),
    )
