"""Small files beside the logs, replaced as a whole: the quorum's state, snapshots of the metadata."""

from brokers.effects import LoadState, SaveState
from brokers.events import StateLoaded, StateSaved
from brokers.ports import Files


def perform_on_state(files: Files, effect: SaveState | LoadState) -> StateSaved | StateLoaded:
    """Raises `DiskError`."""
    if isinstance(effect, SaveState):
        return save_state(files, effect)
    return load_state(files, effect)


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
