"""A backup is read back as it was written, or refused."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from brokers.metadata.image.snapshot import records_of
from federation.commands.metadata import backup_file
from federation.commands.metadata.backup_file import MANIFEST, NoBackup
from tests.unit.brokers.api.whole import NOW, Whole


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    node = Whole()
    node.create("orders", 3, retention_ms="1000")
    image = node.broker.view.image
    file = tmp_path / "backup"
    manifest = backup_file.write(file, image, 7, None, NOW, is_committed=True)
    assert (manifest.end_offset, manifest.topics) == (image.next_offset, 1)
    found = backup_file.read(file)
    assert found.manifest == manifest
    assert list(records_of(found.image)) == list(records_of(image))
    assert found.image.cluster_id == image.cluster_id
    assert [each.name for each in tmp_path.iterdir()] == ["backup"]
    return file


def test_a_backup_is_never_overwritten(backup: Path) -> None:
    before = backup.read_bytes()
    with pytest.raises(FileExistsError):
        backup_file.write(backup, Whole().broker.view.image, 7, None, NOW, is_committed=True)
    assert backup.read_bytes() == before
    assert [each.name for each in backup.parent.iterdir()] == ["backup"]


def test_one_that_is_cut_short_anywhere_is_refused(backup: Path) -> None:
    data = backup.read_bytes()
    with tarfile.open(backup) as tar:
        end = max(each.offset_data + each.size for each in tar.getmembers())
    for size in (*range(0, end, 97), end - 1):
        backup.write_bytes(data[:size])
        with pytest.raises(NoBackup):
            backup_file.read(backup)


def test_one_with_any_other_byte_in_its_snapshot_is_refused(backup: Path) -> None:
    data = backup.read_bytes()
    with tarfile.open(backup) as tar:
        member = tar.getmembers()[1]
    for position in range(member.offset_data, member.offset_data + member.size, 13):
        damaged = bytearray(data)
        damaged[position] ^= 1
        backup.write_bytes(damaged)
        with pytest.raises(NoBackup, match="damaged"):
            backup_file.read(backup)


@pytest.mark.parametrize(
    ("manifest", "because"),
    [
        (b"no json", "no JSON"),
        (b"[]", "other fields"),
        (b'{"format": 1}', "other fields"),
    ],
)
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, manifest: bytes, because: str) -> None:
    file = tmp_path / "backup"
    with tarfile.open(file, "w") as tar:
        info = tarfile.TarInfo(MANIFEST)
        info.size = len(manifest)
        tar.addfile(info, io.BytesIO(manifest))
    with pytest.raises(NoBackup, match=because):
        backup_file.read(file)


@pytest.mark.parametrize(
    ("field", "value", "because"),
    [("format", 2, "format 2"), ("end_offset", "3", "other kinds"), ("snapshot", "no", "no in it")],
)
def test_a_manifest_of_another_kind_is_refused(
    backup: Path, field: str, value: object, because: str
) -> None:
    with tarfile.open(backup) as tar:
        stream = tar.extractfile(MANIFEST)
        assert stream is not None
        manifest = json.loads(stream.read())
    data = json.dumps(manifest | {field: value}).encode()
    with tarfile.open(backup, "w") as tar:
        info = tarfile.TarInfo(MANIFEST)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    with pytest.raises(NoBackup, match=because):
        backup_file.read(backup)


def test_what_is_no_tar_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "backup"
    file.write_text("this is no backup")
    with pytest.raises(NoBackup, match="no backup"):
        backup_file.read(file)
