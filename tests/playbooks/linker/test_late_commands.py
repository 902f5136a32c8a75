"""Whoever stood still between a decision and its command sends the command late, when others have long decided anew.

Each region remembers every change of a topic's writer that it asked for, and asks for it again later on.
"""

from dataclasses import replace
from functools import partial
from typing import Any

from brokers.effects import Changed
from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.document_commands import PutDocuments
from brokers.metadata.commands.mirror_commands import CreateMirrorTopic, SetTopicWriter
from linker.commands import CreateMirror, DeleteLink, RestoreMirrors, UnfenceTopics
from linker.errors import LinkRefusal
from linker.events import AdminAsked
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import LINK, described, link_both_ways
from tests.playbooks.linker.test_reversals import (
    can_write,
    change,
    is_read_only,
    is_reversed,
    reverse,
    reversible,
    state,
)
from tests.playbooks.linker.world import Host, World, caught_up, submit


class Remembering(World):
    """`decided`: what each region asked its controller for, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.decided: dict[str, list[SetTopicWriter]] = {}
        for host in (self.source, self.destination):
            self.decided[host.name] = []
            host.on_start = partial(self._listen, host)

    def _listen(self, host: Host) -> None:
        together = host.linker._region._together
        asked = together.set_writer

        def ask(command: SetTopicWriter, then: Any) -> None:
            self.decided[host.name].append(command)
            asked(command, then)

        together.set_writer = ask  # type: ignore[method-assign]

    def all_come_late(self) -> list[KafkaError]:
        """What the controllers say; nothing changes by it."""
        told = []
        for host in (self.source, self.destination):
            for command in list(self.decided[host.name]):
                before = host.view.image.topics_by_name["orders"]
                result = submit(host, command)
                assert host.view.image.topics_by_name["orders"] is before, command
                assert isinstance(result, Refusal), command
                told.append(result.error)
        return told


def remembering(**configs: str) -> Remembering:
    world = Remembering()
    reversible(partial(link_both_ways, **configs), partitions=1, world=world)
    return world


def fail_over(host: Host) -> None:
    assert change(host, "failover").topics[0].state == "STOPPED"


def restore(world: World, host: Host) -> None:
    assert host.ask(RestoreMirrors(LINK, ("orders",))).topics[0].refusal is None
    world.run_until(lambda: state(host) is MirrorState.ACTIVE)


def reversed_once(world: World, primary: Host, mirror: Host) -> None:
    """The mirror becomes the topic's home."""
    reverse(mirror)
    world.run_until(lambda: is_reversed(primary, mirror))
    world.run_until(lambda: caught_up(world))


def test_a_mirror_that_was_made_of_its_former_source_is_not_made_writable_by_its_own_past() -> None:
    """Both regions would be written to."""
    world = remembering()
    reversed_once(world, world.source, world.destination)
    reversed_once(world, world.destination, world.source)
    handover = world.decided["east"][0]
    assert (handover.expected_writer, handover.writer) == (LINK, None)
    refused = submit(world.destination, handover)
    assert isinstance(refused, Refusal) and refused.error is KafkaError.INVALID_UPDATE_VERSION
    assert can_write(world.source) and not can_write(world.destination)


def test_nothing_that_a_reversal_asked_for_is_of_any_effect_after_it() -> None:
    world = remembering()
    for _ in range(2):
        reversed_once(world, world.source, world.destination)
        reversed_once(world, world.destination, world.source)
        assert KafkaError.INVALID_UPDATE_VERSION in world.all_come_late()
        assert can_write(world.source) and not can_write(world.destination)
    assert [len(each) for each in world.decided.values()] == [4, 4]


def test_a_restored_mirror_is_not_made_writable_by_the_promotion_before_it() -> None:
    world = remembering(source_fencing_enable="false")  # the other region stays the topic's home
    reversed_once(world, world.source, world.destination)
    fail_over(world.source)
    restore(world, world.source)
    (*_, handover, _) = world.decided["west"]
    assert (handover.expected_writer, handover.writer) == (LINK, None)
    refused = submit(world.source, handover)
    assert isinstance(refused, Refusal) and refused.error is KafkaError.INVALID_UPDATE_VERSION
    assert can_write(world.destination) and not can_write(world.source)


def test_a_topic_that_was_taken_back_is_not_made_read_only_by_the_restore_before_it() -> None:
    """It would be the link's until its coordinator hears of it, and gives it back in another leader epoch."""
    world = remembering()
    reversed_once(world, world.source, world.destination)
    fail_over(world.source)
    world.run_until(lambda: is_read_only(world.destination))
    assert world.destination.ask(UnfenceTopics(("orders",))).topics[0].refusal is None
    world.run(100)
    restore(world, world.source)
    fail_over(world.source)
    assert world.all_come_late()
    assert can_write(world.source)


def test_a_topic_whose_link_is_gone_does_not_become_its_mirror_again() -> None:
    """Nobody could ever write to it."""
    world = remembering(source_fencing_enable="false")
    reversed_once(world, world.source, world.destination)
    reversed_once(world, world.destination, world.source)
    for host in (world.source, world.destination):
        host.ask(DeleteLink(name=LINK, force=True))
    world.run(1_000)
    assert KafkaError.INVALID_UPDATE_VERSION in world.all_come_late()
    assert can_write(world.source) and can_write(world.destination)


def test_a_region_that_took_a_topic_back_is_not_fenced_by_the_takeover_before_it() -> None:
    """It would be read-only in both regions: the other one is told of the later takeover."""
    world = remembering()
    fail_over(world.destination)
    world.run_until(lambda: is_read_only(world.source))
    restore(world, world.source)
    fail_over(world.source)
    world.run_until(lambda: is_read_only(world.destination))
    assert KafkaError.INVALID_UPDATE_VERSION in world.all_come_late()
    assert can_write(world.source) and not can_write(world.destination)


def test_a_topic_that_an_operator_unfenced_is_not_fenced_by_the_takeover_before_it() -> None:
    world = remembering()
    fail_over(world.destination)
    world.run_until(lambda: is_read_only(world.source))
    assert world.source.ask(UnfenceTopics(("orders",))).topics[0].refusal is None
    assert KafkaError.INVALID_UPDATE_VERSION in world.all_come_late()
    assert can_write(world.source)


def test_a_topic_that_was_made_anew_is_not_unfenced_by_what_was_said_of_the_former_one() -> None:
    """It is taken over by the same region in the same generation, and would be written to in both."""
    world = remembering()
    for _ in range(2):
        fail_over(world.destination)
        world.run_until(lambda: is_read_only(world.source))
        if len(world.decided["west"]) == 1:
            assert world.source.ask(UnfenceTopics(("orders",))).topics[0].refusal is None
            start_anew(world)
    assert KafkaError.INVALID_UPDATE_VERSION in world.all_come_late()
    assert not can_write(world.source)


def start_anew(world: World) -> None:
    """Both topics are deleted and made again."""
    for host in (world.source, world.destination):
        assert clients.delete_topic(host, "orders") == 0
        world.run(500)
    clients.create_topic(world.source, "orders")
    answer = world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"))
    assert not isinstance(answer, Exception), answer
    world.run_until(lambda: caught_up(world))


# --- records of mirrors: what a failover has decided is in them, and there is no way back without it ---

TICKET = 1 << 40


def linked_only() -> World:
    world = World().start()
    clients.create_topic(world.source, "orders")
    link_both_ways(world)
    ends = (world.source, world.destination)
    world.run_until(lambda: all(described(each).state == "ACTIVE" for each in ends))
    return world


def stands_still_before_it_is_made(world: World) -> tuple[CreateMirrorTopic, Any]:
    """The topic of a new mirror, whose record is written."""
    together, held = world.destination.linker._region._together, list[Any]()
    together.create_mirror_topic = lambda *asked: held.append(asked)  # type: ignore[method-assign]
    world.destination.feed(AdminAsked(TICKET, CreateMirror(link=LINK, mirror_topic="orders")))
    world.run_until(lambda: bool(held))
    return held[0]


def others_make_it_and_fail_it_over(world: World, command: CreateMirrorTopic) -> None:
    assert not isinstance(submit(world.destination, command), Refusal)
    fail_over(world.destination)


def is_kept(world: World) -> bool:
    """And the way back is open."""
    restore(world, world.source)
    return state(world.destination) is MirrorState.STOPPED


def test_a_mirror_that_others_made_and_failed_over_is_not_removed_by_who_could_not_make_it() -> (
    None
):
    world = linked_only()
    command, then = stands_still_before_it_is_made(world)
    others_make_it_and_fail_it_over(world, command)
    late = Refusal(KafkaError.TOPIC_ALREADY_EXISTS, "topic orders exists")
    world.destination.linker._region.timers.set(world.now, partial(then, late))
    world.run_until(lambda: TICKET in world.destination.answers)
    assert isinstance(world.destination.answers[TICKET], LinkRefusal)
    assert is_kept(world)


def test_nor_by_who_deletes_its_link() -> None:
    """It was not made when that was decided."""
    world = linked_only()
    command, then = stands_still_before_it_is_made(world)
    unknown = Refusal(KafkaError.REQUEST_TIMED_OUT, "no controller has answered in time")
    world.destination.linker._region.timers.set(world.now, partial(then, unknown))
    world.run_until(lambda: TICKET in world.destination.answers)
    deletion = decided_only(world, DeleteLink(name=LINK, force=True))
    others_make_it_and_fail_it_over(world, command)
    refused = submit(world.destination, deletion)
    assert isinstance(refused, Refusal) and refused.error is KafkaError.INVALID_UPDATE_VERSION
    assert is_kept(world)


def decided_only(world: World, command: DeleteLink) -> PutDocuments:
    """What the destination would ask its controller for; it does not."""
    region, held = world.destination.linker._region, list[Any]()
    region.propose = lambda *asked: held.append(asked) or Changed("it", "stands still")  # type: ignore[method-assign]
    world.destination.feed(AdminAsked(TICKET + 1, command))
    world.run_until(lambda: bool(held))
    del region.propose
    ((decided, _),) = held
    return decided


def removals_of(host: Host) -> list[PutDocuments]:
    """Of documents, as its coordinator asks its controller for them from now on."""
    region, decided = host.linker._region, list[PutDocuments]()
    propose = region.propose

    def listen(command: Any, then: Any) -> Any:
        if isinstance(command, PutDocuments) and any(item.body is None for item in command.items):
            decided.append(command)
        return propose(command, then)

    region.propose = listen  # type: ignore[method-assign]
    return decided


def test_nor_by_who_heard_that_its_former_topic_was_deleted() -> None:
    world = reversible(partitions=1)
    decided = removals_of(world.destination)
    fail_over(world.destination)
    start_anew(world)
    (removal,) = decided
    fail_over(world.destination)
    refused = submit(world.destination, removal)
    assert isinstance(refused, Refusal) and refused.error is KafkaError.INVALID_UPDATE_VERSION
    assert is_kept(world)


def test_an_unfenced_topic_is_not_fenced_by_who_heard_that_its_former_topic_was_deleted() -> None:
    world = reversible(partitions=1)
    decided = removals_of(world.source)
    for begins_anew in (True, False):
        fail_over(world.destination)
        world.run_until(lambda: is_read_only(world.source))
        assert world.source.ask(UnfenceTopics(("orders",))).topics[0].refusal is None
        if begins_anew:
            start_anew(world)
    (removal,) = decided
    refused = submit(world.source, removal)
    assert isinstance(refused, Refusal) and refused.error is KafkaError.INVALID_UPDATE_VERSION
    world.run(5_000)
    assert can_write(world.source)


def test_a_record_that_changes_while_its_topic_is_deleted_is_removed_later() -> None:
    world = reversible(partitions=1)
    fail_over(world.destination)
    region = world.destination.linker._region
    propose = region.propose

    def outdate(command: PutDocuments, then: Any) -> Any:
        region.propose = propose  # type: ignore[method-assign]
        (removal,) = command.items
        assert removal.expected_version is not None
        older = replace(removal, expected_version=removal.expected_version - 1)
        return propose(PutDocuments((older,)), then)

    region.propose = outdate  # type: ignore[method-assign,assignment]
    assert clients.delete_topic(world.destination, "orders") == 0
    assert region.propose == propose
    assert state(world.destination) is MirrorState.STOPPED
    world.run_until(lambda: state(world.destination) is None)
