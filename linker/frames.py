"""What travels on the stream between two regions, one dataclass a frame of `proto/linker/wire/v1/link.proto`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from brokers.ids import Buffer, Instant, LeaderEpoch, Offset, OffsetAndMetadata, TopicPartition
from linker.errors import MirrorError
from linker.filters import Filter

VERSION = 1
EpochStarts: TypeAlias = tuple[tuple[LeaderEpoch, Offset], ...]


class OffsetBounds(NamedTuple):
    """Where a partition of the source stands."""

    log_start_offset: Offset
    high_watermark: Offset
    last_stable_offset: Offset


@dataclass(frozen=True, slots=True)
class Hello:
    """First frame of the destination. An empty `expected_cluster_id` takes whoever answers."""

    link_name: str
    link_id: str
    cluster_id: str
    expected_cluster_id: str = ""
    chunk_bytes: int = 1 << 19  # the size that chunks should have
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Welcome:
    cluster_id: str
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Refused:
    """The stream is useless: `code` is a link error's name."""

    code: str
    because: str


@dataclass(frozen=True, slots=True)
class WatchTopics:
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopicState:
    """`topic_id` is empty where the topic does not exist. `configs` are the topic's own, without defaults."""

    topic: str
    topic_id: bytes = b""
    partition_count: int = 0
    configs: Mapping[str, str] = field(default_factory=dict)
    leader_epochs: tuple[LeaderEpoch, ...] = ()


@dataclass(frozen=True, slots=True)
class WatchGroups:
    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class GroupOffsets:
    """By the source's topic names."""

    group: str
    offsets: Mapping[TopicPartition, OffsetAndMetadata]


@dataclass(frozen=True, slots=True)
class Subscribe:
    """The destination stands at `offset`; `lineage` is its leader-epoch history, (epoch, first offset) ascending."""

    subscription: int
    partition: TopicPartition
    topic_id: bytes
    offset: Offset
    lineage: EpochStarts
    from_latest: bool = False


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    subscription: int


@dataclass(frozen=True, slots=True)
class Agreed:
    """Chunks follow from `start_offset`; comes again when the source's log start overtook the subscription."""

    subscription: int
    start_offset: Offset
    leader_epoch: LeaderEpoch
    standing: OffsetBounds
    clock: Instant


@dataclass(frozen=True, slots=True)
class Declined:
    """The subscription is over. NOT_SET means that trying again may help; -1 that no offset is the reason."""

    subscription: int
    error: MirrorError
    because: str
    agreed_offset: Offset = -1


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole batches that continue the subscription at `offset`; `leader_epoch` is the largest in `data`."""

    subscription: int
    offset: Offset
    next_offset: Offset
    leader_epoch: LeaderEpoch
    roll: bool
    standing: OffsetBounds
    clock: Instant
    data: Buffer = field(repr=False)


@dataclass(frozen=True, slots=True)
class Beacon:
    """As of `clock`, every subscription stands as it was last told, in `standings` or before."""

    clock: Instant
    standings: tuple[tuple[int, OffsetBounds], ...] = ()
    nonce: int = 0


@dataclass(frozen=True, slots=True)
class AskBeacon:
    """The beacon that answers follows everything that changed before it."""

    nonce: int


@dataclass(frozen=True, slots=True)
class Credit:
    """Bytes of chunks that the source may have sent in all on this stream."""

    granted_bytes: int


Frame: TypeAlias = (
    Hello | Welcome | Refused | WatchTopics | TopicState | WatchGroups | GroupOffsets | Subscribe
    | Unsubscribe | Agreed | Declined | Chunk | Beacon | AskBeacon | Credit
)  # fmt: skip
