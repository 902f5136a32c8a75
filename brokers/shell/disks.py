"""Opens a node's log directories: locks them, and makes the storage that performs its core's effects."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from brokers.config.broker_config import BrokerConfig, ConfigError
from brokers.config.disk_watermarks import watermark_problems
from brokers.membership.log_dirs import OwnDirectories, OwnDirectory
from brokers.ports import DiskError
from brokers.shell.files import DiskFiles
from brokers.shell.identity import Claim, IdentityError, claim
from brokers.storage.log_manager import LogManager
from brokers.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class Disks:
    """`storage` is for the shell; `directories` is passed to the core."""

    cluster_id: str
    storage: Storage | LogManager
    directories: OwnDirectories


def open_disks(config: BrokerConfig) -> Disks:
    """Raises IdentityError where a required directory fails, or a directory is another node's; ConfigError where a
    watermark is above the size of a disk.
    """
    identity = claim(config)
    problems = [
        each for claimed in identity.log_dirs for each in _watermark_problems(config, claimed)
    ]
    if problems:
        raise ConfigError(problems)
    metadata = identity.metadata
    assert metadata.id is not None
    if identity.log_dirs == (metadata,):
        storage: Storage | LogManager = _storage(metadata, config)
    else:
        storage = _several(config, identity.log_dirs, metadata)
    own = [OwnDirectory(str(each.path), each.id, each.failure) for each in identity.log_dirs]
    return Disks(identity.cluster_id, storage, OwnDirectories(own, metadata.id))


def _watermark_problems(config: BrokerConfig, claim: Claim) -> Iterator[str]:
    if claim.id is None:
        return
    with suppress(DiskError):
        total = DiskFiles(claim.path).space().total_bytes
        yield from watermark_problems(config, str(claim.path), total)


def _several(config: BrokerConfig, log_dirs: tuple[Claim, ...], metadata: Claim) -> LogManager:
    assert metadata.id is not None
    online = [each.id for each in log_dirs if each.id is not None]
    several = LogManager(metadata.id, online, missing=len(log_dirs) - len(online))
    for each in {each.path: each for each in (*log_dirs, metadata)}.values():
        if each.id is not None:
            _add(several, each, config, is_needed=each is metadata)
    if not any(each.id is not None and not each.failure for each in log_dirs):
        raise IdentityError("\n".join(f"{each.path} fails: {each.failure}" for each in log_dirs))
    return several


def _add(several: LogManager, claim: Claim, config: BrokerConfig, *, is_needed: bool) -> None:
    try:
        several.add(_storage(claim, config, several))
    except DiskError as error:
        if is_needed:
            raise IdentityError(f"{claim.path} holds the metadata log and fails: {error}") from None
        claim.failure = str(error)
        several.add_missing()


def _storage(claim: Claim, config: BrokerConfig, several: LogManager | None = None) -> Storage:
    directory: UUID | None = claim.id
    assert directory is not None
    return Storage(
        DiskFiles(claim.path),
        index_interval_bytes=config.log_index_interval_bytes,
        file_delete_delay_ms=config.log_segment_delete_delay_ms,
        directory=directory,
        pending=None if several is None else several.pending,
        writes_behind=True,
    )
