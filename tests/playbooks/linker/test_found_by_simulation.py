"""What simulated federations found, told as plain stories. The seed that found each is in `tests/sim/seeds.txt`."""

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.ids import OFFSETS_TOPIC, TopicPartition
from brokers.metadata.commands.document_commands import PutDocuments
from brokers.region import PartitionState
from linker.answers import MirrorDescription, Topics
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    DescribeLink,
    DescribeMirror,
)
from linker.control.topic_settings import creation
from linker.errors import LinkRefusal
from linker.events import AdminAsked
from linker.records.mirror_record import MIRROR_KIND, TopicSpec
from linker.records.mirror_removal import removal
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, Unlucky, World, caught_up, linked, submit
from tests.sim.files import SimFiles


class Ailing(SimFiles):
    """A disk that refuses syncs while it is told to, or once it has done so many."""

    refuses_after = -1

    def sync(self, path: str) -> None:
        self.ailing = self.ailing or self.refuses_after == 0
        self.refuses_after -= 1
        super().sync(path)


def started(partitions: int = 1, **configs: str) -> World:
    return going(World().start(), partitions, **configs)


def ailing() -> tuple[World, Ailing]:
    """The same, and the destination's disk."""
    world = World()
    disk = world.destination.files = Ailing()
    return going(world.start()), disk


def going(world: World, partitions: int = 1, **configs: str) -> World:
    clients.create_topic(world.source, "orders", partitions)
    linked(world, **configs)
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    return world


def change(host: Host, verb: str) -> None:
    host.feed(AdminAsked(1 << 40, ChangeMirrors(verb=verb, link="west-east", topics=("orders",))))


def asked(host: Host, verb: str) -> LinkRefusal | None:
    """What an operator is told of it."""
    answer = host.ask(ChangeMirrors(verb=verb, link="west-east", topics=("orders",)))
    assert isinstance(answer, Topics), answer
    return answer.topics[0].refusal


def state(world: World) -> MirrorState:
    return world.destination.mirror("orders").record.state


def is_online(host: Host, partition: TopicPartition) -> bool:
    found = host.view.partition_state(partition)
    return found is not None and found.online


def here(world: World, partition: TopicPartition) -> PartitionState:
    found = world.destination.view.partition_state(partition)
    assert found is not None
    return found


@pytest.mark.parametrize("room", range(0, 900, 60))
def test_a_mirror_is_made_or_forgotten_whatever_the_disk_has_room_for(room: int) -> None:
    world = World().start()
    clients.create_topic(world.source, "orders", 1)
    world.destination.ask(CreateLink(name="west-east", configs={"bootstrap.servers": "west:9092"}))
    world.destination.files.full_after(room)
    world.destination.ask(CreateMirror(link="west-east", mirror_topic="orders"))
    world.destination.files.full_after(None)
    world.run(20_000)
    found = world.destination.ask(DescribeMirror("orders"))
    if isinstance(found, LinkRefusal):
        again = world.destination.ask(CreateMirror(link="west-east", mirror_topic="orders"))
        assert isinstance(again, MirrorDescription), again
    world.run_until(lambda: "orders" in world.destination.view.image.topics_by_name)
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world))


def test_a_failover_waits_for_a_partition_that_is_offline_and_cuts_where_its_log_ends() -> None:
    world = started()
    world.destination.files.break_at("orders-0/")
    clients.send(world.source, "orders", 0, b"does not reach the disk")
    world.run_until(lambda: not is_online(world.destination, TopicPartition("orders", 0)))
    change(world.destination, "failover")
    world.run(300)
    record = world.destination.mirror("orders").record
    assert (record.state, record.halted, record.cut) == (MirrorState.PENDING_STOPPED, True, None)
    world.destination.files.break_at("")
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None
    assert cut.partitions[0].offset >= 2


@pytest.mark.parametrize("room", range(0, 1_200, 80))
def test_a_failover_that_the_disk_interrupted_goes_on_after_a_reconnect(room: int) -> None:
    world = started()
    world.destination.files.full_after(room)
    change(world.destination, "failover")
    world.run(400)
    world.cut()
    world.run(400)
    world.destination.files.full_after(None)
    world.run(10_000)
    if state(world) is not MirrorState.STOPPED:
        change(world.destination, "failover")  # it was refused, and the operator asks again
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    assert world.destination.mirror("orders").record.cut is not None


def test_a_cut_whose_write_failed_and_survived_is_not_outrun_by_the_feed() -> None:
    """A failed sync does not say that the record is gone: it comes back when the metadata log is opened again."""
    world, disk = ailing()
    disk.ailing = True
    change(world.destination, "failover")
    world.run(300)
    clients.send(world.source, "orders", 0, b"c")
    world.run(300)
    disk.ailing = False
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None
    assert cut.partitions[0].offset == world.destination.offsets("orders", 0)[-1] + 2 == 2


def test_partitions_that_came_while_the_mirror_was_paused_come_when_it_is_resumed() -> None:
    world = started()
    change(world.destination, "pause")
    world.run_until(lambda: state(world) is MirrorState.PAUSED)
    clients.grow_topic(world.source, "orders", 3)
    world.run(1_000)
    change(world.destination, "resume")
    world.run_until(
        lambda: len(world.destination.view.image.topics_by_name["orders"].partitions) == 3
    )
    change(world.destination, "promote")
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None
    assert len(cut.partitions) == 3


def test_a_mirror_goes_on_where_its_source_was_trimmed_to_with_a_leader_epoch() -> None:
    world = started()
    world.reachable = False
    world.cut()
    world.source.stop()
    world.source.start()
    clients.send(world.source, "orders", 0, b"of the next leader epoch")
    clients.delete_records(world.source, "orders", 0, 2)
    world.reachable = True
    world.run_until(lambda: caught_up(world))
    assert state(world) is MirrorState.ACTIVE


@pytest.mark.parametrize("syncs", range(8))
def test_a_failover_is_finished_whichever_of_its_syncs_the_disk_refused(syncs: int) -> None:
    """Each of its writes may be refused and yet be there when the metadata log is opened again, the last one too."""
    world, disk = ailing()
    disk.refuses_after = syncs
    change(world.destination, "failover")
    world.run(500)
    disk.refuses_after, disk.ailing = -1, False
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    world.run(3_000)
    clients.send(world.destination, "orders", 0, b"of its own")
    assert world.destination.offsets("orders", 0) == [0, 2]


@pytest.mark.parametrize("syncs", range(8))
def test_a_promotion_is_cut_once_whichever_of_its_syncs_the_disk_refused(syncs: int) -> None:
    """A cut that the disk refused and yet held was written again, over the first one."""
    world, disk = ailing()
    disk.refuses_after = syncs
    change(world.destination, "promote")
    world.run(500)
    disk.refuses_after, disk.ailing = -1, False
    world.run_until(lambda: state(world) in (MirrorState.STOPPED, MirrorState.ACTIVE))
    record = world.destination.mirror("orders").record
    assert record.generation == (1 if record.cut is None else 2)


def test_a_pause_that_may_have_survived_its_disk_is_not_reported_as_refused() -> None:
    world, disk = ailing()
    disk.ailing = True
    refusal = asked(world.destination, "pause")
    assert refusal is not None
    assert "may or may not have been changed" in refusal.because
    disk.ailing = False
    world.run_until(lambda: state(world) is MirrorState.PAUSED)


def test_while_a_pause_is_in_doubt_nobody_is_told_that_the_mirror_runs() -> None:
    world, disk = ailing()
    disk.ailing = True
    assert asked(world.destination, "pause") is not None
    assert asked(world.destination, "resume") is not None
    disk.ailing = False
    world.run_until(lambda: state(world) is MirrorState.PAUSED)
    assert asked(world.destination, "resume") is None
    assert state(world) is MirrorState.ACTIVE


def test_a_setting_of_a_link_that_may_have_survived_its_disk_is_not_reported_as_refused() -> None:
    world, disk = ailing()
    disk.ailing = True
    paused = AlterLinkConfigs(name="west-east", sets={"cluster.link.paused": "true"})
    refusal = world.destination.ask(paused)
    assert isinstance(refusal, LinkRefusal)
    assert "was not changed, or nobody knows yet" in refusal.because
    disk.ailing = False
    world.run_until(lambda: world.destination.mirror("orders").shown is MirrorState.LINK_PAUSED)


def test_groups_of_a_source_that_could_not_read_them_when_it_was_asked_are_carried() -> None:
    world = started(consumer_offset_sync_enable="true")
    clients.commit(world.source, "billing", "orders", 0, 1)
    world.run_until(lambda: clients.committed(world.destination, "billing", "orders") == 1)
    world.reachable = False
    world.cut()
    clients.commit(world.source, "billing", "orders", 0, 2)
    world.source.stop()
    world.source.files.break_at(f"{OFFSETS_TOPIC}-")
    world.source.start()
    world.reachable = True
    world.run_until(lambda: world.destination.ask(DescribeLink("west-east")).state == "ACTIVE")
    world.run(500)
    assert clients.committed(world.destination, "billing", "orders") == 1
    world.source.files.break_at("")
    world.run_until(lambda: clients.committed(world.destination, "billing", "orders") == 2)


def test_a_promotion_goes_by_nothing_that_was_heard_before_a_partition_was_offline() -> None:
    """Between asking the source again and its answer, what is known of it is old, and a beacon speaks of others."""
    world = started()
    world.delay_ms = 100
    world.destination.files.break_at("log-start-offset-checkpoint")
    clients.delete_records(world.source, "orders", 0, 1)
    world.run_until(lambda: not is_online(world.destination, TopicPartition("orders", 0)))
    world.cut()
    assert clients.send(world.source, "orders", 0, b"c") == (0, 2)
    world.run_until(lambda: world.destination.ask(DescribeLink("west-east")).state == "ACTIVE")
    change(world.destination, "promote")
    world.run(500)
    world.destination.files.break_at("")
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None
    assert cut.partitions[0].offset == 3


def test_a_mirror_that_a_power_cut_emptied_begins_anew_in_the_middle_of_a_batch() -> None:
    """Where its source was trimmed to is inside a batch: that batch is placed whole, and read from there."""
    world = started()
    clients.send(world.source, "orders", 0, *(b"%d" % index for index in range(8)))
    clients.delete_records(world.source, "orders", 0, 5)
    orders = TopicPartition("orders", 0)
    world.run_until(lambda: caught_up(world) and here(world, orders).log_start_offset == 5)
    world.destination.stop()
    world.destination.files.crash(Unlucky())
    world.destination.start()
    assert here(world, orders).log_end_offset == here(world, orders).log_start_offset == 5
    world.run_until(lambda: caught_up(world))
    assert here(world, orders).log_start_offset == 5
    assert world.destination.offsets("orders", 0) == [2]
    assert world.source.log("orders", 0).endswith(world.destination.log("orders", 0))


def test_no_topic_is_made_for_a_mirror_that_was_withdrawn_meanwhile() -> None:
    """It was read-only, nothing filled it, and its name was taken for ever."""
    world = started()
    here = world.destination
    clients.create_topic(world.source, "a.b")
    clients.create_topic(here, "a_b")  # not beside a.b: they have one name in metrics
    create = CreateMirror(link="west-east", mirror_topic="a.b")
    assert isinstance(here.ask(create), LinkRefusal)
    assert clients.delete_topic(here, "a_b") == 0
    link = here.linker.links["west-east"]
    state_of_orders = link.mirrors["orders"].source_state
    assert state_of_orders is not None
    late = submit(here, creation("a.b", link, state_of_orders, TopicSpec(), 0))
    assert "a.b" not in here.view.image.topics_by_name
    assert isinstance(late, Refusal) and late.error is KafkaError.INVALID_UPDATE_VERSION
    assert isinstance(here.ask(create), MirrorDescription)
    clients.send(world.source, "a.b", 0, b"a")
    world.run_until(lambda: caught_up(world, "a.b"))


def test_a_mirror_whose_topic_was_made_before_its_withdrawal_keeps_its_record() -> None:
    world = started()
    here = world.destination
    mirror = here.linker.links["west-east"].mirrors["orders"]
    late = submit(here, PutDocuments((removal(mirror.record, mirror.version),)))
    assert isinstance(late, Refusal) and late.error is KafkaError.TOPIC_ALREADY_EXISTS
    assert (MIRROR_KIND, "orders") in here.view.image.documents
    clients.send(world.source, "orders", 0, b"c")
    world.run_until(lambda: caught_up(world))
