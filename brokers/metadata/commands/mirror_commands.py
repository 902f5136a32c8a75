"""Commands about mirror topics: topics that only one link writes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from brokers.ids import LeaderEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateMirrorTopic:
    """A topic that only `writer`, a link, writes -> `TopicOutcome`, or `Refusal`.

    `leader_epochs` are the lowest leader epochs that the partitions may begin with.
    """

    name: str
    partition_count: int
    writer: str
    configs: Mapping[str, str] = field(default_factory=dict)
    leader_epochs: Mapping[int, LeaderEpoch] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTopicWriter:
    """Hand the pen over: None gives the topic to producers -> {partition: its new leader epoch}, or `Refusal`.

    Every partition's leader epoch rises, to at least what `leader_epochs` asks for. `expected_writer` must hold it now.
    """

    topic: str
    expected_writer: str | None
    writer: str | None
    leader_epochs: Mapping[int, LeaderEpoch] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RaiseLeaderEpochs:
    """Raise leader epochs to at least these -> {partition: its leader epoch now}, or `Refusal`."""

    topic: str
    leader_epochs: Mapping[int, LeaderEpoch]
