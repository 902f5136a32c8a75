"""Stray folders: of partitions that are no longer assigned to this node, left by a crash."""

import re
from collections.abc import Iterable, Iterator

from brokers.effects import RemoveStrays
from brokers.events import Event, StraysRemoved
from brokers.ids import METADATA_PARTITION, TopicPartition
from brokers.ports import DiskError, Files
from brokers.storage.directories.checkpoint_files import PARTITION_METADATA
from brokers.storage.directories.folders import aside_name, folder_name
from brokers.storage.directories.log_dir_checkpoints import DELETED_SUFFIX, LogDirCheckpoints

_FOLDER = re.compile(r"(?P<topic>.+)-(?P<partition>\d+)")


def remove_strays(
    files: Files, root: LogDirCheckpoints, kept: frozenset[TopicPartition]
) -> tuple[str, ...]:
    """Remove the folders of other partitions -> their names. If one fails, the next start removes it."""
    removed = []
    for name in files.list(""):
        partition = _partition_of(files, name)
        if partition is None or partition in kept:
            continue
        try:
            remove_folder(files, name, aside_name(partition, "stray", DELETED_SUFFIX))
        except DiskError:
            continue
        root.forget(partition)
        removed.append(name)
    return tuple(removed)


def strays_removed(
    files: Files, root: LogDirCheckpoints, effect: RemoveStrays, opened: Iterable[TopicPartition]
) -> list[Event]:
    """The same for an effect; folders of open logs are kept."""
    folders = remove_strays(files, root, effect.kept.union(opened))
    return [StraysRemoved(folders)] if folders else []


def partitions_in(files: Files) -> Iterator[TopicPartition]:
    """The partitions with a folder, without the metadata log."""
    for name in files.list(""):
        partition = _partition_of(files, name)
        if partition is not None:
            yield partition


def remove_folder(files: Files, name: str, aside: str) -> None:
    """Rename the folder, then remove it: a crash leaves all of it, or a leftover that the next start removes."""
    files.close(name)
    files.rename(name, aside)
    files.remove(aside)


def _partition_of(files: Files, name: str) -> TopicPartition | None:
    """The partition of a folder; None for other names."""
    match = _FOLDER.fullmatch(name)
    if match is None or not files.exists(f"{name}/{PARTITION_METADATA}"):
        return None
    partition = TopicPartition(match["topic"], int(match["partition"]))
    is_other = partition == METADATA_PARTITION or folder_name(partition) != name
    return None if is_other else partition
