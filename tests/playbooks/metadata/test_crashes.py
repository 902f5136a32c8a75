"""Whatever is answered survives every crash, and what is not answered happened wholly or not at all."""

from hypothesis import given
from hypothesis import strategies as st

from brokers.metadata.controller.active_controller import CommandCompleted
from brokers.metadata.log.effects import MetadataReady
from tests.playbooks.metadata.asks import commands
from tests.playbooks.metadata.host import Host, contents, leader_epochs, settings

SMALL = "metadata.log.max.record.bytes.between.snapshots"
acts = st.lists(st.one_of(commands, st.integers(1, 6)), max_size=25)


def run_until_crash(host: Host, acts: list, states: list[dict]) -> int:
    """Ask, and let the disk work a little; returns how many decisions were answered."""
    asked = 0
    for act in acts:
        if isinstance(act, int):
            for _ in range(min(act, len(host.todo))):
                host.step()
        else:
            asked += 1
            host.ask(act, token=asked)
            states.append(contents(host.plane.active_controller.ahead))
    answered = [effect.token for effect in host.told if isinstance(effect, CommandCompleted)]
    assert answered == sorted(answered), "answers come in the order of the questions"
    return max(answered, default=0)


@given(lives=st.lists(acts, min_size=1, max_size=4), bytes_between=st.sampled_from([300, 1 << 20]))
def test_a_crash_loses_only_what_was_not_answered(lives: list[list], bytes_between: int) -> None:
    config = settings(**{SMALL: bytes_between})
    host = Host(config=config).start()
    for life, acts_of_life in enumerate(lives):
        states = [contents(host.plane.image)]
        epochs = leader_epochs(host.plane.image)
        answered = run_until_crash(host, acts_of_life, states)
        host = Host(host.crash(), seed=life + 2, config=config).start()
        found = contents(host.plane.image)
        assert found in states[answered:], "an answered decision is gone"
        for partition, leader_epoch in leader_epochs(host.plane.image).items():
            assert leader_epoch > epochs.get(partition, -1) or partition not in epochs


@given(acts)
def test_a_replayed_image_is_the_one_that_was_built(acts: list) -> None:
    host = Host().start()
    run_until_crash(host, acts, [])
    host.settle()
    assert contents(host.plane.image) == contents(host.plane.active_controller.ahead)
    before = contents(host.plane.image)
    again = Host(host.crash(), seed=2).start()
    assert contents(again.plane.image) == before


@given(acts)
def test_a_snapshot_and_the_log_behind_it_are_the_whole_log(acts: list) -> None:
    config = settings(**{SMALL: 200})
    whole, trimmed = Host().start(), Host(config=config).start()
    for host in (whole, trimmed):
        run_until_crash(host, acts, [])
        host.settle()
    assert contents(whole.plane.image) == contents(trimmed.plane.image)
    again = Host(trimmed.crash(), seed=2, config=config).start()
    assert contents(again.plane.image) == contents(whole.plane.image)
    checkpoints = [name for name in again.disk.states if name.endswith(".checkpoint")]
    assert len(checkpoints) <= 1, "old snapshots are removed"


@given(st.lists(commands, max_size=12), st.integers(0, 40))
def test_a_crash_at_any_instant_of_the_start_changes_nothing(asked: list, steps: int) -> None:
    host = Host(config=settings(**{SMALL: 400})).start()
    for number, command in enumerate(asked):
        host.ask(command, number + 1).settle()
    before = contents(host.plane.image)
    second = Host(host.crash(), seed=2)
    second.take(second.plane.on_started(second.now))
    for _ in range(steps):
        if second.todo:
            second.step()
    third = Host(second.crash(), seed=3).start()
    assert any(isinstance(effect, MetadataReady) for effect in third.told)
    assert contents(third.plane.image) == before
    assert third.plane.leader_epoch > host.plane.leader_epoch
