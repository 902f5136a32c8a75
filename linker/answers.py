"""The answers to an operator's commands (`commands`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from brokers.ids import Instant, LeaderEpoch, Offset, TopicPartition
from brokers.metadata.image.image import Operation, TopicImage
from brokers.region import ReplicaStatus
from linker.errors import LinkRefusal
from linker.offset_bounds import NOTHING_TOLD, BehindOrigin
from linker.records.decision import Decision
from linker.records.destination import DestinationRecord
from linker.records.hole_ledger import Hole
from linker.records.mirror_record import MirrorRecord
from linker.records.mirror_state import MirrorState
from linker.records.retention_hold import HoldRecord


@dataclass(frozen=True, slots=True)
class Task:
    """One background task of a link, with the state and error names of Cluster Linking."""

    name: str
    state: str
    error: str
    because: str = ""


class TotalLag(NamedTuple):
    """Of several partitions: sums, and the longest times; -1 where one is unknown, or there is none. It
    `is_lower_bound` where one of the partitions is."""

    records: int = -1
    size: int = -1
    milliseconds: int = -1
    is_lower_bound: bool = False
    origin: BehindOrigin = NOTHING_TOLD


NO_LAG: Final = TotalLag()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkDescription:
    name: str
    link_id: str
    source_cluster_id: str
    state: str
    error: str
    because: str
    topics: tuple[str, ...]
    category_counts: Mapping[str, int]
    tasks: tuple[Task, ...]
    created_at: Instant
    hint: str = ""
    mode: str = "DESTINATION"
    destination_cluster_id: str = ""  # where `mode` is SOURCE
    secret: str = field(default="", repr=False)  # in the answer to the command that made it, only
    lag: TotalLag = NO_LAG  # of its live mirrors, in the answers to `DescribeLink` and `ListLinks`
    # Where this region is the source: for how much longer at most its producers wait for the other one; in
    # the answer to `DescribeLink`.
    writes_wait_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Links:
    links: tuple[LinkDescription, ...]


@dataclass(frozen=True, slots=True)
class Configs:
    """(name, value, whether it is the default)."""

    configs: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionLag:
    """-1 means unknown. It `is_lower_bound` while nothing is heard of the source's partition: that may have more."""

    partition: int
    lag: int
    lag_ms: int
    source_high_watermark: Offset
    log_end_offset: Offset
    log_start_offset: Offset
    since_received_ms: int
    state: str
    lag_bytes: int = -1
    is_lower_bound: bool = False
    # Behind the region in which the records begin.
    origin_lag_ms: int = -1
    origin_lag: int = -1
    origin_lag_bytes: int = -1
    is_origin_lower_bound: bool = False


def total_lag(lags: Sequence[PartitionLag]) -> TotalLag:
    def of(numbers: Sequence[int], join: Callable[[Sequence[int]], int]) -> int:
        return -1 if min(numbers, default=-1) < 0 else join(numbers)

    return TotalLag(
        of([one.lag for one in lags], sum),
        of([one.lag_bytes for one in lags], sum),
        of([one.lag_ms for one in lags], max),
        any(one.is_lower_bound for one in lags),
        BehindOrigin(
            of([one.origin_lag_ms for one in lags], max),
            of([one.origin_lag for one in lags], sum),
            of([one.origin_lag_bytes for one in lags], sum),
            any(one.is_origin_lower_bound for one in lags),
        ),
    )


class TransitionStep(Enum):
    """How far a transition of a mirror topic is. From HANDING_OVER on, and in TRUNCATING, nothing leads back."""

    LISTED = "LISTED"  # a command of several topics has not come to this one
    FENCING = "FENCING"  # of a reversal: the source's topic becomes read-only
    PROVING = "PROVING"  # the mirror gets what it lacks
    CUTTING = "CUTTING"  # nothing more is placed; the ends of the logs are found
    HANDING_OVER = "HANDING_OVER"  # the cut is written
    AWAITING_CUT = "AWAITING_CUT"  # of the source of a reversal: the other region cuts its mirror, or takes it back
    COMPARING = "COMPARING"  # of a restore: the histories
    SEALING = "SEALING"  # orphan tails
    TRUNCATING = "TRUNCATING"
    # Of a reversal that was taken back: the source's topic is read-only still.
    WITHDRAWING = "WITHDRAWING"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """What a mirror topic is in the middle of. `verb` is as operators write it, or withdraw; `since` is when it was
    asked for, or began here. `gives_up_at`: by the clock of who began it; 0 where it does not give up by itself."""

    verb: str
    step: TransitionStep
    since: Instant
    waits_for: str
    can_be_cancelled: bool
    gives_up_at: Instant = 0
    asked_by: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorDescription:
    record: MirrorRecord
    shown: MirrorState
    reason: str
    lags: tuple[PartitionLag, ...]
    holes: tuple[Hole, ...]
    hint: str = ""
    transition: Transition | None = None


@dataclass(frozen=True, slots=True)
class Mirrors:
    mirrors: tuple[MirrorDescription, ...]


@dataclass(frozen=True, slots=True)
class PartitionForecast:
    """One partition; -1 is unknown. `missing` records are lost at least: the source may have more, `known_ms` later."""

    partition: int
    mirror_end: Offset
    source_high_watermark: Offset
    missing: int
    known_ms: int


@dataclass(frozen=True, slots=True)
class GroupForecast:
    """A group on one partition. It resumes at `resumes_at` (-1: where `auto.offset.reset` says) and reads `read_again`
    records again; of what it has read, `read_and_lost` are not in the mirror. An active one has members here, or had
    some at the source when that was heard last; None: not known."""

    group: str
    partition: int
    committed_at_source: Offset
    resumes_at: Offset
    read_again: int
    read_and_lost: int
    is_active_here: bool | None
    is_active_at_source: bool | None


@dataclass(frozen=True, slots=True)
class TopicForecast:
    topic: str
    state: str
    partitions: tuple[PartitionForecast, ...]
    groups: tuple[GroupForecast, ...]
    copies_groups: bool


@dataclass(frozen=True, slots=True)
class Forecast:
    topics: tuple[TopicForecast, ...]


@dataclass(frozen=True, slots=True)
class TopicResult:
    """The result for one topic; `state` is the topic's state now."""

    topic: str
    state: str
    refusal: LinkRefusal | None = None


@dataclass(frozen=True, slots=True)
class Topics:
    topics: tuple[TopicResult, ...]


@dataclass(frozen=True, slots=True)
class Operations:
    """Entries of the operator log, the oldest first; `is_recorded`: whether the region writes it."""

    operations: tuple[Operation, ...]
    is_recorded: bool


@dataclass(frozen=True, slots=True)
class Replicas:
    """Each with its partition. `links`: by mirror topic, the link that writes it."""

    replicas: tuple[tuple[TopicPartition, ReplicaStatus], ...]
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DescribedTopic:
    """A topic with its effective configurations."""

    topic: TopicImage
    configs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Holes:
    """By topic, partition and offset; none is empty."""

    holes: tuple[Hole, ...]


@dataclass(frozen=True, slots=True)
class HeldPartition:
    """A replica of the broker asked. The mirror holds all below `mirror_offset` (-1: not known there, so that all is
    kept); retention would have deleted `held_bytes`."""

    partition: int
    is_leader: bool
    mirror_offset: Offset
    held_bytes: int


@dataclass(frozen=True, slots=True)
class RetentionHolds:
    """Each with the replicas that the broker asked has."""

    holds: tuple[tuple[HoldRecord, tuple[HeldPartition, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A region that mirrors topics of this one, as the broker asked knows it. `topics` are those that exist still.
    `writes_wait_ms`: producers' requests to them wait for it, for so long at most; None: they do not."""

    record: DestinationRecord
    topics: tuple[str, ...]
    is_heard: bool  # the stream on which it told this broker is open
    writes_wait_ms: int | None
    is_missed: bool  # it was not heard in time when this broker started


@dataclass(frozen=True, slots=True)
class Destinations:
    destinations: tuple[Destination, ...]


class TakenOverTopic(NamedTuple):
    """It is read-only since the region `taken_over_by` promoted or failed over its mirror, in this generation."""

    topic: str
    topic_id: str  # as Kafka writes it
    taken_over_by: str
    generation: int


@dataclass(frozen=True, slots=True)
class TakenOverTopics:
    """By name."""

    topics: tuple[TakenOverTopic, ...]


class SyncClass(Enum):
    """Whether a setting of a topic is kept in step with its source."""

    ALWAYS = "ALWAYS"
    WHEN_NAMED = "WHEN_NAMED"
    NEVER = "NEVER"


@dataclass(frozen=True, slots=True)
class ConfigDrift:
    """A difference; a value of None is the default of its region."""

    topic: str
    name: str
    source_value: str | None
    mirror_value: str | None
    sync_class: SyncClass
    why: str


@dataclass(frozen=True, slots=True)
class Drift:
    """`unknown_topics`: mirrors whose source has not answered yet."""

    differences: tuple[ConfigDrift, ...]
    unknown_topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decisions:
    """The oldest first."""

    decisions: tuple[Decision, ...]


class TopicPartitionEpochs(NamedTuple):
    """A partition's leader-epoch history: (leader epoch, start offset), ascending."""

    partition: int
    log_start_offset: Offset
    log_end_offset: Offset
    epochs: tuple[tuple[LeaderEpoch, Offset], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """`mirror_status` is empty where the topic was never a mirror. The oldest decision is first."""

    cluster_id: str
    mirror_status: str
    origins: tuple[str, ...]
    partitions: tuple[TopicPartitionEpochs, ...]
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedRegion:
    """Topics, mirrors and the hole ledger."""

    cluster_id: str
    at: Instant
    topics: tuple[DescribedTopic, ...]
    mirrors: tuple[MirrorRecord, ...]
    holes: tuple[Hole, ...]


Answer: TypeAlias = (
    LinkDescription
    | Links
    | Configs
    | MirrorDescription
    | Mirrors
    | Topics
    | Replicas
    | Holes
    | RetentionHolds
    | Destinations
    | TakenOverTopics
    | Decisions
    | Lineage
    | Operations
    | Drift
    | Forecast
    | DescribedRegion
)
