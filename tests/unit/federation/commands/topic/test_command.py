"""`causeway topic`: what it asks a region, what it prints, and how it ends."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from brokers.wire.messages.configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    IncrementalAlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from brokers.wire.messages.metadata import (
    DescribeTopicPartitionsResponse,
    MetadataResponse,
    MetadataResponseTopic,
)
from brokers.wire.messages.topics import (
    CreatableTopicResult,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
    CreateTopicsResponse,
    DeletableTopicResult,
    DeleteTopicsResponse,
)
from tests.unit.federation.commands.broker_double import Answers, broker_double
from tests.unit.federation.commands.region.test_view import (
    ODD,
    OFFSETS,
    ORDERS,
    SEEN,
    cluster,
    configs,
)

TOPICS = {each.name: each for each in (OFFSETS, ODD, ORDERS, SEEN)}
OWN, INHERITED = 1, 5
EXISTS, BAD_CONFIG, BAD_PARTITIONS = 36, 40, 37


class Region:
    """Keeps what changes it, and refuses the topics of `errors`."""

    def __init__(self, errors: Mapping[str, int] | None = None, *, newest_delete: int = 6) -> None:
        self.changes: list[Any] = []
        self._errors = errors or {}
        self.answers: Answers = {
            3: (12, self._metadata), 60: (2, cluster), 75: (0, self._described), 32: (4, self._configs),
            19: (7, self._create), 20: (newest_delete, self._delete), 37: (3, self._grow), 44: (1, self._alter),
        }  # fmt: skip

    def run(self, *arguments: str) -> Any:
        with broker_double(self.answers) as broker:
            return broker.run("topic", *arguments)

    def told(self, *arguments: str, exit_code: int = 0) -> Any:
        ran = self.run(*arguments, "--json")
        assert ran.exit_code == exit_code, ran.output
        return json.loads(ran.stdout)

    def _error(self, name: str) -> int:
        return self._errors.get(name, 0)

    def _metadata(self, request: Any) -> MetadataResponse:
        assert not request.allow_auto_topic_creation
        return MetadataResponse(
            topics=[MetadataResponseTopic(name=name, is_internal=each.is_internal) for name, each in TOPICS.items()]
        )  # fmt: skip

    def _described(self, request: Any) -> DescribeTopicPartitionsResponse:
        return DescribeTopicPartitionsResponse(
            topics=[TOPICS[each.name] for each in request.topics]
        )

    def _configs(self, request: Any) -> DescribeConfigsResponse:
        if request.resources[0].configuration_keys is not None:
            return configs(request)
        own = DescribeConfigsResourceResult(name="retention.ms", value="5", config_source=OWN)
        inherited = DescribeConfigsResourceResult(
            name="segment.ms", value="7", config_source=INHERITED
        )
        return DescribeConfigsResponse(
            results=[
                DescribeConfigsResult(
                    resource_type=2,
                    resource_name=asked.resource_name,
                    configs=[inherited, own] if asked.resource_name == "orders" else [inherited],
                )
                for asked in request.resources
            ]
        )

    def _create(self, request: Any) -> CreateTopicsResponse:
        self.changes.append(request)
        return CreateTopicsResponse(
            topics=[
                CreatableTopicResult(
                    name=each.name, error_code=self._error(each.name), error_message=None, num_partitions=4,
                    replication_factor=3,
                )
                for each in request.topics
            ]
        )  # fmt: skip

    def _delete(self, request: Any) -> DeleteTopicsResponse:
        self.changes.append(request)
        names = [each.name for each in request.topics] or request.topic_names
        return DeleteTopicsResponse(
            responses=[
                DeletableTopicResult(name=each, error_code=self._error(each)) for each in names
            ]
        )

    def _grow(self, request: Any) -> CreatePartitionsResponse:
        self.changes.append(request)
        return CreatePartitionsResponse(
            results=[
                CreatePartitionsTopicResult(name=each.name, error_code=self._error(each.name))
                for each in request.topics
            ]
        )

    def _alter(self, request: Any) -> IncrementalAlterConfigsResponse:
        self.changes.append(request)
        return IncrementalAlterConfigsResponse(
            responses=[
                IncrementalAlterConfigsResourceResponse(
                    resource_type=2, resource_name=each.resource_name, error_message=None
                )
                for each in request.resources
            ]
        )


def test_a_topic_is_created_as_the_options_say() -> None:
    region = Region()
    sized = (
        "--partitions",
        "4",
        "--replication-factor",
        "3",
        "--config",
        "cleanup.policy=[compact,delete]",
    )
    told = region.told("create", "orders", "--topic", "bills", *sized)
    assert [each["topic"] for each in told["created"]] == ["orders", "bills"]
    assert told["created"][0] == {"topic": "orders", "partitions": 4, "replication_factor": 3}
    (request,) = region.changes
    assert not request.validate_only
    (first, _) = request.topics
    assert (first.num_partitions, first.replication_factor, first.assignments) == (4, 3, [])
    assert [(each.name, each.value) for each in first.configs] == [
        ("cleanup.policy", "compact,delete")
    ]


def test_replicas_are_assigned_or_placed_or_counted(tmp_path: Path) -> None:
    region = Region()
    region.told("create", "orders", "--replica-assignment", "1:2,2:3", "--dry-run")
    (request,) = region.changes
    assert request.validate_only
    (topic,) = request.topics
    assert (topic.num_partitions, topic.replication_factor) == (-1, -1)
    assert [(each.partition_index, each.broker_ids) for each in topic.assignments] == [
        (0, [1, 2]),
        (1, [2, 3]),
    ]

    placement = tmp_path / "placement.json"
    placement.write_text(
        '{"version": 1, "replicas": [{"count": 2, "constraints": {"rack": "a"}}]}\n'
    )
    region.told("create", "orders", "--replica-placement", str(placement))
    (config,) = region.changes[1].topics[0].configs
    assert config.name == "confluent.placement.constraints"
    assert config.value == placement.read_text().strip()

    placement.write_text('{"version": 1, "racks": 3}')
    ran = region.run("create", "orders", "--replica-placement", str(placement))
    assert ran.exit_code == 1
    assert "racks: unknown field" in ran.output
    assert len(region.changes) == 2


def test_what_exists_is_refused_or_accepted() -> None:
    region = Region({"orders": EXISTS})
    told = region.told("create", "orders", "bills", exit_code=1)
    assert told["refused"] == {"orders": "TOPIC_ALREADY_EXISTS"}
    assert [each["topic"] for each in told["created"]] == ["bills"]
    told = region.told("create", "orders", "bills", "--if-not-exists")
    assert (told["existing"], told["refused"]) == (["orders"], {})
    printed = region.run("create", "orders").output
    assert "Next: `causeway topic alter` changes it" in printed


def test_internal_topics_are_left_alone_unless_forced() -> None:
    region = Region()
    for words in (
        ("create", "__consumer_offsets"),
        ("delete", "__consumer_offsets"),
        ("alter", "__consumer_offsets", "--partitions", "60"),
    ):
        ran = region.run(*words)
        assert ran.exit_code == 1
        assert "is an internal topic" in ran.output
    assert region.changes == []
    assert region.told("alter", "__consumer_offsets", "--config", "segment.bytes=1")["altered"]
    assert region.told("delete", "__consumer_offsets", "--force")["deleted"] == [
        "__consumer_offsets"
    ]


def test_a_change_is_validated_as_a_whole_before_anything_is_changed() -> None:
    region = Region({"orders": BAD_PARTITIONS})
    wanted = (
        "alter",
        "orders",
        "--partitions",
        "3",
        "--config",
        "retention.ms=5",
        "--delete-config",
        "segment.ms",
    )
    told = region.told(*wanted, exit_code=1)
    assert (told["altered"], told["refused"]) == ([], {"orders": "INVALID_PARTITIONS"})
    assert [each.validate_only for each in region.changes] == [True, True]

    region = Region()
    assert region.told(*wanted)["altered"] == ["orders"]
    assert [each.validate_only for each in region.changes] == [True, True, False, False]
    changes = region.changes[2].resources[0].configs
    assert [(each.name, each.config_operation, each.value) for each in changes] == [
        ("retention.ms", 0, "5"), ("segment.ms", 1, None),
    ]  # fmt: skip
    assert region.changes[3].topics[0].count == 3
    assert Region().told(*wanted, "--dry-run")["validate_only"]


def test_the_replicas_of_new_partitions_are_assigned_behind_those_that_exist() -> None:
    region = Region()
    assigned = ("--replica-assignment", "1:2:3,1:2:3,1:2:3,1:2:3,3:2:1")
    region.told("alter", "orders", "--partitions", "5", *assigned)
    (new,) = region.changes[-1].topics[0].assignments
    assert new.broker_ids == [3, 2, 1]
    ran = region.run("alter", "orders", "--partitions", "6", *assigned)
    assert ran.exit_code == 2
    assert "lists 5 partitions, --partitions says 6" in ran.output


def test_a_name_is_that_topic_or_an_expression() -> None:
    region = Region()
    assert region.told("delete", "o.*", "--dry-run")["deleted"] == ["odd", "orders"]
    assert region.changes == []
    assert region.told("delete", "--topic", "odd,seen")["deleted"] == ["odd", "seen"]
    assert [each.name for each in region.changes[0].topics] == ["odd", "seen"]
    old = Region(newest_delete=5)
    assert old.told("delete", "odd")["deleted"] == ["odd"]
    assert old.changes[0].topic_names == ["odd"]
    ran = region.run("delete", "odd", "nope")
    assert ran.exit_code == 1
    assert "there is no topic nope; nothing was changed" in ran.output
    assert region.told("delete", "nope", "--if-exists")["deleted"] == []
    assert len(region.changes) == 1


def test_topics_are_described_with_what_they_have_of_their_own() -> None:
    region = Region()
    (orders,) = region.told("describe", "orders")["topics"]
    assert (orders["partition_count"], orders["configs"]) == (4, {"retention.ms": "5"})
    assert [each["state"] for each in orders["partitions"]] == [
        "ok", "under-replicated", "under-min-isr", "offline",
    ]  # fmt: skip
    (seen,) = region.told("describe", "seen")["topics"]
    assert seen["partitions"][0]["observers"] == [2]
    printed = region.run("describe", "orders", "--all").output
    assert "retention.ms=5" in printed
    assert "DEFAULT_CONFIG" in printed
    assert region.run("describe", "nope").exit_code == 1


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--unavailable-partitions",), {"orders": [3]}),
        (("--under-replicated-partitions",), {"orders": [1, 2, 3]}),
        (("--at-min-isr",), {"orders": [1], "seen": [0], "odd": [0], "__consumer_offsets": [0]}),
        (("--at-min-isr", "--exclude-internal"), {"orders": [1], "seen": [0], "odd": [0]}),
        (("--topics-with-overrides",), {"orders": [0, 1, 2, 3]}),
    ],
)
def test_filters_are_those_of_kafka_topics(
    options: tuple[str, ...], wanted: dict[str, list[int]]
) -> None:
    found = Region().told("describe", *options)["topics"]
    assert {
        each["topic"]: [one["partition"] for one in each["partitions"]] for each in found
    } == wanted


def test_names_are_listed_one_a_line() -> None:
    assert Region().run("list").output == "__consumer_offsets\nodd\norders\nseen\n"
    assert Region().run("list", "--exclude-internal", "--topic", "o.*").output == "odd\norders\n"


@pytest.mark.parametrize(
    ("words", "because"),
    [
        (("create",), "Name a topic"),
        (("create", "a", "--config", "x"), "is not KEY=VALUE"),
        (("create", "a", "--config", "x=1", "--config", "x=2"), "given twice"),
        (("create", "a", "--replica-assignment", "1;2"), "is not BROKER:BROKER"),
        (("create", "a", "--replica-assignment", "1", "--partitions", "1"), "says how many"),
        (("alter", "orders"), "Give --partitions"),
        (("alter", "orders", "--replica-assignment", "1"), "needs --partitions"),
        (("alter", "orders", "--config", "x=1", "--delete-config", "x"), "set and deleted"),
        (("delete", "("), "no regular expression"),
    ],
)
def test_options_that_contradict_each_other_are_usage_errors(
    words: tuple[str, ...], because: str
) -> None:
    region = Region()
    ran = region.run(*words)
    assert ran.exit_code == 2
    assert because in ran.output
    assert region.changes == []
