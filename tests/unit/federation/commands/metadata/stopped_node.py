"""A node on a real disk that has been stopped: what `causeway region metadata` reads."""

from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from brokers.config.broker_config import from_settings
from brokers.membership.log_dirs import OwnDirectories, OwnDirectory
from brokers.shell.files import DiskFiles
from brokers.shell.identity import claim
from brokers.storage.storage import Storage
from federation.cli import main
from tests.unit.brokers.api.whole import Whole

CLUSTER = "A" * 22


class OnDisk(Whole):
    """A lone node whose directory is at this place."""

    def __init__(self, place: Path, **settings: Any) -> None:
        self._place = place
        super().__init__(log_dirs=str(place), cluster_id=CLUSTER, **settings)

    def make_directories(self) -> tuple[Storage, OwnDirectories]:
        where = {"node.id": 1, "log.dirs": str(self._place), "cluster.id": CLUSTER}
        identity = claim(from_settings(where))
        directory = identity.metadata.id
        identity.release()
        assert directory is not None
        own = OwnDirectories([OwnDirectory(str(self._place), directory)], directory)
        return Storage(DiskFiles(self._place), directory=directory), own

    def stop(self) -> None:
        self.process.take(self.broker.stop())
        self.storage.close()


def settings_of(place: Path, cluster_id: str | None = CLUSTER, more: str = "") -> Path:
    """The TOML file of the node at this place."""
    file = place.with_suffix(".toml")
    cluster = "" if cluster_id is None else f'cluster.id = "{cluster_id}"\n'
    file.write_text(f'node.id = 1\nlog.dirs = "{place}"\n{cluster}{more}')
    return file


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["region", "metadata", *map(str, arguments)])


def everything(place: Path) -> dict[str, bytes]:
    """What lies below: relative path -> content, without locks."""
    return {
        str(each.relative_to(place)): each.read_bytes()
        for each in sorted(place.rglob("*"))
        if each.is_file() and each.name != ".lock"
    }
