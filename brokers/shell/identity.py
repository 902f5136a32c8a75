"""The identity of log directories: Kafka's `meta.properties` in each, and a lock so that two nodes never share one."""

import base64
import fcntl
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brokers.config.broker_config import BrokerConfig

META = "meta.properties"
LOCK = ".lock"


class IdentityError(Exception):
    """A directory is another node's, in use by another process, or required and broken."""


@dataclass(slots=True)
class Claim:
    """One directory. `id` None: it could not be opened; `failure` is why. The lock is held while `lock` is open."""

    path: Path
    id: uuid.UUID | None = None
    cluster_id: str = ""
    failure: str = ""
    lock: int = -1

    def release(self) -> None:
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1


@dataclass(frozen=True, slots=True)
class Identity:
    """The cluster, and the node's directories in the order of the settings; the metadata log's is `metadata`."""

    cluster_id: str
    log_dirs: tuple[Claim, ...]
    metadata: Claim

    def release(self) -> None:
        """Releases the locks."""
        for each in (*self.log_dirs, self.metadata):
            each.release()


def claim(config: BrokerConfig, *, is_trial: bool = False) -> Identity:
    """The directories' own identities, and new ones for empty directories, which a trial does not write.

    A directory that cannot be opened has a `failure`. Raises IdentityError where all have, or the metadata log's has.
    """
    claims = {name: Claim(_path(name)) for name in (*config.directories, config.metadata_directory)}
    by_path = {each.path: each for each in claims.values()}
    try:
        for each in by_path.values():
            _open(each, config, is_trial=is_trial)
        return _identified(config, by_path, is_trial=is_trial)
    except BaseException:
        for each in by_path.values():
            each.release()
        raise


def _identified(config: BrokerConfig, claims: dict[Path, Claim], *, is_trial: bool) -> Identity:
    log_dirs = tuple(claims[_path(name)] for name in config.directories)
    metadata = claims[_path(config.metadata_directory)]
    if metadata.failure:
        raise IdentityError(f"{metadata.path} holds the metadata log and fails: {metadata.failure}")
    if all(each.failure for each in log_dirs):
        raise IdentityError("\n".join(f"{each.path} fails: {each.failure}" for each in log_dirs))
    open_claims = [each for each in claims.values() if not each.failure]
    cluster_id = _cluster_id(config, open_claims)
    for each in open_claims:
        if each.id is None:
            new = uuid.uuid4() if is_trial else _new_directory(each, config, cluster_id)
            each.id, each.cluster_id = new, cluster_id
    _check_distinct([each for each in open_claims if not each.failure])
    if metadata.failure:
        raise IdentityError(f"{metadata.path} holds the metadata log and fails: {metadata.failure}")
    return Identity(cluster_id, log_dirs, metadata)


def _path(name: str) -> Path:
    """The absolute path. Links are not resolved, since the disk may be broken."""
    return Path(os.path.abspath(name))


def _open(claim: Claim, config: BrokerConfig, *, is_trial: bool) -> None:
    if is_trial and not claim.path.exists():
        return
    try:
        claim.path.mkdir(parents=True, exist_ok=True)
        claim.lock = os.open(claim.path / LOCK, os.O_CREAT | os.O_RDWR)
        _lock(claim)
        meta = claim.path / META
        if meta.exists():
            found = read_meta(meta)
            _check(meta, found, config)
            claim.cluster_id, claim.id = found["cluster.id"], _directory_id(found, meta)
            if meta.read_text().startswith("#"):
                _take_over(claim.path, found, is_trial=is_trial)
    except OSError as error:
        claim.release()
        claim.failure = error.strerror or str(error)


def _take_over(directory: Path, found: Mapping[str, str], *, is_trial: bool) -> None:
    """A directory that Apache Kafka formatted becomes ours, unless Kafka has used it: its metadata log is foreign here.

    Kafka's meta.properties begins with a comment, ours does not.
    """
    if any(log.stat().st_size for log in directory.glob("*-[0-9]*/*.log")):
        raise IdentityError(
            f"{directory} holds data of Apache Kafka, whose metadata log is not read here; nothing of it was changed. "
            "Give log.dirs that are empty, and bring the topics over with MirrorMaker 2"
        )
    if not is_trial:
        _write(directory / META, found)


def read_meta(meta: Path) -> dict[str, str]:
    """A meta.properties; its values need no escapes."""
    lines = meta.read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def _lock(claim: Claim) -> None:
    try:
        fcntl.flock(claim.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise IdentityError(f"{claim.path} is in use by another node; stop it first") from None


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
            f"give log.dirs of this cluster, or set cluster.id to {cluster_id!r}"
        )


def _cluster_id(config: BrokerConfig, claims: Sequence[Claim]) -> str:
    known = {each.cluster_id: each.path for each in claims if each.id is not None}
    if len(known) > 1:
        (one, here), (other, there) = list(known.items())[:2]
        raise IdentityError(
            f"{here} belongs to cluster {one!r} and {there} to {other!r}; give log.dirs of one cluster"
        )
    return next(iter(known), None) or config.cluster_id or _random_id()


def _check_distinct(claims: Sequence[Claim]) -> None:
    known: dict[uuid.UUID | None, Path] = {}
    for each in claims:
        if each.id in known:
            raise IdentityError(
                f"{known[each.id]} and {each.path} have the same directory.id: one is a copy of the other; "
                f"leave it out of log.dirs, or empty it"
            )
        known[each.id] = each.path


def _new_directory(claim: Claim, config: BrokerConfig, cluster_id: str) -> uuid.UUID | None:
    """Writes meta.properties; returns the new id. None where the disk fails, with `failure` set in the claim."""
    directory_id = _random_id()
    properties = {"version": "1", "cluster.id": cluster_id, "node.id": str(config.node_id),
                  "directory.id": directory_id}  # fmt: skip
    try:
        _write(claim.path / META, properties)
    except OSError as error:
        claim.release()
        claim.failure = error.strerror or str(error)
        return None
    return _directory_id(properties, claim.path / META)


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


def _write(path: Path, properties: Mapping[str, str]) -> None:
    temporary = path.with_suffix(".tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        file.writelines(f"{key}={value}\n" for key, value in properties.items())
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    directory = os.open(path.parent, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
