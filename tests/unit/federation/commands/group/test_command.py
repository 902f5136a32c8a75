"""`causeway group`: what it asks coordinators and leaders, what it prints, and how it ends."""

import pytest

from tests.unit.federation.commands.group.region_of_groups import Region


def test_groups_are_listed_with_their_states() -> None:
    found = Region().told("list")["groups"]
    assert [(each["group"], each["state"], each["type"]) for each in found] == [
        ("billing", "Empty", "Classic"), ("live", "Stable", "Classic"), ("next", "Stable", "Consumer"),
        ("shared", "Stable", "Share"),
    ]  # fmt: skip
    assert [each["group"] for each in Region().told("list", "--state", "Empty,Dead")["groups"]] == [
        "billing"
    ]
    assert Region(is_old=True).told("list")["groups"][0]["state"] is None
    ran = Region(is_old=True).run("list", "--state", "Empty")
    assert ran.exit_code == 1
    assert "does not filter groups" in ran.output


@pytest.mark.parametrize("is_old", [False, True])
def test_the_lag_of_each_partition_is_told(is_old: bool) -> None:
    (live,) = Region(is_old=is_old).told("describe", "live")["groups"]
    assert (live["state"], live["members"], live["coordinator"]) == ("Stable", 1, 1)
    columns = ("partition", "current_offset", "log_end_offset", "lag", "client_id")
    assert [tuple(each[column] for column in columns) for each in live["offsets"]] == [
        (0, 100, 100, 0, "app"), (1, 10, 40, 30, "app"),
    ]  # fmt: skip
    printed = Region(is_old=is_old).run("describe", "--group", "billing").output
    assert "billing has no active members." in printed
    row = next(line for line in printed.splitlines() if "orders" in line)
    assert row.replace("│", " ").split() == [
        "billing",
        "orders",
        "0",
        "90",
        "100",
        "10",
        "-",
        "-",
        "-",
    ]


def test_members_and_states_are_told() -> None:
    printed = Region().run("describe", "live", "--members").output
    assert all(part in printed for part in ("m-1", "/10.0.0.7", "orders(0,1)"))
    (live,) = Region().told("describe", "live", "--members")["groups"]
    assert live["members_described"][0]["partitions"] == ["orders-0", "orders-1"]
    (live,) = Region().told("describe", "live", "--state")["groups"]
    assert (live["assignment_strategy"], live["state"]) == ("range", "Stable")


def test_a_group_that_cannot_be_described_says_why() -> None:
    for region in (Region(), Region(is_old=True)):
        ran = region.run("describe", "nope")
        assert ran.exit_code == 1
        assert "there is no group nope" in ran.output
    ran = Region().run("describe", "shared")
    assert ran.exit_code == 1
    assert "shared is of type Share" in ran.output


def test_groups_of_the_newer_protocol_are_described() -> None:
    (found,) = Region().told("describe", "next")["groups"]
    assert (found["state"], found["assignment_strategy"]) == ("Stable", "uniform")
    columns = ("partition", "current_offset", "lag", "member_id", "host")
    assert [tuple(each[column] for column in columns) for each in found["offsets"]] == [
        (0, None, None, "n-1", "/10.0.0.8"),
        (1, 30, 10, "n-1", "/10.0.0.8"),
    ]
    told = Region().told("delete", "next", "--dry-run", exit_code=1)
    assert told["refused"] == {"next": "NON_EMPTY_GROUP"}


def test_all_groups_are_those_that_commit_offsets() -> None:
    found = Region().told("describe", "--all-groups", "--state")["groups"]
    assert [each["group"] for each in found] == ["billing", "live", "next"]


def test_a_coordinator_that_moves_is_asked_again() -> None:
    region = Region()
    region.moves = 1
    assert region.told("describe", "live", "--state")["groups"][0]["state"] == "Stable"
    assert region.moves == 0


def test_groups_without_members_are_deleted() -> None:
    region = Region()
    told = region.told("delete", "billing", "live", "nope", exit_code=1)
    assert told["deleted"] == ["billing"]
    assert told["refused"] == {"live": "NON_EMPTY_GROUP", "nope": "GROUP_ID_NOT_FOUND"}
    assert "stop its members first" in told["hint"]
    region = Region()
    told = region.told("delete", "billing", "live", "nope", "--dry-run", exit_code=1)
    assert (told["deleted"], sorted(told["refused"])) == (["billing"], ["live", "nope"])
    assert region.changes == []


def test_offsets_of_topics_are_deleted() -> None:
    region = Region()
    assert region.told("delete-offsets", "billing", "--topic", "orders")["deleted"] == ["orders-0"]
    assert region.told("delete-offsets", "billing", "--topic", "orders", "--dry-run")[
        "deleted"
    ] == ["orders-0"]
    assert len(region.changes) == 1
    told = region.told("delete-offsets", "live", "--topic", "orders:1", exit_code=1)
    assert told["refused"] == {"orders-1": "GROUP_SUBSCRIBED_TO_TOPIC"}
    assert (
        region.run("delete-offsets", "billing", "--topic", "orders:1").output
        == "billing: no such offsets\n"
    )


@pytest.mark.parametrize(
    ("words", "because"),
    [
        (("describe",), "Name a group"),
        (("describe", "a", "--all-groups"), "Name a group"),
        (("reset-offsets", "a", "--all-topics"), "Give one of --to-earliest"),
        (("reset-offsets", "a", "--all-topics", "--to-latest", "--to-earliest"), "Give one of"),
        (("reset-offsets", "a", "--to-latest"), "Give --topic, or --all-topics"),
        (
            ("reset-offsets", "a", "--all-topics", "--to-latest", "--execute", "--dry-run"),
            "Give --execute or",
        ),
        (("reset-offsets", "a", "--all-topics", "--by-duration", "1h"), "no duration"),
        (("reset-offsets", "a", "--all-topics", "--to-datetime", "soon"), "Invalid isoformat"),
        (("reset-offsets", "a", "--topic", "orders:x", "--to-latest"), "is not TOPIC:PARTITION"),
        (("delete-offsets", "a"), "Give --topic"),
    ],
)
def test_options_that_say_nothing_or_too_much_are_usage_errors(
    words: tuple[str, ...], because: str
) -> None:
    region = Region()
    ran = region.run(*words)
    assert (ran.exit_code, region.changes) == (2, [])
    assert because in ran.output
