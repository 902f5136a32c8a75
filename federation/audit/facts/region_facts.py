"""The facts that an audit asks a region for, as `causeway audit facts` writes them.

The same document comes from a live region (its administration answers) and from the metadata log in the directories
of a region that is down. Unknown fields are ignored, so that an older audit reads what a newer region says.
"""

from collections import defaultdict
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError, model_validator

from federation.audit.segments.checkpoints import Key

SCHEMA: Literal["causeway.region-facts/1"] = "causeway.region-facts/1"


class _Fact(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class CompleteFrom(_Fact):
    """From `offset` on the log of this replica (a node's id) lacks nothing that compaction has removed."""

    replica: int
    offset: NonNegativeInt


class PartitionFacts(_Fact):
    """One partition: node ids; `leader` is -1 where there is none.

    A region that was stopped has no in-sync replica left: the eligible leader replicas, and the last leader, hold
    everything below the high watermark (KIP-966).
    """

    partition: NonNegativeInt
    leader: int
    leader_epoch: int = -1
    replicas: list[int]
    isr: list[int]
    elr: list[int] = []
    last_known_elr: list[int] = []
    complete_from: list[CompleteFrom] = []

    @property
    def complete(self) -> set[int]:
        """Who must hold everything below the high watermark."""
        return {*self.isr, *self.elr} or set(self.last_known_elr)

    def complete_from_of(self, replica: int) -> int:
        """-1 where the facts don't say it; the furthest of all for a replica (-1) whose node nobody knows."""
        return max(
            (one.offset for one in self.complete_from if replica in (one.replica, -1)), default=-1
        )


class TopicFacts(_Fact):
    """A topic that exists; `configs` are effective values, defaults included."""

    name: str
    topic_id: str = ""
    configs: dict[str, str] = {}
    partitions: list[PartitionFacts]


class CutFacts(_Fact):
    """Where a promotion or failover cut one partition."""

    partition: NonNegativeInt
    offset: NonNegativeInt


class MirrorFacts(_Fact):
    """A mirror topic of the region, or one that was; `cut` is empty until it is promoted or failed over."""

    mirror_topic: str
    link_name: str = ""
    source_topic: str = ""
    state: str = ""
    cut: list[CutFacts] = []


class HoleFacts(_Fact):
    """Offsets [from_offset, to_offset) in the hole ledger; `START_OFFSET_LATEST` with from = to: all below `to`.

    `topic_id` is empty where the region did not record it, `deleted_at_ms` 0 while the topic exists.
    """

    topic: str
    partition: NonNegativeInt
    from_offset: NonNegativeInt
    to_offset: NonNegativeInt
    cause: str
    topic_id: str = ""
    deleted_at_ms: NonNegativeInt = 0

    @model_validator(mode="after")
    def _rises(self) -> "HoleFacts":
        if self.from_offset > self.to_offset:
            raise ValueError("from_offset must not lie above to_offset")
        return self


class RegionFacts(_Fact):
    """One region at one moment (ms since the Unix epoch)."""

    schema_: Literal["causeway.region-facts/1"] = Field(alias="schema")
    cluster_id: str
    at_ms: NonNegativeInt
    topics: list[TopicFacts]
    mirrors: list[MirrorFacts] = []
    holes: list[HoleFacts] = []

    def ledger(self) -> list[HoleFacts]:
        """The holes that explain something: of the topics that exist their own, of one that was deleted its own.

        Where several topics of a name were deleted, nobody can say whose data are audited.
        """
        ids = {one.name: one.topic_id for one in self.topics}
        deleted: dict[str, set[str]] = defaultdict(set)
        for hole in self.holes:
            if hole.deleted_at_ms and hole.topic not in ids:
                deleted[hole.topic].add(hole.topic_id)
        return [
            hole
            for hole in self.holes
            if len(deleted[hole.topic]) == 1
            or (
                not hole.deleted_at_ms and hole.topic_id in ("", ids.get(hole.topic, hole.topic_id))
            )
        ]

    def partitions(self) -> dict[Key, PartitionFacts]:
        return {
            (topic.name, one.partition): one for topic in self.topics for one in topic.partitions
        }

    def configs(self) -> dict[str, dict[str, str]]:
        """Configurations by topic."""
        return {topic.name: topic.configs for topic in self.topics}

    def cuts(self) -> dict[Key, int]:
        """Where decisions cut partitions of mirror topics."""
        return {
            (mirror.mirror_topic, one.partition): one.offset
            for mirror in self.mirrors
            for one in mirror.cut
        }


def parse(text: str | bytes) -> RegionFacts:
    """Raises ValueError with every problem."""
    try:
        return RegionFacts.model_validate_json(text)
    except ValidationError as error:
        problems = (
            f"{'.'.join(map(str, one['loc'])) or 'document'}: {one['msg']}"
            for one in error.errors()
        )
        raise ValueError("; ".join(problems)) from error
