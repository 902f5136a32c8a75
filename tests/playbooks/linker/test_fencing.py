"""An old primary that returns learns that it was taken over: its topic is read-only until an operator decides."""

import pytest

from brokers.errors import KafkaError
from brokers.ids import id_text
from brokers.metadata.commands.mirror_commands import Superseder, superseder_of
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    ListTakenOverTopics,
    RestoreMirrors,
    UnfenceTopics,
)
from linker.errors import LinkRefusal
from linker.records.mirror_state import MirrorState
from linker.records.unfenced_topic import UNFENCED_KIND
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up, linked

REFUSED = KafkaError.POLICY_VIOLATION


def mirrored(**configs: str) -> World:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, **configs)
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    return world


def fail_over(world: World) -> None:
    command = ChangeMirrors(verb="failover", link="west-east", topics=("orders",))
    assert world.destination.ask(command).topics[0].state == "STOPPED"


def cut_off(world: World) -> None:
    world.reachable = False
    world.cut()


def superseder(host: Host) -> Superseder | None:
    return superseder_of(host.view.image.topics_by_name["orders"].writer)


def is_fenced(world: World) -> bool:
    return superseder(world.source) == Superseder(2, "cluster-east")


def unfence(world: World) -> LinkRefusal | None:
    refusal: LinkRefusal | None = world.source.ask(UnfenceTopics(("orders",))).topics[0].refusal
    return refusal


def test_a_source_that_is_reachable_is_read_only_at_once() -> None:
    world = mirrored()
    fail_over(world)
    world.run(100)
    assert is_fenced(world)
    assert clients.send(world.source, "orders", 0, b"refused")[0] == REFUSED
    assert any(change.to == "read-only" for change in world.source.changes)
    assert clients.send(world.destination, "orders", 0, b"here")[0] == 0


def test_a_source_that_was_away_learns_it_when_the_link_is_up_again() -> None:
    world = mirrored()
    cut_off(world)
    fail_over(world)
    assert clients.send(world.source, "orders", 0, b"nobody knows")[0] == 0
    world.reachable = True
    world.run_until(lambda: is_fenced(world))
    assert clients.send(world.source, "orders", 0, b"refused")[0] == REFUSED


@pytest.mark.parametrize("host", ["source", "destination"])
def test_a_restart_changes_nothing(host: str) -> None:
    world = mirrored()
    cut_off(world)
    fail_over(world)
    getattr(world, host).stop()
    world.reachable = True
    getattr(world, host).start()
    world.run_until(lambda: is_fenced(world))
    world.source.stop()
    world.source.start()
    assert is_fenced(world)
    assert clients.send(world.source, "orders", 0, b"refused")[0] == REFUSED


def test_a_fenced_topic_is_restored_from_the_region_that_took_it_over() -> None:
    world = mirrored()
    fail_over(world)
    world.run_until(lambda: is_fenced(world))
    world.source.ask(CreateLink(name="east-west", configs={"bootstrap.servers": "east:9092"}))
    answer = world.source.ask(RestoreMirrors("east-west", ("orders",)))
    assert answer.topics[0].refusal is None
    world.run_until(lambda: world.source.mirror("orders").record.state is MirrorState.ACTIVE)
    assert superseder(world.source) is None


def taken_over(host: Host) -> list[tuple[str, str, int]]:
    found = host.ask(ListTakenOverTopics()).topics
    by_name = host.view.image.topics_by_name
    assert [one.topic_id for one in found] == [id_text(by_name[one.topic].id) for one in found]
    return [(one.topic, one.taken_over_by, one.generation) for one in found]


def test_what_was_taken_over_is_listed_until_it_is_restored_or_unfenced() -> None:
    world = World().start()
    for name in ("orders", "bills", "others"):
        clients.create_topic(world.source, name)
    linked(world)
    topics = ("orders", "bills")
    world.destination.ask(CreateMirror(link="west-east", mirror_topic="bills"))
    world.run_until(lambda: all(caught_up(world, each) for each in topics))
    assert taken_over(world.source) == []
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east", topics=topics))
    both = [("bills", "cluster-east", 2), ("orders", "cluster-east", 2)]
    world.run_until(lambda: taken_over(world.source) == both)
    assert taken_over(world.destination) == []
    world.source.stop()
    world.source.start()
    assert taken_over(world.source) == both
    unfence(world)
    assert taken_over(world.source) == both[:1]
    world.source.ask(CreateLink(name="east-west", configs={"bootstrap.servers": "east:9092"}))
    world.source.ask(RestoreMirrors("east-west", ("bills",)))
    world.run_until(lambda: world.source.mirror("bills").record.state is MirrorState.ACTIVE)
    assert taken_over(world.source) == []


def test_the_region_that_took_over_last_is_the_one_that_is_written() -> None:
    """West takes the topic back: east is fenced by the later generation, and cannot fence west by its earlier one."""
    world = mirrored()
    fail_over(world)
    world.source.ask(CreateLink(name="east-west", configs={"bootstrap.servers": "east:9092"}))
    world.source.ask(RestoreMirrors("east-west", ("orders",)))
    world.run_until(lambda: world.source.mirror("orders").record.state is MirrorState.ACTIVE)
    command = ChangeMirrors(verb="failover", link="east-west", topics=("orders",))
    assert world.source.ask(command).topics[0].state == "STOPPED"
    world.run(200)
    assert superseder(world.destination) == Superseder(4, "cluster-west")
    world.cut()  # both links open again, and both ends say what they took over
    world.run(2_000)
    assert clients.send(world.source, "orders", 0, b"taken")[0] == 0
    assert clients.send(world.destination, "orders", 0, b"refused")[0] == REFUSED


def taken_back() -> World:
    """East took the topic over in generation 2, and west took it back in generation 4: it is read-only in east."""
    world = mirrored()
    fail_over(world)
    world.source.ask(CreateLink(name="east-west", configs={"bootstrap.servers": "east:9092"}))
    assert restored(world.source, "east-west") is None
    world.run_until(lambda: world.source.mirror("orders").record.state is MirrorState.ACTIVE)
    take_back(world)
    return world


def take_back(world: World) -> None:
    command = ChangeMirrors(verb="failover", link="east-west", topics=("orders",))
    assert world.source.ask(command).topics[0].state == "STOPPED"
    world.run_until(lambda: superseder(world.destination) is not None)


def restored(host: Host, link: str) -> LinkRefusal | None:
    refusal: LinkRefusal | None = host.ask(RestoreMirrors(link, ("orders",))).topics[0].refusal
    return refusal


def test_the_region_that_took_over_last_is_not_restored_from_one_that_is_read_only() -> None:
    """Nobody could write the topic, and what the last region has taken would be cut from it."""
    world = taken_back()
    refusal = restored(world.source, "east-west")
    assert refusal is not None and "read-only there" in refusal.because
    assert isinstance(world.source.ask(RestoreMirrors("east-west")), LinkRefusal), "nor with all"
    assert clients.send(world.source, "orders", 0, b"taken")[0] == 0
    assert restored(world.destination, "west-east") is None, "the other way it is"


def test_a_mirror_that_was_taken_over_since_it_was_stopped_says_so() -> None:
    world = taken_back()
    shown = world.destination.mirror("orders")
    assert shown.record.state is MirrorState.STOPPED
    assert "taken over by region cluster-west" in shown.reason and "read-only" in shown.reason
    assert "truncate-and-restore" in shown.hint
    command = ChangeMirrors(verb="failover", link="west-east", topics=("orders",))
    refusal = world.destination.ask(command).topics[0].refusal
    assert refusal is not None and refusal.because == shown.reason and refusal.hint == shown.hint


def test_it_is_restored_all_the_same_once_an_operator_has_decided_for_the_other_region() -> None:
    world = taken_back()
    assert world.destination.ask(UnfenceTopics(("orders",))).topics[0].refusal is None
    world.run(100)
    assert restored(world.source, "east-west") is None
    world.run_until(lambda: world.source.mirror("orders").record.state is MirrorState.ACTIVE)
    assert world.source.mirror("orders").record.generation == 5
    assert clients.send(world.destination, "orders", 0, b"here")[0] == 0
    take_back(world)
    assert superseder(world.destination) == Superseder(6, "cluster-west")


def test_without_fencing_the_source_is_written_still_and_nothing_is_refused() -> None:
    world = taken_back()
    configs = {"source.fencing.enable": "false"}
    world.source.ask(AlterLinkConfigs(name="east-west", sets=configs))
    assert restored(world.source, "east-west") is None


def mirrored_anew() -> World:
    """The source was a mirror itself: of this region, or of a third one as in a chain."""
    world = taken_back()
    clients.delete_topic(world.destination, "orders")
    world.run(1_000)
    world.destination.ask(CreateMirror(link="west-east", mirror_topic="orders"))
    world.run_until(lambda: caught_up(world))
    return world


def test_a_takeover_is_of_a_later_generation_than_that_of_the_source() -> None:
    world = mirrored_anew()
    fail_over(world)
    world.run_until(lambda: superseder(world.source) == Superseder(5, "cluster-east"))
    assert clients.send(world.source, "orders", 0, b"refused")[0] == REFUSED


def test_what_was_heard_of_the_source_is_known_after_a_restart_without_it() -> None:
    world = mirrored_anew()
    cut_off(world)
    world.destination.stop()
    world.destination.start()
    fail_over(world)
    world.reachable = True
    world.run_until(lambda: superseder(world.source) == Superseder(5, "cluster-east"))
    assert clients.send(world.source, "orders", 0, b"refused")[0] == REFUSED


def test_a_takeover_at_the_source_that_was_heard_of_is_known_after_a_restart_without_it() -> None:
    """In a chain west, east, north: east fails over, then north, whose broker has restarted since."""
    world = mirrored()
    north = Host(world, "north").start()
    north.ask(CreateLink(name="east-north", configs={"bootstrap.servers": "east:9092"}))
    north.ask(CreateMirror(link="east-north", mirror_topic="orders"))
    fail_over(world)
    world.run(1_000)
    cut_off(world)
    north.stop()
    north.start()
    north.ask(ChangeMirrors(verb="failover", link="east-north", topics=("orders",)))
    world.reachable = True
    world.run_until(lambda: superseder(world.destination) == Superseder(3, "cluster-north"))
    assert clients.send(world.destination, "orders", 0, b"refused")[0] == REFUSED


def test_an_operator_may_unfence_a_topic_and_it_stays_so() -> None:
    world = mirrored()
    fail_over(world)
    world.run_until(lambda: is_fenced(world))
    assert unfence(world) is None
    assert clients.send(world.source, "orders", 0, b"taken")[0] == 0
    world.cut()
    world.run(2_000)
    world.source.stop()
    world.source.start()
    world.run(2_000)
    assert clients.send(world.source, "orders", 0, b"taken again")[0] == 0
    assert unfence(world) is not None, "it is not fenced"


def test_what_was_unfenced_is_forgotten_with_its_topic() -> None:
    world = mirrored()
    fail_over(world)
    world.run_until(lambda: is_fenced(world))
    unfence(world)
    clients.delete_topic(world.source, "orders")
    world.run(100)
    assert (UNFENCED_KIND, "orders") not in world.source.view.image.documents


def test_a_topic_that_was_made_anew_is_not_the_one_that_was_taken_over() -> None:
    world = mirrored()
    cut_off(world)
    fail_over(world)
    clients.delete_topic(world.source, "orders")
    clients.create_topic(world.source, "orders")
    world.reachable = True
    world.run(3_000)
    assert superseder(world.source) is None
    assert clients.send(world.source, "orders", 0, b"taken")[0] == 0


def test_an_operator_may_delete_and_configure_what_is_fenced() -> None:
    world = mirrored()
    fail_over(world)
    world.run_until(lambda: is_fenced(world))
    assert clients.set_config(world.source, "orders", "retention.ms", "1000") == 0
    assert clients.delete_records(world.source, "orders", 0, 1) == REFUSED
    assert clients.delete_topic(world.source, "orders") == 0


def test_a_link_may_leave_its_source_writable() -> None:
    world = mirrored(source_fencing_enable="false")
    fail_over(world)
    world.run(1_000)
    assert clients.send(world.source, "orders", 0, b"taken")[0] == 0
    sets = {"source.fencing.enable": "true"}
    world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets))
    world.run_until(lambda: is_fenced(world))
