"""Kafka's performance and verification tools: what one of them says it wrote, another must read."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.compat.conftest import Region
from tests.compat.java.conftest import Tool

Name = Callable[[str], str]


def create(tool: Tool, region: Region, topic: str, partitions: int) -> str:
    at = ("--bootstrap-server", region.bootstrap, "--topic", topic)
    tool("TopicCommand", *at, "--create", "--partitions", str(partitions))
    return topic


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_the_performance_tools_agree(region: Region, tool: Tool, name: Name, codec: str) -> None:
    topic = create(tool, region, name("perf"), 3)
    count, server = "50000", ("--bootstrap-server", region.bootstrap)
    how = ("--num-records", count, "--record-size", "500", "--throughput", "-1")
    packing = ("--command-property", f"compression.type={codec}")
    written = tool("ProducerPerformance", *server, "--topic", topic, *how, *packing)
    assert written.splitlines()[-1].startswith(f"{count} records sent")
    reading = ("--topic", topic, "--num-records", count, "--hide-header", "--timeout", "60000")
    read = tool("ConsumerPerformance", *server, *reading)
    assert f" {count}," in read
    ends = tool("GetOffsetShell", *server, "--topic", topic)
    assert sum(int(line.split(":")[2]) for line in ends.splitlines()) == int(count)


def test_every_acknowledged_record_is_verified(region: Region, tool: Tool, name: Name) -> None:
    topic, group = create(tool, region, name("verifiable"), 3), name("group")
    at = ("--bootstrap-server", region.bootstrap, "--topic", topic, "--max-messages", "5000")
    sent = events(tool("VerifiableProducer", *at), "producer_send_success")
    reader = ("--group-id", group, "--verbose")
    read = events(tool("VerifiableConsumer", *at, *reader), "record_data")
    assert sorted(int(record["value"]) for record in read) == list(range(5000))
    assert placed(sent) == placed(read)


def events(printed: str, name: str) -> list[dict[str, Any]]:
    return [event for event in parsed(printed) if event["name"] == name]


def parsed(printed: str) -> Iterator[dict[str, Any]]:
    for line in printed.splitlines():
        yield json.loads(line)


def placed(found: list[dict[str, Any]]) -> dict[int, dict[int, str]]:
    """Value by offset by partition."""
    values: dict[int, dict[int, str]] = defaultdict(dict)
    for event in found:
        values[event["partition"]][event["offset"]] = event["value"]
    return values


def test_kafkas_compatibility_test_passes(region: Region, tool: Tool, name: Name) -> None:
    supported = {
        "offsets-for-times": "True",
        "cluster-id": "True",
        "create-topics": "True",
        "describe-acls": str(not region.ours),  # we have no ACLs yet, and say so in ApiVersions
        "describe-configs": "True",
        "idempotent-producer": "True",
    }
    flags = [word for what, is_so in supported.items() for word in (f"--{what}-supported", is_so)]
    printed = tool(
        "ClientCompatibilityTest",
        "--bootstrap-server",
        region.bootstrap,
        "--topic",
        name("compatibility"),
        "--expect-record-too-large-exception",
        "False",
        "--num-cluster-nodes",
        "1",
        *flags,
    )
    assert "SUCCESS." in printed


def test_kafkas_dump_tool_reads_our_segments(region: Region, tool: Tool, name: Name) -> None:
    """A sealed segment and its indexes, and the one still written to."""
    topic, server = name("dump"), ("--bootstrap-server", region.bootstrap)
    one = ("--topic", topic, "--partitions", "1", "--config", "segment.bytes=1048576")
    tool("TopicCommand", *server, "--create", *one)
    how = ("--num-records", "4000", "--record-size", "500", "--throughput", "-1")
    tool("ProducerPerformance", *server, "--topic", topic, *how)
    logs = sorted((region.data / f"{topic}-0").glob("*.log"))
    assert len(logs) > 1
    printed = tool("DumpLogSegments", "--print-data-log", "--files", ",".join(map(str, logs)))
    batches = [line for line in printed.splitlines() if line.startswith("baseOffset:")]
    records = [line for line in printed.splitlines() if line.startswith("| offset:")]
    assert batches
    assert all("isvalid: true" in line for line in batches)
    assert [int(line.split()[2]) for line in records] == list(range(4000))
    sealed = [str(logs[0].with_suffix(kind)) for kind in (".index", ".timeindex")]
    for check in ("--index-sanity-check", "--verify-index-only"):
        checked = tool("DumpLogSegments", check, "--files", ",".join(sealed))
        assert "Mismatches" not in checked
        assert "not in ascending" not in checked.lower()
    assert tool("DumpLogSegments", "--files", sealed[0]).count("offset:") > 1
