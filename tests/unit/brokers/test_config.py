"""A node's settings: Kafka's names, all problems at once, nothing guessed."""

import pytest

from brokers.config import ConfigError, parse

LEAST = 'node.id = 1\nlog.dirs = "data"\n'


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    return caught.value.problems


def test_dotted_keys_are_kafkas_names_and_defaults_are_kafkas() -> None:
    config = parse(LEAST + "log.segment.bytes = 2097152\n")
    assert (config.node_id, config.log_segment_bytes, config.message_max_bytes) == (
        1,
        2097152,
        1048588,
    )
    assert {name: value for name, value, _ in config.by_kafka_name()}["num.partitions"] == 1


def test_every_problem_is_listed_at_once() -> None:
    found = problems('node.id = -1\nno.such.key = 3\nlog.segment.bytes = "big"\n')
    assert [line.split(":")[0] for line in sorted(found)] == [
        "log.dirs",
        "log.segment.bytes",
        "no.such.key",
        "node.id",
    ]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('listeners = "SSL://h:1"', "listeners"),
        ('listeners = "PLAINTEXT://a:1,PLAINTEXT://b:2"', "listeners"),
        ('listeners = "PLAINTEXT://h:70000"', "listeners"),
        ('admin.listener = "nowhere"', "admin.listener"),
        ("default.replication.factor = 3", "default.replication.factor"),
        ('log.dirs = "a,b"', "log.dirs"),
        ("node_id = 1", "node_id"),
        ("log.retention.ms = -2", "log.retention.ms"),
        ("auto.create.topics.enable = 1", "auto.create.topics.enable"),
        (
            "group.min.session.timeout.ms = 10\ngroup.max.session.timeout.ms = 9",
            "group.min.session.timeout.ms",
        ),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(line: str, name: str) -> None:
    text = (LEAST if "log.dirs" not in line else "node.id = 1\n") + line + "\n"
    assert any(problem.startswith(name) for problem in problems(text))


def test_what_is_not_toml_is_said_to_be_so() -> None:
    assert "not TOML" in problems("node.id = = 1")[0]
