"""Kafka's `server.properties`, read as java.util.Properties and Kafka's ConfigDef do."""

from collections.abc import Mapping

import pytest

from brokers.config.broker_config import ConfigError, from_settings
from brokers.config.properties import from_properties

ROLES = "process.roles=broker,controller\n"


def environment(path: str, key: str, parameters: Mapping[str, str]) -> str | None:
    if path:
        raise OSError(f"no {path}")
    return {"RACK": "r1", "ID": parameters.get("id", "4"), "DIRS": "/data"}.get(key)


PROVIDERS = {"EnvVarConfigProvider": environment}
ENVIRONMENT = (
    "config.providers=env\n"
    "config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider\n"
)


def read(text: str, **overrides: str) -> dict[str, object]:
    named = {name.replace("_", "."): value for name, value in overrides.items()}
    return from_properties(ROLES + text, named, PROVIDERS)


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        from_properties(text, {}, PROVIDERS)
    return caught.value.problems


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("node.id=1", "node.id", 1),
        ("  node.id : 1  ", "node.id", 1),
        ("node.id 1", "node.id", 1),
        ("! comment\n# comment\nnode.id=1", "node.id", 1),
        ("log.dirs=/a,\\\n   /b", "log.dirs", "/a,/b"),
        ("log.dirs=C\\:\\\\data\\u0020x", "log.dirs", "C:\\data x"),
        ("log\\.dirs=d", "log.dirs", "d"),
        ("broker.rack=a\nbroker.rack=b", "broker.rack", "b"),
        ("broker.rack=caf\u00e9", "broker.rack", "caf\u00e9"),
        ("delete.topic.enable=FALSE", "delete.topic.enable", False),
        ("delete.topic.enable=maybe", "delete.topic.enable", "maybe"),
        ("log.retention.ms=-1", "log.retention.ms", -1),
        ("log.flush.interval.messages=1", "log.flush.interval.messages", 1),
        ("num.io.threads=8", "num.io.threads", "8"),
        ("listeners=PLAINTEXT://h:1", "listeners", "PLAINTEXT://h:1"),
    ],
)
def test_a_line_is_read_as_java_reads_it(line: str, name: str, value: object) -> None:
    assert read(line)[name] == value


def test_an_empty_value_is_none_where_a_key_needs_none() -> None:
    settings = read("broker.rack=\ncontroller.quorum.voters=\nnode.id=\n")
    assert "broker.rack" not in settings and "controller.quorum.voters" not in settings
    assert settings["node.id"] == ""


def test_kafkas_default_listener_is_every_interface() -> None:
    assert read("")["listeners"] == "PLAINTEXT://:9092"


def test_overrides_win_over_the_file() -> None:
    assert read("node.id=1\n", node_id="2")["node.id"] == 2


def test_a_text_that_is_not_of_the_type_is_refused_by_name() -> None:
    with pytest.raises(ConfigError) as caught:
        from_settings(read("node.id=one\nlog.dirs=d\ndelete.topic.enable=maybe\n"))
    assert {line.split(":")[0] for line in caught.value.problems} == {
        "node.id",
        "delete.topic.enable",
    }


def test_a_file_without_roles_is_of_a_cluster_with_zookeeper() -> None:
    (problem,) = problems("broker.id=0\n")
    assert problem.startswith("process.roles: required") and "ZooKeeper" in problem


def test_an_escape_that_is_none_is_refused() -> None:
    (problem,) = problems(ROLES + "log.dirs=\\u00zz\n")
    assert "not a properties file" in problem


# --- config providers ---


def test_values_may_stand_elsewhere() -> None:
    settings = read(
        ENVIRONMENT
        + "config.providers.env.param.id=9\nnode.id=${env:ID}\nlog.dirs=${env:DIRS}/a,${env:DIRS}/b\n"
        + "broker.rack=${other:RACK}\n"
    )
    assert (settings["node.id"], settings["log.dirs"]) == (9, "/data/a,/data/b")
    assert settings["broker.rack"] == "${other:RACK}"  # as Kafka leaves it


def test_what_has_no_effect_is_not_looked_up() -> None:
    text = "${vault:it}"
    settings = read(
        "config.providers=vault\nconfig.providers.vault.class=com.example.Vault\n"
        f"ssl.keystore.password={text}\n"
    )
    assert settings["ssl.keystore.password"] == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ENVIRONMENT + "broker.rack=${env:NONE}", "broker.rack: ${env:NONE} has no value"),
        (ENVIRONMENT + "broker.rack=${env:/path:RACK}", "broker.rack: ${env:/path:RACK}: no /path"),
        (
            "config.providers=vault\nconfig.providers.vault.class=com.example.Vault\nlog.dirs=${vault:x}",
            "log.dirs: ${vault:x}: config.providers.vault.class is com.example.Vault; only EnvVarConfigProvider",
        ),
    ],
)
def test_a_value_that_is_not_there_is_refused_by_the_key_that_needs_it(
    text: str, problem: str
) -> None:
    (found,) = problems(ROLES + text)
    assert found.startswith(problem)
