"""Mirrors that the link creates by itself: of topics that exist, of those that come later, and of no others."""

import json
from functools import partial
from typing import Any

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from linker.answers import LinkDescription, MirrorDescription, Task
from linker.commands import AlterLinkConfigs, ChangeMirrors, CreateLink, CreateMirror, DescribeLink
from linker.errors import LinkRefusal, MirrorError
from linker.records.mirror_record import MIRROR_KIND
from linker.records.mirror_state import MirrorState
from linker.region_client import Done
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import World, caught_up, submit

LINK = "west-east"


def filters(*include: str, exclude: tuple[str, ...] = ()) -> str:
    entries = [("INCLUDE", name) for name in include] + [("EXCLUDE", name) for name in exclude]
    return json.dumps(
        {
            "topicFilters": [
                {"name": name.rstrip("*") or "*", "patternType": pattern(name), "filterType": kind}
                for kind, name in entries
            ]
        }
    )


def pattern(name: str) -> str:
    return "PREFIXED" if name.endswith("*") and name != "*" else "LITERAL"


def linked(world: World, wanted: str, **configs: str) -> None:
    given = {
        "bootstrap.servers": "west:9092",
        "auto.create.mirror.topics.enable": "true",
        "auto.create.mirror.topics.filters": wanted,
        **{name.replace("_", "."): value for name, value in configs.items()},
    }
    answer = world.destination.ask(CreateLink(name=LINK, configs=given))
    assert isinstance(answer, LinkDescription), answer


def topics(world: World) -> set[str]:
    return set(world.destination.view.image.topics_by_name)


def task(world: World) -> Task:
    described = world.destination.ask(DescribeLink(LINK))
    return next(one for one in described.tasks if one.name == "AutoCreateMirror")


def test_topics_that_are_there_and_those_that_come_are_mirrored() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    clients.send(world.source, "orders", 0, b"a")
    linked(world, filters("*"))
    world.run_until(lambda: topics(world) == {"orders"})
    clients.create_topic(world.source, "later", 2)
    clients.send(world.source, "later", 1, b"b")
    world.run_until(lambda: topics(world) == {"orders", "later"})
    for topic in ("orders", "later"):
        world.run_until(lambda topic=topic: caught_up(world, topic))  # type: ignore[misc]
        assert world.destination.mirror(topic).record.state is MirrorState.ACTIVE
    assert task(world).state == "ACTIVE"


def test_an_exclude_filter_wins_and_the_prefix_is_put_in_front() -> None:
    world = World().start()
    for name in ("orders", "orders.secret", "other"):
        clients.create_topic(world.source, name)
    linked(world, filters("orders*", exclude=("orders.secret",)), cluster_link_prefix="w.")
    world.run_until(lambda: topics(world) == {"w.orders"})
    world.run(10_000)
    assert topics(world) == {"w.orders"}


def test_group_offsets_of_a_topic_that_came_later_are_carried() -> None:
    world = World().start()
    linked(world, filters("*"), consumer_offset_sync_enable="true")
    clients.create_topic(world.source, "orders")
    clients.send(world.source, "orders", 0, b"a", b"b")
    clients.commit(world.source, "billing", "orders", 0, 1)
    world.run(10_000)
    assert clients.committed(world.destination, "billing", "orders") == 1


def test_a_mirror_that_was_stopped_is_not_made_again() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, filters("*"))
    world.run_until(lambda: topics(world) == {"orders"})
    world.destination.ask(ChangeMirrors(verb="failover", link=LINK, topics=("orders",)))
    restart(world)
    world.run(40_000)
    assert world.destination.mirror("orders").record.state is MirrorState.STOPPED
    assert task(world).error == "NO_ERROR"


def test_a_stopped_mirror_that_was_deleted_is_made_again_at_once() -> None:
    """Before, when all states were asked for again: `metadata.max.age.ms`, five minutes."""
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, filters("*"))
    world.run_until(lambda: topics(world) == {"orders"})
    world.destination.ask(ChangeMirrors(verb="failover", link=LINK, topics=("orders",)))
    world.run_until(lambda: world.destination.mirror("orders").record.state is MirrorState.STOPPED)
    world.run(5_000)
    clients.delete_topic(world.destination, "orders")
    world.run(3_000)
    assert world.destination.mirror("orders").record.state is MirrorState.ACTIVE


def restart(world: World) -> None:
    world.destination.stop()
    world.destination.start()


def test_a_topic_that_is_there_already_is_left_alone_and_told_of_until_its_name_is_free() -> None:
    world = World().start()
    clients.create_topic(world.destination, "orders")
    clients.create_topic(world.source, "orders")
    linked(world, filters("*"))
    world.run(40_000)
    assert clients.send(world.destination, "orders", 0, b"mine") == (0, 0)
    assert task(world) == Task(
        "AutoCreateMirror",
        "IN_ERROR",
        "TOPIC_EXISTS_ERROR",
        "orders: topic orders exists in this region",
    )
    restart(world)
    world.run_until(lambda: task(world).error == "TOPIC_EXISTS_ERROR")
    clients.delete_topic(world.destination, "orders")
    world.run_until(lambda: task(world).state == "ACTIVE")
    assert world.destination.mirror("orders").record.state is MirrorState.ACTIVE
    assert task(world).error == "NO_ERROR"


def test_a_mirror_of_another_link_has_taken_the_name() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    other = {"bootstrap.servers": "west:9092"}
    assert isinstance(
        world.destination.ask(CreateLink(name="other", configs=other)), LinkDescription
    )
    made = world.destination.ask(CreateMirror(link="other", mirror_topic="orders"))
    assert isinstance(made, MirrorDescription)
    linked(world, filters("*"))
    world.run_until(lambda: task(world).error == "TOPIC_EXISTS_ERROR")
    change(world, {"auto.create.mirror.topics.filters": filters("*", exclude=("orders",))})
    world.run_until(lambda: task(world).error == "NO_ERROR")


@pytest.mark.parametrize(
    ("there", "here", "prefix"), [("a" * 248, "", "w."), ("bills_2026", "bills.2026", "")]
)
def test_a_name_that_cannot_be_a_topics_here_is_told_of(there: str, here: str, prefix: str) -> None:
    """Too long with the prefix; or equal in the names of metrics to another one."""
    world = World().start()
    clients.create_topic(world.source, there)
    if here:
        clients.create_topic(world.destination, here)
    linked(world, filters("*"), **({"cluster_link_prefix": prefix} if prefix else {}))
    world.run_until(lambda: task(world).error == "INVALID_TOPIC")
    assert prefix + there in task(world).because
    assert prefix + there not in topics(world)


def test_new_filters_are_in_force_at_once_and_none_ends_it() -> None:
    world = World().start()
    for name in ("orders", "payments"):
        clients.create_topic(world.source, name)
    linked(world, filters("orders"))
    world.run_until(lambda: topics(world) == {"orders"})
    change(world, {"auto.create.mirror.topics.filters": filters("*")})
    world.run_until(lambda: topics(world) == {"orders", "payments"})
    change(world, {"auto.create.mirror.topics.enable": "false"})
    clients.create_topic(world.source, "later")
    world.run(40_000)
    assert topics(world) == {"orders", "payments"}
    assert task(world).state == "NOT_CONFIGURED"


def change(world: World, sets: dict[str, str]) -> Any:
    return world.destination.ask(AlterLinkConfigs(name=LINK, sets=sets))


def test_a_mirror_can_still_be_made_by_hand() -> None:
    """The filters admit it, too: the source is asked again, and answers."""
    world = World().start()
    linked(world, filters("*", exclude=("orders",)))
    clients.create_topic(world.source, "orders")
    world.run(1_000)
    change(world, {"auto.create.mirror.topics.filters": filters("*")})
    answer = world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"))
    assert isinstance(answer, MirrorDescription) or answer.code == "TOPIC_ALREADY_EXISTS", answer
    world.run_until(lambda: topics(world) == {"orders"})
    world.run_until(lambda: caught_up(world))


def test_group_offsets_that_came_before_the_mirror_are_carried() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    clients.send(world.source, "orders", 0, b"a", b"b")
    clients.commit(world.source, "billing", "orders", 0, 2)
    linked(world, filters("*"), consumer_offset_sync_enable="true")
    world.run(10_000)
    assert clients.committed(world.destination, "billing", "orders") == 2


def test_a_topic_that_filters_admit_and_that_is_deleted_while_the_link_is_away_fails_its_mirror() -> (
    None
):
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, filters("*"))
    world.run_until(lambda: topics(world) == {"orders"})
    world.run_until(lambda: world.destination.mirror("orders").shown is MirrorState.ACTIVE)
    world.reachable = False
    world.cut()
    clients.delete_topic(world.source, "orders")
    world.reachable = True
    world.run_until(lambda: world.destination.mirror("orders").shown is MirrorState.FAILED)
    error = world.destination.mirror("orders").record.error
    assert error is MirrorError.SOURCE_TOPIC_MAY_BE_DELETED


def test_internal_topics_and_topics_that_are_not_there_are_never_mirrored() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    clients.commit(world.source, "billing", "orders", 0, 0)
    assert "__consumer_offsets" in world.source.view.image.topics_by_name
    linked(world, filters("__*", "no-such-topic", "ord*"))
    world.run_until(lambda: topics(world) == {"orders"})
    world.run(40_000)
    assert topics(world) == {"orders"} and task(world).error == "NO_ERROR"


def test_filters_that_admit_nothing_say_so_until_they_do() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, filters("bills*"))
    world.run(1_000)
    assert task(world).state == "ACTIVE"
    assert task(world).because == "the filters admit no topic of the source"
    clients.create_topic(world.source, "bills-2026")
    world.run_until(lambda: "bills-2026" in world.destination.view.image.topics_by_name)
    assert task(world).because == ""


@pytest.mark.parametrize(
    ("enable", "key"),
    [
        ("auto.create.mirror.topics.enable", "auto.create.mirror.topics.filters"),
        ("consumer.offset.sync.enable", "consumer.offset.group.filters"),
    ],
)
def test_filters_that_only_exclude_are_refused(enable: str, key: str) -> None:
    """Such a list admits nothing, where whoever gave it wants all but a few."""
    world = World().start()
    listed = "topicFilters" if "topics" in key else "groupFilters"
    given = {
        enable: "true",
        key: filters(exclude=("secret",)).replace("topicFilters", listed),
    }
    refused = world.destination.ask(
        CreateLink(name=LINK, configs={"bootstrap.servers": "west:9092", **given})
    )
    assert isinstance(refused, LinkRefusal)
    assert refused.problems[0].startswith(key)
    linked(world, filters("*"))
    refused = world.destination.ask(AlterLinkConfigs(name=LINK, sets=given))
    assert isinstance(refused, LinkRefusal)


def test_internal_topics_are_not_asked_for_by_name() -> None:
    world = World().start()
    clients.find_coordinator(world.source, "readers")
    given = {
        "bootstrap.servers": "west:9092",
        "auto.create.mirror.topics.enable": "true",
        "auto.create.mirror.topics.filters": filters("__consumer_offsets"),
    }
    refused = world.destination.ask(CreateLink(name=LINK, configs=given))
    assert isinstance(refused, LinkRefusal)
    assert "__consumer_offsets is internal" in refused.problems[0]
    linked(world, filters("*"))
    world.run(1_000)
    assert task(world).because == "the filters admit no topic of the source", "never internal ones"
    by_hand = CreateMirror(link=LINK, mirror_topic="__consumer_offsets")
    refused = world.destination.ask(by_hand)
    assert isinstance(refused, LinkRefusal)
    assert refused.code == "POLICY_VIOLATION"
    assert "consumer.offset.sync.enable" in refused.hint


def test_a_mirror_that_another_coordinator_made_gets_the_state_that_came_before_it() -> None:
    """Which filters had brought: it is in no list, so the source is asked for it once more."""
    world = World().start()
    clients.create_topic(world.source, "orders")
    clients.send(world.source, "orders", 0, b"a")
    region = world.destination.linker._region
    put, held = region.put, list[tuple[DocumentChange, Done]]()

    def stand_still(change: DocumentChange, then: Done) -> list[Any]:
        is_mirror = change.kind == MIRROR_KIND
        held.extend([(change, then)] if is_mirror else [])
        return [] if is_mirror else put(change, then)

    region.put = stand_still  # type: ignore[method-assign]
    linked(world, filters("*"))
    world.run_until(lambda: bool(held))
    region.put = put  # type: ignore[method-assign]
    ((change, then),) = held
    late = Refusal(KafkaError.INVALID_UPDATE_VERSION, "mirror orders is at version 9, not 0")
    region.timers.set(world.now, partial(then, late))
    world.run(100)
    assert (MIRROR_KIND, "orders") not in world.destination.view.image.documents
    assert not isinstance(submit(world.destination, PutDocuments((change,))), Refusal)
    world.run_until(lambda: caught_up(world), timeout_ms=5_000)
