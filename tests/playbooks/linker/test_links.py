"""A link's own life: how it finds its source, loses it, and what an operator is told."""

from typing import Any

import pytest

from linker.answers import LinkDescription
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DescribeLink,
    DescribeLinkConfigs,
    DescribeMirror,
    ListLinks,
    ListMirrors,
)
from linker.errors import LinkRefusal
from linker.events import PartArrived
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import World, caught_up, linked


def create(world: World, address: str = "west:9092", **options: Any) -> Any:
    configs = {"bootstrap.servers": address, **options.pop("configs", {})}
    return world.destination.ask(CreateLink(name="west-east", configs=configs, **options))


def describe(world: World) -> LinkDescription:
    found = world.destination.ask(DescribeLink("west-east"))
    assert isinstance(found, LinkDescription), found
    return found


def test_a_new_link_is_active_and_knows_its_source() -> None:
    world = World().start()
    found = create(world)
    assert (found.state, found.error) == ("ACTIVE", "NO_ERROR")
    assert found.source_cluster_id == "cluster-west"
    assert len(found.link_id) == 22


@pytest.mark.parametrize(
    ("address", "options", "code"),
    [
        ("east:9092", {}, "INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR"),  # itself
        ("nowhere:9092", {}, "UNRESOLVABLE_BOOTSTRAP_ERROR"),
        ("west:9092", {"source_cluster_id": "north"}, "INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR"),
        ("west", {}, "INVALID_CONFIG"),
        ("west:9092", {"configs": {"link.mode": "BOTH"}}, "INVALID_CONFIG"),
    ],
)
def test_a_link_that_cannot_be_is_refused_and_nothing_is_made(
    address: str, options: dict[str, Any], code: str
) -> None:
    world = World().start()
    answer = create(world, address, **options)
    assert isinstance(answer, LinkRefusal)
    assert answer.code == code
    assert answer.hint
    assert world.destination.linker.links == {}
    assert not world.destination.view.image.documents


def test_a_link_to_a_region_that_is_down_is_refused() -> None:
    world = World().start()
    world.source.stop()
    assert create(world).code == "BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR"


def test_a_region_that_says_nothing_is_refused_in_time() -> None:
    world = World().start()
    world.mute = True
    answer = create(world, configs={"request.timeout.ms": "1000"})
    assert answer.code == "TIMEOUT_ERROR"


def test_validate_only_makes_no_link() -> None:
    world = World().start()
    assert create(world, validate_only=True).source_cluster_id == "cluster-west"
    assert world.destination.linker.links == {}


def test_a_name_is_taken_once_and_must_be_one() -> None:
    world = World().start()
    create(world)
    assert create(world).code == "CLUSTER_LINK_EXISTS"
    command = CreateLink(name="no blanks", configs={"bootstrap.servers": "west:9092"})
    assert world.destination.ask(command).code == "INVALID_CLUSTER_LINK"


def task_states(world: World) -> set[str]:
    """Of the tasks that the link's configuration asks for."""
    return {task.state for task in describe(world).tasks} - {"NOT_CONFIGURED"}


def test_a_source_that_stays_away_makes_the_link_unavailable_and_coming_back_active() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, consumer_offset_sync_enable="true", retention_hold_enable="true")
    assert task_states(world) == {"ACTIVE"}
    world.source.stop()
    world.run(300)
    assert describe(world).state == "ACTIVE", "one failed check is not five"
    world.run(10_000)
    assert describe(world).state == "UNAVAILABLE"
    assert describe(world).error == "BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR"
    assert describe(world).hint
    assert task_states(world) == {"LINK_UNAVAILABLE"}
    assert world.destination.mirror("orders").shown is MirrorState.SOURCE_UNAVAILABLE
    assert world.destination.mirror("orders").record.state is MirrorState.ACTIVE
    for verb in ("failover", "pause", "resume"):
        checked = ChangeMirrors(verb=verb, link="west-east", topics=("orders",), validate_only=True)
        (result,) = world.destination.ask(checked).topics
        assert result.state == "SOURCE_UNAVAILABLE", "as lists show it"
    would_delete = DeleteLink(name="west-east", force=True, validate_only=True)
    assert [one.state for one in world.destination.ask(would_delete).topics] == [
        "SOURCE_UNAVAILABLE"
    ]
    world.source.start()
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world), 3_000)
    assert describe(world).state == "ACTIVE"
    assert world.destination.mirror("orders").shown is MirrorState.ACTIVE


def test_a_peer_that_vanished_without_a_word_is_noticed() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, availability_check_ms="2000")
    world.mute = True
    world.run(6_000)
    assert describe(world).error == "TIMEOUT_ERROR"
    world.mute = False
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world), 60_000)


def test_a_frame_that_comes_in_parts_for_long_is_no_silence() -> None:
    """A batch of 100 MB took longer than a silent source is waited for, and so never came."""
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, availability_check_ms="2000")
    world.mute = True
    for _ in range(6):
        world.run(1_000)
        for stream in world.streams_of(world.destination):
            world.destination.feed(PartArrived(stream))
    assert (describe(world).state, describe(world).error) == ("ACTIVE", "NO_ERROR")


def test_another_region_behind_the_same_address_fails_the_link() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, consumer_offset_sync_enable="true")
    world.source.stop()
    world.source.cluster_id = "cluster-other"
    world.source.start()
    world.run(5_000)
    assert describe(world).state == "FAILED"
    assert task_states(world) == {"LINK_FAILED"}
    assert world.destination.mirror("orders").shown is MirrorState.LINK_FAILED
    world.source.stop()
    world.source.cluster_id = "cluster-west"
    world.source.start()
    world.run(5_000)
    assert describe(world).state == "ACTIVE"


def test_a_paused_link_copies_nothing_until_it_is_resumed() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, consumer_offset_sync_enable="true")
    paused = {"cluster.link.paused": "true"}
    world.destination.ask(AlterLinkConfigs(name="west-east", sets=paused))
    clients.send(world.source, "orders", 0, b"a")
    world.run(2_000)
    assert not caught_up(world)
    assert describe(world).state == "PAUSED"
    assert task_states(world) == {"LINK_PAUSED"}
    assert world.destination.mirror("orders").shown is MirrorState.LINK_PAUSED
    world.destination.stop()
    world.destination.start()
    world.run(1_000)
    assert describe(world).state == "PAUSED", "it is in the record"
    command = AlterLinkConfigs(name="west-east", sets={}, deletes=("cluster.link.paused",))
    world.destination.ask(command)
    world.run_until(lambda: caught_up(world))


def test_a_link_moves_to_another_address() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    sets = {"bootstrap.servers": "nowhere:1"}
    world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets))
    world.run(9_000)
    assert describe(world).state == "UNAVAILABLE"
    sets = {"bootstrap.servers": "nowhere:1,west:9092"}
    world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets))
    world.run(1_000)
    assert describe(world).state == "ACTIVE", (
        "this network only tries the first address, so each is it in turn"
    )


def test_wrong_changes_are_refused_and_validate_only_changes_nothing() -> None:
    world = World().start()
    create(world)
    wrong = AlterLinkConfigs(name="west-east", sets={"oh": "no", "link.mode": "SOURCE"})
    answer = world.destination.ask(wrong)
    assert answer.code == "INVALID_CONFIG"
    assert len(answer.problems) >= 2
    sets = {"availability.check.ms": "7"}
    world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets, validate_only=True))
    configs = {
        name: value
        for name, value, _ in world.destination.ask(DescribeLinkConfigs("west-east")).configs
    }
    assert configs["availability.check.ms"] == "60000"


def test_a_link_made_without_asking_its_source_finds_it_later() -> None:
    world = World().start()
    world.source.stop()
    create(world, skip_validation=True)
    assert describe(world).source_cluster_id == ""
    world.source.start()
    world.run(5_000)
    assert describe(world).state == "ACTIVE"
    assert describe(world).source_cluster_id == "cluster-west"


@pytest.mark.parametrize(
    "command",
    [
        DescribeLink("no"),
        DescribeLinkConfigs("no"),
        AlterLinkConfigs(name="no", sets={}),
        CreateMirror(link="no", mirror_topic="orders"),
        ChangeMirrors(verb="pause", link="no"),
        ListMirrors(link="no"),
        DescribeMirror("no"),
        ListMirrors(state="no"),
        ChangeMirrors(verb="pause", link="west-east", topics=("no",)),
    ],
    ids=lambda command: type(command).__name__,
)
def test_what_is_not_there_is_refused_with_a_hint(command: Any) -> None:
    world = World().start()
    create(world)
    answer = world.destination.ask(command)
    assert isinstance(answer, LinkRefusal)
    assert answer.hint


@pytest.mark.parametrize("verb", ["failover", "promote", "pause", "resume", "reverse-and-start"])
@pytest.mark.parametrize("topic", ["own", "nowhere"])
def test_what_is_no_mirror_is_not_changed_and_stays_writable(verb: str, topic: str) -> None:
    world = World().start()
    clients.create_topic(world.destination, "own")
    clients.send(world.destination, "own", 0, b"a")
    before = world.destination.log("own", 0)
    linked_both = {"configs": {"link.mode": "BIDIRECTIONAL"}}
    create(world, **linked_both)
    answer = world.destination.ask(ChangeMirrors(verb=verb, link="west-east", topics=(topic,)))
    refusal = answer if isinstance(answer, LinkRefusal) else answer.topics[0].refusal
    assert refusal is not None
    assert refusal.code == "UNKNOWN_TOPIC_OR_PARTITION" and refusal.hint
    world.run(1_000)
    assert world.destination.log("own", 0) == before
    assert clients.send(world.destination, "own", 0, b"b") == (0, 1)
    assert world.destination.ask(ListMirrors()).mirrors == ()


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (CreateMirror(link="west-east", mirror_topic="there"), "TOPIC_ALREADY_EXISTS"),
        (CreateMirror(link="west-east", mirror_topic="nowhere"), "UNKNOWN_TOPIC_OR_PARTITION"),
        (
            CreateMirror(link="west-east", mirror_topic="copy", source_topic="orders"),
            "INVALID_REQUEST",
        ),
        (
            CreateMirror(link="west-east", mirror_topic="orders", configs={"retention.ms": "1"}),
            "INVALID_CONFIG",
        ),
        (
            CreateMirror(link="west-east", mirror_topic="orders", configs={"oh.no": "1"}),
            "INVALID_CONFIG",
        ),
        (
            CreateMirror(link="west-east", mirror_topic="__consumer_offsets"),
            "POLICY_VIOLATION",
        ),
    ],
)
def test_a_mirror_that_cannot_be_is_refused_and_nothing_is_made(
    command: CreateMirror, code: str
) -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    clients.create_topic(world.destination, "there")
    create(world)
    answer = world.destination.ask(command)
    assert isinstance(answer, LinkRefusal), answer
    assert answer.code == code, answer
    assert world.destination.ask(ListMirrors()).mirrors == ()
    assert list(world.destination.view.image.topics_by_name) == ["there"]


def test_a_mirror_is_made_once() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    again = world.destination.ask(CreateMirror(link="west-east", mirror_topic="orders"))
    assert again.code == "TOPIC_ALREADY_EXISTS"
    assert world.destination.mirror("orders").shown is MirrorState.ACTIVE


def test_a_mirror_needs_a_source_that_answers() -> None:
    world = World().start()
    create(world)
    world.source.stop()
    world.run(1_000)
    answer = world.destination.ask(CreateMirror(link="west-east", mirror_topic="orders"))
    assert answer.code == "CLUSTER_LINK_UNAVAILABLE"


def test_validate_only_makes_no_mirror() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    create(world)
    command = CreateMirror(link="west-east", mirror_topic="orders", validate_only=True)
    assert not isinstance(world.destination.ask(command), LinkRefusal)
    assert world.destination.ask(ListMirrors()).mirrors == ()


def test_links_and_mirrors_are_listed_and_survive_a_restart() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    world.destination.stop()
    world.destination.start()
    world.run(1_000)
    assert [one.name for one in world.destination.ask(ListLinks()).links] == ["west-east"]
    assert [one.record.topic for one in world.destination.ask(ListMirrors()).mirrors] == ["orders"]
    active = world.destination.ask(ListMirrors("west-east", "active")).mirrors
    assert len(active) == 1
    assert world.destination.ask(ListMirrors("", "failed")).mirrors == ()
    assert describe(world).category_counts["ACTIVE"] == 1
