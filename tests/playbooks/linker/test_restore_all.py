"""truncate-and-restore of a whole link: the topics that its source took over, and no others."""

from typing import Any

from linker.answers import Topics
from linker.commands import AlterLinkConfigs, ChangeMirrors, CreateMirror, RestoreMirrors
from linker.errors import LinkRefusal
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_restore import BACK, link_back
from tests.playbooks.linker.world import World, caught_up, linked

LINK = "west-east"


def taken_over(*stopped: str) -> World:
    """East mirrors some of west's topics, and has taken `stopped` over. West goes on without knowing."""
    world = World().start()
    for topic in ("never", "running", *stopped):
        clients.create_topic(world.source, topic)
        clients.send(world.source, topic, 0, b"a", b"b")
    linked(world, "running", source_fencing_enable="false")
    for topic in stopped:
        world.destination.ask(CreateMirror(link=LINK, mirror_topic=topic))
        world.run_until(lambda: caught_up(world, topic))  # noqa: B023
    world.destination.ask(ChangeMirrors(verb="failover", link=LINK, topics=stopped))
    clients.create_topic(world.destination, "never")
    for topic in stopped:
        clients.send(world.source, topic, 0, b"orphan")
    link_back(world)
    return world


def restore(world: World, **options: Any) -> dict[str, str]:
    """Of the whole link: each topic with its state, or why it was refused."""
    answer = world.source.ask(RestoreMirrors(BACK, **options))
    assert isinstance(answer, Topics), answer
    return {one.topic: one.refusal.code if one.refusal else one.state for one in answer.topics}


def refusal(world: World, *topics: str) -> LinkRefusal:
    answer = world.source.ask(RestoreMirrors(BACK, topics))
    assert isinstance(answer, LinkRefusal), answer
    return answer


def test_what_the_source_took_over_is_restored_and_nothing_else() -> None:
    world = taken_over("orders", "views")
    setup = "PENDING_SETUP_FOR_RESTORE"
    assert restore(world, validate_only=True) == {"orders": setup, "views": setup}
    assert world.source.linker.links[BACK].mirrors == {}
    assert restore(world) == {"orders": setup, "views": setup}
    for topic in ("orders", "views"):
        mirror = world.source.mirror
        world.run_until(lambda: mirror(topic).record.state is MirrorState.ACTIVE)  # noqa: B023
        assert world.source.offsets(topic, 0) == world.destination.offsets(topic, 0)
    assert world.source.offsets("never", 0) == [0], "the topic of that name is another one"
    assert refusal(world).code == "INVALID_REQUEST", "they are mirrors already"


def test_a_topic_that_something_hinders_is_named_with_the_others() -> None:
    world = taken_over("orders", "views")
    clients.find_coordinator(world.source, "g")
    assert clients.commit(world.source, "g", "views", 0, 1) == 0
    member = clients.join(world.source, "g", "views")
    found = restore(world)
    assert found == {
        "orders": "PENDING_SETUP_FOR_RESTORE",
        "views": "CONSUMER_GROUP_IN_USE_ERROR",
    }
    clients.leave(world.source, "g", member)
    assert restore(world) == {"views": "PENDING_SETUP_FOR_RESTORE"}


def test_where_nothing_was_taken_over_nothing_is_restored() -> None:
    world = taken_over("orders")
    refused = world.destination.ask(RestoreMirrors(LINK))
    assert isinstance(refused, LinkRefusal) and refused.code == "INVALID_REQUEST"
    assert "no topic" in refused.because and refused.hint


def test_a_source_that_is_not_reached_says_of_no_topic_what_it_was() -> None:
    world = taken_over("orders")
    world.source.ask(AlterLinkConfigs(name=BACK, sets={"cluster.link.paused": "true"}))
    for index in range(400):
        clients.create_topic(world.source, f"more-{index}")
    assert refusal(world).code == "CLUSTER_LINK_UNAVAILABLE"
    names = tuple(f"more-{index}" for index in range(1_000))
    answer = world.source.ask(RestoreMirrors(BACK, names))
    codes = {one.refusal.code for one in answer.topics if one.refusal is not None}
    assert (len(answer.topics), codes) == (1_000, {"CLUSTER_LINK_UNAVAILABLE"})
