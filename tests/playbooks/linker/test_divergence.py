"""A mirror whose source lost records that it holds: it goes back to what they have in common, and seals the rest."""

import pytest

from brokers.ids import TopicPartition
from linker.commands import AlterLinkConfigs, RestoreMirrors
from linker.errors import MirrorError
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_restore import high_watermark, orphans, state
from tests.playbooks.linker.world import Unlucky, World, linked


@pytest.mark.parametrize("prefix", ["", "w."])
def test_a_mirror_whose_source_lost_records_goes_on_from_what_they_have_in_common(
    prefix: str,
) -> None:
    """The source's power failed before it had synced what the mirror holds already."""
    mirror = f"{prefix}orders"
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, mirror, cluster_link_prefix=prefix)
    clients.send(world.source, "orders", 0, b"a", b"b")
    held = TopicPartition(mirror, 0)
    world.run_until(lambda: high_watermark(world.destination, held) == 2)
    world.source.stop()
    world.source.files.crash(Unlucky())
    world.source.start()
    assert clients.send(world.source, "orders", 0, b"other") == (0, 0)
    mirrors = world.destination.mirror
    world.run_until(lambda: mirrors(mirror).record.state is MirrorState.FAILED, 600_000)
    assert mirrors(mirror).record.error is MirrorError.UNEXPECTED_TRUNCATION
    answer = world.destination.ask(RestoreMirrors("west-east", (mirror,)))
    assert answer.topics[0].refusal is None
    world.run_until(lambda: mirrors(mirror).record.state is MirrorState.ACTIVE)
    world.run_until(lambda: world.source.log("orders", 0) == world.destination.log(mirror, 0))
    assert [name.split(".e")[0] for name in orphans(world.destination)] == [f"{mirror}-0/0-2"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_mirror_goes_back_by_itself_where_its_link_says_so(when: str) -> None:
    """`mirror.divergence.policy`, set before the source loses records or once the mirror has failed."""
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, mirror_divergence_policy="truncate" if when == "before" else "fail")
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: high_watermark(world.destination, TopicPartition("orders", 0)) == 2)
    world.source.stop()
    world.source.files.crash(Unlucky())
    world.source.start()
    assert clients.send(world.source, "orders", 0, b"other") == (0, 0)
    if when == "after":
        world.run_until(lambda: state(world.destination) is MirrorState.FAILED, 600_000)
        sets = {"mirror.divergence.policy": "truncate"}
        world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets, deletes=()))
    same = world.source.log
    world.run_until(lambda: same("orders", 0) == world.destination.log("orders", 0), 600_000)
    world.run_until(lambda: state(world.destination) is MirrorState.ACTIVE)
    assert [name.split(".e")[0] for name in orphans(world.destination)] == ["orders-0/0-2"]
