"""Small files that are replaced as a whole: quorum-state, metadata snapshots. And the free space."""

from collections.abc import Mapping
from contextlib import suppress
from uuid import UUID

from brokers.effects import LoadState, MeasureDirectories, SaveState
from brokers.events import DirectoriesMeasured, StateLoaded, StateSaved
from brokers.ports import DiskError, Files, Volume


def perform_on_state(files: Files, effect: SaveState | LoadState) -> StateSaved | StateLoaded:
    """Raises `DiskError`."""
    if isinstance(effect, SaveState):
        return save_state(files, effect)
    return load_state(files, effect)


def measured(effect: MeasureDirectories, disks: Mapping[UUID, Files]) -> DirectoriesMeasured:
    """The space of these directories, by id."""
    volumes: dict[UUID, Volume] = {}
    for directory, files in disks.items():
        with suppress(DiskError):
            volumes[directory] = files.space()
    return DirectoriesMeasured(effect.ticket, volumes)


def save_state(files: Files, effect: SaveState) -> StateSaved:
    """Durable when it returns; raises `DiskError`."""
    if effect.data is None:
        files.remove(effect.name)
    else:
        files.make_directory(effect.name.rpartition("/")[0])
        files.replace(effect.name, effect.data)
    return StateSaved(effect.name)


def load_state(files: Files, effect: LoadState) -> StateLoaded:
    """Raises `DiskError`."""
    if not files.exists(effect.name):
        return StateLoaded(effect.name, None)
    return StateLoaded(effect.name, files.read(effect.name, 0, files.size(effect.name)))
