"""A backup of a region's metadata: a tar file with a snapshot in Kafka's format and a manifest that vouches for it.

Taken out of the tar the snapshot is what Kafka's own tools read (`kafka-dump-log --cluster-metadata-decoder`).
"""

import hashlib
import io
import json
import os
import tarfile
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

from brokers.ids import Instant
from brokers.metadata.image import snapshot
from brokers.metadata.image.image import Image
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.quorum.ids import SnapshotId
from brokers.quorum.voters import VoterSet

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
SIZE_MAX: Final = 4 << 30


class NoBackup(Exception):
    """The file is no backup, or is damaged; the message is for the operator."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """`end_offset` and `leader_epoch` name the last record of the metadata log that the snapshot holds.

    `is_committed`: every record of it was; else it is from the disk of one node, whose last records may not have been.
    """

    cluster_id: str
    end_offset: int
    leader_epoch: int
    taken_at_ms: int
    is_committed: bool
    brokers: int
    topics: int
    snapshot: str
    size: int
    sha256: str
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Backup:
    manifest: Manifest
    image: Image


def write(
    path: Path,
    image: Image,
    leader_epoch: int,
    voters: VoterSet | None,
    now: Instant,
    *,
    is_committed: bool,
) -> Manifest:
    """The file has its name once it is complete and on the disk. Raises OSError."""
    data = snapshot.encode(image, leader_epoch, now, voters=voters)
    manifest = Manifest(
        cluster_id=image.cluster_id,
        end_offset=image.next_offset,
        leader_epoch=leader_epoch,
        taken_at_ms=now,
        is_committed=is_committed,
        brokers=len(image.brokers),
        topics=len(image.topics_by_name),
        snapshot=SnapshotId(image.next_offset, leader_epoch).file_name.rpartition("/")[2],
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
    )
    with NamedTemporaryFile(
        dir=path.parent, prefix=f"{path.name}.", suffix=".tmp", delete=False
    ) as file:
        temporary = Path(file.name)
        try:
            with tarfile.open(fileobj=file, mode="w") as tar:
                _add(tar, MANIFEST, json.dumps(asdict(manifest), indent=1).encode(), now)
                _add(tar, manifest.snapshot, data, now)
            file.flush()
            os.fsync(file.fileno())
            _name(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    return manifest


def _name(temporary: Path, path: Path) -> None:
    """Raises FileExistsError where the name is taken meanwhile. Durable when it returns."""
    try:
        os.link(temporary, path)  # unlike a rename it never replaces a file
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        path.touch(exist_ok=False)
        temporary.rename(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _add(tar: tarfile.TarFile, name: str, data: bytes, now: Instant) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(data), now // 1000
    tar.addfile(info, io.BytesIO(data))


def read(path: Path) -> Backup:
    """Raises NoBackup for any byte that is not as it was written; OSError."""
    try:
        with tarfile.open(path, mode="r:") as tar:
            manifest = _manifest(_member(tar, MANIFEST))
            data = _member(tar, manifest.snapshot)
    except (tarfile.TarError, EOFError) as error:
        raise NoBackup(f"{path} is no backup, or is cut short: {error}") from None
    except ValueError as error:
        raise NoBackup(f"{path}: {error}") from None
    if len(data) != manifest.size or hashlib.sha256(data).hexdigest() != manifest.sha256:
        raise NoBackup(f"{path} is damaged: the snapshot is not the one that the manifest names")
    try:
        image = snapshot.decode(data, manifest.cluster_id, manifest.end_offset)
    except MetadataLogError as error:
        raise NoBackup(f"{path} can't be read by this release: {error}") from None
    return Backup(manifest, image)


def _member(tar: tarfile.TarFile, name: str) -> bytes:
    try:
        file = tar.extractfile(name)
    except KeyError:
        raise ValueError(f"it is no backup: there is no {name} in it") from None
    if file is None:
        raise ValueError(f"it is no backup: {name} is no file")
    data = file.read(SIZE_MAX)
    if len(data) != tar.getmember(name).size:
        raise ValueError(f"it is cut short in {name}")
    return data


def _manifest(data: bytes) -> Manifest:
    """Raises ValueError."""
    try:
        found: Any = json.loads(data)
        wanted = Manifest.__annotations__
        if not isinstance(found, dict) or found.keys() != wanted.keys():
            raise ValueError("its manifest has other fields than those of a backup")
        manifest = Manifest(**found)
    except json.JSONDecodeError as error:
        raise ValueError(f"its manifest is no JSON: {error}") from None
    if any(type(getattr(manifest, name)) is not kind for name, kind in wanted.items()):
        raise ValueError("its manifest has values of other kinds than those of a backup")
    if manifest.format != FORMAT:
        raise ValueError(f"it has format {manifest.format}, this release reads {FORMAT}")
    return manifest
