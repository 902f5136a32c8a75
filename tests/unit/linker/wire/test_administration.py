"""Administration over protobuf: every method, every answer."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from brokers.ids import TopicPartition, id_text
from brokers.metadata.image.image import Operation, TopicImage
from brokers.region import ReplicaStatus
from brokers.security.origin import Origin
from federation.shell.orphan_files import OrphanFiles
from linker.answers import (
    Configs,
    Decisions,
    DescribedRegion,
    DescribedTopic,
    Holes,
    LinkDescription,
    Links,
    MirrorDescription,
    Mirrors,
    Operations,
    PartitionLag,
    Replicas,
    Task,
    TopicResult,
    Topics,
)
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DescribeDrift,
    DescribeLineage,
    DescribeLink,
    DescribeLinkConfigs,
    DescribeMirror,
    DescribeRegion,
    DescribeReplicas,
    DropRetentionHolds,
    ForecastMirrors,
    ForgetDestination,
    ListDecisions,
    ListDestinations,
    ListHoles,
    ListLinks,
    ListMirrors,
    ListOperations,
    ListRetentionHolds,
    ListTakenOverTopics,
    RestoreMirrors,
    SetLinkSecret,
    UnfenceTopics,
)
from linker.errors import LinkRefusal, MirrorError
from linker.records.decision import Decision, decode_decision, put
from linker.records.hole_ledger import Hole, HoleCause
from linker.records.mirror_record import (
    Asked,
    Cut,
    CutKind,
    CutPartition,
    MirrorRecord,
    TransitionError,
)
from linker.records.mirror_state import MirrorState
from linker.wire.administration import METHODS, MalformedRequest, command, reply
from linker.wire.v1 import admin_pb2 as pb

REQUESTS: list[tuple[str, Any, Any]] = [
    ("DescribeRegion", pb.DescribeRegionRequest(), DescribeRegion()),
    (
        "DescribeDrift",
        pb.DescribeDriftRequest(link_name="l", topics=["t"]),
        DescribeDrift("l", ("t",)),
    ),
    ("ListTakenOverTopics", pb.ListTakenOverTopicsRequest(), ListTakenOverTopics()),
    ("ListDecisions", pb.ListDecisionsRequest(topic="t"), ListDecisions("t")),
    (
        "ListRetentionHolds",
        pb.ListRetentionHoldsRequest(link_name="l"),
        ListRetentionHolds("l"),
    ),
    (
        "DropRetentionHolds",
        pb.DropRetentionHoldsRequest(
            link_name="l", destination_cluster_id="e", topics=["t"], validate_only=True
        ),
        DropRetentionHolds(link="l", destination_cluster_id="e", topics=("t",), validate_only=True),
    ),
    (
        "ListDestinations",
        pb.ListDestinationsRequest(link_name="l"),
        ListDestinations("l"),
    ),
    (
        "ForgetDestination",
        pb.ForgetDestinationRequest(link_name="l", destination_cluster_id="e", validate_only=True),
        ForgetDestination(link="l", cluster_id="e", validate_only=True),
    ),
    (
        "ListOperations",
        pb.ListOperationsRequest(since_ms=5, resource_type="link", resource="l"),
        ListOperations(since=5, resource_type="link", resource="l"),
    ),
    ("ListHoles", pb.ListHolesRequest(mirror_topic="t"), ListHoles("t")),
    (
        "CreateLink",
        pb.CreateLinkRequest(
            link_name="l",
            configs={"a": "b"},
            source_cluster_id="c",
            validate_only=True,
            skip_validation=True,
        ),
        CreateLink(
            name="l",
            configs={"a": "b"},
            source_cluster_id="c",
            validate_only=True,
            skip_validation=True,
        ),
    ),
    ("ListLinks", pb.ListLinksRequest(), ListLinks()),
    ("DescribeLink", pb.LinkRequest(link_name="l"), DescribeLink("l")),
    ("DescribeLinkConfigs", pb.LinkRequest(link_name="l"), DescribeLinkConfigs("l")),
    (
        "ForecastMirrors",
        pb.ForecastMirrorsRequest(link_name="l", mirror_topics=["a"]),
        ForecastMirrors("l", ("a",)),
    ),
    (
        "UnfenceTopics",
        pb.UnfenceTopicsRequest(topics=["a"], validate_only=True),
        UnfenceTopics(("a",), validate_only=True),
    ),
    (
        "ReverseAndStartMirrors",
        pb.PromoteMirrorsRequest(link_name="l", mirror_topics=["a"], timeout_ms=5, reason="why"),
        ChangeMirrors(verb="reverse-and-start", link="l", topics=("a",), timeout_ms=5, why="why"),
    ),
    (
        "ReverseAndPauseMirrors",
        pb.PromoteMirrorsRequest(link_name="l", mirror_topics=["a"], validate_only=True),
        ChangeMirrors(verb="reverse-and-pause", link="l", topics=("a",), validate_only=True),
    ),
    ("DescribeLineage", pb.DescribeLineageRequest(topic="a"), DescribeLineage("a")),
    (
        "TruncateAndRestoreMirrors",
        pb.MirrorsRequest(link_name="l", mirror_topics=["a"], validate_only=True),
        RestoreMirrors("l", ("a",), validate_only=True),
    ),
    (
        "CancelMirrors",
        pb.MirrorsRequest(link_name="l", mirror_topics=["a"], validate_only=True, reason="why"),
        ChangeMirrors(verb="cancel", link="l", topics=("a",), validate_only=True, why="why"),
    ),
    (
        "SetLinkSecret",
        pb.SetLinkSecretRequest(link_name="l", secret="s", validate_only=True),
        SetLinkSecret("l", "s", validate_only=True),
    ),
    (
        "DeleteLink",
        pb.DeleteLinkRequest(link_name="l", force=True),
        DeleteLink(name="l", force=True),
    ),
    (
        "AlterLinkConfigs",
        pb.AlterLinkConfigsRequest(link_name="l", set={"a": "b"}, delete=["c"]),
        AlterLinkConfigs(name="l", sets={"a": "b"}, deletes=("c",)),
    ),
    (
        "CreateMirror",
        pb.CreateMirrorRequest(link_name="l", mirror_topic="t", source_topic="s"),
        CreateMirror(link="l", mirror_topic="t", source_topic="s"),
    ),
    (
        "ListMirrors",
        pb.ListMirrorsRequest(link_name="l", mirror_status="active", in_transition=True),
        ListMirrors("l", "active", in_transition=True),
    ),
    ("DescribeMirror", pb.DescribeMirrorRequest(mirror_topic="t"), DescribeMirror("t")),
    *[
        (
            f"{verb.title()}Mirrors",
            pb.MirrorsRequest(link_name="l", mirror_topics=["t"], validate_only=True),
            ChangeMirrors(verb=verb, link="l", topics=("t",), validate_only=True),
        )
        for verb in ("pause", "resume", "failover")
    ],
    (
        "PromoteMirrors",
        pb.PromoteMirrorsRequest(link_name="l", timeout_ms=9, reason="r"),
        ChangeMirrors(verb="promote", link="l", timeout_ms=9, why="r"),
    ),
    (
        "DescribeReplicas",
        pb.DescribeReplicasRequest(topics=["t", "u"]),
        DescribeReplicas(("t", "u")),
    ),
]

LINK = LinkDescription(
    name="l",
    link_id="i",
    source_cluster_id="c",
    state="ACTIVE",
    error="NO_ERROR",
    because="",
    topics=("t",),
    category_counts={"ACTIVE": 1},
    tasks=(Task("T", "ACTIVE", "NO_ERROR"),),
    created_at=5,
)
RECORD = MirrorRecord(
    topic="t",
    link="l",
    source_topic="t",
    source_topic_id=UUID(int=3),
    created_at=1,
    state=MirrorState.STOPPED,
    since=2,
    error=MirrorError.NO_ERROR,
    cut=Cut(CutKind.FAILOVER, 7, (CutPartition(5, 9, 6, 2),)),
    transition_errors=(TransitionError(3, "TIMEOUT_ERROR", "late"),),
)
LAG = PartitionLag(
    partition=0,
    lag=4,
    lag_ms=5,
    source_high_watermark=9,
    log_end_offset=5,
    log_start_offset=0,
    since_received_ms=1,
    state="ACTIVE",
)
HOLE = Hole(TopicPartition("t", 0), 2, 4, HoleCause.SOURCE_LOG_START, 8)
MIRROR = MirrorDescription(
    record=RECORD, shown=MirrorState.STOPPED, reason="r", lags=(LAG,), holes=(HOLE,)
)


@pytest.mark.parametrize(("method", "request_", "expected"), REQUESTS)
def test_a_request_becomes_its_command(method: str, request_: Any, expected: Any) -> None:
    assert command(method, request_.SerializeToString()) == expected


def test_every_method_of_the_service_is_served_and_tested() -> None:
    service = pb.DESCRIPTOR.services_by_name["Admin"]
    of_disks = OrphanFiles(()).methods
    assert {method.name for method in service.methods} == {*METHODS, *of_disks}
    assert {method for method, _, _ in REQUESTS} == set(METHODS)
    for method in service.methods:
        request_type, *_, reply_type = METHODS.get(method.name) or of_disks[method.name][:2]
        assert request_type.DESCRIPTOR is method.input_type
        assert reply_type.DESCRIPTOR is method.output_type


def test_the_operator_log_arrives_as_it_is() -> None:
    asked, own = Origin("User:ann", "admin", "10.1.2.3"), Origin("User:ANONYMOUS", None, "")
    resources = (("topic", "t"), ("link", "l"))
    first = Operation(
        number=3, time=9, origin=asked, operation="Change", resources=resources, details="d"
    )
    second = Operation(number=4, time=8, origin=own, operation="Other", resources=(), details="")
    answered = pb.OperationsReply.FromString(
        reply("ListOperations", Operations((first, second), True))
    )
    assert answered.is_recorded
    found = [
        Operation(
            number=one.number,
            time=one.time_ms,
            origin=Origin(
                one.principal, one.client_id if one.HasField("client_id") else None, one.host
            ),
            operation=one.operation,
            resources=tuple((each.resource_type, each.name) for each in one.resources),
            details=one.details,
        )
        for one in answered.operations
    ]
    assert found == [first, second]


@pytest.mark.parametrize("method", METHODS)
def test_a_refusal_is_a_reply(method: str) -> None:
    refusal = LinkRefusal("CODE", "because", hint="next", problems=("one", "two"))
    message = METHODS[method][2].FromString(reply(method, refusal))
    assert (message.error.code, message.error.message) == ("CODE", "because")
    assert (message.error.hint, list(message.error.problems)) == ("next", ["one", "two"])


@pytest.mark.parametrize("method", METHODS)
def test_bytes_that_are_no_request_are_refused(method: str) -> None:
    with pytest.raises(MalformedRequest):
        command(method, b"\xff\xff\xff")


def test_answers_carry_everything() -> None:
    link = pb.LinkReply.FromString(reply("DescribeLink", LINK)).link
    assert (link.link_name, link.link_state, link.tasks[0].name) == ("l", "ACTIVE", "T")
    links = pb.LinksReply.FromString(reply("ListLinks", Links((LINK,)))).links
    assert links[0] == link
    configs = pb.ConfigsReply.FromString(
        reply("DescribeLinkConfigs", Configs((("a", "b", True),)))
    ).configs
    assert (configs[0].name, configs[0].value, configs[0].is_default) == ("a", "b", True)
    mirror = pb.MirrorReply.FromString(reply("DescribeMirror", MIRROR)).mirror
    assert mirror.cut.partitions[0].missing == 4
    assert (mirror.holes[0].from_offset, mirror.holes[0].to_offset) == (2, 4)
    assert mirror.mirror_lags[0].lag_ms == 5
    assert mirror.source_topic_id == "AAAAAAAAAAAAAAAAAAAAAw", "as Kafka writes it"
    assert mirror.state_transition_errors[0].message == "late"
    mirrors = pb.MirrorsReply.FromString(reply("ListMirrors", Mirrors((MIRROR,)))).mirrors
    assert mirrors[0] == mirror
    refused = TopicResult("u", "ACTIVE", LinkRefusal("NO", "no"))
    topics = pb.TopicsReply.FromString(
        reply("PauseMirrors", Topics((TopicResult("t", "PAUSED"), refused)))
    ).topics
    assert [topic.HasField("error") for topic in topics] == [False, True]
    standing = ReplicaStatus(
        broker=2, is_observer=True, is_eligible=True, is_in_sync=True, is_caught_up=True,
        caught_up_ms=3, fetched_ms=4, log_start_offset=5, log_end_offset=6, lag=7,
    )  # fmt: skip
    answer = Replicas(((TopicPartition("t", 1), standing),), {"t": "l"})
    (replica,) = pb.ReplicasReply.FromString(reply("DescribeReplicas", answer)).replicas
    assert replica == pb.ReplicaStatus(
        topic="t", partition=1, replica=2, is_observer=True, is_isr_eligible=True, is_in_isr=True, is_caught_up=True,
        last_caught_up_lag_ms=3, last_fetch_lag_ms=4, log_start_offset=5, log_end_offset=6, lag=7,
        cluster_link="l",
    )  # fmt: skip


def test_holes_of_topics_that_exist_and_of_deleted_ones() -> None:
    standing = Hole(TopicPartition("t", 1), 2, 9, HoleCause.SOURCE_LOG_START, 5)
    deleted = replace(standing, topic_id=UUID(int=7), deleted_at=8, size=0)
    answered = pb.HolesReply.FromString(reply("ListHoles", Holes((standing, deleted)))).holes
    assert [(one.topic, one.partition, one.from_offset, one.to_offset) for one in answered] == [
        ("t", 1, 2, 9)
    ] * 2
    assert [one.HasField("bytes") for one in answered] == [False, True], "unknown, and none"
    assert [(one.topic_id, one.deleted_at_ms) for one in answered] == [
        ("", 0),
        (id_text(UUID(int=7)), 8),
    ]


def test_an_audit_compares_ids_with_those_that_it_has_read_earlier() -> None:
    """Its facts have UUIDs, as ever."""
    topic, place = TopicImage("t", UUID(int=7), ()), TopicPartition("t", 1)
    hole = Hole(place, 2, 9, HoleCause.SOURCE_LOG_START, 5, UUID(int=7))
    facts = DescribedRegion(
        cluster_id="e",
        at=1,
        topics=(DescribedTopic(topic, {}),),
        mirrors=(),
        holes=(hole,),
    )
    told = pb.RegionReply.FromString(reply("DescribeRegion", facts)).region
    assert told.topics[0].topic_id == told.holes[0].topic_id == str(UUID(int=7))


def test_a_decision_says_who_asked_why_and_what_is_missing() -> None:
    cut = (CutPartition(5, 9, 6, 2), CutPartition(3, 4, 6, 2))
    decision = Decision(
        topic="t",
        topic_id=UUID(int=7),
        link="l",
        kind=CutKind.FAILOVER,
        generation=2,
        asked=Asked("l@1", 1, "1.2.3.4:5", "a drill"),
        cut_at=2,
        done_at=3,
        partitions=cut,
    )
    answered = reply("ListDecisions", Decisions((decision,)))
    (found,) = pb.DecisionsReply.FromString(answered).decisions
    assert (found.decision_id, found.asked_by, found.reason) == ("l@1", "1.2.3.4:5", "a drill")
    assert found.topic_id == "AAAAAAAAAAAAAAAAAAAABw", "as Kafka writes it"
    assert (found.kind, found.generation, found.known_missing) == ("FAILOVER", 2, 5)
    assert (found.cut.known_missing, found.is_known_missing_exact) == (5, False)
    assert [one.offset for one in found.cut.partitions] == [5, 3]
    assert decode_decision(put(decision).body or b"") == decision
    unknown = replace(decision, partitions=(*cut, CutPartition(1, -1, -1, 2)))
    assert unknown.cut.missing == -1


@pytest.mark.parametrize("kind", CutKind)
def test_what_a_cut_lacks_is_exact_where_nobody_could_write_at_the_source(kind: CutKind) -> None:
    cut = Cut(kind, 1, (CutPartition(5, 5, 6, 2),))
    mirror = replace(MIRROR, record=replace(MIRROR.record, cut=cut))
    told = pb.MirrorReply.FromString(reply("DescribeMirror", mirror)).mirror.cut
    assert (told.known_missing, told.is_known_missing_exact) == (0, kind.is_reversal)
