"""The frames of the stream between two regions: a dataclass for each of `proto/linker/wire/v1/link.proto`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from brokers.ids import (
    BrokerId,
    Buffer,
    Instant,
    LeaderEpoch,
    Offset,
    OffsetAndMetadata,
    TopicPartition,
)
from linker.errors import MirrorError
from linker.filters import Filter
from linker.hold_frames import HoldRetention, MirrorPositions, RetentionHeld
from linker.offset_bounds import NOWHERE, OffsetBounds, SegmentPosition
from linker.protocol_versions import SPOKEN, ProtocolVersions
from linker.reversal_frames import (
    CheckReversals,
    ReversalRefused,
    ReversalsChecked,
    Reverse,
    WithdrawReversals,
)

CHUNK_BYTES_MIN: Final = 64 << 10
CHUNK_BYTES_MAX: Final = 16 << 20  # that a destination can ask for; one batch can be larger
# Where the source dials: `link.listener` takes messages of 4 MiB, and what is longer comes in parts.
ACCEPTED_CHUNK_BYTES_MAX: Final = 3 << 20
TOPICS_MAX: Final = 20_000  # of one link
NO_BROKER: Final[BrokerId] = -1
BROKERS_MAX: Final = 10_000
EpochStarts: TypeAlias = tuple[tuple[LeaderEpoch, Offset], ...]


class Pace(NamedTuple):
    """How a destination wants its chunks (version 5): of `min_bytes` at least, unless that takes longer than
    `wait_max_ms`; compressed on the wire with zstd where their batches are not."""

    min_bytes: int = 1
    wait_max_ms: int = 0
    is_compressed: bool = False


AT_ONCE: Final = Pace()


@dataclass(frozen=True, slots=True)
class Hello:
    """The destination's first frame. An empty `expected_cluster_id` accepts any region as the source."""

    link_name: str
    link_id: str
    cluster_id: str
    expected_cluster_id: str = ""
    chunk_bytes: int = 1 << 19  # the size that chunks should have
    versions: ProtocolVersions = SPOKEN
    broker_id: BrokerId = NO_BROKER  # the sender's; unknown before version 2
    pace: Pace = AT_ONCE
    chunk_bytes_max: int = 0  # that it takes (version 8); 0: not known


@dataclass(frozen=True, slots=True)
class Welcome:
    cluster_id: str
    version: int = SPOKEN.newest  # of this stream
    broker_id: BrokerId = NO_BROKER  # the sender's; unknown before version 2


class SourceBroker(NamedTuple):
    """A broker of the source that serves links, and the `host:port` of its `link.listener`."""

    broker_id: BrokerId
    endpoint: str


@dataclass(frozen=True, slots=True)
class Brokers:
    """The brokers that serve links, as of an offset of the source's metadata log."""

    metadata_offset: Offset
    brokers: tuple[SourceBroker, ...]


@dataclass(frozen=True, slots=True)
class Announce:
    """The first frame of a source that dials; Hello answers it. `fetcher` numbers the streams between two brokers."""

    link_name: str
    cluster_id: str
    expected_cluster_id: str
    broker_id: BrokerId
    fetcher: int = 0
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class WantedStreams:
    """To a broker of a source that dials: to which brokers of the destination it is to have streams (version 9).

    To `broker_ids` all of the link's, because they mirror what it leads; to `metadata_ids` one. The newest counts.
    """

    broker_ids: tuple[BrokerId, ...] = ()
    metadata_ids: tuple[BrokerId, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """The stream cannot be used; `code` is the name of a `LinkError`."""

    code: str
    because: str


@dataclass(frozen=True, slots=True)
class WatchTopics:
    """These topics, and all that the filters admit, also one that is created later."""

    topics: tuple[str, ...]
    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class RewatchTopics:
    """Changes the topics of the last WatchTopics, not its filters (version 7). The states of those that are added are
    sent, also where they are watched already."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class Former(NamedTuple):
    """A topic of another region, of which this one was the mirror until it was promoted, failed over or reversed."""

    cluster_id: str
    topic_id: bytes
    generation: int  # since then


@dataclass(frozen=True, slots=True)
class TopicState:
    """`topic_id` is empty if the topic does not exist. `configs` are the topic's own, without defaults.

    `origins`: where the records of a mirror topic came through, by cluster id, the nearest first. `leaders` are broker
    ids, by partition; empty before version 2, whose sources have one broker. `metadata_offset` says of which offset of
    the source's metadata log all this is: brokers may be behind one another. `reversing`: the mirror that this topic
    will be a mirror of; nobody writes it any more (version 4).
    """

    topic: str
    topic_id: bytes = b""
    partition_count: int = 0
    configs: Mapping[str, str] = field(default_factory=dict)
    leader_epochs: tuple[LeaderEpoch, ...] = ()
    origins: tuple[str, ...] = ()
    leaders: tuple[BrokerId, ...] = ()
    metadata_offset: Offset = field(default=0, compare=False)
    former: Former | None = None
    reversing: Former | None = None

    @property
    def generation(self) -> int:
        """In which its region has taken it over, or an operator there has decided for it; 0: neither."""
        return self.former.generation if self.former is not None else 0


class SupersededTopic(NamedTuple):
    """By the source's name and topic id. `generation` is the topic's since it was taken over."""

    topic: str
    topic_id: bytes
    generation: int


@dataclass(frozen=True, slots=True)
class Superseded:
    """The destination has taken these topics over: the source is not their primary any more (version 3)."""

    topics: tuple[SupersededTopic, ...]


@dataclass(frozen=True, slots=True)
class MirroredTopics:
    """The destination mirrors these topics and no others, by the source's ids, and may take them over. What it has
    taken over already, it has said before on this stream (version 11)."""

    topic_ids: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class WatchGroups:
    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class GroupOffsets:
    """By the source's topic names. `deleted`: the group has no offset for these any more (version 4). `is_active`:
    whether it has members at the source, which may be all that the frame says (version 10); None: not known."""

    group: str
    offsets: Mapping[TopicPartition, OffsetAndMetadata]
    deleted: tuple[TopicPartition, ...] = ()
    is_active: bool | None = None


@dataclass(frozen=True, slots=True)
class Subscribe:
    """The destination's log ends at `offset`; `lineage` has its leader epochs: (epoch, first offset), ascending.

    `leader_epoch` is the source's, as its TopicState had it: a broker in another one declines. -1: not known.
    `from_timestamp`: begin at the batch with the first record of that time or later, or at the high watermark where
    there is none (version 4); -1: not so. `weight`: its share of the stream's bytes among the others (version 5).
    `segment`: where that is in the destination's log, whose segments are those of the source (version 6).
    `is_watched`: the destination wants to know how the partition stands, and none of its records (version 10).
    """

    subscription: int
    partition: TopicPartition
    topic_id: bytes
    offset: Offset
    lineage: EpochStarts
    from_latest: bool = False
    leader_epoch: LeaderEpoch = -1
    from_timestamp: Instant = -1
    weight: int = 1
    segment: SegmentPosition = NOWHERE
    is_watched: bool = False


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    subscription: int


@dataclass(frozen=True, slots=True)
class Agreed:
    """Chunks follow from `start_offset`. Sent again when the source's log start has passed the position.

    `skipped_bytes`: how many the source had from there to `start_offset` (version 6); -1: unknown. `began_at`: where
    its log began as a mirror by `mirror.start.offset.spec`, else 0; -1: an older release does not say. `is_deleted`: it
    knows that DeleteRecords has deleted all from the subscriber's offset to where it begins now.
    """

    subscription: int
    start_offset: Offset
    leader_epoch: LeaderEpoch
    bounds: OffsetBounds
    clock: Instant
    skipped_bytes: int = -1
    began_at: Offset = -1
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Declined:
    """The subscription has ended. NOT_SET: a retry may succeed. `agreed_offset` is -1 if no offset is the reason;
    `began_at` is as in `Agreed`."""

    subscription: int
    error: MirrorError
    because: str
    agreed_offset: Offset = -1
    began_at: Offset = -1


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole batches that continue the subscription at `offset`; `leader_epoch` is the largest in `data`."""

    subscription: int
    offset: Offset
    next_offset: Offset
    leader_epoch: LeaderEpoch
    roll: bool
    bounds: OffsetBounds
    clock: Instant
    data: Buffer = field(repr=False)
    # On the wire: `data` is always the batches.
    is_compressed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Beacon:
    """At `clock`, every subscription has the offset bounds that were sent last, in this frame or before."""

    clock: Instant
    bounds: tuple[tuple[int, OffsetBounds], ...] = ()
    nonce: int = 0


@dataclass(frozen=True, slots=True)
class AskBeacon:
    """The beacon that answers follows the frames of everything that changed before it.

    With a `topic`, which nobody writes since `metadata_offset` of the source's metadata log, it is sent once what this
    stream has of the topic is committed to its end (version 4).
    """

    nonce: int
    topic: str = ""
    metadata_offset: Offset = 0


@dataclass(frozen=True, slots=True)
class Credit:
    """Bytes of chunks that the source may send in all on this stream."""

    granted_bytes: int


Frame: TypeAlias = (
    Hello | Welcome | Refused | WatchTopics | TopicState | WatchGroups | GroupOffsets | Subscribe
    | Unsubscribe | Agreed | Declined | Chunk | Beacon | AskBeacon | Credit | Brokers
    | Announce | Superseded | Reverse | WithdrawReversals | ReversalRefused
    | HoldRetention | MirrorPositions | RetentionHeld | RewatchTopics | WantedStreams | MirroredTopics
    | CheckReversals | ReversalsChecked
)  # fmt: skip
