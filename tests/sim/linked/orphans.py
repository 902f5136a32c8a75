"""The orphan stores of a disk, read without the product's code."""

import json
from collections.abc import Iterator

from brokers.ids import Offset, TopicPartition
from tests.sim.disks import Disk
from tests.sim.evidence import parse


def orphans(disk: Disk) -> Iterator[tuple[TopicPartition, Offset, bytes]]:
    """Every record of the sealed tails, as their manifests name their files."""
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
                    for offset, value in batch.values():
                        yield partition, offset, value
