"""A node's file on disk: which format it has, and what stands elsewhere on the machine."""

from pathlib import Path

import pytest

from brokers.config.broker_config import ConfigError
from brokers.shell.settings import load_config, overrides_of, read_node_file

PROPERTIES = "process.roles=broker,controller\nnode.id=1\nlog.dirs={0}/data\nlisteners=PLAINTEXT://127.0.0.1:9092\n"
TOML = 'process.roles = "broker,controller"\nnode.id = 1\nlog.dirs = "{0}/data"\n'


def written(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_bytes(text.replace("{0}", str(directory)).encode("latin-1"))
    return path


@pytest.mark.parametrize("name", ["server.properties", "server.conf", "server"])
def test_a_properties_file_is_known_by_its_name_or_its_content(name: str, tmp_path: Path) -> None:
    read = read_node_file(written(tmp_path, name, PROPERTIES))
    assert read.is_properties and read.config().log_dirs == f"{tmp_path}/data"


@pytest.mark.parametrize("name", ["node.toml", "node.conf", "node"])
def test_toml_is_known_by_its_name_or_its_content(name: str, tmp_path: Path) -> None:
    read = read_node_file(written(tmp_path, name, TOML))
    assert not read.is_properties and read.config().log_dirs == f"{tmp_path}/data"


@pytest.mark.parametrize("name", ["node.toml", "node"])
def test_broken_toml_is_said_to_be_so(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not TOML"):
        load_config(written(tmp_path, name, TOML + "node.id = = 1\n"))


def test_unknown_keys_keep_only_toml_from_starting(tmp_path: Path) -> None:
    path = written(tmp_path, "server.properties", PROPERTIES + "logs.dir=x\n")
    (line,) = load_config(path).warnings()
    assert "logs.dir=x" in line and "did you mean log.dir?" in line
    with pytest.raises(ConfigError, match=r"logs\.dir: unknown setting"):
        load_config(written(tmp_path, "node.toml", TOML + 'logs.dir = "x"\n'))


def test_overrides_win_over_both_formats(tmp_path: Path) -> None:
    overrides = overrides_of(["node.id=7", "broker.rack = a=b"])
    for path in (
        written(tmp_path, "a.properties", PROPERTIES), written(tmp_path, "a.toml", TOML)
    ):  # fmt: skip
        config = load_config(path, overrides)
        assert (config.node_id, config.broker_rack) == (7, "a=b")


@pytest.mark.parametrize("word", ["node.id", "=1", " =1"])
def test_an_override_without_key_or_value_is_refused(word: str) -> None:
    with pytest.raises(ConfigError, match="give KEY=VALUE"):
        overrides_of([word])


def test_the_cluster_is_that_of_formatted_directories(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    meta = "#Tue Nov 24\nversion=1\ncluster.id=theirs\nnode.id=1\ndirectory.id=x\n"
    (tmp_path / "data" / "meta.properties").write_text(meta)
    for name, text in (("s.properties", PROPERTIES), ("n.toml", TOML)):
        assert load_config(written(tmp_path, name, text)).cluster_id == "theirs"
    given = written(tmp_path, "s.properties", PROPERTIES + "cluster.id=ours\n")
    assert load_config(given).cluster_id == "ours"


def test_a_listener_without_a_host_advertises_the_name_of_this_one(tmp_path: Path) -> None:
    text = PROPERTIES.replace("PLAINTEXT://127.0.0.1:9092", "PLAINTEXT://:9092,CONTROLLER://:9093")
    config = load_config(written(tmp_path, "s.properties", text))
    hosts = {where.host for where in config.advertised_by_name.values()}
    assert len(hosts) == 1 and hosts.isdisjoint({"", "0.0.0.0"})
    of_controller = text.replace("broker,controller", "controller").replace(
        "PLAINTEXT://:9092,", ""
    )
    named = load_config(written(tmp_path, "s.properties", of_controller), {"cluster.id": "c"})
    assert named.advertised_listeners is not None and named.advertised_listeners.startswith(
        "CONTROLLER://"
    )


PROVIDERS = (
    "config.providers=env,file,dir\n"
    "config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider\n"
    "config.providers.env.param.allowlist.pattern=PA.*\n"
    "config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider\n"
    "config.providers.dir.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider\n"
    "config.providers.dir.param.allowed.paths={0}/init\n"
)


def test_kafkas_own_config_providers_are_run(tmp_path: Path) -> None:
    (tmp_path / "init").mkdir()
    (tmp_path / "init" / "rack.id").write_text("r1")
    (tmp_path / "more.properties").write_text("partitions=3\n")
    text = (
        PROVIDERS
        + "broker.rack=${dir:{0}/init:rack.id}\nnum.partitions=${file:{0}/more.properties:partitions}\n"
    )
    config = load_config(
        written(tmp_path, "s.properties", PROPERTIES + text + "broker.host=x${env:PATH}\n")
    )
    assert (config.broker_rack, config.num_partitions) == ("r1", 3)
    assert config.broker_host is not None and "/" in config.broker_host


@pytest.mark.parametrize(
    ("value", "because"),
    [
        ("${env:HOME}", "has no value"),
        ("${dir:{0}:s.properties}", "not among allowed.paths"),
        ("${dir:{0}/init:../s.properties}", "is not the name of a file"),
        ("${file:{0}/none:key}", "No such file"),
        ("${file:{0}/s.properties:key}", "has no value"),
    ],
)
def test_what_a_config_provider_may_not_or_can_not_read_is_refused(
    value: str, because: str, tmp_path: Path
) -> None:
    path = written(tmp_path, "s.properties", PROPERTIES + PROVIDERS + f"broker.rack={value}\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert (
        caught.value.problems[0].startswith("broker.rack: ") and because in caught.value.problems[0]
    )


def test_config_providers_are_of_properties_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="only of properties files"):
        load_config(written(tmp_path, "n.toml", TOML + 'config.providers = "env"\n'))


def test_a_key_that_a_file_gives_twice_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(
        "process.roles=broker,controller\nnode.id=1\nlog.dirs=d\nlisteners=PLAINTEXT://h:1\nnode.id : 2\n"
    )
    config = load_config(path)
    assert config.node_id == 2
    assert list(config.warnings()) == ["node.id: given more than once; the last value counts"]
