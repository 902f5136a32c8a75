"""truncate-and-restore, unfence, decisions and drift: what they ask, what they print, and how they end."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.region_double import RegionDouble, region_double

RESTORE = ("mirror", "truncate-and-restore", "orders", "--link", "back")


@pytest.fixture
def region(tmp_path: Path) -> Iterator[RegionDouble]:
    with region_double(tmp_path) as double:
        yield double


def topics(status: str, error: pb.Error | None = None) -> pb.TopicsReply:
    result = pb.TopicResult(mirror_topic="orders", mirror_status=status, error=error)
    return pb.TopicsReply(topics=[result])


def described(status: str, error: str = "NO_ERROR") -> pb.MirrorReply:
    point = pb.RestoredPartition(partition=0, offset_truncated_to=5, messages_truncated=7)
    description = pb.MirrorDescription(
        mirror_topic="orders",
        mirror_status=status,
        mirror_topic_error=error,
        reason="because",
        restored_partitions=[point],
    )
    return pb.MirrorReply(mirror=description)


def test_a_restore_waits_until_the_topic_is_a_mirror_and_shows_what_was_truncated(
    region: RegionDouble,
) -> None:
    region.replies["TruncateAndRestoreMirrors"] = [topics("PENDING_SETUP_FOR_RESTORE")]
    region.replies["DescribeMirror"] = [described("PENDING_RESTORE"), described("ACTIVE")]
    ran = region.run(*RESTORE, "--include-partitions")
    assert ran.exit_code == 0, ran.output
    assert "because" in ran.stderr and "OffsetTruncatedTo" in ran.stdout
    assert [name for name, _ in region.asked] == [
        "TruncateAndRestoreMirrors",
        "DescribeMirror",
        "DescribeMirror",
    ]


def test_scripts_get_the_partitions(region: RegionDouble) -> None:
    region.replies["TruncateAndRestoreMirrors"] = [topics("PENDING_SETUP_FOR_RESTORE")]
    region.replies["DescribeMirror"] = [described("ACTIVE")]
    (found,) = json.loads(region.run(*RESTORE, "--json").stdout)["topics"]
    assert (found["mirror_status"], found["messages_truncated"]) == ("ACTIVE", 7)
    assert found["partitions"][0]["offset_truncated_to"] == 5


def test_a_restore_that_fails_ends_with_1(region: RegionDouble) -> None:
    region.replies["TruncateAndRestoreMirrors"] = [topics("PENDING_SETUP_FOR_RESTORE")]
    region.replies["DescribeMirror"] = [described("FAILED", "UNEXPECTED_TRUNCATION")]
    ran = region.run(*RESTORE)
    assert ran.exit_code == 1 and "UNEXPECTED_TRUNCATION" in ran.output


def test_a_refusal_ends_with_1_and_is_not_waited_for(region: RegionDouble) -> None:
    error = pb.Error(code="CONSUMER_GROUP_IN_USE_ERROR", message="members", hint="stop them")
    region.replies["TruncateAndRestoreMirrors"] = [topics("", error)]
    ran = region.run(*RESTORE)
    assert ran.exit_code == 1 and "stop them" in ran.output
    assert len(region.asked) == 1


def test_a_check_waits_for_nothing(region: RegionDouble) -> None:
    region.replies["TruncateAndRestoreMirrors"] = [topics("PENDING_SETUP_FOR_RESTORE")]
    assert region.run(*RESTORE, "--dry-run").exit_code == 0
    assert region.asked[0][1].validate_only and len(region.asked) == 1


def named(*names: str) -> pb.TopicsReply:
    return pb.TopicsReply(topics=[pb.TopicResult(mirror_topic=name) for name in names])


def test_a_pattern_is_for_what_the_source_took_over(region: RegionDouble) -> None:
    """No mirror of the link is among these: it has none yet."""
    found = named("orders", "orders.eu", "views")
    region.replies["TruncateAndRestoreMirrors"] = [found, topics("PENDING_SETUP_FOR_RESTORE")]
    given = ("mirror", "truncate-and-restore", "--link", "back", "--pattern", "orders.*")
    assert region.run(*given, "--no-wait").exit_code == 0
    (_, all_of_link), (_, matching) = region.asked
    assert (all_of_link.validate_only, list(all_of_link.mirror_topics)) == (True, [])
    assert list(matching.mirror_topics) == ["orders", "orders.eu"] and not matching.validate_only


def test_a_link_alone_means_all_that_its_source_took_over(region: RegionDouble) -> None:
    region.replies["TruncateAndRestoreMirrors"] = [named("orders", "views")]
    ran = region.run("mirror", "truncate-and-restore", "--link", "back", "--dry-run")
    assert ran.exit_code == 0 and "orders" in ran.output and "views" in ran.output
    ((_, asked),) = region.asked
    assert asked.validate_only and list(asked.mirror_topics) == []


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("--link", "back", "--pattern", "none.*"), 1, "no topic that the source of link back"),
        (("--link", "back", "--pattern", "("), 2, "is none of RE2"),
        (("orders", "--link", "back", "--pattern", ".*"), 2, "Name topics or give --pattern"),
        (("--pattern", ".*"), 2, "--link"),
        ((), 2, "--link"),
    ],
)
def test_a_restore_that_means_no_topic_changes_none(
    region: RegionDouble, given: tuple[str, ...], code: int, said: str
) -> None:
    region.replies["TruncateAndRestoreMirrors"] = [named("orders")]
    ran = region.run("mirror", "truncate-and-restore", *given)
    assert (ran.exit_code, said in ran.output) == (code, True), ran.output
    assert all(request.validate_only for _, request in region.asked)


def test_unfence_says_what_is_written_again(region: RegionDouble) -> None:
    region.replies["UnfenceTopics"] = [topics("")]
    assert "orders is written here again" in region.run("mirror", "unfence", "orders").output
    region.replies["UnfenceTopics"] = [topics("", pb.Error(code="INVALID_REQUEST", message="no"))]
    ran = region.run("mirror", "unfence", "orders")
    assert ran.exit_code == 1 and "no (INVALID_REQUEST)" in ran.output


@pytest.mark.parametrize(
    ("verb", "method"),
    [
        ("failover", "FailoverMirrors"),
        ("pause", "PauseMirrors"),
        ("resume", "ResumeMirrors"),
        ("truncate-and-restore", "TruncateAndRestoreMirrors"),
    ],
)
def test_a_change_carries_its_reason(region: RegionDouble, verb: str, method: str) -> None:
    region.replies[method] = [topics("STOPPED")]
    region.replies["DescribeMirror"] = [pb.MirrorReply()]
    region.run("mirror", verb, "orders", "--link", "we", "--reason", "a drill")
    assert region.asked[0][1].reason == "a drill"


@pytest.mark.parametrize(
    ("missing", "is_exact", "shown"),
    [(3, False, "at least 3"), (0, False, "at least 0"), (0, True, " 0 "), (-1, False, "unknown")],
)
def test_decisions_are_listed(
    region: RegionDouble, missing: int, is_exact: bool, shown: str
) -> None:
    decision = pb.Decision(
        decision_id="we@1",
        topic="orders",
        kind="FAILOVER",
        generation=2,
        asked_at_ms=1_000,
        done_at_ms=1_250,
        asked_by="1.2.3.4:5",
        reason="a drill",
        known_missing=missing,
        is_known_missing_exact=is_exact,
        cut=pb.Cut(kind="FAILOVER", partitions=[pb.CutPartition(offset=5)]),
    )
    region.replies["ListDecisions"] = [pb.DecisionsReply(decisions=[decision])]
    output = region.run("mirror", "decisions", "orders").output
    for text in ("we@1", "a drill", "250", shown):
        assert text in output
    assert ("at least" in output) == shown.startswith("at least")
    found = json.loads(region.run("mirror", "decisions", "--json").stdout)["decisions"]
    assert found[0]["cut"]["partitions"][0]["offset"] == 5
    assert found[0]["is_known_missing_exact"] is is_exact


def test_no_decision_is_said(region: RegionDouble) -> None:
    region.replies["ListDecisions"] = [pb.DecisionsReply()]
    assert "No decisions" in region.run("mirror", "decisions").output


def test_topics_that_another_region_took_over_are_listed_with_what_to_do(
    region: RegionDouble,
) -> None:
    one = pb.TakenOverTopic(topic="orders", topic_id="AAA", taken_over_by="east", generation=7)
    region.replies["ListTakenOverTopics"] = [pb.TakenOverTopicsReply(topics=[one])]
    output = region.run("mirror", "taken-over").output
    for text in ("orders", "east", "7", "truncate-and-restore", "unfence"):
        assert text in output
    assert json.loads(region.run("mirror", "taken-over", "--json").stdout)["topics"] == [
        {"topic": "orders", "topic_id": "AAA", "taken_over_by": "east", "generation": 7}
    ]
    region.replies["ListTakenOverTopics"] = [pb.TakenOverTopicsReply()]
    assert "No topics" in region.run("mirror", "taken-over").output


def test_drift_shows_defaults_as_such(region: RegionDouble) -> None:
    difference = pb.ConfigDrift(
        topic="orders", name="retention.ms", source_value="5", sync_class="ALWAYS", why="so"
    )
    reply = pb.DriftReply(differences=[difference], unknown_topics=["late"])
    region.replies["DescribeDrift"] = [reply]
    output = region.run("link", "drift", "we").output
    assert "(default)" in output and "late: its source has not answered yet" in output
    found = json.loads(region.run("link", "drift", "we", "--json").stdout)
    assert found["unknown_topics"] == ["late"]
    assert "mirror_value" not in found["differences"][0]
    region.replies["DescribeDrift"] = [pb.DriftReply()]
    assert "No difference" in region.run("link", "drift", "we").output
