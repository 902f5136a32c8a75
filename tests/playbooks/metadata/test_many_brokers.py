"""Brokers come, go, lose their disks and are moved about, in any order: who leads never lacks what was committed.

Beside the image a ghost of the logs is kept: how much each replica holds, and how much of it is committed.
"""

import json
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from brokers.config.broker_config import from_settings
from brokers.config.replica_placement import PromotionPolicy
from brokers.errors import Refusal
from brokers.ids import TopicPartition
from brokers.metadata.commands.broker_commands import UnregisterBroker
from brokers.metadata.commands.commands import Command
from brokers.metadata.commands.config_commands import AlterConfigs, ConfigChange, ConfigOperation
from brokers.metadata.commands.replica_commands import (
    AlterPartition,
    AlterPartitionReassignments,
    BalanceLeaders,
    ElectionType,
    ElectLeaders,
    InSyncChange,
    InSyncMember,
    Reassignment,
)
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.image import snapshot
from brokers.metadata.image.image import NO_LEADER, Image, PartitionImage
from brokers.metadata.image.replay import replay
from brokers.metadata.partitions.replica_rules import replica_rules
from brokers.wire.message import Message
from tests.unit.brokers.metadata.images import Region

CONFIG = from_settings({"node.id": 1, "log.dirs": "data", "leader.preference.racks": "a,b"})
BROKERS = range(1, 7)
RACKS = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"}
WITH_OBSERVERS = json.dumps(
    {
        "version": 2,
        "replicas": [{"count": 2, "constraints": {"rack": "a"}}],
        "observers": [{"count": 2, "constraints": {"rack": "c"}}],
    }
)
TOPICS = {
    "plain": {"min.insync.replicas": "2"},
    "lax": {"unclean.leader.election.enable": "true"},
    "watched": {"min.insync.replicas": "2", "confluent.placement.constraints": WITH_OBSERVERS},
}
PARTITIONS = 2
NAMES = [TopicPartition(topic, index) for topic in TOPICS for index in range(PARTITIONS)]

brokers = st.sampled_from(BROKERS)
names = st.sampled_from(NAMES)


class ManyBrokers(RuleBasedStateMachine):
    """The rules are what may happen to a region; a broker that is not `running` keeps its disk."""

    @initialize()
    def begin(self) -> None:
        self.region = Region(CONFIG, brokers=0)
        self.records: list[Message] = []
        self.running: set[int] = set()
        self.proposed: frozenset[int] = frozenset()  # to be in sync, by the command under way
        self.left_in_order: dict[int, int] = {}  # broker -> the broker epoch it ended with
        self.held: dict[TopicPartition, dict[int, int]] = {name: {} for name in NAMES}
        self.committed: dict[TopicPartition, int] = dict.fromkeys(NAMES, 0)
        for broker_id in BROKERS:
            self.start(broker_id, keeps=True)
            self.beat(broker_id)
        for topic, configs in TOPICS.items():
            count = 3 if topic == "plain" else 2
            factor = -1 if topic == "watched" else count
            item = NewTopic(
                name=topic, partition_count=PARTITIONS, replication_factor=factor, configs=configs
            )
            (outcome,) = self.do(CreateTopics((item,)))
            assert not outcome.error, outcome

    # --- what happens ---

    def do(self, command: Command) -> Any:
        before = {name: self.image.partition(name) for name in NAMES}
        decision = self.region.decide(command)
        self.records += decision.records
        end = self.image.next_offset + len(decision.records)
        replay(self.image, decision.records, end)
        for name, was in before.items():
            if was is not None:
                self.changed(name, was, self.partition(name))
        return decision.result

    @rule(broker_id=brokers, keeps=st.booleans())
    def start(self, broker_id: int, keeps: bool) -> None:
        """A new process; after a crash the disk may have lost everything (`keeps` False)."""
        if broker_id in self.running:
            return
        previous = self.left_in_order.pop(broker_id, None)
        if previous is None and not keeps:
            for name in NAMES:
                if len(self.replicas(name)) > 1:
                    self.held[name][broker_id] = 0
        self.running.add(broker_id)
        self.region.controller.heartbeats.remove(broker_id)
        self.do_register(broker_id, -1 if previous is None else previous)

    def do_register(self, broker_id: int, previous_broker_epoch: int) -> None:
        command = self.region.registration(
            broker_id,
            rack=RACKS[broker_id],
            host_label=f"machine-{broker_id % 4}",
            starts_fenced=True,
            previous_broker_epoch=previous_broker_epoch,
        )
        self.do(command)

    @rule(broker_id=brokers)
    def beat(self, broker_id: int) -> None:
        if broker_id in self.running and broker_id in self.image.brokers:
            self.do(self.region.heartbeat(broker_id))

    @rule(broker_id=brokers)
    def stop(self, broker_id: int) -> None:
        if broker_id not in self.running or broker_id not in self.image.brokers:
            return
        self.do(self.region.heartbeat(broker_id, want_shut_down=True))
        for _ in range(2):
            beat = self.region.heartbeat(broker_id, want_shut_down=True, want_fence=True)
            if self.do(beat).should_shut_down:
                break
        else:
            raise AssertionError("it may never leave")
        self.running.discard(broker_id)
        self.left_in_order[broker_id] = self.image.brokers[broker_id].broker_epoch

    @rule(broker_id=brokers, is_noticed=st.booleans())
    def crash(self, broker_id: int, is_noticed: bool) -> None:
        self.running.discard(broker_id)
        if is_noticed and broker_id in self.image.brokers:
            self.do(self.region.fencing(broker_id))

    @rule(broker_id=brokers)
    def silence(self, broker_id: int) -> None:
        """Fenced although it runs: it will beat again."""
        if broker_id in self.image.brokers:
            self.do(self.region.fencing(broker_id))

    @rule(name=names, data=st.data())
    def propose(self, name: TopicPartition, data: st.DataObject) -> None:
        """The leader lets go of some, and takes in some who have caught up."""
        was = self.partition(name)
        if was.leader == NO_LEADER or was.leader not in self.running:
            return
        others = st.sampled_from(was.replicas).filter(lambda each: each != was.leader)
        isr = [
            was.leader,
            *data.draw(st.lists(others, unique=True, max_size=len(was.replicas) - 1)),
        ]
        joining = set(isr) - set(was.isr)
        if not all(each in self.image.brokers for each in isr) or not joining <= self.running:
            return
        for each in joining:
            self.held[name][each] = self.holds(name, was.leader)
        change = InSyncChange(
            partition=name.partition,
            leader_epoch=was.leader_epoch,
            partition_epoch=was.partition_epoch,
            isr=tuple(InSyncMember(each, self.image.brokers[each].broker_epoch) for each in isr),
        )
        topic_id = self.image.topics_by_name[name.topic].id
        broker_epoch = self.image.brokers[was.leader].broker_epoch
        self.proposed = frozenset(isr)
        self.do(AlterPartition(was.leader, broker_epoch, ((topic_id, (change,)),)))
        self.proposed = frozenset()

    @rule(name=names)
    def produce(self, name: TopicPartition) -> None:
        was = self.partition(name)
        if was.leader == NO_LEADER or was.leader not in self.running:
            return
        end = self.held[name][was.leader] = self.holds(name, was.leader) + 1
        for member in was.isr:
            if member in self.running:
                self.held[name][member] = end
        min_isr = replica_rules(self.image, CONFIG, name.topic).min_isr
        if len(was.isr) >= was.effective_min_isr(min_isr) and self.running.issuperset(was.isr):
            self.committed[name] = end

    @rule(name=names, election=st.sampled_from(ElectionType))
    def elect(self, name: TopicPartition, election: ElectionType) -> None:
        self.do(ElectLeaders(election, (name,)))

    @rule()
    def balance(self) -> None:
        assert self.do(BalanceLeaders()) == 0

    @rule(name=names, data=st.data())
    def reassign(self, name: TopicPartition, data: st.DataObject) -> None:
        some = st.lists(brokers, min_size=1, max_size=4, unique=True).map(tuple)
        fitting = st.sampled_from([(1, 2, 5, 6), (2, 1, 6, 5)])
        replicas = data.draw(fitting if name.topic == "watched" else some)
        self.do(AlterPartitionReassignments((Reassignment(name, replicas),)))

    @rule(name=names)
    def cancel(self, name: TopicPartition) -> None:
        self.do(AlterPartitionReassignments((Reassignment(name, None),)))

    @rule(topic=st.sampled_from(sorted(TOPICS)), data=st.data())
    def configure(self, topic: str, data: st.DataObject) -> None:
        policy = data.draw(st.sampled_from(PromotionPolicy))
        placement = {**json.loads(WITH_OBSERVERS), "observerPromotionPolicy": policy.value}
        key, value = data.draw(
            st.sampled_from(
                [
                    ("min.insync.replicas", "1"),
                    ("min.insync.replicas", "2"),
                    ("min.insync.replicas", "3"),
                    ("unclean.leader.election.enable", "true"),
                    ("unclean.leader.election.enable", "false"),
                    ("confluent.placement.constraints", json.dumps(placement)),
                ]
            )
        )
        if key == "confluent.placement.constraints" and topic != "watched":
            return
        change = ConfigChange((2, topic), {key: (ConfigOperation.SET, value)})
        (outcome,) = self.do(AlterConfigs((change,)))
        assert not outcome.error, outcome

    @rule(broker_id=brokers)
    @precondition(lambda self: len(self.running) > 3)
    def unregister(self, broker_id: int) -> None:
        """CONFIG is that of a lone node: while no other broker is active its own cannot be unregistered."""
        if broker_id not in self.image.brokers:
            return
        others = (each for each in self.image.brokers.values() if each.id != broker_id)
        if broker_id == CONFIG.node_id and not any(each.is_active for each in others):
            with pytest.raises(Refusal, match="is the whole region"):
                self.do(UnregisterBroker(broker_id))
            return
        self.running.discard(broker_id)
        self.do(UnregisterBroker(broker_id))

    # --- what must hold ---

    @property
    def image(self) -> Image:
        return self.region.image

    def partition(self, name: TopicPartition) -> PartitionImage:
        partition = self.image.partition(name)
        assert partition is not None
        return partition

    def replicas(self, name: TopicPartition) -> tuple[int, ...]:
        partition = self.image.partition(name)
        return () if partition is None else partition.replicas

    def holds(self, name: TopicPartition, broker_id: int) -> int:
        return self.held[name].get(broker_id, 0)

    def changed(self, name: TopicPartition, was: PartitionImage, to: PartitionImage) -> None:
        """One step of one partition; whoever leads anew has everything, unless it was elected uncleanly."""
        assert to.partition_epoch - was.partition_epoch == (to != was)
        assert to.leader_epoch - was.leader_epoch in (0, 1)
        if to.leader_epoch == was.leader_epoch:
            assert to.leader == was.leader, "one leader per leader epoch"
        is_over = was.is_reassigning and not to.is_reassigning
        if is_over and set(was.adding) <= set(to.replicas):
            observers = {*to.observers, *to.promoted}
            assert set(was.adding) - observers <= set(to.isr), "moved before it was copied"
        if to.leader in (was.leader, NO_LEADER):
            return
        if to.leader not in {*was.isr, *was.elr, *self.proposed}:
            assert to.recovery_state == 1 and to.isr == (to.leader,)
            self.committed[name] = self.holds(name, to.leader)
        for member in to.isr:  # who had more than the leader drops it
            self.held[name][member] = min(self.holds(name, member), self.holds(name, to.leader))

    @invariant()
    def partitions_make_sense(self) -> None:
        for name in NAMES:
            partition = self.image.partition(name)
            if partition is not None:
                self.makes_sense(name, partition)

    def makes_sense(self, name: TopicPartition, partition: PartitionImage) -> None:
        replicas, isr = set(partition.replicas), set(partition.isr)
        assert partition.leader in isr or (partition.leader == NO_LEADER and not isr)
        assert isr <= replicas - set(partition.observers)
        assert len(replicas) == len(partition.replicas) == len(partition.directories)
        assert not isr & set(partition.elr) and set(partition.elr) <= replicas
        assert {*partition.observers, *partition.promoted} <= replicas
        assert not {*partition.observers} & {*partition.promoted}
        assert {*partition.adding, *partition.removing} <= replicas
        assert isr or partition.elr or partition.last_known_elr, "nobody is left"
        assert set(partition.last_known_elr) <= replicas
        for member in isr:
            assert self.image.brokers[member].is_active
        for member in (*partition.isr, *partition.elr):
            if len(replicas) > 1:
                assert self.holds(name, member) >= self.committed[name], (name, member, partition)

    def teardown(self) -> None:
        """The records alone make the image, and so does a snapshot of it."""
        image = Image("region-one")
        replay(image, self.records, self.image.next_offset)
        assert vars(image) == vars(self.image)
        data = snapshot.encode(self.image, 3, 99)
        decoded = snapshot.decode(data, "region-one", self.image.next_offset)
        assert vars(decoded) == vars(self.image)


ManyBrokers.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestManyBrokers = ManyBrokers.TestCase
