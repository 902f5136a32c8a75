"""reverse-and-start and reverse-and-pause: a mirror and its source change places, and nothing is lost."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from brokers.metadata.commands.config_commands import ResourceType
from linker.answers import TopicResult, Topics
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    ListDecisions,
    RestoreMirrors,
)
from linker.errors import LinkRefusal
from linker.frames import TopicState
from linker.records.mirror_record import MIRROR_KIND, CutKind, MirrorRecord, decode_mirror
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import LINK, described, link_both_ways, mirror
from tests.playbooks.linker.world import Host, World, caught_up

READ_ONLY = 44  # POLICY_VIOLATION


class Behind(World):
    """A broker of the source has not applied the newest metadata: it `says` what was so before.

    Leader epochs are of now, as a coordinator that leads no partition has it: those that do hear them of other brokers.
    """

    says: TopicState | None = None
    said: TopicState | None = None

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if host is self.source and isinstance(frame, TopicState):
            epochs = frame.leader_epochs
            frame = self.said = replace(self.says or frame, leader_epochs=epochs)
        super().send(host, stream, frame)


def reversible(
    link: Callable[[World], None] = link_both_ways,
    partitions: int = 2,
    world: World | None = None,
) -> World:
    world = (world or World()).start()
    clients.create_topic(world.source, "orders", partitions)
    link(world)
    ends = (world.source, world.destination)
    world.run_until(lambda: all(described(each).state == "ACTIVE" for each in ends))
    mirror(world.destination, "orders")
    for index in range(partitions):
        clients.send(world.source, "orders", index, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    return world


def change(host: Host, verb: str, **options: Any) -> Any:
    return host.ask(ChangeMirrors(verb=verb, link=LINK, topics=("orders",), **options))


def reverse(host: Host, verb: str = "reverse-and-start", **options: Any) -> TopicResult:
    answer = change(host, verb, **options)
    assert isinstance(answer, Topics), answer
    return answer.topics[0]


def state(host: Host) -> MirrorState | None:
    is_there = (MIRROR_KIND, "orders") in host.view.image.documents
    return record_of(host).state if is_there else None


def record_of(host: Host) -> MirrorRecord:
    return decode_mirror("orders", host.view.image.documents[MIRROR_KIND, "orders"].body)


def is_reversed(mirror_host: Host, topic_host: Host) -> bool:
    if state(topic_host) is not MirrorState.STOPPED:
        return False
    return state(mirror_host) in (MirrorState.ACTIVE, MirrorState.PAUSED)


def is_read_only(host: Host) -> bool:
    return host.view.image.topics_by_name["orders"].writer is not None


def can_write(host: Host, value: bytes = b"more") -> bool:
    error, _ = clients.send(host, "orders", 0, value)
    assert error in (0, READ_ONLY), error
    return error == 0


def test_a_mirror_and_its_source_change_places() -> None:
    world = reversible()
    assert reverse(world.destination).state == "PENDING_SYNCHRONIZE"
    world.run_until(lambda: is_reversed(world.source, world.destination))
    assert state(world.source) is MirrorState.ACTIVE
    assert not can_write(world.source) and can_write(world.destination)
    world.run_until(lambda: caught_up(world))
    assert world.source.log("orders", 0) == world.destination.log("orders", 0)


def test_the_mirror_that_a_reversal_leaves_paused_is_resumed_later() -> None:
    world = reversible()
    reverse(world.destination, "reverse-and-pause")
    world.run_until(lambda: is_reversed(world.source, world.destination))
    assert state(world.source) is MirrorState.PAUSED
    can_write(world.destination)
    world.run(2_000)
    assert not caught_up(world)
    assert not isinstance(change(world.source, "resume"), LinkRefusal)
    world.run_until(lambda: caught_up(world))


def test_ten_reversals_in_a_row_keep_every_record_and_raise_the_generation() -> None:
    world = reversible()
    primary, other = world.source, world.destination
    for number in range(10):
        assert can_write(primary, f"of {number}".encode())
        world.run_until(lambda: caught_up(world))
        reverse(other)
        world.run_until(partial(is_reversed, primary, other))
        primary, other = other, primary
    world.run_until(lambda: caught_up(world))
    assert world.source.log("orders", 0) == world.destination.log("orders", 0)
    log = world.source.log("orders", 0)
    assert all(f"of {number}".encode() in log for number in range(10))
    generations = [host.mirror("orders").record.generation for host in (primary, other)]
    assert generations == [11, 11]


def test_what_is_written_until_the_fence_is_at_the_new_primary_and_nothing_after_it() -> None:
    world = reversible(partitions=1)
    world.delay_ms = 40
    reverse(world.destination)
    accepted = []
    for number in range(200):
        value = f"record {number}".encode()
        error, _ = clients.send(world.source, "orders", 0, value)
        accepted += [value] if error == 0 else []
        world.run(5)
    world.run_until(lambda: is_reversed(world.source, world.destination))
    log = world.destination.log("orders", 0)
    assert 0 < len(accepted) < 200
    assert all(value in log for value in accepted)
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None and cut.kind is CutKind.REVERSE_AND_START
    assert [one.missing for one in cut.partitions] == [0]


def test_a_batch_that_comes_again_after_the_reversal_is_answered_with_its_old_offset() -> None:
    world = reversible(partitions=1)
    batch = {"producer_id": 7, "base_sequence": 0}
    stored = clients.send(world.source, "orders", 0, b"once", **batch)
    assert stored == (0, 2)
    reverse(world.destination)
    world.run_until(lambda: is_reversed(world.source, world.destination))
    assert clients.send(world.source, "orders", 0, b"once", **batch) == stored
    assert clients.send(world.destination, "orders", 0, b"once", **batch) == stored
    error, _ = clients.send(world.source, "orders", 0, b"next", producer_id=7, base_sequence=1)
    assert error == READ_ONLY


def test_the_decision_of_a_reversal_is_on_record() -> None:
    world = reversible()
    reverse(world.destination, why="exercise", asked_by="ann")
    world.run_until(lambda: is_reversed(world.source, world.destination))
    (decision,) = world.destination.ask(ListDecisions()).decisions
    assert decision.kind is CutKind.REVERSE_AND_START
    assert (decision.asked.why, decision.asked.by) == ("exercise", "ann")


def test_a_reversal_whose_source_cannot_mirror_is_given_up_with_the_reason_and_the_source_goes_on() -> (
    None
):
    world = World().start()
    clients.create_topic(world.source, "orders")
    given = {"link.mode": "BIDIRECTIONAL", "bootstrap.servers": "west:9092"}
    assert not isinstance(world.destination.ask(CreateLink(name=LINK, configs=given)), LinkRefusal)
    mirror(world.destination, "orders")
    reverse(world.destination)
    world.run_until(lambda: state(world.destination) is MirrorState.ACTIVE)
    (error,) = world.destination.mirror("orders").record.transition_errors
    assert error.code == "REMOTE_LINK_NOT_FOUND_ERROR"
    assert "no bidirectional link" in error.because
    assert can_write(world.source)


def test_a_reversal_whose_source_has_paused_its_half_is_given_up() -> None:
    world = reversible()
    paused = AlterLinkConfigs(name=LINK, sets={"cluster.link.paused": "true"}, deletes=())
    assert not isinstance(world.source.ask(paused), LinkRefusal)
    reverse(world.destination)
    world.run_until(lambda: state(world.destination) is MirrorState.ACTIVE)
    (error,) = world.destination.mirror("orders").record.transition_errors
    assert "is paused at the source" in error.because
    assert can_write(world.source)


def test_a_reversal_that_comes_too_late_is_withdrawn_and_the_source_is_writable_again() -> None:
    world = reversible()
    clients.find_coordinator(world.source, "readers")
    reverse(world.destination, timeout_ms=1_000)
    world.run_until(lambda: is_read_only(world.source), 500)
    world.reachable = False
    world.cut()
    world.run_until(lambda: state(world.destination) is MirrorState.ACTIVE)
    assert not can_write(world.source), "nobody has told it yet"
    assert state(world.source) is MirrorState.PENDING_MIRROR
    world.reachable = True
    world.run_until(lambda: not is_read_only(world.source))
    assert can_write(world.source)
    world.run_until(lambda: caught_up(world))
    assert state(world.source) is MirrorState.STOPPED
    reverse(world.destination)
    world.run_until(lambda: is_reversed(world.source, world.destination))
    assert can_write(world.destination)


def test_partitions_added_just_before_the_fence_are_waited_for() -> None:
    """The source, which is to be the mirror, has more partitions than the mirror until that has made its own."""
    world = reversible()
    reverse(world.destination)
    assert clients.grow_topic(world.source, "orders", 3) == 0
    world.destination.files.full_after(0)  # so that the mirror does not make them yet
    world.run_until(lambda: is_read_only(world.source), 500)
    world.run(5_000)
    assert state(world.source) is MirrorState.PENDING_MIRROR
    world.destination.files.full_after(None)
    world.run_until(lambda: is_reversed(world.source, world.destination))
    assert len(world.destination.view.image.topics_by_name["orders"].partitions) == 3
    assert state(world.source) is MirrorState.ACTIVE


def test_partitions_added_just_before_the_fence_do_not_keep_a_reversal_from_being_withdrawn() -> (
    None
):
    world = reversible()
    reverse(world.destination, timeout_ms=2_000)
    assert clients.grow_topic(world.source, "orders", 3) == 0
    world.destination.files.full_after(0)
    world.run_until(lambda: is_read_only(world.source), 500)
    world.run(5_000)
    world.destination.files.full_after(None)
    world.run_until(lambda: state(world.destination) is MirrorState.ACTIVE)
    world.run_until(lambda: not is_read_only(world.source))
    world.run_until(lambda: caught_up(world))
    reverse(world.destination)
    world.run_until(lambda: is_reversed(world.source, world.destination))
    assert can_write(world.destination)


def test_a_mirror_is_not_cut_by_what_the_source_said_before_it_was_read_only() -> None:
    """By a new link coordinator, whose broker of the source is behind: it would lack a setting, or a partition."""
    world = Behind()
    reversible(world=world)
    before = world.said
    assert clients.set_config(world.source, "orders", "retention.ms", "123456789") == 0
    topic = (ResourceType.TOPIC, "orders")

    def is_set() -> bool:
        return world.destination.view.image.config(topic).get("retention.ms") == "123456789"

    world.run_until(is_set)
    reverse(world.destination)
    world.run_until(lambda: record_of(world.destination).fenced_at >= 0)
    world.destination.stop()
    world.says = before
    world.destination.start()
    world.run(5_000)
    assert state(world.destination) is MirrorState.PENDING_SYNCHRONIZE
    world.says = None
    world.cut()
    world.run_until(lambda: is_reversed(world.source, world.destination))
    assert is_set()


def test_an_operator_of_the_source_takes_its_topic_back() -> None:
    world = reversible()
    reverse(world.destination, timeout_ms=600_000)
    world.run_until(lambda: is_read_only(world.source), 500)
    world.reachable = False
    world.cut()
    answer = change(world.source, "failover")
    assert answer.topics[0].state == "STOPPED"
    assert can_write(world.source)
    world.reachable = True
    world.run_until(lambda: state(world.destination) is MirrorState.ACTIVE)
    (error,) = world.destination.mirror("orders").record.transition_errors
    assert "taken its topic back" in error.because or "own since" in error.because
    world.run_until(lambda: caught_up(world))


def test_a_failover_ends_a_reversal_and_the_source_is_restored_from_it() -> None:
    world = reversible()
    reverse(world.destination, timeout_ms=600_000)
    world.run_until(lambda: is_read_only(world.source), 500)
    world.reachable = False
    world.cut()
    assert change(world.destination, "failover").topics[0].state == "STOPPED"
    assert can_write(world.destination)
    world.reachable = True
    world.run(10_000)
    assert state(world.source) is MirrorState.PENDING_MIRROR
    assert world.source.ask(RestoreMirrors(LINK, ("orders",))).topics[0].refusal is None
    world.run_until(lambda: state(world.source) is MirrorState.ACTIVE)
    world.run_until(lambda: caught_up(world))


@pytest.mark.parametrize("pause_ms", range(0, 130, 3))
@pytest.mark.parametrize("stopped", ["west", "east"])
def test_a_reversal_survives_a_crash_of_either_region_at_any_instant(
    pause_ms: int, stopped: str
) -> None:
    world = reversible(partitions=1)
    reverse(world.destination)
    world.run(pause_ms)
    host = world.source if stopped == "west" else world.destination
    host.stop()
    host.start()
    world.run_until(lambda: is_reversed(world.source, world.destination))
    assert not can_write(world.source) and can_write(world.destination)
    world.run_until(lambda: caught_up(world))
    assert world.source.log("orders", 0) == world.destination.log("orders", 0)


@pytest.mark.parametrize(
    ("configs", "code"),
    [
        ({"bootstrap.servers": "west:9092"}, "INVALID_REQUEST"),
        (
            {
                "bootstrap.servers": "west:9092",
                "link.mode": "BIDIRECTIONAL",
                "cluster.link.prefix": "w.",
            },
            "INVALID_REQUEST",
        ),
    ],
)
def test_only_mirrors_of_bidirectional_links_without_prefix_are_reversed(
    configs: dict[str, str], code: str
) -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    assert not isinstance(
        world.destination.ask(CreateLink(name=LINK, configs=configs)), LinkRefusal
    )
    topic = configs.get("cluster.link.prefix", "") + "orders"
    world.destination.ask(CreateMirror(link=LINK, mirror_topic=topic))
    command = ChangeMirrors(verb="reverse-and-start", link=LINK, topics=(topic,))
    answer = world.destination.ask(command)
    assert isinstance(answer, LinkRefusal) and answer.code == code and answer.hint


def test_a_reversal_needs_its_source_reached() -> None:
    world = reversible()
    paused = AlterLinkConfigs(name=LINK, sets={"cluster.link.paused": "true"}, deletes=())
    world.destination.ask(paused)
    answer = change(world.destination, "reverse-and-start")
    assert isinstance(answer, LinkRefusal) and answer.code == "CLUSTER_LINK_UNAVAILABLE"
