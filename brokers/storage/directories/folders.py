"""A partition's folder in a log directory: its name and its topic id.

`partition.metadata` has the topic id. It is synced only with the first data, so that the creation of many partitions
need not wait for as many syncs: if it is unreadable after a power loss, its folder has no synced data.
"""

from collections.abc import Sequence

from brokers.ids import METADATA_PARTITION, TopicPartition
from brokers.ports import Files
from brokers.storage.directories.checkpoint_files import (
    PARTITION_METADATA,
    CheckpointError,
    format_topic_id,
    parse_topic_id,
)
from brokers.storage.directories.log_dir_checkpoints import LogDirCheckpoints
from brokers.storage.segments.file_names import LOG

STRAY_SUFFIX = "-stray"
ASIDE_NAME_MAX = 250  # file systems take 255


def folder_name(partition: TopicPartition) -> str:
    """Kafka's name of a partition's folder."""
    return str(partition)


def aside_name(partition: TopicPartition, owner: str, suffix: str) -> str:
    """The name of a renamed folder, as Kafka's: `topic-0.id-delete`, `topic-0.id-stray`.

    A long topic name is shortened, but not the partition number: one topic's partitions are renamed together.
    """
    rest = f"-{partition.partition}.{owner}{suffix}"
    return partition.topic[: ASIDE_NAME_MAX - len(rest)] + rest


def claim_folder(
    files: Files, root: LogDirCheckpoints, partition: TopicPartition, topic_id: bytes
) -> Sequence[str]:
    """Create the folder if there is none -> repairs made.

    The folder of a deleted topic of the same name is renamed, also one with data and an unknown topic id.
    """
    directory = folder_name(partition)
    metadata = f"{directory}/{PARTITION_METADATA}"
    owner, repairs = b"", []
    try:
        if files.exists(metadata):
            owner = parse_topic_id(files.read(metadata, 0, files.size(metadata)))
        if owner == topic_id:
            return ()
    except CheckpointError as error:
        repairs.append(f"{metadata}: made anew: {error}")
    if partition == METADATA_PARTITION:
        files.remove(metadata)  # no topic of that name had data
    elif files.exists(directory):
        repairs += _clear(files, partition, owner)
    if not files.exists(directory):
        root.begin(partition)
        files.make_directory(directory)
    files.append(metadata, [format_topic_id(topic_id)])
    return repairs


def owner_of(files: Files, partition: TopicPartition) -> bytes:
    """The topic id of the folder; empty if there is no folder, or the id is unreadable."""
    metadata = f"{folder_name(partition)}/{PARTITION_METADATA}"
    try:
        if files.exists(metadata):
            return parse_topic_id(files.read(metadata, 0, files.size(metadata)))
    except CheckpointError:
        pass
    return b""


def clear_folder(files: Files, partition: TopicPartition) -> Sequence[str]:
    """Rename or remove the folder -> what was done."""
    return _clear(files, partition, owner_of(files, partition))


def _clear(files: Files, partition: TopicPartition, owner: bytes) -> Sequence[str]:
    """Rename the folder, or remove it if it has no data and no topic id."""
    directory = folder_name(partition)
    files.close(directory)
    if not owner and not _holds_data(files, directory):
        files.remove(directory)
        return ()
    aside = _free_name(files, partition, owner)
    files.rename(directory, aside)
    whose = "belongs to an earlier topic of that name" if owner else "nobody knows whose it is"
    return (f"{directory}: {whose}, now {aside}",)


def _holds_data(files: Files, directory: str) -> bool:
    names = (name for name in files.list(directory) if name.endswith(LOG))
    return any(files.size(f"{directory}/{name}") > 0 for name in names)


def _free_name(files: Files, partition: TopicPartition, owner: bytes) -> str:
    number, whose = 0, owner.hex() or "unknown0"
    while files.exists(name := aside_name(partition, whose, STRAY_SUFFIX)):
        number += 1
        whose = f"{owner.hex() or 'unknown'}{number}"
    return name
