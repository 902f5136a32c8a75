"""A node's TOML: written once, then the user's."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.config.broker_config import BrokerConfig, parse
from federation.local.layout import LocalError
from federation.local.settings import (
    PORTS,
    PORTS_VARIABLE,
    Addresses,
    NodeFiles,
    allowed_ports,
    assigned_ports,
    check_racks,
    write_settings,
)

# A path may hold anything but NUL and what no file system takes.
folders = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1)


def places(folder: Path, count: int = 1) -> list[NodeFiles]:
    return [
        NodeFiles(number, folder / f"node-{number}.toml", folder / f"node-{number}")
        for number in range(1, count + 1)
    ]


def configs(region: list[NodeFiles]) -> list[BrokerConfig]:
    """As the nodes themselves read them: every problem would be raised."""
    return [parse(place.settings.read_text()) for place in region]


@given(folder=folders)
def test_the_data_directory_is_written_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, folder: str
) -> None:
    settings = tmp_path_factory.mktemp("node") / "node-1.toml"
    data = Path("/data") / folder
    write_settings([NodeFiles(1, settings, data)])
    assert tomllib.loads(settings.read_text(encoding="utf-8"))["log"]["dirs"] == str(data)


def test_addresses_are_chosen_once_and_kept(tmp_path: Path) -> None:
    region = places(tmp_path, 3)
    first = write_settings(region)
    texts = [place.settings.read_text() for place in region]
    assert write_settings(region) == first
    assert [place.settings.read_text() for place in region] == texts


def test_addresses_are_ipv4_and_differ(tmp_path: Path) -> None:
    chosen = write_settings(places(tmp_path, 7))
    told = [
        each
        for one in chosen
        for each in (one.kafka, one.admin, one.controller, one.metrics)
        if each
    ]
    assert len(set(told)) == len(told) == 7 * 3 + 5
    for address in told:
        host, _, port = address.rpartition(":")
        assert host == "127.0.0.1"
        assert int(port) in PORTS


def test_ports_of_another_region_are_known_though_it_is_down(tmp_path: Path) -> None:
    (tmp_path / "west").mkdir()
    (west,) = write_settings(places(tmp_path / "west"))
    told = {int(where.rpartition(":")[2]) for where in (west.kafka, west.admin)}
    assert told < assigned_ports(tmp_path)


def test_no_taken_port_is_chosen(tmp_path: Path) -> None:
    taken = range(PORTS.start, PORTS.stop, 2)
    for where in write_settings(places(tmp_path, 5), taken=taken):
        ports = [int(each.rpartition(":")[2]) for each in (where.kafka, where.admin)]
        assert not set(ports) & set(taken)


def test_the_environment_may_say_which_ports() -> None:
    assert allowed_ports({}) == PORTS
    assert allowed_ports({PORTS_VARIABLE: "20000-20001"}) == range(20_000, 20_002)


@pytest.mark.parametrize("text", ["", "1", "5-4", "0-9", "1-65536", "a-b", "-5", "1-2-3"])
def test_what_is_no_range_of_ports_is_refused(text: str) -> None:
    with pytest.raises(LocalError, match=PORTS_VARIABLE):
        allowed_ports({PORTS_VARIABLE: text})


def test_a_lone_node_is_told_nothing_of_others(tmp_path: Path) -> None:
    (where,) = write_settings(places(tmp_path))
    (config,) = configs(places(tmp_path))
    assert (config.node_id, config.log_dirs) == (1, str(tmp_path / "node-1"))
    assert config.listeners == f"PLAINTEXT://{where.kafka}"
    assert (config.admin_listener, config.metrics_listener) == (where.admin, where.metrics)
    assert config.is_alone and config.cluster_id is None and where.controller is None


@pytest.mark.parametrize(("count", "deciding"), [(2, 1), (3, 3), (4, 3), (5, 5), (8, 5)])
def test_nodes_of_one_region_know_one_another(tmp_path: Path, count: int, deciding: int) -> None:
    region = places(tmp_path, count)
    chosen = write_settings(region, ["a", "b", "c"])
    told = configs(region)
    assert len({config.cluster_id for config in told}) == 1
    assert {config.voters for config in told} == {told[0].voters}
    assert [voter.node_id for voter in told[0].voters] == list(range(1, deciding + 1))
    for config, where in zip(told, chosen, strict=True):
        assert config.is_broker and config.is_controller == (config.node_id <= deciding)
        assert (
            not config.is_alone or count == 2
        )  # whose first node decides alone, and serves others
        assert str(config.listeners_by_name["PLAINTEXT"]) == where.kafka
        assert config.default_replication_factor == min(3, count)
        if config.is_controller:
            own = next(voter for voter in config.voters if voter.node_id == config.node_id)
            assert own[1:] == config.controller_address
    assert [config.broker_rack for config in told[:4]] == ["a", "b", "c", "a"][:count]


def test_a_region_of_several_grows_and_its_first_nodes_go_on_deciding(tmp_path: Path) -> None:
    first = write_settings(places(tmp_path, 3))
    region = places(tmp_path, 6)
    assert write_settings(region)[:3] == first
    told = configs(region)
    assert len({(config.cluster_id, config.voters) for config in told}) == 1
    assert [config.is_controller for config in told] == [True] * 3 + [False] * 3


@pytest.mark.parametrize("line", ["", 'cluster.id = "one"\n'])
def test_a_region_of_one_does_not_grow(tmp_path: Path, line: str) -> None:
    write_settings(places(tmp_path))
    settings = tmp_path / "node-1.toml"
    settings.write_text(settings.read_text() + line)
    with pytest.raises(LocalError, match="region of one node"):
        write_settings(places(tmp_path, 3))
    assert not (tmp_path / "node-2.toml").exists()


def test_nodes_stay_in_the_racks_that_they_were_given(tmp_path: Path) -> None:
    region = places(tmp_path, 3)
    write_settings(region, ("a", "b"))
    files = [place.settings for place in region]
    check_racks(files, ("a", "b"))
    with pytest.raises(LocalError, match=r"node-3\.toml has the rack a, not c"):
        check_racks(files, ("a", "b", "c"))


def test_an_edited_address_is_respected(tmp_path: Path) -> None:
    settings = tmp_path / "node-1.toml"
    settings.write_text('listeners = "PLAINTEXT://127.0.0.1:1"\nadmin.listener = "127.0.0.1:2"\n')
    assert write_settings(places(tmp_path)) == [Addresses("127.0.0.1:1", "127.0.0.1:2")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "listeners =",
        'listeners = "PLAINTEXT://a:1"',
        "admin = 1\nlisteners = 2",
        'listeners = "a:1"\nadmin.listener = "a:2"',
        'listeners = "PLAINTEXT://a:1"\nadmin.listener = "a:2"\ncluster = 1',
    ],
)
def test_settings_without_addresses_are_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    settings = tmp_path / "node-1.toml"
    settings.write_text(text)
    with pytest.raises(LocalError) as refused:
        write_settings(places(tmp_path))
    assert str(settings) in str(refused.value)
    assert "admin.listener" in refused.value.hint
