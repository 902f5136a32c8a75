"""What the operator log gets of an operator's commands on links and mirrors. It is written before the answer.

A command whose answer is a refusal changes nothing, and so is not in it; of topics, those that were not refused are.
"""

from collections.abc import Mapping

from brokers.errors import Refusal
from brokers.ids import Instant
from brokers.metadata.commands.operation_commands import ChangedResource, RecordOperation
from brokers.metadata.controller.operation_log import is_written
from brokers.metadata.image.image import Image
from brokers.security.origin import Origin
from brokers.security.principal import ANONYMOUS
from linker.administration.registry import Respond, undecided
from linker.answers import Answer, Destinations, Operations, Topics
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    Command,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DropRetentionHolds,
    ForgetDestination,
    ListOperations,
    RecordDiscardedOrphans,
    RestoreMirrors,
    SetLinkSecret,
    UnfenceTopics,
)
from linker.errors import LinkRefusal
from linker.region_client import Effects, RegionClient

LINK, MIRROR, TOPIC, ORPHAN = "link", "mirror", "topic", "orphan"


def recorded(region: RegionClient, command: Command, asked_by: str, respond: Respond) -> Respond:
    """`respond`, once what the command has changed is in the operator log."""

    def answered(answer: Answer | LinkRefusal, now: Instant) -> Effects:
        operation = (
            None if isinstance(answer, LinkRefusal) else _operation(command, answer, asked_by)
        )
        if operation is None or not is_written(region.view.image):
            return respond(answer, now)

        def written(result: object, at: Instant) -> Effects:
            """A controller that cannot write it, or whose answer is lost, is no reason to refuse what is done."""
            is_done = not isinstance(command, RecordDiscardedOrphans)
            if is_done or not isinstance(result, Refusal):
                return respond(answer, at)
            return respond(undecided(result, "nothing is discarded"), at)

        return [region.propose(operation, written)]

    return answered


def operations(image: Image, command: ListOperations) -> Operations:
    found = (
        each
        for each in image.operations
        if each.time >= command.since
        and (
            not (command.resource_type or command.resource)
            or any(
                command.resource_type in ("", kind) and command.resource in ("", name)
                for kind, name in each.resources
            )
        )
    )
    return Operations(tuple(found), is_written(image))


def _operation(command: Command, answer: Answer, asked_by: str) -> RecordOperation | None:
    described = None if getattr(command, "validate_only", False) else _described(command, answer)
    if described is None:
        return None
    name, resources, details = described
    if not resources:
        return None
    origin = Origin(str(ANONYMOUS), None, _host(asked_by))
    return RecordOperation(
        origin=origin,
        operation=name,
        resources=tuple(resources),
        details="; ".join(filter(None, details)),
    )


def _described(
    command: Command, answer: Answer
) -> tuple[str, list[ChangedResource], list[str]] | None:
    match command:
        case CreateLink():
            return "CreateLink", [(LINK, command.name)], [_configs(command.configs)]
        case DeleteLink():
            forced = ["forced"] if command.force else []
            return "DeleteLink", [(LINK, command.name), *_topics(answer, MIRROR)], forced
        case AlterLinkConfigs():
            deleted = ", ".join(f"delete {key}" for key in command.deletes)
            return "AlterLinkConfigs", [(LINK, command.name)], [_configs(command.sets), deleted]
        case SetLinkSecret():
            return "SetLinkSecret", [(LINK, command.name)], []
        case CreateMirror():
            resources = [(MIRROR, command.mirror_topic), (LINK, command.link)]
            return "CreateMirror", resources, [_configs(command.configs)]
        case ChangeMirrors():
            return _verb(command.verb), _topics(answer, MIRROR), [command.why]
        case RestoreMirrors():
            return "TruncateAndRestoreMirrors", _topics(answer, MIRROR), [command.why]
        case DropRetentionHolds():
            topics = [(TOPIC, topic) for topic in command.topics]
            return "DropRetentionHolds", [(LINK, command.link or "all"), *topics], []
        case ForgetDestination():
            return "ForgetDestination", [(LINK, command.link)], [_destinations(answer)]
        case RecordDiscardedOrphans():
            return "DiscardOrphans", [(ORPHAN, name) for name in command.names], []
        case UnfenceTopics():
            return "UnfenceTopics", _topics(answer, TOPIC), []
    return None


def _topics(answer: Answer, kind: str) -> list[ChangedResource]:
    if not isinstance(answer, Topics):
        return []
    return [(kind, each.topic) for each in answer.topics if each.refusal is None]


def _destinations(answer: Answer) -> str:
    if not isinstance(answer, Destinations):
        return ""
    return ", ".join(f"of region {each.record.cluster_id}" for each in answer.destinations)


def _verb(verb: str) -> str:
    """`reverse-and-start` is ReverseAndStartMirrors, as the method of admin.proto."""
    return f"{''.join(map(str.capitalize, verb.split('-')))}Mirrors"


def _configs(configs: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(configs.items()))


def _host(asked_by: str) -> str:
    """The host of `10.0.0.7:43210`."""
    host, _, port = asked_by.rpartition(":")
    return (host if port.isdecimal() else asked_by).strip("[]")
