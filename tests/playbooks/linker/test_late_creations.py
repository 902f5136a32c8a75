"""A mirror's topic is asked for when its record is written. What comes late finds another record, and makes nothing."""

from functools import partial
from typing import Any

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.mirror_commands import CreateMirrorTopic
from linker.answers import LinkDescription, MirrorDescription, Topics
from linker.commands import CreateLink, CreateMirror, DeleteLink, DescribeLink
from linker.events import AdminAsked
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import BOTH_DIAL, LINK
from tests.playbooks.linker.test_late_commands import TICKET, linked_only
from tests.playbooks.linker.test_reversals import change, state
from tests.playbooks.linker.world import Host, World, caught_up, submit

UNKNOWN = Refusal(KafkaError.REQUEST_TIMED_OUT, "no controller has answered in time")


class HeldCreations:
    """The topics that the coordinator of a region asks for, none of which reaches its controller."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.asked: list[tuple[CreateMirrorTopic, Any]] = []
        host.linker._region._together.create_mirror_topic = (  # type: ignore[method-assign]
            lambda command, then: self.asked.append((command, then))
        )

    def let_go(self) -> None:
        """Those that come from now on reach it."""
        del self._host.linker._region._together.create_mirror_topic

    def of(self, link: str, ticket: int = TICKET) -> CreateMirrorTopic:
        """Of a mirror that an operator creates."""
        count = len(self.asked)
        self._host.feed(AdminAsked(ticket, CreateMirror(link=link, mirror_topic="orders")))
        self._host.world.run_until(lambda: len(self.asked) > count)
        return self.asked[-1][0]

    def answer(self, refusal: Refusal) -> None:
        """Of the last of them."""
        host = self._host
        host.linker._region.timers.set(host.world.now, partial(self.asked[-1][1], refusal))
        host.world.run(1)


def is_late(host: Host, command: CreateMirrorTopic) -> Refusal:
    refused = submit(host, command)
    assert isinstance(refused, Refusal) and refused.error is KafkaError.INVALID_UPDATE_VERSION
    assert "orders" not in host.view.image.topics_by_name
    return refused


def pause_and_resume(host: Host) -> None:
    for verb in ("pause", "resume"):
        assert change(host, verb).topics[0].refusal is None
    host.world.run_until(lambda: state(host) is MirrorState.ACTIVE)


def test_no_topic_is_made_for_a_link_that_is_gone_when_another_link_mirrors_the_same() -> None:
    """It would be the first link's, and nobody could ever write to it."""
    world = linked_only()
    held = HeldCreations(world.destination)
    late = held.of(LINK)
    held.answer(UNKNOWN)
    deleted = world.destination.ask(DeleteLink(name=LINK, force=True))
    assert isinstance(deleted, Topics), deleted
    configs = {**BOTH_DIAL, "link.mode": "DESTINATION", "bootstrap.servers": "west:9092"}
    made = world.destination.ask(CreateLink(name="again", configs=configs))
    assert isinstance(made, LinkDescription), made
    describe = DescribeLink("again")
    world.run_until(lambda: world.destination.ask(describe).state == "ACTIVE")
    of_another = held.of("again", TICKET + 1)
    is_late(world.destination, late)
    assert not isinstance(submit(world.destination, of_another), Refusal)
    assert world.destination.view.image.topics_by_name["orders"].writer == "again"


def test_who_creates_a_mirror_makes_its_topic_though_it_was_paused_meanwhile() -> None:
    world = linked_only()
    held = HeldCreations(world.destination)
    late = held.of(LINK)
    assert change(world.destination, "pause").topics[0].refusal is None
    refused = is_late(world.destination, late)
    held.let_go()
    held.answer(refused)
    world.run_until(lambda: TICKET in world.destination.answers)
    answer = world.destination.answers[TICKET]
    assert isinstance(answer, MirrorDescription) and answer.record.state is MirrorState.PAUSED
    copies_once_it_is_resumed(world)


def copies_once_it_is_resumed(world: World) -> None:
    assert change(world.destination, "resume").topics[0].refusal is None
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world))


def test_a_mirror_makes_its_topic_at_once_though_its_record_has_changed_meanwhile() -> None:
    """Not only after `topic.config.sync.ms`."""
    world = linked_only()
    held = HeldCreations(world.destination)
    held.of(LINK)
    held.answer(UNKNOWN)
    world.run_until(lambda: len(held.asked) == 2)
    late, _ = held.asked[-1]
    pause_and_resume(world.destination)
    refused = is_late(world.destination, late)
    held.let_go()
    held.answer(refused)
    world.run(100)
    assert "orders" in world.destination.view.image.topics_by_name
