"""Commands about mirror topics: topics that only one link writes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from brokers.ids import LeaderEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateMirrorTopic:
    """Creates a topic that only the link `writer` writes -> `TopicOutcome`, or `Refusal`.

    `leader_epochs` are the lowest leader epochs with which the partitions may begin.
    """

    name: str
    partition_count: int
    writer: str
    configs: Mapping[str, str] = field(default_factory=dict)
    leader_epochs: Mapping[int, LeaderEpoch] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTopicWriter:
    """Changes the writer of a topic; None: producers -> {partition: new leader epoch}, or `Refusal`.

    `expected_writer` must be the present writer. Every partition's leader epoch rises, at least to its entry in
    `leader_epochs`.
    """

    topic: str
    expected_writer: str | None
    writer: str | None
    leader_epochs: Mapping[int, LeaderEpoch] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RaiseLeaderEpochs:
    """Raises leader epochs to at least these -> {partition: leader epoch}, or `Refusal`."""

    topic: str
    leader_epochs: Mapping[int, LeaderEpoch]
