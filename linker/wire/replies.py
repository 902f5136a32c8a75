"""Answers of the administration to protobuf replies."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final

from brokers.ids import TopicPartition, id_text
from brokers.metadata.image.image import Operation
from brokers.region import ReplicaStatus
from linker.answers import (
    ConfigDrift,
    Configs,
    Decisions,
    DescribedRegion,
    DescribedTopic,
    Destination,
    Destinations,
    Drift,
    Forecast,
    Holes,
    Lineage,
    LinkDescription,
    Links,
    MirrorDescription,
    Mirrors,
    Operations,
    PartitionLag,
    Replicas,
    RetentionHolds,
    TakenOverTopics,
    TopicForecast,
    TopicResult,
    Topics,
    Transition,
    total_lag,
)
from linker.errors import LinkRefusal
from linker.wire.recorded import cut_message, decision_message, hold_message, hole_message
from linker.wire.v1 import admin_pb2 as pb

FACTS_SCHEMA: Final = "causeway.region-facts/1"


def _operation(operation: Operation) -> pb.Operation:
    return pb.Operation(
        number=operation.number,
        time_ms=operation.time,
        principal=operation.origin.principal,
        client_id=operation.origin.client_id,
        host=operation.origin.host,
        operation=operation.operation,
        resources=[
            pb.ChangedResource(resource_type=kind, name=name) for kind, name in operation.resources
        ],
        details=operation.details,
    )


def error_message(refusal: LinkRefusal) -> pb.Error:
    return pb.Error(
        code=refusal.code,
        message=refusal.because,
        hint=refusal.hint,
        problems=refusal.problems,
    )


def _link(link: LinkDescription) -> pb.LinkDescription:
    return pb.LinkDescription(
        link_name=link.name,
        link_id=link.link_id,
        source_cluster_id=link.source_cluster_id,
        link_state=link.state,
        link_error=link.error,
        link_error_message=link.because,
        topic_names=link.topics,
        category_counts=link.category_counts,
        tasks=[
            pb.Task(name=task.name, state=task.state, error=task.error, message=task.because)
            for task in link.tasks
        ],
        created_at_ms=link.created_at,
        hint=link.hint,
        link_mode=link.mode,
        destination_cluster_id=link.destination_cluster_id,
        secret=link.secret,
        lag=link.lag.records,
        lag_bytes=link.lag.size,
        lag_ms=link.lag.milliseconds,
        lag_is_lower_bound=link.lag.is_lower_bound,
        writes_wait_ms=link.writes_wait_ms,
    )


def _configs(answer: Configs) -> pb.ConfigsReply:
    return pb.ConfigsReply(
        configs=[
            pb.Config(name=name, value=value, is_default=is_default)
            for name, value, is_default in answer.configs
        ]
    )


def _lag(lag: PartitionLag) -> pb.MirrorLag:
    return pb.MirrorLag(
        partition=lag.partition,
        lag=lag.lag,
        lag_ms=lag.lag_ms,
        last_source_fetch_offset=lag.source_high_watermark,
        local_log_end_offset=lag.log_end_offset,
        local_log_start_offset=lag.log_start_offset,
        time_since_last_fetch_ms=lag.since_received_ms,
        partition_state=lag.state,
        lag_bytes=lag.lag_bytes,
        lag_is_lower_bound=lag.is_lower_bound,
        origin_lag_ms=lag.origin_lag_ms,
        origin_lag=lag.origin_lag,
        origin_lag_bytes=lag.origin_lag_bytes,
        origin_lag_is_lower_bound=lag.is_origin_lower_bound,
    )


def _destination(one: Destination) -> pb.Destination:
    return pb.Destination(
        link_name=one.record.link,
        destination_cluster_id=one.record.cluster_id,
        topics=one.topics,
        topic_count=len(one.record.topic_ids),
        told_at_ms=one.record.told_at,
        is_heard=one.is_heard,
        writes_wait_ms=one.writes_wait_ms,
        is_missed=one.is_missed,
    )


def _lineage(lineage: Lineage) -> pb.LineageReply:
    reply = pb.LineageReply(
        cluster_id=lineage.cluster_id,
        mirror_status=lineage.mirror_status,
        origins=lineage.origins,
        decisions=[decision_message(one) for one in lineage.decisions],
    )
    for one in lineage.partitions:
        reply.partitions.add(
            partition=one.partition,
            log_start_offset=one.log_start_offset,
            log_end_offset=one.log_end_offset,
            leader_epochs=[
                pb.LineageReply.LeaderEpoch(leader_epoch=epoch, start_offset=start)
                for epoch, start in one.epochs
            ],
        )
    return reply


def _mirror(mirror: MirrorDescription) -> pb.MirrorDescription:
    record, lag = mirror.record, total_lag(mirror.lags)
    return pb.MirrorDescription(
        link_name=record.link,
        mirror_topic=record.topic,
        source_topic=record.source_topic,
        source_topic_id=id_text(record.source_topic_id),
        mirror_status=mirror.shown.value,
        mirror_topic_error=record.error.value,
        reason=mirror.reason,
        state_time_ms=record.since,
        num_partitions=len(mirror.lags) or (len(record.cut.partitions) if record.cut else 0),
        generation=record.generation,
        mirror_lags=[_lag(lag) for lag in mirror.lags],
        lag=lag.records,
        lag_bytes=lag.size,
        lag_ms=lag.milliseconds,
        lag_is_lower_bound=lag.is_lower_bound,
        origin_lag_ms=lag.origin.milliseconds,
        origin_lag=lag.origin.records,
        origin_lag_bytes=lag.origin.size,
        origin_lag_is_lower_bound=lag.origin.is_lower_bound,
        holes=[hole_message(hole) for hole in mirror.holes],
        hint=mirror.hint,
        transition=_transition(mirror.transition) if mirror.transition is not None else None,
        cut=cut_message(record.cut) if record.cut is not None else None,
        state_transition_errors=[
            pb.TransitionError(at_ms=one.at, code=one.code, message=one.because)
            for one in record.transition_errors
        ],
        restored_partitions=[
            pb.RestoredPartition(
                partition=index,
                offset_truncated_to=one.offset,
                messages_truncated=one.end - one.offset,
            )
            for index, one in enumerate(record.restore)
        ],
    )


def _transition(transition: Transition) -> pb.Transition:
    return pb.Transition(
        verb=transition.verb,
        step=transition.step.value,
        since_ms=transition.since,
        waits_for=transition.waits_for,
        can_be_cancelled=transition.can_be_cancelled,
        gives_up_at_ms=transition.gives_up_at,
        asked_by=transition.asked_by,
        reason=transition.why,
    )


def _difference(one: ConfigDrift) -> pb.ConfigDrift:
    return pb.ConfigDrift(**asdict(one) | {"sync_class": one.sync_class.value})


def _topic(result: TopicResult) -> pb.TopicResult:
    return pb.TopicResult(
        mirror_topic=result.topic,
        mirror_status=result.state,
        error=error_message(result.refusal) if result.refusal is not None else None,
    )


def _replica(
    partition: TopicPartition, standing: ReplicaStatus, links: Mapping[str, str]
) -> pb.ReplicaStatus:
    return pb.ReplicaStatus(
        topic=partition.topic,
        partition=partition.partition,
        replica=standing.broker,
        is_leader=standing.is_leader,
        is_observer=standing.is_observer,
        is_isr_eligible=standing.is_eligible,
        is_in_isr=standing.is_in_sync,
        is_caught_up=standing.is_caught_up,
        last_caught_up_lag_ms=standing.caught_up_ms,
        last_fetch_lag_ms=standing.fetched_ms,
        log_start_offset=standing.log_start_offset,
        log_end_offset=standing.log_end_offset,
        lag=standing.lag,
        cluster_link=links.get(partition.topic, ""),
    )


def region(facts: DescribedRegion) -> pb.RegionFacts:
    """Ids of topics are UUIDs here: an audit compares them with those of earlier ones."""
    return pb.RegionFacts(
        schema=FACTS_SCHEMA,
        cluster_id=facts.cluster_id,
        at_ms=facts.at,
        topics=[_topic_facts(one) for one in facts.topics],
        mirrors=[
            pb.MirrorFacts(
                mirror_topic=one.topic,
                link_name=one.link,
                source_topic=one.source_topic,
                state=one.state.value,
                cut=cut_message(one.cut).partitions if one.cut is not None else (),
            )
            for one in facts.mirrors
        ],
        holes=[hole_message(one, str) for one in facts.holes],
    )


def _topic_facts(facts: DescribedTopic) -> pb.TopicFacts:
    return pb.TopicFacts(
        name=facts.topic.name,
        topic_id=str(facts.topic.id),
        configs=facts.configs,
        partitions=[
            pb.PartitionFacts(
                partition=index,
                leader=one.leader,
                leader_epoch=one.leader_epoch,
                replicas=one.replicas,
                isr=one.isr,
                elr=one.elr,
                last_known_elr=one.last_known_elr,
            )
            for index, one in enumerate(facts.topic.partitions)
        ],
    )


def _forecast(topic: TopicForecast) -> pb.TopicForecast:
    return pb.TopicForecast(
        mirror_topic=topic.topic,
        mirror_status=topic.state,
        partitions=[pb.PartitionForecast(**asdict(one)) for one in topic.partitions],
        groups=[pb.GroupForecast(**asdict(one)) for one in topic.groups],
        copies_groups=topic.copies_groups,
    )


REPLIES: Final[dict[type, Callable[[Any], Any]]] = {
    LinkDescription: lambda answer: pb.LinkReply(link=_link(answer)),
    Links: lambda answer: pb.LinksReply(links=[_link(link) for link in answer.links]),
    Configs: _configs,
    MirrorDescription: lambda answer: pb.MirrorReply(mirror=_mirror(answer)),
    Mirrors: lambda answer: pb.MirrorsReply(mirrors=[_mirror(one) for one in answer.mirrors]),
    Topics: lambda answer: pb.TopicsReply(topics=[_topic(one) for one in answer.topics]),
    Forecast: lambda answer: pb.ForecastReply(topics=[_forecast(one) for one in answer.topics]),
    Drift: lambda answer: pb.DriftReply(
        differences=[_difference(one) for one in answer.differences],
        unknown_topics=answer.unknown_topics,
    ),
    Lineage: _lineage,
    Decisions: lambda answer: pb.DecisionsReply(
        decisions=[decision_message(one) for one in answer.decisions]
    ),
    Holes: lambda answer: pb.HolesReply(holes=[hole_message(one) for one in answer.holes]),
    TakenOverTopics: lambda answer: pb.TakenOverTopicsReply(
        topics=[pb.TakenOverTopic(**one._asdict()) for one in answer.topics]
    ),
    RetentionHolds: lambda answer: pb.RetentionHoldsReply(
        holds=[hold_message(*one) for one in answer.holds]
    ),
    Destinations: lambda answer: pb.DestinationsReply(
        destinations=[_destination(one) for one in answer.destinations]
    ),
    DescribedRegion: lambda answer: pb.RegionReply(region=region(answer)),
    Operations: lambda answer: pb.OperationsReply(
        operations=[_operation(each) for each in answer.operations], is_recorded=answer.is_recorded
    ),
    Replicas: lambda answer: pb.ReplicasReply(
        replicas=[
            _replica(partition, standing, answer.links) for partition, standing in answer.replicas
        ]
    ),
}
