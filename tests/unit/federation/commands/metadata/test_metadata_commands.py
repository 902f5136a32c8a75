"""`causeway region metadata` on stopped nodes: what it says, what it does, and what it refuses."""

import json
from pathlib import Path

import pytest

from brokers.config.broker_config import from_settings
from brokers.metadata.image.continuation import LEADER_EPOCHS, OFFSETS, PRODUCER_IDS
from brokers.metadata.image.image import Image
from brokers.shell.identity import claim
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
