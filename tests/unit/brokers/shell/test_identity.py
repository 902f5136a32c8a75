"""A data directory belongs to one node of one cluster, and to one process at a time."""

import os
from pathlib import Path

import pytest

from brokers.config import BrokerConfig, from_settings
from brokers.shell.identity import META, IdentityError, claim


def config(directory: Path, **settings: object) -> BrokerConfig:
    named = {key.replace("_", "."): value for key, value in settings.items()}
    return from_settings({"node.id": 1, "log.dirs": str(directory / "data"), **named})


def test_an_empty_directory_gets_an_identity_and_keeps_it(tmp_path: Path) -> None:
    first = claim(config(tmp_path))
    os.close(first.lock)
    again = claim(config(tmp_path))
    os.close(again.lock)
    assert (again.cluster_id, again.directory_id) == (first.cluster_id, first.directory_id)
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
    os.close(first.lock)
    os.close(claim(config(tmp_path)).lock)


def test_another_nodes_or_clusters_directory_is_refused(tmp_path: Path) -> None:
    os.close(claim(config(tmp_path, cluster_id="one")).lock)
    with pytest.raises(IdentityError, match=r"node 1, not 2"):
        claim(from_settings({"node.id": 2, "log.dirs": str(tmp_path / "data")}))
    with pytest.raises(IdentityError, match="cluster 'one', not 'two'"):
        claim(config(tmp_path, cluster_id="two"))


@pytest.mark.parametrize("line", ["directory.id=", "directory.id=short", ""])
def test_a_damaged_identity_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "data").mkdir()
    meta = tmp_path / "data" / META
    meta.write_text(f"version=1\ncluster.id=one\nnode.id=1\n{line}\n")
    with pytest.raises(IdentityError, match=r"directory\.id"):
        claim(config(tmp_path))
