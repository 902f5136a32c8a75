"""The record of a mirror that was stopped goes with its topic, whoever was there to see that deleted."""

from typing import Any

from brokers.effects import Changed
from brokers.metadata.commands.document_commands import PutDocuments
from linker.commands import RestoreMirrors
from linker.errors import LinkRefusal
from linker.records.mirror_record import MIRROR_KIND, decode_mirror
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import LINK
from tests.playbooks.linker.test_late_commands import fail_over
from tests.playbooks.linker.test_reversals import is_read_only, record_of, reversible, state
from tests.playbooks.linker.world import Host, World


def stands_still_before_removals(host: Host) -> None:
    """What it would have asked for is never heard of."""
    region = host.linker._region
    propose = region.propose

    def hold(command: Any, then: Any) -> Any:
        is_removal = isinstance(command, PutDocuments) and command.items[0].body is None
        return Changed("it", "stands still") if is_removal else propose(command, then)

    region.propose = hold  # type: ignore[method-assign,assignment]


def deleted_while_nobody_sees_it() -> World:
    world = reversible(partitions=1)
    fail_over(world.destination)
    world.run_until(lambda: is_read_only(world.source))
    stands_still_before_removals(world.destination)
    assert clients.delete_topic(world.destination, "orders") == 0
    world.run(1_000)
    assert state(world.destination) is MirrorState.STOPPED
    return world


def test_it_is_removed_by_the_next_coordinator() -> None:
    world = deleted_while_nobody_sees_it()
    world.destination.stop()
    world.destination.start()
    world.run_until(lambda: state(world.destination) is None)
    assert "orders" not in world.destination.view.image.topics_by_name


def test_also_where_another_topic_of_its_name_was_made_at_once() -> None:
    world = deleted_while_nobody_sees_it()
    clients.create_topic(world.destination, "orders")
    world.run(1_000)
    assert state(world.destination) is MirrorState.STOPPED
    refused = world.source.ask(RestoreMirrors(LINK, ("orders",))).topics[0].refusal
    assert isinstance(refused, LinkRefusal) and refused.code == "REMOTE_MIRROR_NOT_FOUND_ERROR"
    world.destination.stop()
    world.destination.start()
    world.run_until(lambda: state(world.destination) is None)
    assert "orders" in world.destination.view.image.topics_by_name


def test_a_cut_keeps_whose_it_is() -> None:
    world = reversible(partitions=1)
    fail_over(world.destination)
    record = record_of(world.destination)
    assert record.cut is not None
    assert record.cut.topic_id == world.destination.view.image.topics_by_name["orders"].id
    assert decode_mirror("orders", record.encode()) == record
    document = world.destination.view.image.documents[MIRROR_KIND, "orders"]
    assert document.body == record.encode()
