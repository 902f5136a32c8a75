"""Whose directory it is, and which directories can't be those of one region."""

from pathlib import Path

import pytest

from federation.audit.segments.checkpoints import CLEAN_SHUTDOWN
from federation.audit.segments.data_dir import META, DataDir, cluster_id, identify, of_region


def directory(folder: Path, name: str, **meta: object) -> str:
    path = folder / name
    path.mkdir()
    if meta:
        lines = [f"{key.replace('_', '.')}={value}" for key, value in meta.items()]
        (path / META).write_text("\n".join(["#", "version=1", *lines, ""]))
    return str(path)


def test_a_directory_says_whose_it_is(tmp_path: Path) -> None:
    path = directory(tmp_path, "a", cluster_id="c=d", node_id=3, directory_id="x")
    assert identify(path) == DataDir(path, "c=d", 3, "x", is_crashed=True)
    Path(path, CLEAN_SHUTDOWN).touch()
    assert identify(path) == DataDir(path, "c=d", 3, "x")
    assert identify(path).node == "node 3"


def test_a_folder_of_partitions_is_a_node_of_its_own(tmp_path: Path) -> None:
    path = directory(tmp_path, "backup")
    assert identify(path) == DataDir(path)
    assert identify(path).node == path


@pytest.mark.parametrize("content", [b"node.id=one\n", b"\xff\xfe\n"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = Path(directory(tmp_path, "a"))
    (path / META).write_bytes(content)
    with pytest.raises(ValueError, match=META):
        identify(str(path))


def test_the_order_on_the_command_line_is_not_the_order_of_the_nodes(tmp_path: Path) -> None:
    paths = [
        directory(tmp_path, name, node_id=node, cluster_id="c")
        for name, node in (("b", 2), ("a", 10), ("c", 1))
    ]
    found = of_region("west", paths)
    assert [one.node_id for one in found] == [1, 2, 10]
    assert of_region("west", paths[::-1]) == found
    assert cluster_id(found) == "c"


def test_directories_of_several_clusters_are_no_region(tmp_path: Path) -> None:
    paths = [directory(tmp_path, name, cluster_id=name) for name in ("a", "b")]
    with pytest.raises(
        ValueError, match=r"west has directories of several clusters: .*a of a, .*b of b"
    ):
        of_region("west", paths)


def test_one_directory_named_twice_or_copied_is_no_second_replica(tmp_path: Path) -> None:
    one = directory(tmp_path, "a", directory_id="x", node_id=1)
    copied = directory(tmp_path, "b", directory_id="x", node_id=1)
    for paths in ([one, one + "/."], [one, copied]):
        with pytest.raises(ValueError, match="are one directory, or its copy"):
            of_region("west", paths)
