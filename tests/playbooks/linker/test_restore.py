"""The way back: an old primary's tail is sealed and truncated, and it mirrors the region that it was failed over to."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from brokers.errors import KafkaError
from brokers.ids import Buffers, TopicPartition
from brokers.node.mirror_writes import PAUSE_MS
from brokers.ports import DiskError
from brokers.records.batch import iter_headers
from linker.answers import TopicResult, Topics
from linker.commands import (
    ChangeMirrors,
    CreateLink,
    DescribeLink,
    ListHoles,
    RestoreMirrors,
)
from linker.records.mirror_record import RestorePoint
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, Unlucky, World, caught_up, linked
from tests.sim.files import SimFiles

BACK = "east-west"


def failed_over(
    partitions: int = 1, disk: SimFiles | None = None, world: World | None = None
) -> World:
    """East was failed over at offset 2 of each partition, and both regions have gone on since. `disk` is west's."""
    world = world or World()
    world.source.files = disk or world.source.files
    world.start()
    clients.create_topic(world.source, "orders", partitions, flush_messages="1")
    linked(world, source_fencing_enable="false")
    for index in range(partitions):
        clients.send(world.source, "orders", index, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    world.reachable = False
    world.cut()
    command = ChangeMirrors(verb="failover", link="west-east", topics=("orders",))
    assert world.destination.ask(command).topics[0].state == "STOPPED"
    for index in range(partitions):
        clients.send(world.source, "orders", index, b"orphan 1")
        clients.send(world.source, "orders", index, b"orphan 2", b"orphan 3")
        clients.send(world.destination, "orders", index, b"c")
    world.reachable = True
    return world


def link_back(world: World, **configs: str) -> None:
    given = {"bootstrap.servers": "east:9092"}
    given.update({name.replace("_", "."): value for name, value in configs.items()})
    answer = world.source.ask(CreateLink(name=BACK, configs=given))
    assert not isinstance(answer, Exception), answer


def restore(world: World, **options: Any) -> TopicResult:
    answer = world.source.ask(RestoreMirrors(BACK, ("orders",), **options))
    assert isinstance(answer, Topics), answer
    return answer.topics[0]


def refused(world: World) -> str:
    result = restore(world)
    assert result.refusal is not None
    assert clients.send(world.source, "orders", 0, b"still mine")[0] == 0
    return result.refusal.code


def state(host: Host) -> MirrorState:
    return host.mirror("orders").record.state


def is_restored(world: World) -> bool:
    return state(world.source) is MirrorState.ACTIVE


def high_watermark(host: Host, partition: TopicPartition) -> int:
    found = host.view.partition_state(partition)
    return -1 if found is None else found.high_watermark


def same_logs(world: World, partitions: Iterable[int] = (0,)) -> bool:
    return all(
        world.source.segments("orders", index) == world.destination.segments("orders", index)
        for index in partitions
    )


def orphans(host: Host) -> dict[str, Mapping[str, Any]]:
    """The manifests of what is sealed, by folder."""
    found = {}
    for home in host.files.list("orphans"):
        for name in host.files.list(f"orphans/{home}"):
            path = f"orphans/{home}/{name}/manifest.json"
            if host.files.exists(path):
                data = host.files.read(path, 0, host.files.size(path))
                found[f"{home}/{name}"] = json.loads(bytes(data))
    return found


def orphan_values(host: Host, folder: str) -> bytes:
    files = orphans(host)[folder]["files"]
    paths = (f"orphans/{folder}/{one['file']}" for one in files)
    return b"".join(bytes(host.files.read(path, 0, host.files.size(path))) for path in paths)


def test_the_old_primary_seals_its_tail_and_mirrors_what_took_its_place() -> None:
    world = failed_over()
    link_back(world)
    before = world.source.log("orders", 0)
    assert restore(world).state == "PENDING_SETUP_FOR_RESTORE"
    world.run_until(lambda: is_restored(world) and same_logs(world))
    (folder,) = orphans(world.source)
    assert folder.startswith("orders-0/2-5.e")
    assert before.endswith(orphan_values(world.source, folder))
    assert [each.base_offset for _, each in iter_headers(orphan_values(world.source, folder))] == [
        2,
        3,
    ]
    record = world.source.mirror("orders").record
    assert [(one.offset, one.end) for one in record.restore] == [(2, 5)]
    assert record.generation == 3
    assert clients.send(world.source, "orders", 0, b"refused")[0] == KafkaError.POLICY_VIOLATION
    clients.send(world.destination, "orders", 0, b"d")
    world.run_until(lambda: same_logs(world))


def test_two_histories_that_part_at_a_cut_have_no_leader_epoch_in_common_after_it() -> None:
    """However often the old primary elects: the cut's epochs are above."""
    world = failed_over()
    for _ in range(5):
        world.source.stop()
        world.source.start()
        clients.send(world.source, "orders", 0, b"more")
    west = world.source.view.partition_state(TopicPartition("orders", 0))
    east = world.destination.view.partition_state(TopicPartition("orders", 0))
    assert west is not None and east is not None
    common = {epoch for epoch, _ in west.epochs} & {epoch for epoch, _ in east.epochs}
    assert all(start < 2 for epoch, start in east.epochs if epoch in common)
    assert east.epochs[-1][0] >= 1 << 16


def test_each_partition_is_cut_where_it_was_and_only_if_it_has_more() -> None:
    world = failed_over(3)
    for index in (0, 1):
        clients.send(world.source, "orders", index, b"one more")
    link_back(world)
    restore(world)
    world.run_until(lambda: is_restored(world) and same_logs(world, range(3)))
    assert sorted(name.split(".e")[0] for name in orphans(world.source)) == [
        "orders-0/2-6",
        "orders-1/2-6",
        "orders-2/2-5",
    ]


def test_what_has_no_tail_seals_nothing() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world))
    command = ChangeMirrors(verb="promote", link="west-east", topics=("orders",))
    world.destination.ask(command)
    world.run_until(lambda: state(world.destination) is MirrorState.STOPPED)
    clients.send(world.destination, "orders", 0, b"b")
    link_back(world)
    restore(world)
    world.run_until(lambda: is_restored(world) and same_logs(world))
    assert orphans(world.source) == {}
    assert [one.end - one.offset for one in world.source.mirror("orders").record.restore] == [0]


def test_a_restore_that_is_asked_for_again_says_that_it_is_under_way() -> None:
    world = failed_over()
    link_back(world)
    assert restore(world).refusal is None
    again = restore(world).refusal
    assert again is not None and again.code == "UNSUPPORTED_MIRROR_STATE"
    assert "restored already" in again.because and "mirror transitions" in again.hint


def test_there_and_back_three_times() -> None:
    """The regions swap roles; every time the loser's tail is sealed, and the logs are equal."""
    world = failed_over()
    link_back(world)
    links = {world.source.name: BACK, world.destination.name: "west-east"}
    loser, winner = world.source, world.destination
    for number in range(3):
        loser.ask(RestoreMirrors(links[loser.name], ("orders",)))
        world.run_until(lambda host=loser: state(host) is MirrorState.ACTIVE)  # type: ignore[misc]
        world.run_until(lambda: same_logs(world))
        assert len(orphans(loser)) == number // 2 + 1
        world.reachable = False
        world.cut()
        command = ChangeMirrors(verb="failover", link=links[loser.name], topics=("orders",))
        assert loser.ask(command).topics[0].state == "STOPPED"
        for host in (loser, winner):
            assert clients.send(host, "orders", 0, b"by %s" % host.name.encode())[0] == 0
        world.reachable = True
        loser, winner = winner, loser


@pytest.mark.parametrize("power", [False, True])
@pytest.mark.parametrize("step", range(14))
def test_a_crash_at_any_step_is_gone_on_from(step: int, power: bool) -> None:
    world = failed_over(2)
    link_back(world)
    restore(world)
    world.run(step * 25)
    world.source.stop()
    if power:
        world.source.files.crash(Unlucky())
    world.source.start()
    world.run_until(lambda: is_restored(world) and same_logs(world, range(2)))
    assert len(orphans(world.source)) == 2


def test_a_long_tail_is_sealed_in_steps_between_which_others_are_served() -> None:
    world = failed_over()
    clients.create_topic(world.source, "others")
    for _ in range(4):
        clients.send(world.source, "orders", 0, bytes(900_000))
    link_back(world)
    restore(world)
    world.run_until(lambda: bool(list(world.source.files.list("orphans/orders-0"))))
    began = world.now
    assert clients.send(world.source, "others", 0, b"served") == (0, 0)
    assert not orphans(world.source)
    world.run_until(lambda: bool(orphans(world.source)))
    assert world.now - began >= 3 * PAUSE_MS
    world.run_until(lambda: is_restored(world) and same_logs(world))


class FullStore(SimFiles):
    """A disk that takes nothing for the orphan store while it is told to."""

    refuses = True

    def append(self, path: str, buffers: Buffers) -> int:
        if self.refuses and path.startswith("orphans/"):
            raise DiskError(f"{path}: No space left on device")
        return super().append(path, buffers)


def test_a_full_store_stops_the_truncation_and_not_the_region() -> None:
    disk = FullStore()
    world = failed_over(1, disk)
    link_back(world)
    clients.create_topic(world.source, "others")
    restore(world)
    world.run(3_000)
    before = world.source.log("orders", 0)
    found = world.source.mirror("orders")
    assert found.record.state is MirrorState.PENDING_SETUP_FOR_RESTORE
    assert "No space left on device" in found.reason
    assert not orphans(world.source)
    assert clients.send(world.source, "others", 0, b"goes on") == (0, 0)
    disk.refuses = False
    world.run_until(lambda: is_restored(world) and same_logs(world))
    (folder,) = orphans(world.source)
    assert before.endswith(orphan_values(world.source, folder))


def test_a_tail_that_is_sealed_takes_no_more_room_after_a_restart() -> None:
    """The store has room for one tail. The node restarts before anything is truncated."""
    world = failed_over()
    clients.send(world.source, "orders", 0, bytes(20_000))
    world.source.settings["orphan.store.max.bytes"] = 30_000
    world.source.stop()
    world.source.start()
    link_back(world)
    restore(world)
    world.run_until(lambda: bool(orphans(world.source)))
    before = orphans(world.source)
    assert state(world.source) is MirrorState.PENDING_SETUP_FOR_RESTORE
    world.source.stop()
    world.source.start()
    world.run_until(lambda: is_restored(world) and same_logs(world))
    assert orphans(world.source) == before


def test_before_anything_is_truncated_a_failover_takes_it_back() -> None:
    world = failed_over()
    link_back(world)
    clients.commit(world.source, "billing", "orders", 0, 5)
    member = clients.join(world.source, "billing")
    before = world.source.log("orders", 0)
    result = restore(world)
    assert result.refusal is not None and result.refusal.code == "CONSUMER_GROUP_IN_USE_ERROR"
    clients.leave(world.source, "billing", member)
    world.reachable = False  # so that nothing can be compared
    assert restore(world).refusal is None
    world.cut()
    world.run(1_000)
    assert state(world.source) is MirrorState.PENDING_SETUP_FOR_RESTORE
    command = ChangeMirrors(verb="failover", link=BACK, topics=("orders",))
    assert world.source.ask(command).topics[0].state == "STOPPED"
    assert world.source.log("orders", 0) == before
    assert clients.send(world.source, "orders", 0, b"writable again") == (0, 5)


def test_a_cut_that_a_failover_took_back_is_not_in_the_ledger() -> None:
    """Of two partitions one is truncated when the topic is failed over in the middle of its restore."""
    world = failed_over(2)
    link_back(world)
    before = world.source.log("orders", 1)
    restore(world)
    world.run_until(lambda: len(world.source.ask(ListHoles()).holes) == 2)
    assert state(world.source) is MirrorState.PENDING_SETUP_FOR_RESTORE
    world.reachable = False
    world.cut()
    command = ChangeMirrors(verb="failover", link=BACK, topics=("orders",))
    assert world.source.ask(command).topics[0].state == "STOPPED"
    assert world.source.log("orders", 1) == before
    assert world.source.ask(ListHoles()).holes == ()


def test_validate_only_changes_nothing() -> None:
    world = failed_over()
    link_back(world)
    assert restore(world, validate_only=True).state == "PENDING_SETUP_FOR_RESTORE"
    world.run(1_000)
    assert clients.send(world.source, "orders", 0, b"still mine")[0] == 0


# --- what is refused ---


def test_a_topic_that_the_source_did_not_mirror_is_left_alone() -> None:
    world = World().start()
    for host in (world.source, world.destination):
        clients.create_topic(host, "orders")
    link_back(world)
    assert refused(world) == "REMOTE_MIRROR_NOT_FOUND_ERROR"


def test_a_mirror_that_is_not_stopped_cannot_be_gone_back_to() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    link_back(world)
    assert refused(world) == "REMOTE_MIRROR_NOT_FOUND_ERROR"


def test_a_topic_that_was_made_anew_meanwhile_is_another_one() -> None:
    world = failed_over()
    clients.delete_topic(world.source, "orders")
    clients.create_topic(world.source, "orders")
    link_back(world)
    assert refused(world) == "REMOTE_MIRROR_NOT_FOUND_ERROR"


def test_a_source_that_does_not_answer_is_said() -> None:
    world = failed_over()
    link_back(world)
    world.reachable = False
    world.cut()
    assert refused(world) == "CLUSTER_LINK_UNAVAILABLE"


def test_a_link_with_a_prefix_has_no_topic_of_this_name() -> None:
    world = failed_over()
    link_back(world, cluster_link_prefix="x.")
    assert refused(world) == "INVALID_REQUEST"


def test_what_is_restored_already_is_not_restored_again() -> None:
    world = failed_over()
    link_back(world)
    restore(world)
    world.run_until(lambda: is_restored(world))
    result = restore(world)
    assert result.refusal is not None and result.refusal.code == "UNSUPPORTED_MIRROR_STATE"
    assert state(world.source) is MirrorState.ACTIVE


def test_points_are_kept_by_the_record() -> None:
    world = failed_over()
    link_back(world)
    restore(world)
    world.run_until(lambda: is_restored(world))
    record = world.source.mirror("orders").record
    world.source.stop()
    world.source.start()
    (point,) = world.source.mirror("orders").record.restore
    assert isinstance(point, RestorePoint) and (point,) == record.restore
    assert world.source.ask(DescribeLink(BACK)).category_counts["ACTIVE"] == 1
