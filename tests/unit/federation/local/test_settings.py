"""A node's TOML: written once, then the user's."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.config import parse
from federation.local.layout import LocalError
from federation.local.settings import PORTS, addresses

# A path may hold anything but NUL and what no file system takes.
folders = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1)


@given(folder=folders)
def test_the_data_directory_is_written_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, folder: str
) -> None:
    settings = tmp_path_factory.mktemp("node") / "node-1.toml"
    data = Path("/data") / folder
    addresses(settings, node_id=1, data=data)
    assert tomllib.loads(settings.read_text(encoding="utf-8"))["log"]["dirs"] == str(data)


def test_addresses_are_chosen_once_and_kept(tmp_path: Path) -> None:
    settings = tmp_path / "node-1.toml"
    first = addresses(settings, node_id=1, data=tmp_path)
    text = settings.read_text()
    assert addresses(settings, node_id=1, data=tmp_path) == first
    assert settings.read_text() == text


def test_addresses_are_ipv4_and_differ(tmp_path: Path) -> None:
    kafka, admin = addresses(tmp_path / "node-1.toml", node_id=1, data=tmp_path)
    assert kafka != admin
    for address in (kafka, admin):
        host, _, port = address.rpartition(":")
        assert host == "127.0.0.1"
        assert int(port) in PORTS


def test_a_node_accepts_its_settings(tmp_path: Path) -> None:
    settings = tmp_path / "node-1.toml"
    kafka, admin = addresses(settings, node_id=4, data=tmp_path / "data")
    config = parse(settings.read_text())
    assert (config.node_id, config.log_dirs) == (4, str(tmp_path / "data"))
    assert (config.listeners, config.admin_listener) == (f"PLAINTEXT://{kafka}", admin)


def test_an_edited_address_is_respected(tmp_path: Path) -> None:
    settings = tmp_path / "node-1.toml"
    settings.write_text('listeners = "PLAINTEXT://127.0.0.1:1"\nadmin.listener = "127.0.0.1:2"\n')
    assert addresses(settings, node_id=1, data=tmp_path) == ("127.0.0.1:1", "127.0.0.1:2")


@pytest.mark.parametrize(
    "text", ["", "listeners =", 'listeners = "PLAINTEXT://a:1"', "admin = 1\nlisteners = 2"]
)
def test_settings_without_addresses_are_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    settings = tmp_path / "node-1.toml"
    settings.write_text(text)
    with pytest.raises(LocalError) as refused:
        addresses(settings, node_id=1, data=tmp_path)
    assert str(settings) in str(refused.value)
    assert "admin.listener" in refused.value.hint
