"""Whoever stood still between a decision and its command sends the command late, when others have long decided anew.

Each region remembers every change of a topic's writer that it asked for, and asks for it again later on.
"""

from functools import partial
from typing import Any

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.mirror_commands import SetTopicWriter
from linker.commands import CreateMirror, DeleteLink, RestoreMirrors, UnfenceTopics
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import LINK, link_both_ways
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
