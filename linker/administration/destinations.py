"""Which regions mirror topics of this one, and may take them over, and how its operators end that it waits for one."""

from collections.abc import Iterable
from typing import Final

from brokers.errors import Refusal
from brokers.ids import Instant
from linker.administration.known_names import require_link_of_source
from linker.administration.registry import Registry, Respond, undecided
from linker.answers import Destination, Destinations
from linker.commands import ForgetDestination, ListDestinations
from linker.errors import LinkRefusal
from linker.records.destination import DestinationRecord, delete
from linker.region_client import Effects, RegionClient
from linker.sliced_work import Job, SlicedWork, Step

TOPIC_COST: Final = 0.5


def list_destinations(
    region: RegionClient,
    registry: Registry,
    command: ListDestinations,
    work: SlicedWork,
    respond: Respond,
) -> Job:
    """All of the region, as this broker knows them. Raises LinkRefusal for a link that is not known."""
    records = [
        record
        for _, record in sorted(registry.destinations.records.items())
        if command.link in ("", record.link)
    ]
    require_link_of_source(registry, command.link, records)
    return _listing(region, registry, records, work, respond)


def _listing(
    region: RegionClient,
    registry: Registry,
    records: Iterable[DestinationRecord],
    work: SlicedWork,
    respond: Respond,
) -> Job:
    described = []
    for record in records:
        described.append(_described(region, registry, record, work.now))
        yield Step(1 + int(len(record.topic_ids) * TOPIC_COST), [])
    yield Step(1, respond(Destinations(tuple(described)), work.now))


def _described(
    region: RegionClient, registry: Registry, record: DestinationRecord, now: Instant
) -> Destination:
    by_id = region.view.image.topics_by_id
    topics = (by_id[each].name for each in record.topic_ids if each in by_id)
    return Destination(
        record=record,
        topics=tuple(sorted(topics)),
        is_heard=registry.destinations.is_heard(record.name),
        writes_wait_ms=registry.startup_wait.wait_ms(record.name, now),
        is_missed=record.name in registry.startup_wait.missed,
    )


def require_unused(region: RegionClient, registry: Registry, link: str) -> None:
    """Raises LinkRefusal if a region said last that it mirrors topics over this link."""
    by_id = region.view.image.topics_by_id
    for record in registry.destinations.records.values():
        count = sum(each in by_id for each in record.topic_ids) if record.link == link else 0
        if count:
            raise LinkRefusal(
                "CLUSTER_LINK_IN_USE",
                f"region {record.cluster_id} mirrors topics of this one over link {link}: {count}",
                hint="`causeway link destinations` lists them: promote or fail them over there first, "
                "or delete with --force, and they wait for a link",
            )


def forget_destination(
    region: RegionClient,
    registry: Registry,
    command: ForgetDestination,
    respond: Respond,
    now: Instant,
) -> Effects:
    """Its record is removed, by which every broker goes on. A link that is alive says again what it mirrors."""
    record = _meant(registry, command)
    answer = Destinations((_described(region, registry, record, now),))
    if command.validate_only:
        return respond(answer, now)

    def removed(refusal: Refusal | None, at: Instant) -> Effects:
        if refusal is not None:
            return respond(undecided(refusal, f"{record.name} is not forgotten"), at)
        return respond(answer, at)

    return region.put(delete(record, registry.destinations.versions[record.name]), removed)


def _meant(registry: Registry, command: ForgetDestination) -> DestinationRecord:
    """Raises LinkRefusal unless it is one."""
    found = [
        one
        for one in registry.destinations.records.values()
        if one.link == command.link and command.cluster_id in ("", one.cluster_id)
    ]
    if not found:
        where = f" of region {command.cluster_id}" if command.cluster_id else ""
        raise LinkRefusal(
            "INVALID_REQUEST",
            f"no link {command.link}{where} mirrors topics of this region",
            hint="`causeway link destinations` lists what is known",
        )
    if len(found) > 1:
        regions = ", ".join(sorted(one.cluster_id for one in found))
        raise LinkRefusal(
            "INVALID_REQUEST",
            f"regions {regions} have a link {command.link}",
            hint="name one with --destination-cluster",
        )
    return found[0]
