"""What a local federation remembers."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.local.layout import (
    Federation,
    LocalError,
    LocalNode,
    Region,
    check_region_names,
    load,
    save,
)

names = st.from_regex(r"\A[a-z][a-z0-9-]{0,30}\Z")
ports = st.integers(1, 65_535).map(lambda port: f"127.0.0.1:{port}")
paths = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(
    lambda text: f"/data/{text}"
)
nodes = st.builds(
    LocalNode,
    id=st.integers(0, 9),
    pid=st.none() | st.integers(1, 2**22),
    kafka=ports,
    data=paths,
    log=paths,
)
regions = st.builds(
    Region, name=names, bootstrap=ports, admin=ports, nodes=st.lists(nodes, max_size=3).map(tuple)
)
federations = st.lists(regions, unique_by=lambda region: region.name).map(
    lambda some: Federation(tuple(some))
)


def _west_and_east() -> Federation:
    def region(name: str) -> Region:
        node = LocalNode(id=1, pid=7, kafka="127.0.0.1:1", data="/d", log=f"/{name}/node-1.log")
        return Region(name=name, bootstrap="127.0.0.1:1", admin="127.0.0.1:2", nodes=(node,))

    return Federation((region("west"), region("east")))


@given(federations)
def test_what_is_saved_is_what_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, federation: Federation
) -> None:
    directory = tmp_path_factory.mktemp("federation")
    save(directory, federation)
    assert load(directory) == federation


def test_an_empty_directory_is_an_empty_federation(tmp_path: Path) -> None:
    assert load(tmp_path) == Federation()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"regions": 1}', '{"regions": [{}]}', '{"regions": [{"nodes": 1}]}',
     '{"regions": [{"name": "west", "bootstrap": "", "admin": "", "nodes": [{"id": 1}]}]}'],
)  # fmt: skip
def test_a_file_that_is_not_ours_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "federation.json"
    path.write_text(text)
    with pytest.raises(LocalError) as refused:
        load(tmp_path)
    assert str(path) in str(refused.value)
    assert refused.value.hint
    assert path.read_text() == text


def test_a_new_pid_changes_one_node_of_one_region() -> None:
    changed = _west_and_east().with_pid("west", 1, 99)
    assert [node.pid for _, node in changed.nodes()] == [99, 7]
    assert changed.with_pid("west", 1, 7) == _west_and_east()


def test_a_pid_of_an_unknown_node_changes_nothing() -> None:
    assert _west_and_east().with_pid("north", 1, 99) == _west_and_east()
    assert _west_and_east().with_pid("west", 2, 99) == _west_and_east()


def test_a_region_is_found_by_its_name() -> None:
    federation = _west_and_east()
    assert federation.region("east") == federation.regions[1]
    assert federation.region("north") is None


def test_the_settings_of_a_node_lie_beside_its_log() -> None:
    _, node = next(_west_and_east().nodes())
    assert node.settings == Path("/west/node-1.toml")


@given(names)
def test_a_plain_name_is_accepted(name: str) -> None:
    check_region_names((name,))
    assert name


@pytest.mark.parametrize(
    "name", ["", "West", "../up", "a/b", "-west", "1west", "we st", "west\n", "w" * 32, "ü"]
)
def test_a_name_that_could_leave_the_directory_is_refused(name: str) -> None:
    with pytest.raises(LocalError, match="cannot name a region"):
        check_region_names(("east", name))


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(LocalError, match="named twice"):
        check_region_names(("west", "east", "west"))


def test_a_region_is_replaced_where_it_stands() -> None:
    federation = _west_and_east()
    west, east = federation.regions
    grown = Region(name="west", bootstrap="a,b", admin=west.admin, nodes=west.nodes * 2)
    assert federation.with_region(grown).regions == (grown, east)
