"""What a quorum that is begun anew has, and what is lost: said before anything is changed, and after."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from brokers.metadata.image.image import Image
from brokers.quorum.ids import SnapshotId
from brokers.shell.stopped_metadata import StoppedMetadata
from federation.commands.metadata.backup_file import Manifest

SHOWN: Final = 10  # names in a line


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """`uncertain` are the records, by type, from `committed_below` on: kept, though the region may not have agreed.

    `damaged`: offsets from the first to below the second were committed, and can't be read here; None: all can.
    `stranded` are the partitions all of whose in-sync replicas are on nodes that were voters and are given up.
    """

    node: int
    cluster_id: str
    leader_epoch: int
    committed_below: int
    end_offset: int
    uncertain: dict[str, int]
    given_up: tuple[int, ...]
    stranded: tuple[str, ...]
    damaged: tuple[int, int] | None
    removed_partitions: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> Iterator[str]:
        yield (
            f"cluster {self.cluster_id}, the metadata log of node {self.node}: leader epoch {self.leader_epoch},"
            f" offsets below {self.end_offset}"
        )
        yield f"known to be committed: everything below {self.committed_below}"
        count = sum(self.uncertain.values())
        if count:
            kinds = ", ".join(f"{name} {number}" for name, number in sorted(self.uncertain.items()))
            yield (
                f"from {self.committed_below} on: {count} records, kept although the region may not have agreed on"
                f" them ({kinds})"
            )
        others = _named(self.given_up)
        if self.damaged is not None:
            first, end = self.damaged
            yield (
                f"lost: {end - first} offsets from {first} on, which were committed: the log is damaged there;"
                " a backup, or the log of another node, may have them"
            )
        if self.removed_partitions:
            yield _removed(self.removed_partitions, "these metadata do")
        if not self.given_up:
            if self.damaged is None:
                yield "lost: nothing; this node was the only voter"
            return
        yield (
            f"lost, and nobody can tell how much: what the region decided from {self.end_offset} on,"
            f" which only others had ({others})"
        )
        if self.stranded:
            yield (
                f"without a leader until another replica leads with a loss: {len(self.stranded)} partitions,"
                f" whose in-sync replicas are all on nodes {others} ({_named(self.stranded)}): once these are fenced,"
                " broker.session.timeout.ms after this node started: `causeway region elect --election-type unclean`"
            )
        yield (
            f"given up as voters: nodes {others}; never start them again with their old disks: they would go on as"
            " another region"
        )


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """`unknown_topics` are in the metadata that is replaced and not in the backup; `removed_partitions` lie in the
    node's log directories, and the node removes them when it starts.
    """

    backup: Manifest
    node: int
    replaced_end_offset: int | None
    unknown_topics: tuple[str, ...]
    removed_partitions: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> Iterator[str]:
        backup = self.backup
        yield (
            f"backup of cluster {backup.cluster_id}: {backup.topics} topics, {backup.brokers} brokers,"
            f" as of offset {backup.end_offset} (leader epoch {backup.leader_epoch})"
        )
        if not backup.is_committed:
            yield "it is from the disk of one node: its last records may not have been committed"
        if self.replaced_end_offset is None:
            yield f"node {self.node} has no metadata yet"
        else:
            yield f"replaced on node {self.node}: its metadata, which go to offset {self.replaced_end_offset}"
        yield "lost: everything that the region decided after the backup"
        if self.unknown_topics:
            yield f"among it {len(self.unknown_topics)} topics ({_named(self.unknown_topics)})"
        if self.removed_partitions:
            yield _removed(self.removed_partitions, "the backup does")


def recovery_report(found: StoppedMetadata) -> RecoveryReport:
    given_up = tuple(each for each in found.voters.ids if each != found.config.node_id)
    return RecoveryReport(
        node=found.config.node_id,
        cluster_id=found.cluster_id,
        leader_epoch=found.leader_epoch,
        committed_below=found.committed,
        end_offset=found.log_end_offset,
        uncertain=dict(found.uncertain),
        given_up=given_up,
        stranded=tuple(_stranded(found.image, given_up)),
        damaged=found.missing if found.missing[1] > found.missing[0] else None,
        removed_partitions=tuple(found.unknown_partitions(found.image)),
    )


def _stranded(image: Image, given_up: Sequence[int]) -> Iterator[str]:
    for topic in image.topics_by_name.values():
        for index, partition in enumerate(topic.partitions):
            if set(partition.isr) <= set(given_up):
                yield f"{topic.name}-{index}"


def restore_report(found: StoppedMetadata, manifest: Manifest, image: Image) -> RestoreReport:
    unknown = sorted(found.image.topics_by_name.keys() - image.topics_by_name.keys())
    return RestoreReport(
        backup=manifest,
        node=found.config.node_id,
        replaced_end_offset=found.log_end_offset or None,
        unknown_topics=tuple(unknown),
        removed_partitions=tuple(found.unknown_partitions(image)),
    )


def afterwards(found: StoppedMetadata, taken: SnapshotId) -> Iterator[str]:
    """What was done, and how the region gets its other nodes."""
    yield (
        f"done: the metadata log begins at offset {taken.end_offset} in leader epoch {taken.leader_epoch},"
        f" node {found.config.node_id} is the only voter"
    )
    if found.kept.is_dir():
        yield f"the log as it was is kept in {found.kept}"
    if not found.config.is_alone:
        yield (
            "start this node; a controller that joins it begins with an empty metadata directory, and with"
            " controller.quorum.voters that name this node and itself alone"
        )


def _removed(partitions: Sequence[str], knows: str) -> str:
    return (
        f"the node removes the data of {len(partitions)} partitions that {knows} not know ({_named(partitions)}):"
        " move their folders away first, if they are wanted"
    )


def _named(names: Sequence[object]) -> str:
    shown = ", ".join(map(str, names[:SHOWN]))
    return f"{shown} and {len(names) - SHOWN} more" if len(names) > SHOWN else shown
