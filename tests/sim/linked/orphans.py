"""The orphan stores of a disk, read without the product's code."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from brokers.ids import Offset, TopicPartition
from tests.sim.disks import Disk
from tests.sim.evidence import Batch, batches, parse

MayReturn = Callable[[TopicPartition, Batch], bool]

_MANIFEST = "manifest.json"


def orphans(disk: Disk) -> Iterator[tuple[TopicPartition, Offset, bytes]]:
    """Every record of the sealed tails."""
    for partition, batch in sealed_batches(disk):
        for offset, value in batch.values():
            yield partition, offset, value


def still_held(
    stores: Iterable[Disk],
    logs: Mapping[TopicPartition, Disk],
    may_return: MayReturn = lambda partition, batch: False,
) -> Iterator[tuple[TopicPartition, Offset, bytes]]:
    """Records of sealed tails that lie in the log, too.

    A producer may send a record again after an election that lost it, and it gets its old offset. That is another one:
    its batch has another leader epoch, and no two histories have one in common (KIP-101). `may_return`: whether a batch
    was cut from the log, and copied once more.
    """
    held = {
        (partition, batch.leader_epoch, *record)
        for partition, disk in logs.items()
        for batch in batches(disk, partition)
        for record in batch.values()
    }
    for store in stores:
        for partition, batch in sealed_batches(store):
            if may_return(partition, batch):
                continue
            for offset, value in batch.values():
                if (partition, batch.leader_epoch, offset, value) in held:
                    yield partition, offset, value


def sealed_batches(disk: Disk) -> Iterator[tuple[TopicPartition, Batch]]:
    """As the manifests name their files."""
    for folder in folders(disk):
        partition, paths = _tail(disk, folder)
        for path in paths:
            for batch in parse(bytes(disk.read(path, 0, disk.size(path)))):
                yield partition, batch


def durable_orphans(disk: Disk) -> Iterator[tuple[TopicPartition, Offset, bytes]]:
    """Every record of the sealed tails that a loss of power at this moment would leave."""
    for folder in folders(disk):
        partition, paths = _tail(disk, folder)
        is_finished = not folder.endswith(".sealing")  # else the next sealing removes it
        if is_finished and all(map(disk.is_durable, (f"{folder}/{_MANIFEST}", *paths))):
            for path in paths:
                for batch in parse(bytes(disk.read(path, 0, disk.size(path)))):
                    yield from ((partition, offset, value) for offset, value in batch.values())


def folders(disk: Disk) -> Iterator[str]:
    """Of tails that have a manifest, and were not discarded."""
    for home in disk.list("orphans"):
        for name in disk.list(f"orphans/{home}"):
            folder = f"orphans/{home}/{name}"
            if disk.exists(f"{folder}/{_MANIFEST}") and not name.endswith(".discarded"):
                yield folder


def _tail(disk: Disk, folder: str) -> tuple[TopicPartition, list[str]]:
    """(its partition, the paths of its files) by the manifest."""
    path = f"{folder}/{_MANIFEST}"
    manifest = json.loads(bytes(disk.read(path, 0, disk.size(path))))
    paths = [f"{folder}/{file['file']}" for file in manifest["files"]]
    return TopicPartition(manifest["topic"], manifest["partition"]), paths
