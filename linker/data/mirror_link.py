"""What a replicator uses of the link and the mirror topic that it is of."""

from enum import Enum
from typing import Protocol

from brokers.ids import Instant, Offset, TopicPartition
from linker.config import LinkConfig
from linker.errors import MirrorError
from linker.records.hole_ledger import Hole
from linker.region_client import Done, Effects


class LinkOfMirror(Protocol):
    """What a mirror reads of its link."""

    @property
    def name(self) -> str: ...

    @property
    def config(self) -> LinkConfig: ...


class Divergence(Enum):
    """What becomes of a log whose history parts from its source's."""

    FAIL = "fail"  # the mirror is FAILED
    KEEP = "keep"  # for now; the operator has asked to restore the topic, and what it has beyond is not sealed yet
    TRUNCATE = "truncate"


class ReplicatorHost(Protocol):
    """What a replicator asks of the mirror topics of its link, by the topic's name."""

    def fail_mirror(self, topic: str, error: MirrorError, because: str, now: Instant) -> Effects:
        """The source cannot be followed."""

    def on_divergence(self, partition: TopicPartition, agreed_offset: Offset) -> Divergence:
        """The log and its source's agree up to `agreed_offset`, and have other batches from there on."""

    def before_cut(self, partition: TopicPartition, done: Done, now: Instant) -> Effects:
        """What may be cut from the log is sealed by this broker; then `done`, with the reason if it is not."""

    def was_primary(self, topic: str) -> bool:
        """Whether the topic was this region's own before: it may have records that its source has never had."""

    def may_trim(self, topic: str) -> bool:
        """Whether what the source has deleted may be deleted here now."""

    def subscribed(self, partition: TopicPartition, now: Instant) -> Effects:
        """The source was asked for the partition: what a promotion has to prove is asked after it."""

    def is_restored(self, topic: str) -> bool:
        """Whether a partition without data is one that begins anew, wherever new ones are configured to begin."""

    def refuse_hole(self, hole: Hole, now: Instant) -> Effects | None:
        """None: the hole may be recorded and skipped. Else the replicator stops, and is started when it may be."""
