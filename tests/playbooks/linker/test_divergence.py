"""A mirror whose source lost records that it holds: it goes back to what they have in common, and seals the rest."""

from pathlib import Path

import pytest

from brokers.errors import Refusal
from brokers.ids import TopicPartition
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from federation.audit.verdict.verdicts import Verdict
from linker.commands import AlterLinkConfigs, DescribeMirror, ListHoles, RestoreMirrors
from linker.errors import MirrorError
from linker.records.hole_ledger import HoleCause
from linker.records.mirror_record import MIRROR_KIND
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.audits import audited
from tests.playbooks.linker.test_restore import high_watermark, orphans, state
from tests.playbooks.linker.world import Unlucky, World, caught_up, linked, submit

CUT = HoleCause.DIVERGENCE_CUT


@pytest.mark.parametrize(("prefix", "is_named"), [("", True), ("w.", True), ("w.", False)])
def test_a_mirror_whose_source_lost_records_goes_on_from_what_they_have_in_common(
    prefix: str, is_named: bool
) -> None:
    """The source's power failed before it had synced what the mirror holds already. The mirror is named, or one of all
    of its link."""
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
    assert "truncate-and-restore" in world.destination.ask(DescribeMirror(mirror)).hint
    answer = world.destination.ask(RestoreMirrors("west-east", (mirror,) if is_named else ()))
    assert [(one.topic, one.refusal) for one in answer.topics] == [(mirror, None)]
    world.run_until(lambda: mirrors(mirror).record.state is MirrorState.ACTIVE)
    world.run_until(lambda: world.source.log("orders", 0) == world.destination.log(mirror, 0))
    assert [name.split(".e")[0] for name in orphans(world.destination)] == [f"{mirror}-0/0-2"]
    assert [one.cause for one in world.destination.mirror(mirror).holes] == [CUT]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_mirror_goes_back_by_itself_where_its_link_says_so(when: str, tmp_path: Path) -> None:
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
    ((folder, manifest),) = orphans(world.destination).items()
    assert folder.split(".e")[0] == "orders-0/0-2"
    # What was cut is in the ledger, and no hole in what the source has.
    for _ in range(2):
        (cut,) = world.destination.mirror("orders").holes
        assert (cut.base_offset, cut.next_offset, cut.cause) == (0, 2, CUT)
        assert cut.size == manifest["bytes"] > 0
        assert cut.first_seen <= manifest["sealed_at"] + 1_000
        assert world.destination.ask(ListHoles()).holes == (cut,)
        assert world.destination.linker.skipped_offsets("orders") == 0
        world.destination.stop()
        world.destination.start()
    # An audit knows it, and subtracts nothing for it.
    world.run_until(lambda: caught_up(world))
    result = audited(world.source, world.destination, tmp_path, "orders")
    assert [(one.kind, one.from_offset) for one in result.findings] == []
    assert result.verdict is Verdict.KEPT


def test_a_broker_that_has_not_seen_the_failure_compares_what_it_copies_anew() -> None:
    """Another broker's partition has parted: it has stopped there, and goes on here until the restoration is read."""
    world = World().start()
    here = world.destination
    clients.create_topic(world.source, "orders", 2)
    linked(world)
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    record = here.linker.links["west-east"].mirrors["orders"].record
    anew = record.restored(MirrorState.PENDING_SETUP_FOR_RESTORE, "orders-1 parted", here.now)
    item = DocumentChange(kind=MIRROR_KIND, name="orders", body=anew.encode())
    assert not isinstance(submit(here, PutDocuments((item,))), Refusal)
    clients.send(world.source, "orders", 0, b"c")
    world.run_until(lambda: state(here) is MirrorState.ACTIVE)
    world.run_until(lambda: caught_up(world))
    assert orphans(here) == {}
