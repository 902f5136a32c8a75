"""`causeway region config check`: a verdict for every key of a file, and whether a node starts with it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from federation.cli import main

LEAST = "process.roles=broker,controller\nnode.id=1\nlog.dirs=data\nlisteners=PLAINTEXT://h:1\n"

RATE = "io.max.bytes.per.second"


def check(path: Path, text: str, *options: str) -> Result:
    path.write_text(text)
    return CliRunner().invoke(main, ["region", "config", "check", str(path), *options])


def keys(path: Path, text: str, exit_code: int = 0, *options: str) -> dict[str, dict[str, Any]]:
    ran = check(path, text, "--json", *options)
    assert ran.exit_code == exit_code, ran.output
    said = json.loads(ran.stdout)
    assert said["file"] == str(path) and said["starts"] is (exit_code == 0)
    assert len({each["key"] for each in said["keys"]}) == len(said["keys"])
    return {each["key"]: each for each in said["keys"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "server.properties"


def test_each_key_has_its_value_its_verdict_and_why(file: Path) -> None:
    told = keys(
        file,
        LEAST + "num.io.threads=8\nlog.retention.hours=24\nlogs.dir=x\nauthorizer.class.name=\n"
        "ssl.keystore.password=hush\n",
    )
    assert list(told)[:4] == ["process.roles", "node.id", "log.dirs", "listeners"]
    assert told["node.id"] == {"key": "node.id", "value": "1", "verdict": "works", "why": ""}
    assert told["num.io.threads"]["verdict"] == "no effect" and told["num.io.threads"]["why"]
    assert told["log.retention.hours"]["why"] == "sets log.retention.ms"
    assert told["logs.dir"]["verdict"] == "unknown" and "log.dir" in told["logs.dir"]["why"]
    assert told["authorizer.class.name"]["verdict"] == "works"
    assert told["ssl.keystore.password"]["value"] == "[hidden]"


@pytest.mark.parametrize(
    ("line", "key", "why"),
    [
        ("authorizer.class.name=Acl", "authorizer.class.name", "nothing here asks"),
        ("log.segment.bytes=big", "log.segment.bytes", "valid integer"),
        ("listeners=PLAINTEXT://h:1,SSL://h:2", "listeners", "only PLAINTEXT is supported"),
        ("cluster.id=a b", "cluster.id", "should match pattern"),
        ("zookeeper.metadata.migration.enable=true", "zookeeper.connect", "in its own quorum"),
    ],
)
def test_a_key_that_keeps_a_node_from_starting_is_refused(
    file: Path, line: str, key: str, why: str
) -> None:
    told = keys(file, LEAST + line + "\n", 1)
    refused = {name: each["why"] for name, each in told.items() if each["verdict"] == "refused"}
    assert list(refused) == [key] and why in refused[key]


def test_keys_of_cluster_links_work_or_say_what_takes_their_place(file: Path) -> None:
    names = {
        "fetch.response.min.bytes": "replica.fetch.min.bytes",
        "fetch.response.total.bytes": "replica.fetch.response.max.bytes",
        "metadata.topic.replication.factor": "metadata log",
    }
    lines = "".join(f"confluent.cluster.link.{name}=1\n" for name in (*names, RATE))
    told = keys(file, LEAST + lines)
    for name, why in names.items():
        each = told[f"confluent.cluster.link.{name}"]
        assert each["verdict"] == "no effect" and why in each["why"]
    assert told[f"confluent.cluster.link.{RATE}"]["verdict"] == "works"


def test_a_missing_key_is_a_line_of_its_own(file: Path) -> None:
    told = keys(file, "process.roles=broker\nnode.id=1\n", 1)
    assert (
        {"log.dirs", "controller.quorum.voters", "cluster.id"}
        >= {name for name, each in told.items() if each["value"] == ""}
        >= {"log.dirs"}
    )


def test_a_file_of_zookeeper_says_what_to_do(file: Path) -> None:
    told = keys(file, "broker.id=1\nlog.dirs=d\nzookeeper.connect=zk:2181\n", 1)
    assert "process.roles=broker,controller" in told["zookeeper.connect"]["why"]


def test_a_file_that_cannot_be_read_at_all_is_one_line(file: Path) -> None:
    told = keys(file, LEAST + "log.dirs=\\u00zz\n", 1)
    assert "not a properties file" in told[""]["why"]


def test_a_key_that_is_given_twice_is_told_of(file: Path) -> None:
    told = keys(file, LEAST + "log.retention.ms=5\nlog.retention.\\\n  ms = 6\nnode.id=2\n")
    assert told["log.retention.ms"]["value"] == "6"
    assert told["log.retention.ms"]["why"] == "given more than once; the last value counts"
    assert told["node.id"]["why"] and not told["listeners"]["why"]


@pytest.mark.parametrize("watermark", ["warn", "refuse"])
def test_a_watermark_above_the_disk_is_refused_where_the_disk_is_here(
    file: Path, watermark: str
) -> None:
    key = f"disk.watermark.{watermark}.free.bytes"
    line = f"{key}={1 << 60}\n"
    told = keys(file, LEAST.replace("log.dirs=data", f"log.dirs={file.parent}") + line, 1)
    assert told[key]["verdict"] == "refused" and "can't be free in" in told[key]["why"]
    assert keys(file, LEAST + line)[key]["verdict"] == "works", "it is a file for another machine"


def test_a_file_that_a_value_is_in_and_that_is_none_is_told_of(file: Path) -> None:
    passwords = file.with_name("passwords.properties")
    passwords.write_text("rack=\\u1\n")
    provider = "org.apache.kafka.common.config.provider.FileConfigProvider"
    lines = f"config.providers=f\nconfig.providers.f.class={provider}\n"
    told = keys(file, LEAST + lines + f"broker.rack=${{f:{passwords}:rack}}\n", 1)
    assert "passwords.properties is not a properties file" in told["broker.rack"]["why"]


def test_an_override_counts(file: Path) -> None:
    told = keys(
        file, LEAST + "authorizer.class.name=Acl\n", 0, "--override", "authorizer.class.name="
    )
    assert told["authorizer.class.name"]["verdict"] == "works"
    ran = check(file, LEAST, "--override", "nothing")
    assert ran.exit_code == 1 and "give KEY=VALUE" in ran.stdout


def test_people_read_a_table_and_a_sentence(file: Path) -> None:
    good, bad = check(file, LEAST), check(file, LEAST + "authorizer.class.name=Acl\n")
    assert good.exit_code == 0 and good.stdout.endswith("A node starts with this file.\n")
    assert "VERDICT" in bad.stdout and bad.stdout.endswith("does not start with this file.\n")
