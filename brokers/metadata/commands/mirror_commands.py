"""Commands about mirror topics, which only one link writes, and about topics that another region has taken over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from brokers.ids import LeaderEpoch, Offset

# Of a leader epoch, the lower bits: elections raise them, and each takeover by a region the upper ones.
ELECTION_BITS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateMirrorTopic:
    """Creates a topic that only the link `writer` writes -> `TopicOutcome`, or `Refusal`.

    `leader_epochs` are the lowest leader epochs with which the partitions may begin. With a `replication_factor` the
    region's default placement does not apply, as in CreateTopics. With a `record_kind` there must be a document of this
    kind and the topic's name, the mirror's record, and of `record_version`: INVALID_UPDATE_VERSION if it was removed,
    or has changed. A controller of an older release does not look at the version.
    """

    name: str
    partition_count: int
    writer: str
    configs: Mapping[str, str] = field(default_factory=dict)
    leader_epochs: Mapping[int, LeaderEpoch] = field(default_factory=dict)
    replication_factor: int = -1  # -1: the region's default
    record_kind: str = (
        ""  # empty: no document is needed; a controller of an older release needs none ever
    )
    record_version: Offset = 0  # 0: any, as a broker of an older release has it


@dataclass(frozen=True, slots=True)
class CreateMirrorTopics:
    """Many of these, in one batch of records -> for each its outcome or `Refusal`, in the same order, or `Refusal`."""

    items: tuple[CreateMirrorTopic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTopicWriter:
    """Changes the writer of a topic; None: producers -> {partition: new leader epoch}, or `Refusal`.

    `superseded_by` is the writer of a topic that nobody may write.

    `expected_writer` must be the present writer. Every partition's leader epoch rises, at least to its entry in
    `leader_epochs`. A command may come late: by then the same link may write the topic again, as another mirror. So it
    names what was decided upon: the topic's id, and versions of documents by (kind, name), 0 where there was none. What
    is not so any more is INVALID_UPDATE_VERSION. A controller of an older release does not look.
    """

    topic: str
    expected_writer: str | None
    writer: str | None
    leader_epochs: Mapping[int, LeaderEpoch] = field(default_factory=dict)
    topic_id: UUID | None = None  # None: any
    expected_versions: Mapping[tuple[str, str], Offset] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SetTopicWriters:
    """Many of these, in one batch of records -> for each its result or `Refusal`, in the same order, or `Refusal`."""

    items: tuple[SetTopicWriter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaiseLeaderEpochs:
    """Raises leader epochs to at least these -> {partition: leader epoch}, or `Refusal`."""

    topic: str
    leader_epochs: Mapping[int, LeaderEpoch]


@dataclass(frozen=True, slots=True)
class RaiseLeaderEpochsOfTopics:
    """Many of these, in one batch of records -> for each its result or `Refusal`, in the same order, or `Refusal`."""

    items: tuple[RaiseLeaderEpochs, ...]


class Superseder(NamedTuple):
    """The region that took a topic over: it promoted or failed over its mirror, which has this generation since."""

    generation: int
    cluster_id: str


_SUPERSEDED: Final = "superseded:"  # no link has such a name


def superseded_by(superseder: Superseder) -> str:
    """The writer of a topic that nobody writes in this region any more."""
    return f"{_SUPERSEDED}{superseder.generation}:{superseder.cluster_id}"


def superseder_of(writer: str | None) -> Superseder | None:
    """None where producers or a link write the topic."""
    if writer is None or not writer.startswith(_SUPERSEDED):
        return None
    generation, _, cluster_id = writer.removeprefix(_SUPERSEDED).partition(":")
    return Superseder(int(generation), cluster_id)


def read_only_because(topic: str, writer: str) -> str:
    """Why producers are refused, and what to do."""
    superseder = superseder_of(writer)
    if superseder is None:
        return (
            f"{topic} is a mirror topic of link {writer!r} and read-only; "
            "promote it or fail it over to write here"
        )
    return (
        f"{topic} was taken over by region {superseder.cluster_id} (generation {superseder.generation}) "
        "and is read-only here; write there, or `causeway mirror unfence` it"
    )
