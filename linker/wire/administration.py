"""Administration <-> protobuf: requests to commands, answers to replies."""

from collections.abc import Callable
from typing import Any, Final

from google.protobuf.message import DecodeError

from linker.answers import Answer
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    Command,
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
from linker.errors import LinkRefusal
from linker.frames import TOPICS_MAX
from linker.wire.limits import CONFIGS_MAX, FrameError, configs, listed, reason
from linker.wire.replies import REPLIES, error_message
from linker.wire.v1 import admin_pb2 as pb

SERVICE_PREFIX: Final = "/linker.wire.v1.Admin/"


class MalformedRequest(ValueError):
    """Bytes that are not the request of this method."""


def command(method: str, request: bytes) -> Command:
    """Raises MalformedRequest."""
    message_type, build, _ = METHODS[method]
    message = message_type()
    try:
        message.ParseFromString(request)
        return build(message)
    except (DecodeError, FrameError) as error:
        raise MalformedRequest(str(error)) from error


def reply(method: str, answer: Answer | LinkRefusal) -> bytes:
    """A refusal is a reply with `error`."""
    reply_type = METHODS[method][2]
    if isinstance(answer, LinkRefusal):
        return bytes(reply_type(error=error_message(answer)).SerializeToString())
    return bytes(REPLIES[type(answer)](answer).SerializeToString())


def _change(verb: str) -> Callable[[Any], Command]:
    def build(message: Any) -> Command:
        return ChangeMirrors(
            verb=verb,
            link=message.link_name,
            topics=tuple(listed(message.mirror_topics, TOPICS_MAX)),
            validate_only=message.validate_only,
            timeout_ms=getattr(message, "timeout_ms", 0),
            why=reason(message.reason),
        )

    return build


METHODS: Final[dict[str, tuple[Any, Callable[[Any], Command], Any]]] = {
    "CreateLink": (
        pb.CreateLinkRequest,
        lambda m: CreateLink(
            name=m.link_name,
            configs=configs(m.configs),
            source_cluster_id=m.source_cluster_id,
            validate_only=m.validate_only,
            skip_validation=m.skip_validation,
            secret=m.secret,
        ),
        pb.LinkReply,
    ),
    "SetLinkSecret": (
        pb.SetLinkSecretRequest,
        lambda m: SetLinkSecret(m.link_name, m.secret, m.validate_only),
        pb.LinkReply,
    ),
    "ListLinks": (pb.ListLinksRequest, lambda m: ListLinks(), pb.LinksReply),
    "DescribeLink": (pb.LinkRequest, lambda m: DescribeLink(m.link_name), pb.LinkReply),
    "DeleteLink": (
        pb.DeleteLinkRequest,
        lambda m: DeleteLink(name=m.link_name, force=m.force, validate_only=m.validate_only),
        pb.TopicsReply,
    ),
    "AlterLinkConfigs": (
        pb.AlterLinkConfigsRequest,
        lambda m: AlterLinkConfigs(
            name=m.link_name,
            sets=configs(m.set),
            deletes=tuple(listed(getattr(m, "delete"), CONFIGS_MAX)),  # noqa: B009 - a keyword in C++ only
            validate_only=m.validate_only,
        ),
        pb.ConfigsReply,
    ),
    "DescribeLinkConfigs": (
        pb.LinkRequest,
        lambda m: DescribeLinkConfigs(m.link_name),
        pb.ConfigsReply,
    ),
    "CreateMirror": (
        pb.CreateMirrorRequest,
        lambda m: CreateMirror(
            link=m.link_name,
            mirror_topic=m.mirror_topic,
            source_topic=m.source_topic,
            configs=configs(m.configs),
            validate_only=m.validate_only,
            replication_factor=m.replication_factor,
        ),
        pb.MirrorReply,
    ),
    "ListMirrors": (
        pb.ListMirrorsRequest,
        lambda m: ListMirrors(m.link_name, m.mirror_status, m.in_transition),
        pb.MirrorsReply,
    ),
    "DescribeMirror": (
        pb.DescribeMirrorRequest,
        lambda m: DescribeMirror(m.mirror_topic),
        pb.MirrorReply,
    ),
    "PauseMirrors": (pb.MirrorsRequest, _change("pause"), pb.TopicsReply),
    "ResumeMirrors": (pb.MirrorsRequest, _change("resume"), pb.TopicsReply),
    "PromoteMirrors": (pb.PromoteMirrorsRequest, _change("promote"), pb.TopicsReply),
    "ReverseAndStartMirrors": (
        pb.PromoteMirrorsRequest,
        _change("reverse-and-start"),
        pb.TopicsReply,
    ),
    "ReverseAndPauseMirrors": (
        pb.PromoteMirrorsRequest,
        _change("reverse-and-pause"),
        pb.TopicsReply,
    ),
    "FailoverMirrors": (pb.MirrorsRequest, _change("failover"), pb.TopicsReply),
    "CancelMirrors": (pb.MirrorsRequest, _change("cancel"), pb.TopicsReply),
    "TruncateAndRestoreMirrors": (
        pb.MirrorsRequest,
        lambda m: RestoreMirrors(
            m.link_name,
            tuple(listed(m.mirror_topics, TOPICS_MAX)),
            m.validate_only,
            reason(m.reason),
        ),
        pb.TopicsReply,
    ),
    "UnfenceTopics": (
        pb.UnfenceTopicsRequest,
        lambda m: UnfenceTopics(tuple(listed(m.topics, TOPICS_MAX)), m.validate_only),
        pb.TopicsReply,
    ),
    "ForecastMirrors": (
        pb.ForecastMirrorsRequest,
        lambda m: ForecastMirrors(m.link_name, tuple(listed(m.mirror_topics, TOPICS_MAX))),
        pb.ForecastReply,
    ),
    "DescribeDrift": (
        pb.DescribeDriftRequest,
        lambda m: DescribeDrift(m.link_name, tuple(listed(m.topics, TOPICS_MAX))),
        pb.DriftReply,
    ),
    "DescribeLineage": (
        pb.DescribeLineageRequest,
        lambda m: DescribeLineage(m.topic),
        pb.LineageReply,
    ),
    "ListDecisions": (
        pb.ListDecisionsRequest,
        lambda m: ListDecisions(m.topic),
        pb.DecisionsReply,
    ),
    "ListTakenOverTopics": (
        pb.ListTakenOverTopicsRequest,
        lambda m: ListTakenOverTopics(),
        pb.TakenOverTopicsReply,
    ),
    "ListRetentionHolds": (
        pb.ListRetentionHoldsRequest,
        lambda m: ListRetentionHolds(m.link_name),
        pb.RetentionHoldsReply,
    ),
    "DropRetentionHolds": (
        pb.DropRetentionHoldsRequest,
        lambda m: DropRetentionHolds(
            link=m.link_name,
            destination_cluster_id=m.destination_cluster_id,
            topics=tuple(listed(m.topics, TOPICS_MAX)),
            validate_only=m.validate_only,
        ),
        pb.RetentionHoldsReply,
    ),
    "ListDestinations": (
        pb.ListDestinationsRequest,
        lambda m: ListDestinations(m.link_name),
        pb.DestinationsReply,
    ),
    "ForgetDestination": (
        pb.ForgetDestinationRequest,
        lambda m: ForgetDestination(
            link=m.link_name,
            cluster_id=m.destination_cluster_id,
            validate_only=m.validate_only,
        ),
        pb.DestinationsReply,
    ),
    "ListOperations": (
        pb.ListOperationsRequest,
        lambda m: ListOperations(
            since=m.since_ms, resource_type=m.resource_type, resource=m.resource
        ),
        pb.OperationsReply,
    ),
    "ListHoles": (
        pb.ListHolesRequest,
        lambda m: ListHoles(m.mirror_topic),
        pb.HolesReply,
    ),
    "DescribeReplicas": (
        pb.DescribeReplicasRequest,
        lambda m: DescribeReplicas(tuple(listed(m.topics, TOPICS_MAX))),
        pb.ReplicasReply,
    ),
    "DescribeRegion": (pb.DescribeRegionRequest, lambda m: DescribeRegion(), pb.RegionReply),
}
