"""A log directory belongs to one node of one cluster, and to one process at a time; one of several may be broken."""

import shutil
from pathlib import Path

import pytest

from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.shell.identity import META, IdentityError, claim


def several(directory: Path, **settings: object) -> BrokerConfig:
    named = {key.replace("_", "."): value for key, value in settings.items()}
    dirs = ",".join(str(directory / name) for name in ("a", "b", "c"))
    return from_settings({"node.id": 1, "log.dirs": dirs, **named})


def config(directory: Path, **settings: object) -> BrokerConfig:
    named = {key.replace("_", "."): value for key, value in settings.items()}
    return from_settings({"node.id": 1, "log.dirs": str(directory / "data"), **named})


def test_an_empty_directory_gets_an_identity_and_keeps_it(tmp_path: Path) -> None:
    first = claim(config(tmp_path))
    first.release()
    again = claim(config(tmp_path))
    again.release()
    assert (again.cluster_id, again.metadata.id) == (first.cluster_id, first.metadata.id)
    assert len(first.cluster_id) == 22
    lines = (tmp_path / "data" / META).read_text().splitlines()
    assert [line.split("=")[0] for line in lines] == [
        "version",
        "cluster.id",
        "node.id",
        "directory.id",
    ]


def test_a_second_process_is_refused_while_the_first_holds_it(tmp_path: Path) -> None:
    first = claim(config(tmp_path))
    with pytest.raises(IdentityError, match="in use"):
        claim(config(tmp_path))
    first.release()
    claim(config(tmp_path)).release()


def test_another_nodes_or_clusters_directory_is_refused(tmp_path: Path) -> None:
    claim(config(tmp_path, cluster_id="one")).release()
    with pytest.raises(IdentityError, match=r"node 1, not 2"):
        claim(from_settings({"node.id": 2, "log.dirs": str(tmp_path / "data")}))
    with pytest.raises(IdentityError, match="cluster 'one', not 'two'") as refused:
        claim(config(tmp_path, cluster_id="two"))
    assert "set cluster.id to 'one'" in str(refused.value)
    claim(config(tmp_path, cluster_id="one")).release()


@pytest.mark.parametrize("line", ["directory.id=", "directory.id=short", ""])
def test_a_damaged_identity_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "data").mkdir()
    meta = tmp_path / "data" / META
    meta.write_text(f"version=1\ncluster.id=one\nnode.id=1\n{line}\n")
    with pytest.raises(IdentityError, match=r"directory\.id"):
        claim(config(tmp_path))


def test_each_of_several_has_an_identity_and_all_are_of_one_cluster(tmp_path: Path) -> None:
    first = claim(several(tmp_path))
    first.release()
    ids = [each.id for each in first.log_dirs]
    assert len({*ids}) == 3 and first.metadata is first.log_dirs[0]
    again = claim(several(tmp_path))
    again.release()
    assert [each.id for each in again.log_dirs] == ids and again.cluster_id == first.cluster_id
    for name in ("a", "b", "c"):
        assert f"cluster.id={first.cluster_id}" in (tmp_path / name / META).read_text()


def test_a_directory_that_is_added_joins_the_cluster_of_the_others(tmp_path: Path) -> None:
    first = claim(several(tmp_path))
    first.release()
    shutil.rmtree(tmp_path / "a")
    again = claim(several(tmp_path))
    again.release()
    assert again.cluster_id == first.cluster_id
    assert again.log_dirs[0].id != first.log_dirs[0].id
    assert again.log_dirs[1:] != ()
    assert [each.id for each in again.log_dirs[1:]] == [each.id for each in first.log_dirs[1:]]


def test_a_copy_of_a_directory_is_refused(tmp_path: Path) -> None:
    claim(several(tmp_path)).release()
    shutil.copy(tmp_path / "a" / META, tmp_path / "c" / META)
    with pytest.raises(IdentityError, match=r"same directory\.id"):
        claim(several(tmp_path))


def test_directories_of_two_clusters_are_refused(tmp_path: Path) -> None:
    claim(several(tmp_path)).release()
    meta = tmp_path / "b" / META
    text = meta.read_text()
    meta.write_text(text.replace(text.split("cluster.id=")[1].split("\n")[0], "elsewhere"))
    with pytest.raises(IdentityError, match="one cluster"):
        claim(several(tmp_path))


def test_one_that_cannot_be_opened_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("a file in the place of a directory")
    found = claim(several(tmp_path))
    found.release()
    assert [each.id is None for each in found.log_dirs] == [False, True, False]
    assert found.log_dirs[1].failure


def test_that_of_the_metadata_log_cannot_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("a file in the place of a directory")
    with pytest.raises(IdentityError, match="holds the metadata log"):
        claim(several(tmp_path, metadata_log_dir=str(tmp_path / "b")))


def test_without_any_the_node_does_not_start(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("a file in the place of a directory")
    with pytest.raises(IdentityError, match="fails"):
        claim(several(tmp_path, metadata_log_dir=str(tmp_path / "m")))


def test_the_metadata_log_may_have_a_directory_of_its_own(tmp_path: Path) -> None:
    found = claim(several(tmp_path, metadata_log_dir=str(tmp_path / "m")))
    found.release()
    assert found.metadata not in found.log_dirs and found.metadata.id is not None


KAFKAS = """#
#Tue Nov 24 10:25:33 UTC 2026
node.id=1
directory.id=gvV5o4zNTQy2edXncBMJbA
version=1
cluster.id=abcdefghijklmnopqrstuv
"""


def formatted_by_kafka(directory: Path) -> Path:
    data = directory / "data"
    (data / "__cluster_metadata-0").mkdir(parents=True)
    (data / META).write_text(KAFKAS)
    (data / "bootstrap.checkpoint").write_bytes(b"x")
    return data


def test_a_directory_that_kafka_formatted_and_never_used_is_taken_with_its_ids(
    tmp_path: Path,
) -> None:
    data = formatted_by_kafka(tmp_path)
    first = claim(config(tmp_path))
    first.release()
    assert first.cluster_id == "abcdefghijklmnopqrstuv"
    (data / "t-0").mkdir()
    (data / "t-0" / "00000000000000000000.log").write_bytes(b"ours by now")
    again = claim(config(tmp_path))
    again.release()
    assert (again.cluster_id, again.metadata.id) == (first.cluster_id, first.metadata.id)


@pytest.mark.parametrize("folder", ["__cluster_metadata-0", "orders-12"])
def test_a_directory_with_kafkas_data_is_refused_and_left_as_it_is(
    folder: str, tmp_path: Path
) -> None:
    data = formatted_by_kafka(tmp_path)
    (data / folder).mkdir(exist_ok=True)
    (data / folder / "00000000000000000000.log").write_bytes(b"precious")
    for _ in range(2):
        with pytest.raises(IdentityError, match="holds data of Apache Kafka"):
            claim(config(tmp_path))
    assert (data / META).read_text() == KAFKAS
