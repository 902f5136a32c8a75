"""P6: a group's offset on a mirror never points past the mirror's data, and never skips what the group has not read."""

import random

import pytest

from brokers.ids import TopicPartition
from linker.commands import AlterLinkConfigs, ChangeMirrors, CreateMirror, DescribeLink
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import World, caught_up, linked

ON = {"consumer_offset_sync_enable": "true"}


def started(**configs: str) -> World:
    world = World().start()
    clients.create_topic(world.source, "orders", 2)
    linked(world, **(configs or ON))
    for index in range(10):
        clients.send(world.source, "orders", index % 2, b"%d" % index)
    world.run_until(lambda: caught_up(world))
    return world


def test_a_commit_is_carried_within_a_quarter_of_a_second() -> None:
    world = started()
    clients.commit(world.source, "billing", "orders", 0, 3)
    world.run(250)
    assert clients.committed(world.destination, "billing", "orders", 0) == 3
    found = world.destination.view.group_offsets("billing")[TopicPartition("orders", 0)]
    assert found.metadata == "m"


def test_what_was_committed_before_the_link_is_carried_too() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders", 2)
    clients.send(world.source, "orders", 1, b"a", b"b")
    clients.commit(world.source, "billing", "orders", 1, 2)
    linked(world, **ON)
    world.run(2_000)
    assert clients.committed(world.destination, "billing", "orders", 1) == 2


def test_a_commit_beyond_the_mirror_waits_for_the_data() -> None:
    world = started()
    world.delay_ms = 1
    world.destination.files.full_after(0)  # the mirror can not grow
    clients.send(world.source, "orders", 0, b"later")
    clients.commit(world.source, "billing", "orders", 0, 6)
    world.run(500)
    world.destination.files.full_after(None)
    seen = []
    for _ in range(400):
        world.run(25)
        offset = clients.committed(world.destination, "billing", "orders", 0)
        state = world.destination.view.partition_state(TopicPartition("orders", 0))
        assert state is not None
        if offset is not None:
            seen.append(offset)
            assert offset <= state.log_end_offset or not state.online
    assert seen[-1] == 6


def test_a_group_with_members_here_is_left_alone_and_listed() -> None:
    world = started()
    member = clients.join(world.destination, "billing")
    clients.commit(world.source, "billing", "orders", 0, 3)
    world.run(2_000)
    assert clients.committed(world.destination, "billing", "orders", 0) is None
    tasks = world.destination.ask(DescribeLink("west-east")).tasks
    assert tasks[0].error == "CONSUMER_GROUP_IN_USE_ERROR"
    assert "billing" in tasks[0].because
    clients.leave(world.destination, "billing", member)
    world.run(31_000)  # consumer.offset.sync.ms
    assert clients.committed(world.destination, "billing", "orders", 0) == 3
    assert world.destination.ask(DescribeLink("west-east")).tasks[0].error == "NO_ERROR"


def test_a_group_whose_members_left_just_before_a_promotion_is_carried_by_it() -> None:
    world = started()
    member = clients.join(world.destination, "billing")
    clients.commit(world.source, "billing", "orders", 0, 3)
    world.run(2_000)
    clients.leave(world.destination, "billing", member)
    command = ChangeMirrors(verb="promote", link="west-east", topics=("orders",))
    assert world.destination.ask(command).topics[0].refusal is None
    world.run_until(lambda: world.destination.mirror("orders").record.state is MirrorState.STOPPED)
    assert clients.committed(world.destination, "billing", "orders", 0) == 3


def test_a_group_that_its_members_here_have_moved_is_put_back_where_it_stood() -> None:
    world = started()
    clients.commit(world.source, "billing", "orders", 0, 3)
    world.run(500)
    member = clients.join(world.destination, "billing")
    clients.commit(world.source, "billing", "orders", 0, 4)
    world.run(500)
    clients.leave(world.destination, "billing", member)
    clients.commit(world.destination, "billing", "orders", 0, 1)
    clients.commit(world.source, "billing", "orders", 0, 3)
    world.run(31_000)  # consumer.offset.sync.ms
    assert clients.committed(world.destination, "billing", "orders", 0) == 3


def test_groups_are_carried_only_where_the_link_says_so() -> None:
    world = started(retry_backoff_ms="100")
    clients.commit(world.source, "billing", "orders", 0, 3)
    world.run(2_000)
    assert world.destination.view.groups_with_offsets() == ()
    filters = '{"groupFilters":[{"name":"bill","patternType":"PREFIXED","filterType":"INCLUDE"},'
    filters += '{"name":"billing-test","patternType":"LITERAL","filterType":"EXCLUDE"}]}'
    sets = {"consumer.offset.sync.enable": "true", "consumer.offset.group.filters": filters}
    world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets))
    clients.commit(world.source, "billing-test", "orders", 0, 3)
    clients.commit(world.source, "shipping", "orders", 0, 3)
    world.run(2_000)
    assert world.destination.view.groups_with_offsets() == ("billing",)


def test_a_group_set_back_at_the_source_is_set_back_here() -> None:
    world = started()
    clients.commit(world.source, "billing", "orders", 0, 5)
    world.run(500)
    clients.commit(world.source, "billing", "orders", 0, 1)
    world.run(500)
    assert clients.committed(world.destination, "billing", "orders", 0) == 1


def test_a_failover_takes_along_the_last_commit_that_was_heard_of() -> None:
    world = started()
    clients.commit(world.source, "billing", "orders", 1, 4)
    world.run(40)
    world.source.stop()
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east"))
    assert clients.committed(world.destination, "billing", "orders", 1) == 4


def test_after_the_failover_the_source_moves_no_group() -> None:
    world = started()
    clients.commit(world.source, "billing", "orders", 0, 2)
    world.run(500)
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east"))
    clients.commit(world.source, "billing", "orders", 0, 5)
    world.run(5_000)
    assert clients.committed(world.destination, "billing", "orders", 0) == 2


@pytest.mark.parametrize("seed", range(8))
def test_no_group_is_ever_past_the_mirror_or_past_its_own_commit(seed: int) -> None:
    world = World(seed).start()
    rng = random.Random(seed)
    clients.create_topic(world.source, "orders")
    linked(world, retry_backoff_ms="10", **ON)
    end, highest = 0, 0
    for _ in range(150):
        for _ in range(rng.randrange(4)):
            clients.send(world.source, "orders", 0, rng.randbytes(2_000))
            end += 1
        if rng.random() < 0.5:
            committed = rng.randrange(end + 1)
            highest = max(highest, committed)
            clients.commit(world.source, "billing", "orders", 0, committed)
        if rng.random() < 0.1:
            world.cut()
        if rng.random() < 0.05:
            world.destination.stop()
            world.destination.start()
        world.run(rng.randrange(1, 60))
        here = clients.committed(world.destination, "billing", "orders", 0)
        state = world.destination.view.partition_state(TopicPartition("orders", 0))
        if here is not None and state is not None and state.online:
            assert here <= state.high_watermark
            assert here <= highest
    last = clients.committed(world.source, "billing", "orders", 0)
    world.run_until(lambda: clients.committed(world.destination, "billing", "orders", 0) == last)


def test_offsets_for_another_topic_of_the_same_name_are_not_carried() -> None:
    """The mirror has failed and holds the old topic's records: the new one's offsets say nothing of those."""
    world = started()
    clients.commit(world.source, "billing", "orders", 0, 2)
    world.run(500)
    clients.delete_topic(world.source, "orders")
    clients.create_topic(world.source, "orders", 2)
    world.run_until(lambda: world.destination.mirror("orders").record.state is MirrorState.FAILED)
    for index in range(8):
        clients.send(world.source, "orders", 0, b"another %d" % index)
    clients.commit(world.source, "billing", "orders", 0, 4)
    world.run(2_000)
    assert clients.committed(world.destination, "billing", "orders", 0) == 2


def test_offsets_of_a_topic_that_is_mirrored_no_more_are_not_those_of_its_namesake() -> None:
    world = started()
    clients.commit(world.source, "billing", "orders", 0, 5)
    world.run(500)
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east"))
    clients.delete_topic(world.destination, "orders")
    clients.delete_topic(world.source, "orders")
    clients.create_topic(world.source, "orders", 2)
    for index in range(8):
        clients.send(world.source, "orders", 0, b"another %d" % index)
    world.run(100)
    answer = world.destination.ask(CreateMirror(link="west-east", mirror_topic="orders"))
    assert not isinstance(answer, Exception), answer
    world.run_until(lambda: caught_up(world))
    clients.commit(world.source, "billing", "orders", 1, 0)
    world.run(2_000)
    assert clients.committed(world.source, "billing", "orders", 0) is None
    assert clients.committed(world.destination, "billing", "orders", 0) is None
