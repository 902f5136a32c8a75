"""`causeway mirror`: what it asks, what it prints, and how it ends."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from federation.audit.verdict.holes import KnownHole, parse
from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.region_double import RegionDouble, region_double


@pytest.fixture
def region(tmp_path: Path) -> Iterator[RegionDouble]:
    with region_double(tmp_path) as double:
        yield double


def mirror(status: str = "ACTIVE", **more: object) -> pb.MirrorReply:
    lag = pb.MirrorLag(
        partition=0, lag=4, lag_ms=-1, local_log_end_offset=5, partition_state=status
    )
    known = {"mirror_topic_error": "NO_ERROR", "num_partitions": 1, "mirror_lags": [lag], **more}
    description = pb.MirrorDescription(
        link_name="we",
        mirror_topic="orders",
        source_topic="orders",
        mirror_status=status,
        **known,
    )
    return pb.MirrorReply(mirror=description)


def topics(status: str, error: pb.Error | None = None) -> pb.TopicsReply:
    result = pb.TopicResult(mirror_topic="orders", mirror_status=status, error=error)
    return pb.TopicsReply(topics=[result])


def test_create_asks_for_one(region: RegionDouble) -> None:
    region.replies["CreateMirror"] = [mirror()]
    ran = region.run("mirror", "create", "orders", "--link", "we", "--config", "a=b")
    assert "orders created: 1 partitions" in ran.output
    request = region.asked[0][1]
    assert (request.mirror_topic, request.link_name, dict(request.configs)) == (
        "orders",
        "we",
        {"a": "b"},
    )


def test_list_shows_the_largest_lag(region: RegionDouble) -> None:
    region.replies["ListMirrors"] = [pb.MirrorsReply(mirrors=[mirror().mirror])]
    found = json.loads(region.run("mirror", "list", "--json").stdout)["mirrors"]
    assert found[0]["mirror_lags"][0]["lag"] == 4
    assert "orders" in region.run("mirror", "list", "--mirror-status", "active").output
    assert region.asked[-1][1].mirror_status == "active"


def test_a_lag_that_may_be_more_is_shown_as_at_least_so_much(region: RegionDouble) -> None:
    numbers = {"lag": 4, "lag_bytes": 90, "lag_ms": 7_000}
    origin = {"origin_lag": 6, "origin_lag_bytes": -1, "origin_lag_ms": 8_000}
    exact = mirror("PAUSED", **numbers, **origin)
    region.replies["DescribeMirror"] = [exact]
    output = " ".join(region.run("mirror", "describe", "orders").output.split())
    assert "lag 4 records, 90 bytes, 7000 ms;" in output
    assert "behind the origin 6 records, unknown bytes, 8000 ms" in output
    bounds = {"lag_is_lower_bound": True, "origin_lag_is_lower_bound": True}
    described = mirror("PAUSED", **numbers, **origin, **bounds)
    described.mirror.mirror_lags[0].lag_is_lower_bound = True
    region.replies["DescribeMirror"] = [described]
    output = " ".join(region.run("mirror", "describe", "orders").output.split())
    assert "lag at least 4 records, at least 90 bytes, 7000 ms;" in output
    assert "behind the origin at least 6 records, unknown bytes, 8000 ms" in output
    found = json.loads(region.run("mirror", "describe", "orders", "--json").stdout)
    assert found["lag_is_lower_bound"] and found["mirror_lags"][0]["lag_is_lower_bound"]
    region.replies["ListMirrors"] = [pb.MirrorsReply(mirrors=[described.mirror])]
    assert "least" in region.run("mirror", "list").output


def test_describe_shows_holes_the_cut_and_what_went_wrong(region: RegionDouble) -> None:
    hole = pb.Hole(
        topic="orders", partition=0, from_offset=2, to_offset=4, cause="SOURCE_LOG_START"
    )
    partition = pb.CutPartition(partition=0, offset=5, source_high_watermark=9, missing=4)
    cut = pb.Cut(kind="FAILOVER", at_ms=1_800_000_000_000, partitions=[partition])
    error = pb.TransitionError(at_ms=5, code="TIMEOUT_ERROR", message="too late")
    region.replies["DescribeMirror"] = [
        mirror("STOPPED", holes=[hole], cut=cut, state_transition_errors=[error], reason="failover")
    ]
    output = region.run("mirror", "describe", "orders").output
    assert "offsets [2, 4), unknown bytes, SOURCE_LOG_START" in output
    assert "FAILOVER at 2027-01-15T08:00:00.000Z" in output
    assert "too late" in output
    found = json.loads(region.run("mirror", "describe", "orders", "--json").stdout)
    assert found["cut"]["partitions"][0]["missing"] == 4


@pytest.mark.parametrize(
    ("status", "error", "reason", "code"),
    [
        ("ACTIVE", "NO_ERROR", "", 0),
        ("ACTIVE", "NO_ERROR", "west:9092: Connection refused", 3),
        ("PAUSED", "NO_ERROR", "", 0),
        ("PENDING_STOPPED", "NO_ERROR", "promote: waiting for a fresh beacon", 0),
        ("SOURCE_UNAVAILABLE", "NO_ERROR", "Connection refused", 3),
        ("FAILED", "UNEXPECTED_TRUNCATION", "it lost records", 3),
    ],
)
def test_a_mirror_with_something_wrong_is_described_with_3(
    region: RegionDouble, status: str, error: str, reason: str, code: int
) -> None:
    region.replies["DescribeMirror"] = [mirror(status, mirror_topic_error=error, reason=reason)]
    ran = region.run("mirror", "describe", "orders")
    assert ran.exit_code == code, ran.output
    assert reason in ran.output
    assert ("NO_ERROR" in ran.output) is False


@pytest.mark.parametrize("status", ["PAUSED", "LINK_PAUSED"])
def test_a_mirror_that_a_hole_has_paused_is_described_with_3(
    region: RegionDouble, status: str
) -> None:
    """It waits for an operator, who has not paused it."""
    hint = "`causeway mirror resume` skips them"
    region.replies["DescribeMirror"] = [mirror(status, reason="orders-0 [3, 7)", hint=hint)]
    ran = region.run("mirror", "describe", "orders")
    assert (ran.exit_code, f"Next: {hint}" in ran.output) == (3, True)


def test_topics_are_named_as_arguments_or_as_one_option(region: RegionDouble) -> None:
    region.replies["PauseMirrors"] = [topics("PAUSED")]
    named = ("a", "--topics", "b, c,a")
    assert region.run("mirror", "pause", *named, "--link", "we").exit_code == 0
    assert list(region.asked[-1][1].mirror_topics) == ["a", "b", "c"]
    ran = region.run("mirror", "pause", "--topics", ",", "--link", "we")
    assert (ran.exit_code, "--topics names no topic" in ran.output) == (2, True)


def listed(*names: str) -> pb.MirrorsReply:
    mirrors = [pb.MirrorDescription(link_name="we", mirror_topic=name) for name in names]
    return pb.MirrorsReply(mirrors=mirrors)


@pytest.mark.parametrize(
    ("verb", "method"),
    [
        ("pause", "PauseMirrors"),
        ("failover", "FailoverMirrors"),
        ("promote", "PromoteMirrors"),
        ("reverse-and-pause", "ReverseAndPauseMirrors"),
        ("cancel", "CancelMirrors"),
    ],
)
def test_a_pattern_stands_for_the_topics_that_it_matches_whole(
    region: RegionDouble, verb: str, method: str
) -> None:
    region.replies |= {"ListMirrors": [listed("orders", "orders-eu", "old-orders")]}
    region.replies |= {method: [topics("STOPPED")], "DescribeMirror": [mirror("STOPPED")]}
    ran = region.run("mirror", verb, "--link", "we", "--pattern", "orders.*")
    assert ran.exit_code == 0, ran.output
    asked = dict(region.asked)
    assert asked["ListMirrors"].link_name == "we"
    assert list(asked[method].mirror_topics) == ["orders", "orders-eu"]


@pytest.mark.parametrize(
    ("words", "code", "because"),
    [
        (("--link", "we", "--pattern", "none.*"), 1, "no mirror topic of link we matches"),
        (("--link", "we", "--pattern", "("), 2, "is none of RE2"),
        (("--pattern", ".*"), 2, "--pattern needs --link"),
        (("orders", "--link", "we", "--pattern", ".*"), 2, "Name topics or give --pattern"),
    ],
)
def test_a_pattern_that_means_no_topic_changes_none(
    region: RegionDouble, words: tuple[str, ...], code: int, because: str
) -> None:
    region.replies["ListMirrors"] = [listed("orders")]
    ran = region.run("mirror", "failover", *words)
    assert ran.exit_code == code
    assert because in ran.output.replace("\n", " ")
    assert all(name == "ListMirrors" for name, _ in region.asked)


def test_a_promotion_without_its_source_is_not_told_to_stop_producers(region: RegionDouble) -> None:
    region.replies["PromoteMirrors"] = [topics("PENDING_STOPPED")]
    error = pb.TransitionError(
        at_ms=5,
        code="CLUSTER_LINK_UNAVAILABLE",
        message="promote gave up: the source did not answer",
    )
    region.replies["DescribeMirror"] = [mirror("ACTIVE", state_transition_errors=[error])]
    ran = region.run("mirror", "promote", "orders", "--link", "we", "--json")
    assert ran.exit_code == 1
    hint = json.loads(ran.stdout)["topics"][0]["error"]["hint"]
    assert "mirror failover" in hint
    assert "producers" not in hint


@pytest.mark.parametrize("verb", ["pause", "resume", "failover", "cancel"])
def test_a_change_of_state_names_its_topics(region: RegionDouble, verb: str) -> None:
    region.replies[f"{verb.title()}Mirrors"] = [topics("SOME_STATE")]
    ran = region.run("mirror", verb, "orders", "--link", "we")
    assert ran.exit_code == 0, ran.output
    assert "SOME_STATE" in ran.output
    assert list(region.asked[0][1].mirror_topics) == ["orders"]


def test_one_refused_topic_makes_the_exit_code_1(region: RegionDouble) -> None:
    refused = pb.Error(code="INVALID_REQUEST", message="it is STOPPED", hint="look")
    region.replies["FailoverMirrors"] = [topics("STOPPED", refused)]
    ran = region.run("mirror", "failover", "--link", "we", "--json")
    assert ran.exit_code == 1
    assert json.loads(ran.stdout)["topics"][0]["error"]["message"] == "it is STOPPED"


def test_promote_waits_until_it_is_stopped(region: RegionDouble) -> None:
    region.replies["PromoteMirrors"] = [topics("PENDING_STOPPED")]
    region.replies["DescribeMirror"] = [mirror("PENDING_STOPPED"), mirror("STOPPED")]
    ran = region.run("mirror", "promote", "orders", "--link", "we", "--timeout-ms", "9")
    assert ran.exit_code == 0
    assert "STOPPED" in ran.output
    assert region.asked[0][1].timeout_ms == 9


def test_promote_that_gave_up_exits_1_with_the_reason(region: RegionDouble) -> None:
    region.replies["PromoteMirrors"] = [topics("PENDING_STOPPED")]
    error = pb.TransitionError(at_ms=5, code="TIMEOUT_ERROR", message="partition 0 is behind")
    region.replies["DescribeMirror"] = [mirror("ACTIVE", state_transition_errors=[error])]
    ran = region.run("mirror", "promote", "orders", "--link", "we", "--json")
    assert ran.exit_code == 1
    assert json.loads(ran.stdout)["topics"][0]["error"]["message"] == "partition 0 is behind"


def test_promote_without_waiting_returns_what_it_was_told(region: RegionDouble) -> None:
    region.replies["PromoteMirrors"] = [topics("PENDING_STOPPED")]
    ran = region.run("mirror", "promote", "orders", "--link", "we", "--no-wait", "--json")
    assert json.loads(ran.stdout)["topics"][0]["mirror_status"] == "PENDING_STOPPED"
    assert [method for method, _ in region.asked] == ["PromoteMirrors"]


def hole(topic: str, **more: int) -> pb.Hole:
    return pb.Hole(
        topic=topic,
        partition=1,
        from_offset=2,
        to_offset=9,
        cause="SOURCE_LOG_START",
        first_seen_ms=1_700_000_000_000,
        **more,
    )


def test_holes_are_a_table_for_people(region: RegionDouble) -> None:
    region.replies["ListHoles"] = [
        pb.HolesReply(holes=[hole("orders"), hole("bills", deleted_at_ms=1_700_000_000_001)])
    ]
    shown = region.run("mirror", "holes", "orders").output
    assert region.asked[-1][1].mirror_topic == "orders"
    for cell in ("orders", "SOURCE_LOG_START", "2023-11-14T22:13:20.000Z", "20.001Z", " 7 "):
        assert cell in shown


def test_holes_as_json_are_what_an_audit_takes(region: RegionDouble) -> None:
    deleted = hole("orders", deleted_at_ms=1_700_000_000_001)
    region.replies["ListHoles"] = [pb.HolesReply(holes=[hole("orders"), deleted])]
    said = region.run("mirror", "holes", "--json").stdout
    assert region.asked[-1][1].mirror_topic == ""
    assert parse(said) == [KnownHole("orders", 1, 2, 9, "SOURCE_LOG_START")]


def test_no_holes_are_said(region: RegionDouble) -> None:
    region.replies["ListHoles"] = [pb.HolesReply()]
    assert "No holes" in region.run("mirror", "holes").output


def test_dry_run_is_another_name_of_validate_only(region: RegionDouble) -> None:
    region.replies["CreateMirror"] = [mirror()]
    for option in ("--validate-only", "--dry-run"):
        ran = region.run("mirror", "create", "orders", "--link", "we", option)
        assert "could be created" in ran.output
        assert region.asked[-1][1].validate_only


def test_a_dry_run_of_a_change_of_state_says_that_nothing_was_changed(
    region: RegionDouble,
) -> None:
    for verb, method in (("pause", "PauseMirrors"), ("promote", "PromoteMirrors")):
        region.replies[method] = [topics("STOPPED")]
        change = ("mirror", verb, "orders", "--link", "we")
        assert "Nothing was changed" in region.run(*change, "--dry-run").output
    region.replies["FailoverMirrors"] = [topics("STOPPED")]
    assert "Nothing was" not in region.run("mirror", "failover", "orders", "--link", "we").output


def test_a_forecast_for_people_and_for_scripts(region: RegionDouble) -> None:
    partitions = [
        pb.PartitionForecast(
            partition=0, mirror_end=7, source_high_watermark=10, missing=3, known_ms=40
        ),
        pb.PartitionForecast(
            partition=1, mirror_end=-1, source_high_watermark=-1, missing=-1, known_ms=-1
        ),
    ]
    group = pb.GroupForecast(
        group="billing", committed_at_source=6, resumes_at=4, read_again=2, is_active_here=True
    )
    topic = pb.TopicForecast(
        mirror_topic="orders", mirror_status="ACTIVE", partitions=partitions, groups=[group]
    )
    region.replies["ForecastMirrors"] = [pb.ForecastReply(topics=[topic])]
    ran = region.run("mirror", "forecast", "orders", "--link", "west-east")
    assert ran.exit_code == 0, ran.output
    ((_, request),) = region.asked
    assert (request.link_name, list(request.mirror_topics)) == ("west-east", ["orders"])
    text = " ".join(ran.output.split())
    assert "at least 3 records would be lost, as of 40 ms ago" in text
    assert "of 1 partitions nothing is known" in text
    assert "groups would read 2 records again" in text
    assert (
        "HasMembers" in text
        and "here, unknown at the source" in text
        and "auto.offset.reset says" in text
    )
    told = json.loads(region.run("mirror", "forecast", "--json").stdout)
    assert [one["missing"] for one in told["topics"][0]["partitions"]] == [3, -1]


def test_a_region_without_mirrors_has_no_forecast(region: RegionDouble) -> None:
    region.replies["ForecastMirrors"] = [pb.ForecastReply()]
    assert "No topic that a link writes" in region.run("mirror", "forecast").output


@pytest.mark.parametrize(
    ("verb", "method"),
    [
        ("reverse-and-start", "ReverseAndStartMirrors"),
        ("reverse-and-pause", "ReverseAndPauseMirrors"),
    ],
)
def test_a_reversal_waits_until_the_topic_is_writable(
    region: RegionDouble, verb: str, method: str
) -> None:
    region.replies[method] = [topics("PENDING_SYNCHRONIZE")]
    region.replies["DescribeMirror"] = [
        mirror("PENDING_SYNCHRONIZE"),
        mirror("PENDING_STOPPED"),
        mirror("STOPPED"),
    ]
    ran = region.run("mirror", verb, "orders", "--link", "both", "--reason", "exercise")
    assert ran.exit_code == 0 and "STOPPED" in ran.output
    assert region.asked[0][0] == method and region.asked[0][1].reason == "exercise"


def test_a_reversal_that_was_refused_at_the_source_says_so_and_what_to_do(
    region: RegionDouble,
) -> None:
    region.replies["ReverseAndStartMirrors"] = [topics("PENDING_SYNCHRONIZE")]
    error = pb.TransitionError(at_ms=5, code="REMOTE_LINK_NOT_FOUND_ERROR", message="no link")
    region.replies["DescribeMirror"] = [mirror("ACTIVE", state_transition_errors=[error])]
    ran = region.run("mirror", "reverse-and-start", "orders", "--link", "both", "--json")
    assert ran.exit_code == 1
    told = json.loads(ran.stdout)["topics"][0]["error"]
    assert told["code"] == "REMOTE_LINK_NOT_FOUND_ERROR" and "other region" in told["hint"]


def test_a_placement_comes_from_a_file(region: RegionDouble, tmp_path: Path) -> None:
    region.replies["CreateMirror"] = [pb.MirrorReply(mirror=pb.MirrorDescription())]
    path = tmp_path / "placement.json"
    path.write_text('{"version": 2,\n "replicas": [{"count": 1}]}')
    create = ("mirror", "create", "orders", "--link", "we", "--replica-placement", str(path))
    ran = region.run(*create)
    assert ran.exit_code == 0, ran.output
    ((_, request),) = region.asked
    given = dict(request.configs)
    assert given == {"confluent.placement.constraints": '{"version":2,"replicas":[{"count":1}]}'}
    for other in (
        ("--replication-factor", "2"),
        ("--config", "confluent.placement.constraints={}"),
    ):
        assert region.run(*create, *other).exit_code == 2
    path.write_text("{")
    ran = region.run(*create)
    assert ran.exit_code == 2 and "not JSON" in ran.output
