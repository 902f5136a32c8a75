"""Facts are checked as a whole: every problem is said at once, and what a newer region adds is ignored."""

import json
from typing import Any

import pytest

from federation.audit.facts.region_facts import SCHEMA, parse

GOOD: dict[str, Any] = {
    "schema": SCHEMA,
    "cluster_id": "c",
    "at_ms": 7,
    "topics": [
        {
            "name": "t",
            "configs": {"retention.ms": "1"},
            "partitions": [{"partition": 0, "leader": 1, "replicas": [1, 2], "isr": [2, 1]}],
        }
    ],
    "mirrors": [{"mirror_topic": "t", "cut": [{"partition": 0, "offset": 9, "missing": 3}]}],
    "holes": [
        {
            "topic": "t",
            "partition": 0,
            "from_offset": 2,
            "to_offset": 4,
            "cause": "SOURCE_LOG_START",
        }
    ],
    "of a later release": {"is": "ignored"},
}


def test_facts_are_read_by_partition_and_topic() -> None:
    facts = parse(json.dumps(GOOD))
    assert facts.partitions()["t", 0].isr == [2, 1]
    assert facts.configs() == {"t": {"retention.ms": "1"}}
    assert facts.cuts() == {("t", 0): 9}
    assert facts.holes[0].cause == "SOURCE_LOG_START"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("{", ["document: Invalid JSON"]),
        (json.dumps({**GOOD, "schema": "other/9"}), ["schema: "]),
        (
            json.dumps({**GOOD, "at_ms": -1, "topics": [{"name": 3}]}),
            ["at_ms: ", "topics.0.name: ", "topics.0.partitions: "],
        ),
        (
            json.dumps({**GOOD, "holes": [{**GOOD["holes"][0], "from_offset": 5}]}),
            ["holes.0: Value error, from_offset must not lie above to_offset"],
        ),
    ],
)
def test_every_problem_is_said(text: str, problems: list[str]) -> None:
    with pytest.raises(ValueError, match=r".+") as raised:
        parse(text)
    assert all(problem in str(raised.value) for problem in problems)
