"""`causeway region metadata backup|restore|recover`."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from brokers.config.broker_config import BrokerConfig, ConfigError
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.ports import DiskError
from brokers.shell.clock import Clock
from brokers.shell.identity import IdentityError
from brokers.shell.settings import load_config
from brokers.shell.stopped_metadata import StoppedMetadata, has_metadata, stopped_metadata
from federation.commands.answers import Failure, answer, end, json_option
from federation.commands.metadata import backup_file
from federation.commands.metadata.backup_file import Manifest, NoBackup
from federation.commands.metadata.reports import afterwards, recovery_report, restore_report
from federation.commands.metadata.running_region import committed_metadata
from federation.commands.region.bootstrap import bootstrap_options, connect
from federation.commands.region.requests import describe_region

_config = click.option(
    "--config",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The settings of the stopped node, its TOML file.",
)
_yes = click.option(
    "--yes", is_flag=True, help="Do it. Without it only what would be lost is printed."
)


_LOST = (
    "move its folder __cluster_metadata-0 away, and restore again: the region begins anew above what the backup has, so"
    " no node of the region as it was may start again with its disk"
)
_ANOTHER = (
    "take another node that is left, or begin with a backup (`causeway region metadata restore`)"
)
_UNCHANGED = "until it is done a node finds its metadata as they were; mend the disk, and give the command again"


@click.group()
def metadata() -> None:
    """Backups of a region's metadata, and a quorum that is begun anew.

    A region whose voters are lost for good, but a minority, decides nothing any more. `recover` makes the metadata log
    of one node that is left the beginning of a new quorum; `restore` begins one with a backup, where no log is left.
    """


@metadata.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@bootstrap_options
@click.option(
    "--config",
    "stopped",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Instead of a running region: the settings of a stopped node, whose disk is read.",
)
def backup(bootstrap: str | None, file: Path, stopped: Path | None, as_json: bool) -> None:
    """Write a region's metadata to FILE: topics, configurations, links and their states; no record of a topic."""
    if file.exists():
        raise Failure(
            f"{file} is there already", hint="give another name; no backup is overwritten"
        )
    try:
        manifest = _of_region(bootstrap, file) if stopped is None else _of_disk(stopped, file)
    except OSError as error:
        raise Failure(f"{file} can't be written: {error.strerror or error}") from error
    said = (
        f"cluster {manifest.cluster_id}: {manifest.topics} topics and {manifest.brokers} brokers, as of offset"
        f" {manifest.end_offset} (leader epoch {manifest.leader_epoch}), are in {file}"
    )
    answer(
        {"file": str(file), **_as_json(manifest)},
        as_json,
        lambda: _show([said, *_doubts(manifest)]),
    )


def _of_region(bootstrap: str | None, file: Path) -> Manifest:
    assert bootstrap is not None
    with connect(bootstrap) as client:
        found = committed_metadata(client, describe_region(client).cluster_id)
    return backup_file.write(
        file, found.image, found.leader_epoch, found.voters, Clock().now(), is_committed=True
    )


def _of_disk(config: Path, file: Path) -> Manifest:
    with _stopped(_settings(config), is_trial=True) as found:
        first, end = found.missing
        if end > first:
            raise Failure(
                f"the metadata log in {found.path} is damaged: it ends at {first}, and {end} was committed",
                hint="nothing was written; take the backup of another node, or of the running region",
            )
    return backup_file.write(
        file,
        found.image,
        found.leader_epoch,
        None if found.config.is_alone else found.voters,
        Clock().now(),
        is_committed=found.config.is_alone or found.committed >= found.log_end_offset,
    )


def _doubts(manifest: Manifest) -> Iterator[str]:
    if not manifest.is_committed:
        yield "it is from the disk of one node: its last records may not have been committed"


@metadata.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_config
@_yes
@json_option
def restore(file: Path, config: Path, yes: bool, as_json: bool) -> None:
    """Begin a quorum anew with the backup in FILE: on a stopped node, or on a new one with empty directories.

    The node is the only voter then; others join it. What the region decided after the backup is lost.
    """
    settings = _settings(config)
    try:
        taken = backup_file.read(file)
    except (NoBackup, OSError) as error:
        raise Failure(str(error), hint="nothing was changed; take another backup") from error
    cluster_id = taken.manifest.cluster_id
    if settings.cluster_id is None and not has_metadata(settings):
        settings = settings.model_copy(update={"cluster_id": cluster_id})
    _require_same(file, cluster_id, settings.cluster_id)
    with _stopped(settings, is_trial=not yes, may_be_new=True) as found:
        _require_same(file, cluster_id, found.cluster_id)
        report = restore_report(found, taken.manifest, taken.image)
        done = found.replace(taken.image, taken.manifest.leader_epoch) if yes else None
        _tell(report.as_json(), report.lines(), found, done, as_json)


def _require_same(file: Path, cluster_id: str, own: str | None) -> None:
    if own not in (None, cluster_id):
        raise Failure(
            f"{file} is of cluster {cluster_id!r}, the node is of {own!r}",
            hint="nothing was changed; give a backup of this cluster",
        )


@metadata.command()
@_config
@_yes
@json_option
def recover(config: Path, yes: bool, as_json: bool) -> None:
    """Begin a quorum anew with what a stopped node has, where most voters are lost for good.

    Of several nodes that are left take the one with the greatest leader epoch, and of these the one with the greatest
    offset: without --yes the command says both. The node needs the role controller.
    """
    with _stopped(_settings(config), is_trial=not yes) as found:
        report = recovery_report(found)
        done = found.replace(found.image, found.leader_epoch) if yes else None
        _tell(report.as_json(), report.lines(), found, done, as_json)


def _tell(
    report: dict[str, Any], lines: Iterable[str], found: StoppedMetadata, done: Any, as_json: bool
) -> None:
    after = (
        ["nothing was changed; --yes does it"] if done is None else list(afterwards(found, done))
    )
    begins = None if done is None else done._asdict()
    answer({**report, "done": begins}, as_json, lambda: _show([*lines, *after]))
    if done is None:
        end(1)


def _settings(path: Path) -> BrokerConfig:
    try:
        config = load_config(path)
    except (ConfigError, OSError, UnicodeDecodeError) as error:
        problems = "".join(f"\n  {line}" for line in str(error).splitlines())
        raise Failure(f"{path} can't be used{problems}") from error
    if not config.is_controller:
        raise Failure(
            f"{path}: the node has no role controller",
            hint="give process.roles the controller, and the node a listener for it",
        )
    return config


@contextmanager
def _stopped(
    config: BrokerConfig, *, is_trial: bool, may_be_new: bool = False
) -> Iterator[StoppedMetadata]:
    if not may_be_new and not has_metadata(config):
        raise Failure(
            f"there is no metadata log in {config.metadata_directory}",
            hint="give the settings of a node that has been part of the region",
        )
    try:
        with stopped_metadata(config, is_trial=is_trial) as found:
            yield found
    except IdentityError as error:
        raise Failure(str(error), hint="nothing was changed") from error
    except MetadataLogError as error:
        raise Failure(
            f"the metadata log in {config.metadata_directory} can't be read: {error}",
            hint=f"nothing was changed; {_LOST if may_be_new else _ANOTHER}",
        ) from error
    except (DiskError, OSError) as error:
        raise Failure(f"{config.metadata_directory}: {error}", hint=_UNCHANGED) from error


def _as_json(manifest: Manifest) -> dict[str, Any]:
    return {name: getattr(manifest, name) for name in Manifest.__annotations__}


def _show(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)
