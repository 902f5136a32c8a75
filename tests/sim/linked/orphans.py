"""The orphan stores of a disk, read without the product's code."""

import json
from collections.abc import Iterable, Iterator, Mapping

from brokers.ids import Offset, TopicPartition
from tests.sim.disks import Disk
from tests.sim.evidence import Batch, batches, parse


def orphans(disk: Disk) -> Iterator[tuple[TopicPartition, Offset, bytes]]:
    """Every record of the sealed tails."""
    for partition, batch in sealed_batches(disk):
        for offset, value in batch.values():
            yield partition, offset, value


def still_held(
    stores: Iterable[Disk], logs: Mapping[TopicPartition, Disk]
) -> Iterator[tuple[TopicPartition, Offset, bytes]]:
    """Records of sealed tails that lie in the log, too.

    A producer may send a record again after an election that lost it, and it gets its old offset. That is another one:
    its batch has another leader epoch, and no two histories have one in common (KIP-101).
    """
    held = {
        (partition, batch.leader_epoch, *record)
        for partition, disk in logs.items()
        for batch in batches(disk, partition)
        for record in batch.values()
    }
    for store in stores:
        for partition, batch in sealed_batches(store):
            for offset, value in batch.values():
                if (partition, batch.leader_epoch, offset, value) in held:
                    yield partition, offset, value


def sealed_batches(disk: Disk) -> Iterator[tuple[TopicPartition, Batch]]:
    """As the manifests name their files."""
    for home in disk.list("orphans"):
        for name in disk.list(f"orphans/{home}"):
            path = f"orphans/{home}/{name}/manifest.json"
            if not disk.exists(path):
                continue
            manifest = json.loads(bytes(disk.read(path, 0, disk.size(path))))
            partition = TopicPartition(manifest["topic"], manifest["partition"])
            for file in manifest["files"]:
                path = f"orphans/{home}/{name}/{file['file']}"
                for batch in parse(bytes(disk.read(path, 0, disk.size(path)))):
                    yield partition, batch
