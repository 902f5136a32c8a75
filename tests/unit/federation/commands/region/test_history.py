"""`causeway region history`: what it asks, and how it shows the operator log."""

import json
from pathlib import Path

from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.region_double import region_double

CREATED = pb.Operation(
    number=4,
    time_ms=1_700_000_000_000,
    principal="User:ANONYMOUS",
    client_id="admin-1",
    host="10.0.0.7",
    operation="CreateTopics",
    resources=[pb.ChangedResource(resource_type="topic", name="orders")],
    details="orders: partitions 6",
)
ELECTED = pb.Operation(
    number=5,
    operation="ElectLeaders",
    resources=[pb.ChangedResource(resource_type="partition", name="orders-0")],
)
LINKED = pb.Operation(
    number=6,
    operation="CreateLink",
    resources=[pb.ChangedResource(resource_type="link", name="orders")],
)
REPLY = pb.OperationsReply(operations=[CREATED, ELECTED, LINKED], is_recorded=True)


def test_the_log_is_shown_and_told(tmp_path: Path) -> None:
    with region_double(tmp_path) as region:
        region.replies["ListOperations"] = [REPLY]
        printed = region.run("region", "history").output
        told = json.loads(region.run("region", "history", "--json").stdout)
    for part in (
        "2023-11-14T22:13:20.000Z",
        "admin-1",
        "10.0.0.7",
        "topic:orders",
        "orders: partitions 6",
    ):
        assert part in printed
    assert told["operations"][0]["resources"] == [{"type": "topic", "name": "orders"}]
    assert [each["client_id"] for each in told["operations"]] == ["admin-1", None, None]


def test_entries_may_be_of_a_topic_a_resource_or_a_time(tmp_path: Path) -> None:
    with region_double(tmp_path) as region:
        region.replies["ListOperations"] = [REPLY]
        told = json.loads(region.run("region", "history", "--topic", "orders", "--json").stdout)
        assert [each["number"] for each in told["operations"]] == [4, 5]
        region.run(
            "region", "history", "--resource", "link:orders", "--since", "2023-11-14T22:13:20"
        )
        (_, request) = region.asked[-1]
        assert (request.resource_type, request.resource) == ("link", "orders")
        assert request.since_ms == 1_700_000_000_000
        region.run("region", "history", "--resource", "orders", "--since", "P7D")
        (_, request) = region.asked[-1]
        assert (request.resource_type, request.resource) == ("", "orders")
        assert request.since_ms > 1_700_000_000_000
        for wrong in (("--since", "soon"), ("--topic", "a", "--resource", "b")):
            assert region.run("region", "history", *wrong).exit_code == 2


def test_a_region_that_does_not_write_it_says_what_to_do(tmp_path: Path) -> None:
    with region_double(tmp_path) as region:
        region.replies["ListOperations"] = [pb.OperationsReply()]
        printed = region.run("region", "history").output
    assert "finalize causeway.version 1" in printed
    assert "No such changes." in printed
