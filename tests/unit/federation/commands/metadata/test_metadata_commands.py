"""`causeway region metadata` on stopped nodes: what it says, what it does, and what it refuses."""

import json
from pathlib import Path

import pytest

from brokers.config.broker_config import from_settings
from brokers.metadata.image.continuation import LEADER_EPOCHS, OFFSETS, PRODUCER_IDS
from brokers.metadata.image.image import Image
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.ports import DiskError
from brokers.shell.files import DiskFiles
from brokers.shell.identity import claim
from brokers.shell.stopped_metadata import stopped_metadata
from tests.unit.federation.commands.metadata.stopped_node import (
    CLUSTER,
    OnDisk,
    everything,
    run,
    settings_of,
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A node with a topic of three partitions was stopped here."""
    node = OnDisk(tmp_path / "one")
    node.create("orders", 3, retention_ms="1000")
    node.stop()
    return tmp_path / "one"


def image_at(place: Path) -> Image:
    """What a node that starts here finds."""
    node = OnDisk(place)
    image = node.broker.view.image
    node.stop()
    return image


def test_what_is_lost_is_said_before_anything_is_changed(place: Path) -> None:
    before = everything(place)
    shutdown = place / ".kafka_cleanshutdown"
    assert shutdown.exists()
    ran = run("recover", "--config", settings_of(place))
    assert ran.exit_code == 1
    assert "nothing was changed; --yes does it" in ran.output
    assert f"cluster {CLUSTER}, the metadata log of node 1" in ran.output
    assert everything(place) == before


def test_a_quorum_begun_anew_has_what_the_log_had_and_gives_no_number_out_twice(
    place: Path,
) -> None:
    before = image_at(place)
    told = json.loads(run("recover", "--yes", "--json", "--config", settings_of(place)).stdout)
    after = image_at(place)
    assert (told["given_up"], told["uncertain"]) == ([], {})
    assert told["committed_below"] == told["end_offset"]
    assert told["done"]["end_offset"] == told["end_offset"] + OFFSETS
    assert after.next_offset >= told["end_offset"] + OFFSETS
    old, new = before.topics_by_name["orders"], after.topics_by_name["orders"]
    assert (new.id, dict(after.configs)) == (old.id, dict(before.configs))
    epochs = [each.leader_epoch for each in old.partitions]
    assert min(each.leader_epoch for each in new.partitions) >= max(epochs) + LEADER_EPOCHS
    assert after.next_producer_id == before.next_producer_id + PRODUCER_IDS


def test_the_log_as_it_was_is_kept(place: Path) -> None:
    before = everything(place / "__cluster_metadata-0")
    told = json.loads(run("recover", "--yes", "--json", "--config", settings_of(place)).stdout)
    kept = place / f"__cluster_metadata.before.{told['end_offset']}"
    assert everything(kept) == before
    image_at(place)
    assert everything(kept) == before, "no node takes it for a partition"


def test_it_can_be_done_again(place: Path) -> None:
    for _ in range(3):
        assert run("recover", "--yes", "--config", settings_of(place)).exit_code == 0
    assert list(image_at(place).topics_by_name) == ["orders"]


def test_a_backup_of_a_stopped_node_begins_a_new_one(place: Path, tmp_path: Path) -> None:
    before, file = image_at(place), tmp_path / "backup"
    assert run("backup", file, "--config", settings_of(place)).exit_code == 0
    other = tmp_path / "two"
    ran = run("restore", file, "--config", settings_of(other, cluster_id=None), "--yes")
    assert ran.exit_code == 0, ran.output
    assert "node 1 has no metadata yet" in ran.output
    after = image_at(other)
    assert after.topics_by_name["orders"].id == before.topics_by_name["orders"].id
    assert dict(after.configs) == dict(before.configs)


def test_a_restore_says_what_the_backup_does_not_know(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    assert run("backup", file, "--config", settings_of(place)).exit_code == 0
    node = OnDisk(place)
    node.create("later", 2)
    node.stop()
    ran = run("restore", file, "--config", settings_of(place))
    assert ran.exit_code == 1
    assert "among it 1 topics (later)" in ran.output
    assert "removes the data of 2 partitions" in ran.output
    assert "later-0, later-1" in ran.output
    assert run("restore", file, "--config", settings_of(place), "--yes").exit_code == 0
    assert list(image_at(place).topics_by_name) == ["orders"]


def test_a_backup_of_another_cluster_is_refused(place: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "backup", tmp_path / "two"
    assert run("backup", file, "--config", settings_of(place)).exit_code == 0
    settings = settings_of(other, cluster_id="B" * 22)
    ran = run("restore", file, "--config", settings, "--yes")
    assert ran.exit_code == 1
    assert f"is of cluster '{CLUSTER}', the node is of '{'B' * 22}'" in ran.output
    assert not other.exists()
    claim(from_settings({"node.id": 1, "log.dirs": str(other), "cluster.id": "B" * 22})).release()
    (other / "__cluster_metadata-0").mkdir()
    before = everything(other)
    ran = run("restore", file, "--config", settings_of(other, cluster_id=None), "--yes")
    assert (ran.exit_code, everything(other)) == (1, before)
    assert f"the node is of '{'B' * 22}'" in ran.output


def test_a_damaged_backup_changes_nothing(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    assert run("backup", file, "--config", settings_of(place)).exit_code == 0
    file.write_bytes(file.read_bytes()[:1500])
    before = everything(place)
    ran = run("restore", file, "--config", settings_of(place), "--yes")
    assert (ran.exit_code, everything(place)) == (1, before)
    assert "it is no backup" in ran.output


def test_a_trial_on_new_directories_makes_nothing(place: Path, tmp_path: Path) -> None:
    """Else a trial with the backup of another cluster would keep the right one from being restored."""
    file, new, empty = tmp_path / "backup", tmp_path / "new", tmp_path / "empty"
    assert run("backup", file, "--config", settings_of(place)).exit_code == 0
    empty.mkdir()
    settings = settings_of(new)
    settings.write_text(f'node.id = 1\nlog.dirs = "{new},{empty}"\n')
    ran = run("restore", file, "--config", settings)
    assert ran.exit_code == 1
    assert "nothing was changed; --yes does it" in ran.output
    assert not new.exists() and everything(empty) == {}


def damage(place: Path, position: int, *, is_scanned: bool = True) -> None:
    """One byte of the metadata log, of a node that was killed. What lies below the recovery point is not scanned."""
    log = place / "__cluster_metadata-0" / f"{0:020}.log"
    data = bytearray(log.read_bytes())
    data[position] ^= 1
    log.write_bytes(data)
    (place / ".kafka_cleanshutdown").unlink()
    if is_scanned:
        (place / "recovery-point-offset-checkpoint").unlink()


@pytest.mark.parametrize("is_scanned", [True, False])
@pytest.mark.parametrize("position", [16, 300, -20])
def test_committed_metadata_that_are_damaged_are_not_given_up_without_a_word(
    place: Path, tmp_path: Path, position: int, *, is_scanned: bool
) -> None:
    """A log that is scanned ends at its first damaged batch: a lone node would remove the topics that follow."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    settings = settings_of(place)
    assert run("backup", good, "--config", settings).exit_code == 0
    damage(place, position, is_scanned=is_scanned)
    folders = {each.name for each in place.iterdir() if each.is_dir()}
    because = "no other voter has it" if is_scanned else "metadata batch|no other voter has it"
    with pytest.raises(MetadataLogError, match=because):
        OnDisk(place)
    ran = run("recover", "--config", settings)
    assert "which were committed: the log is damaged there" in ran.output
    assert "lost: nothing" not in ran.output
    ran = run("backup", bad, "--config", settings)
    assert ran.exit_code == 1 and not bad.exists()
    assert "is damaged: it ends at" in ran.output
    assert {each.name for each in place.iterdir() if each.is_dir()} == folders
    assert run("restore", good, "--config", settings, "--yes").exit_code == 0
    assert list(image_at(place).topics_by_name) == ["orders"]


def test_a_damaged_log_is_given_up_where_an_operator_says_so(place: Path) -> None:
    damage(place, 16)
    ran = run("recover", "--config", settings_of(place), "--yes")
    assert ran.exit_code == 0
    assert "removes the data of 3 partitions that these metadata do not know" in ran.output
    assert image_at(place).topics_by_name == {}


class Crashing(DiskFiles):
    """The process ends at its write number `left`, before or after the file has its name."""

    def __init__(self, root: Path, left: int, *, after: bool) -> None:
        super().__init__(root)
        self._left, self._after = left, after

    def replace(self, path: str, data: bytes) -> None:
        self._left -= 1
        if self._left < 0 and not self._after:
            raise DiskError("killed")
        super().replace(path, data)
        if self._left < 0:
            raise DiskError("killed")


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("write", range(3))
def test_a_crash_in_the_middle_leaves_the_old_metadata_or_the_new_ones(
    place: Path, write: int, *, after: bool
) -> None:
    config = from_settings({"node.id": 1, "log.dirs": str(place), "cluster.id": CLUSTER})
    with stopped_metadata(config, is_trial=False) as found:
        end = found.log_end_offset
        found._files = Crashing(place, write, after=after)
        with pytest.raises(DiskError):
            found.replace(found.image, found.leader_epoch)
    is_new = write == 2 and after
    image = image_at(place)
    assert list(image.topics_by_name) == ["orders"]
    assert (image.next_offset >= end + OFFSETS) is is_new
    assert run("recover", "--yes", "--config", settings_of(place)).exit_code == 0
    assert list(image_at(place).topics_by_name) == ["orders"]


def test_a_node_that_runs_is_refused(place: Path) -> None:
    running = claim(from_settings({"node.id": 1, "log.dirs": str(place), "cluster.id": CLUSTER}))
    ran = run("recover", "--yes", "--config", settings_of(place))
    running.release()
    assert ran.exit_code == 1
    assert "is in use by another node; stop it first" in ran.output


def test_a_node_that_never_was_in_the_region_is_refused(tmp_path: Path) -> None:
    ran = run("recover", "--yes", "--config", settings_of(tmp_path / "new"))
    assert ran.exit_code == 1
    assert "there is no metadata log in" in ran.output
    assert not (tmp_path / "new").exists()


def test_a_broker_without_the_role_is_refused(place: Path) -> None:
    role = 'process.roles = "broker"\ncontroller.quorum.voters = "2@h:1"\n'
    ran = run("recover", "--yes", "--config", settings_of(place, more=role))
    assert ran.exit_code == 1
    assert "the node has no role controller" in ran.output


def test_a_backup_is_of_a_running_region_or_of_a_stopped_node(place: Path, tmp_path: Path) -> None:
    both = ["--config", settings_of(place), "--bootstrap-server", "h:1"]
    assert run("backup", tmp_path / "b", *both).exit_code == 2
    assert run("backup", tmp_path / "b").exit_code == 2
    (tmp_path / "b").write_text("something")
    ran = run("backup", tmp_path / "b", "--config", settings_of(place))
    assert (ran.exit_code, "there already" in ran.output) == (1, True)
