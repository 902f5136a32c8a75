"""A region's facts out of a file or the metadata log of a stopped node, and why they can't be had."""

import json
import random
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest
from click.testing import CliRunner, Result

from brokers.metadata.image.record_batches import data_batch
from brokers.wire.message import Message
from brokers.wire.messages import metadata_records as wire
from federation.audit.facts.region_facts import parse
from federation.audit.segments.checkpoints import COMPLETE_FROM
from federation.audit.segments.compaction import Compaction
from federation.audit.segments.data_dir import META
from federation.commands.audit.command import audit
from federation.commands.audit.compaction import by_brokers, with_compaction
from tests.spark import facts, generate
from tests.spark.cases import Case, planted
from tests.unit.federation.audit.fetch.broker import Broker
from tests.unit.federation.audit.segments.test_data_dir import directory

TOPIC = UUID(int=9)
KEY = ("flights", 0)


def node(folder: Path, name: str, *messages: Message, torn: bytes = b"") -> str:
    """A stopped node's directory with a metadata log of these records."""
    path = directory(folder, name, cluster_id=f"{name}-cluster", node_id=1, directory_id=name)
    log = Path(path, "__cluster_metadata-0")
    log.mkdir()
    made = [
        data_batch([message], base_offset=number, leader_epoch=1, now=5)
        for number, message in enumerate(messages)
    ]
    (log / f"{0:020}.log").write_bytes(b"".join(made) + torn)
    return path


def a_topic(isr: list[int]) -> list[Message]:
    return [
        wire.TopicRecord(name="flights", topic_id=TOPIC),
        wire.PartitionRecord(
            partition_id=0,
            topic_id=TOPIC,
            replicas=[1, 2],
            isr=isr,
            leader=1,
            leader_epoch=4,
            partition_epoch=0,
        ),
        wire.ConfigRecord(
            resource_type=2, resource_name="flights", name="retention.ms", value="77"
        ),
    ]


def facts_of(*arguments: str) -> Result:
    return CliRunner().invoke(audit, ["facts", "--json", *arguments])


def run(case: Case, *arguments: str) -> Result:
    sides = ["--source-dir", case.source, "--mirror-dir", case.mirror, "--engine", "local"]
    out = ["--out", str(Path(case.source).parent / "out"), "--overwrite", "--json"]
    return CliRunner().invoke(audit, ["run", *sides, *out, *arguments])


def test_a_stopped_node_says_what_its_metadata_log_holds(tmp_path: Path) -> None:
    behind = node(tmp_path, "west", *a_topic([1, 2])[:1])
    ahead = node(tmp_path, "east", *a_topic([2]), torn=b"\x00" * 40)
    for paths in ((behind, ahead), (ahead, behind)):
        ended = facts_of(*(option for path in paths for option in ("--data-dir", path)))
        assert ended.exit_code == 0, ended.output
        said = parse(ended.stdout)
        assert said.cluster_id == "east-cluster"
        partition = said.partitions()["flights", 0]
        assert (partition.leader, partition.replicas, partition.isr) == (1, [1, 2], [2])
        assert said.configs()["flights"]["retention.ms"] == "77"
        assert said.configs()["flights"]["retention.bytes"] == "-1"


def test_a_stopped_node_says_what_compaction_has_changed(tmp_path: Path) -> None:
    path = node(tmp_path, "west", *a_topic([1, 2]))
    generate.write_checkpoint(path, COMPLETE_FROM, {KEY: 17, ("flights", 1): 99})
    (told,) = parse(facts_of("--data-dir", path).stdout).partitions()[KEY].complete_from
    assert (told.replica, told.offset) == (1, 17)  # of node 2 no directory is named
    Path(path, COMPLETE_FROM).write_text("damaged")
    ended = facts_of("--data-dir", path)
    assert ended.exit_code == 4 and COMPLETE_FROM in ended.output


def test_brokers_of_another_release_say_nothing_of_compaction() -> None:
    broker = Broker(KEY, generate.batches(random.Random(1), 3))
    with closing(broker):
        text = facts.facts(isr={KEY: [1, 2]}).model_dump_json(by_alias=True)
        broker.compaction = Compaction(17, 3)
        assert by_brokers(broker.address, text) == {1: {KEY: 17}}
        broker.log_dirs_version = 1
        assert by_brokers(broker.address, text) == {}
    said = parse(with_compaction(text, {1: {KEY: 17}})).partitions()[KEY]
    assert [said.complete_from_of(node) for node in (1, 2, -1)] == [17, -1, 17]


def test_people_get_tables_and_the_file_what_an_audit_takes(tmp_path: Path) -> None:
    kept = tmp_path / "facts.json"
    where = ["--data-dir", node(tmp_path, "west", *a_topic([2])), "--output", str(kept)]
    ended = CliRunner().invoke(audit, ["facts", *where])
    assert "cluster west-cluster: 1 topics" in ended.output
    assert "1 of 2 replicas" in ended.output
    assert parse(kept.read_text()).partitions()["flights", 0].isr == [2]
    assert facts_of(*where).stdout == kept.read_text()


@pytest.mark.parametrize(("byte", "why"), [(70, "wrong checksum"), (7, "offset 0 is missing")])
def test_a_damaged_metadata_log_is_no_facts(tmp_path: Path, byte: int, why: str) -> None:
    path = node(tmp_path, "west", *a_topic([1]))
    log = next(Path(path, "__cluster_metadata-0").glob("*.log"))
    log.write_bytes(generate.flipped(log.read_bytes(), byte))
    ended = facts_of("--data-dir", path)
    assert ended.exit_code == 4
    assert why in ended.output


def test_a_directory_without_metadata_is_refused_with_what_to_name(tmp_path: Path) -> None:
    ended = facts_of("--data-dir", directory(tmp_path, "a"))
    assert ended.exit_code == 4
    assert "name a controller's directory" in ended.output


@pytest.mark.parametrize("where", [[], ["--bootstrap-server", "h:1", "--data-dir", "."]])
def test_a_region_is_named_in_one_way(where: list[str]) -> None:
    assert facts_of(*where).exit_code == 2


def test_an_audit_takes_facts_from_files(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 2, ())
    options = []
    for side, data in (("source", case.source), ("mirror", case.mirror)):
        path = tmp_path / f"{side}.json"
        path.write_text(facts.facts(data).model_dump_json(by_alias=True))
        options += [f"--{side}-facts", str(path)]
    ended = run(case, *options)
    assert ended.exit_code == 0, ended.output
    assert run(case, *options[:2]).exit_code == 5  # of the mirror nobody said what is in sync


@pytest.mark.parametrize(
    ("text", "why"), [("{}", "schema: Field required"), (None, "No such file")]
)
def test_a_file_that_holds_no_facts_is_refused(tmp_path: Path, text: str | None, why: str) -> None:
    case = planted(str(tmp_path), 2, ())
    path = tmp_path / "facts.json"
    if text is not None:
        path.write_text(text)
    ended = run(case, "--source-facts", str(path))
    assert ended.exit_code == 4
    assert why in ended.output


def test_facts_of_another_cluster_are_refused(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 2, ())
    Path(case.source, META).write_text("node.id=0\ncluster.id=west\n")
    path = tmp_path / "facts.json"
    said = json.loads(facts.facts(case.source).model_dump_json(by_alias=True))
    path.write_text(json.dumps({**said, "cluster_id": "east"}))
    ended = run(case, "--source-facts", str(path))
    assert ended.exit_code == 4
    assert "the facts are cluster east's, the directories cluster west's" in ended.output


@pytest.mark.parametrize(
    ("source", "mirror", "why"),
    [
        ("cluster.id=a", "cluster.id=a", "both sides are cluster a"),
        ("node.id=x", "node.id=1", "node.id is 'x'"),
    ],
)
def test_directories_that_cannot_be_two_regions_are_refused(
    tmp_path: Path, source: str, mirror: str, why: str
) -> None:
    case = planted(str(tmp_path), 2, ())
    for path, line in ((case.source, source), (case.mirror, mirror)):
        Path(path, META).write_text(line + "\n")
    ended = run(case, "--replicas", "all")
    assert ended.exit_code == 4
    assert why in ended.output
