"""What this region keeps for mirrors in other regions, and how its operators end that."""

from dataclasses import replace
from functools import partial

from brokers.errors import Refusal
from brokers.ids import Instant
from linker.administration.known_names import require_link_of_source
from linker.administration.registry import Registry, Respond, undecided
from linker.answers import HeldPartition, RetentionHolds
from linker.commands import DropRetentionHolds, ListRetentionHolds
from linker.control.source_holds import SourceHolds
from linker.errors import LinkRefusal
from linker.records.retention_hold import HoldRecord, put
from linker.region_client import Effects, RegionClient


def list_holds(
    region: RegionClient, registry: Registry, command: ListRetentionHolds
) -> RetentionHolds:
    """All of the region, with the replicas of this broker. Raises LinkRefusal for a link that is not known."""
    holds = registry.holds
    found = [one for one in holds.records if command.link in ("", one.link)]
    require_link_of_source(registry, command.link, found)
    return RetentionHolds(tuple((one, _partitions(region, holds, one)) for one in found))


def _partitions(
    region: RegionClient, holds: SourceHolds, hold: HoldRecord
) -> tuple[HeldPartition, ...]:
    found = []
    for partition in holds.partitions_of(hold):
        state = region.view.partition_state(partition)
        found.append(
            HeldPartition(
                partition.partition,
                state is not None and state.is_leader,
                holds.position(hold, partition),
                region.view.held_bytes(partition),
            )
        )
    return tuple(found)


def drop_holds(
    region: RegionClient,
    holds: SourceHolds,
    command: DropRetentionHolds,
    respond: Respond,
    now: Instant,
) -> Effects:
    """They stay dropped for as long as their link asks for them."""
    found = [one for one in holds.records if _is_meant(one, command)]
    if missing := sorted(set(command.topics) - {one.topic for one in found}):
        raise _none_of(command, f" of {', '.join(missing)}")
    if not found:
        raise _none_of(command, "")
    dropped = [replace(one, dropped_at=now) for one in found]
    answer = RetentionHolds(tuple((one, ()) for one in dropped))
    waiting = len(dropped)
    refusals: list[Refusal] = []

    def written(hold: HoldRecord, refusal: Refusal | None, at: Instant) -> Effects:
        nonlocal waiting
        waiting -= 1
        refusals.extend([refusal] if refusal is not None else [])
        if waiting:
            return []
        if refusals:
            return respond(undecided(refusals[0], "some holds stand as before"), at)
        return respond(answer, at)

    if command.validate_only:
        return respond(answer, now)
    return [effect for one in dropped for effect in region.put(put(one), partial(written, one))]


def _is_meant(hold: HoldRecord, command: DropRetentionHolds) -> bool:
    is_of_link = hold.link == command.link and hold.dropped_at is None
    is_of_region = command.destination_cluster_id in ("", hold.cluster_id)
    return is_of_link and is_of_region and (not command.topics or hold.topic in command.topics)


def _none_of(command: DropRetentionHolds, what: str) -> LinkRefusal:
    return LinkRefusal(
        "INVALID_REQUEST",
        f"link {command.link} holds no retention here{what}",
        hint="`causeway link holds` lists what is held",
    )
