"""`causeway link list` and `mirror list`: their lags, and how they fit a terminal."""

import io
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from federation.commands.answers import show_fitting_table
from federation.commands.link.link import links_table
from federation.commands.link.mirror import mirrors_table
from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.region_double import RegionDouble, region_double


@pytest.fixture
def region(tmp_path: Path) -> Iterator[RegionDouble]:
    with region_double(tmp_path) as double:
        yield double


def listed_links() -> list[pb.LinkDescription]:
    known = {"link_mode": "DESTINATION", "source_cluster_id": "5L6g3nShT-eMCtK--X86sw"}
    well = {"link_state": "ACTIVE", "link_error": "NO_ERROR", "category_counts": {"ACTIVE": 1}}
    return [
        pb.LinkDescription(
            link_name="west-to-east", lag=123456, lag_ms=7000, lag_is_lower_bound=True, **known, **well
        ),
        pb.LinkDescription(link_name="north", lag=-1, lag_ms=-1, **known, **well),
        pb.LinkDescription(
            link_name="stopped", lag=-1, lag_ms=-1, **known | well | {"category_counts": {"NOT_APPLICABLE": 2}}
        ),
    ]  # fmt: skip


def test_a_list_of_links_shows_the_lag_of_each(region: RegionDouble) -> None:
    region.replies["ListLinks"] = [pb.LinksReply(links=listed_links())]
    lines = region.run("link", "list").output.splitlines()
    cells = [[cell.strip() for cell in line.split("│")] for line in lines if line.startswith("│")]
    assert [[one[1], *one[-3:-1]] for one in cells] == [
        ["west-to-east", "at least 123456", "7000"],
        ["north", "unknown", "unknown"],
        ["stopped", "-", "-"],
    ]
    found = json.loads(region.run("link", "list", "--json").stdout)["links"]
    assert (found[0]["lag"], found[0]["lag_is_lower_bound"]) == (123456, True)


@pytest.mark.parametrize(("columns", "is_whole"), [(100, False), (180, True)])
def test_a_list_of_links_fits_a_terminal(columns: int, is_whole: bool) -> None:
    """Nothing of it is cut off."""
    failed = pb.LinkDescription(
        link_name="back",
        link_mode="SOURCE",
        destination_cluster_id="5L6g3nShT-eMCtK--X86sw",
        link_state="UNAVAILABLE",
        link_error="BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR",
    )
    told = io.StringIO()
    links = [*listed_links(), failed]
    show_fitting_table(partial(links_table, links), Console(width=columns, file=told))
    assert max(map(len, told.getvalue().splitlines())) <= columns
    assert ("at least 123456" in told.getvalue()) == is_whole
    pieces = told.getvalue().replace("│", " ").split()
    for word in ("west-to-east", "5L6g3nShT-eMCtK--X86sw", "123456", "unknown"):
        assert word in pieces
    assert failed.link_error in "".join(one for one in pieces if one.isupper() or "_" in one)


def listed_mirror(status: str, topic: str = "payments.events", **more: object) -> Any:
    lag = pb.MirrorLag(partition=0, lag=4000, lag_ms=70_000, lag_is_lower_bound=True)
    lags = [] if status == "STOPPED" else [lag]
    known = {"link_name": "west-to-east", "num_partitions": 12, "state_time_ms": 1_800_000_000_000}
    names = {"mirror_topic": topic, "source_topic": topic}
    return pb.MirrorDescription(mirror_status=status, mirror_lags=lags, **known | names | more)


@pytest.mark.parametrize(
    ("columns", "topic", "status", "is_whole"),
    [
        (80, "orders", "ACTIVE", False),
        (100, "payments.events", "SOURCE_UNAVAILABLE", False),
        (180, "payments.events", "SOURCE_UNAVAILABLE", True),
    ],
)
def test_a_list_of_mirrors_fits_a_terminal(
    columns: int, topic: str, status: str, is_whole: bool
) -> None:
    """Nothing of it is cut off. The terminal wrapped each row in the middle."""
    told = io.StringIO()
    build = partial(mirrors_table, [listed_mirror(status, topic), listed_mirror("STOPPED", "old")])
    show_fitting_table(build, Console(width=columns, file=told))
    assert max(map(len, told.getvalue().splitlines())) <= columns
    assert ("2027-01-15 08:00:00" in told.getvalue()) == is_whole
    pieces = told.getvalue().replace("│", " ").split()
    for word in ("west-to-east", topic, status, "12", "4000", "70000", "2027-01-15", "08:00:00"):
        assert word in pieces


def test_a_list_of_mirrors_has_names_at_the_source_where_one_is_another(
    region: RegionDouble,
) -> None:
    same = listed_mirror("ACTIVE")
    region.replies["ListMirrors"] = [pb.MirrorsReply(mirrors=[same])]
    assert "SourceTopic" not in region.run("mirror", "list").output
    other = listed_mirror("ACTIVE", source_topic="payments")
    region.replies["ListMirrors"] = [pb.MirrorsReply(mirrors=[same, other])]
    output = region.run("mirror", "list").output
    assert "SourceTopic" in output and " payments " in output


def test_a_mirror_that_is_stopped_is_listed_without_a_lag(region: RegionDouble) -> None:
    """It is behind nobody."""
    region.replies["ListMirrors"] = [pb.MirrorsReply(mirrors=[listed_mirror("STOPPED")])]
    output = region.run("mirror", "list").output
    assert "unknown" not in output and output.count(" - ") == 2
