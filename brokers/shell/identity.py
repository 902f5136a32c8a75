"""Whose data directory this is: Kafka's `meta.properties`, and a lock so that two nodes never share one."""

import base64
import fcntl
import os
import uuid
from dataclasses import dataclass
from pathlib import Path

from brokers.config import BrokerConfig

META = "meta.properties"
LOCK = ".lock"


class IdentityError(Exception):
    """The directory is another node's, or another process has it open."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Kafka's uuids of the cluster and of the directory; the lock is held while `lock` is open."""

    cluster_id: str
    directory_id: uuid.UUID
    lock: int


def claim(config: BrokerConfig) -> Identity:
    """The directory's own identity, or a new one for an empty directory."""
    directory = Path(config.log_dirs)
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory / LOCK, os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise IdentityError(f"{directory} is in use by another node; stop it first") from None
    try:
        return _identity(directory, config, descriptor)
    except BaseException:
        os.close(descriptor)
        raise


def _identity(directory: Path, config: BrokerConfig, lock: int) -> Identity:
    meta = directory / META
    if not meta.exists():
        cluster_id = config.cluster_id or _random_id()
        _write(meta, {"version": "1", "cluster.id": cluster_id, "node.id": str(config.node_id),
                      "directory.id": _random_id()})  # fmt: skip
    found = dict(line.split("=", 1) for line in meta.read_text().splitlines() if "=" in line)
    _check(meta, found, config)
    return Identity(found["cluster.id"], _directory_id(found, meta), lock)


def _check(meta: Path, found: dict[str, str], config: BrokerConfig) -> None:
    if found.get("node.id") != str(config.node_id):
        raise IdentityError(
            f"{meta} belongs to node {found.get('node.id')}, not {config.node_id}; "
            "give log.dirs of this node, or correct node.id"
        )
    cluster_id = found.get("cluster.id", "")
    if not cluster_id or config.cluster_id not in (None, cluster_id):
        raise IdentityError(
            f"{meta} belongs to cluster {cluster_id!r}, not {config.cluster_id!r}; "
            "give log.dirs of this cluster, or leave cluster.id out"
        )


def _directory_id(found: dict[str, str], meta: Path) -> uuid.UUID:
    try:
        return uuid.UUID(bytes=base64.urlsafe_b64decode(found["directory.id"] + "=="))
    except (KeyError, ValueError):
        raise IdentityError(f"{meta} has no legal directory.id; restore the file") from None


def _random_id() -> str:
    """A Kafka uuid: 22 characters of URL-safe base64 that do not begin with a dash."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[:22]).startswith("-"):
        pass
    return text


def _write(path: Path, properties: dict[str, str]) -> None:
    temporary = path.with_suffix(".tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        file.writelines(f"{key}={value}\n" for key, value in properties.items())
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    directory = os.open(path.parent, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
