"""Members, the log and the clock in any order: what must hold throughout, and where it must end.

Clients here do what Kafka's do with each answer, but in arbitrary order and with arbitrary pauses; requests are
repeated, connections break, writes fail, the coordinator restarts. At the end everybody behaves, and the group settles.
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from brokers.errors import KafkaError
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.group_state import GroupState
from brokers.groups.requests import JoinRequest, JoinResult, LeaveRequest, MemberName
from brokers.ids import OffsetAndMetadata, TopicPartition
from tests.playbooks.groups.client import GROUP, Client
from tests.playbooks.groups.world import World, offsets_by_group
from tests.quick import examples

CLIENTS = 5
PARTITIONS = [TopicPartition("t", index) for index in range(3)]


class Groups(RuleBasedStateMachine):
    """One group; rules are what can happen to it."""

    @initialize(
        delay=st.sampled_from([0, 3_000]),
        members_max=st.sampled_from([2, 100]),
        statics=st.integers(0, 3),
        members=st.integers(0, CLIENTS),
    )
    def begin(self, delay: int, members_max: int, statics: int, members: int) -> None:
        config = GroupCoordinatorConfig(
            initial_rebalance_delay_ms=delay, members_max=members_max, offsets_partitions=1
        )
        self.world = World(config)
        self.clients = [
            Client(
                name=f"c{index}",
                instance_id=f"i{index}" if index < statics else None,
                version=9 if index % 2 else 3,
            )
            for index in range(CLIENTS)
        ]
        self.generations: dict[int, tuple[str, str]] = {}  # generation -> (leader, protocol)
        self.group = None
        self.read = 0  # effects looked at so far
        first = self.clients[: min(members, members_max)]
        for _ in range(10 if first else 0):
            self.behave(first)

    # --- what clients do ---

    @rule(index=st.integers(0, CLIENTS - 1))
    def go_on(self, index: int) -> None:
        """A client does what comes next for it."""
        client = self.clients[index]
        if client.waiting is None:
            self.send(client, *client.next_request())

    @rule(count=st.integers(1, CLIENTS), milliseconds=st.sampled_from([0, 1_000, 4_000]))
    def all_go_on(self, count: int, milliseconds: int) -> None:
        for index in range(count):
            self.go_on(index)
        self.wait(milliseconds)

    @rule(index=st.integers(0, CLIENTS - 1), topics=st.sampled_from([["t"], ["t", "u"]]))
    def join(self, index: int, topics: list[str]) -> None:
        """Out of turn, and perhaps with another subscription."""
        client = self.clients[index]
        client.topics = topics
        self.send(client, "join", client.join_request())

    def send(self, client: Client, verb: str, request: object) -> None:
        """A client waits for one answer at a time: to ask again, it has given the last one up."""
        if client.waiting is not None:
            self.world.disconnect(client.waiting)
        client.waiting = self.world.ask(verb, request)
        self.listen()

    @rule(index=st.integers(0, CLIENTS - 1))
    def join_twice(self, index: int) -> None:
        """The same join again on another connection, while the first one still waits."""
        client = self.clients[index]
        request = self.world.asked.get(client.waiting or 0)
        if isinstance(request, JoinRequest) and request.member_id:
            client.waiting = self.world.ask("join", request)
            self.listen()

    @rule(index=st.integers(0, CLIENTS - 1))
    def heartbeat(self, index: int) -> None:
        client = self.clients[index]
        ticket = self.world.ask("heartbeat", client.heartbeat_request())
        client.hear(self.world.answers[ticket])

    @rule(index=st.integers(0, CLIENTS - 1))
    def leave(self, index: int) -> None:
        client = self.clients[index]
        name = MemberName(client.member_id, client.instance_id)
        ticket = self.world.ask("leave", LeaveRequest(GROUP, (name,)))
        assert ticket in self.world.answers
        self.listen()

    @rule(index=st.integers(0, CLIENTS - 1))
    def hang_up(self, index: int) -> None:
        client = self.clients[index]
        if client.waiting is not None:
            self.world.disconnect(client.waiting)
            client.waiting = None

    @rule(index=st.integers(0, CLIENTS - 1))
    def start_over(self, index: int) -> None:
        """The process dies and another one takes its place, with the same instance id if it has one."""
        client = self.clients[index]
        self.hang_up(index)
        self.clients[index] = Client(client.name, client.instance_id, client.version)

    @rule(
        index=st.integers(0, CLIENTS),
        partition=st.sampled_from(PARTITIONS),
        offset=st.integers(0, 1_000),
    )
    def commit(self, index: int, partition: TopicPartition, offset: int) -> None:
        """By a member, or by the administrator who comes after the last of them."""
        client = self.clients[index] if index < CLIENTS else Client("admin", None, 9)
        self.world.ask("commit", client.commit_request(partition, offset))

    @rule(partition=st.sampled_from(PARTITIONS), offset=st.integers(0, 1_000))
    def commit_from_link(self, partition: TopicPartition, offset: int) -> None:
        coordinator = self.world.coordinator
        was_active = coordinator.is_active(GROUP)
        ticket = self.world.ticket("link")
        offsets = {partition: OffsetAndMetadata(offset)}
        self.world.perform(coordinator.commit_from_link(ticket, GROUP, offsets, self.world.now))
        refused = self.world.answers.get(ticket)
        assert (refused is not None and refused.error is KafkaError.NON_EMPTY_GROUP) == was_active

    @rule()
    def delete(self) -> None:
        ticket = self.world.ticket("delete")
        self.world.perform(self.world.coordinator.delete(ticket, [GROUP], self.world.now))

    # --- what the world does ---

    @rule(milliseconds=st.sampled_from([1, 100, 3_000, 9_999, 10_000, 30_000]))
    def wait(self, milliseconds: int) -> None:
        self.world.wait(milliseconds)
        self.listen()

    @precondition(lambda self: self.world.in_flight)
    @rule()
    def write(self) -> None:
        self.world.write()
        self.listen()

    @precondition(lambda self: self.world.in_flight)
    @rule(
        error=st.sampled_from([KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.MESSAGE_TOO_LARGE])
    )
    def lose(self, error: KafkaError) -> None:
        self.world.lose(error)
        self.listen()

    @rule()
    def restart(self) -> None:
        coordinator = self.world.coordinator
        before = offsets_by_group(coordinator)
        self.world.restart()
        for client in self.clients:
            client.waiting = None
        assert offsets_by_group(self.world.coordinator) == before

    def listen(self) -> None:
        for client in self.clients:
            if client.waiting is not None and client.waiting in self.world.answers:
                answer = self.world.answers[client.waiting]
                client.waiting = None
                client.hear(answer)

    # --- what must hold ---

    @invariant()
    def answers_fit_together(self) -> None:
        for effect in self.world.told[self.read :]:
            response = getattr(effect, "response", None)
            if isinstance(response, JoinResult) and not response.error:
                self.check_joined(response)
        self.read = len(self.world.told)

    def check_joined(self, answer: JoinResult) -> None:
        group = self.world.coordinator._manager.groups.get(GROUP)
        assert answer.members == () or answer.leader == answer.member_id, "only leaders see members"
        names = [member.member_id for member in answer.members]
        assert len(names) == len(set(names))
        assert answer.protocol == "range", "the first choice of all"
        assert group is None or answer.generation <= group.generation

    @invariant()
    def the_group_is_whole(self) -> None:
        coordinator = self.world.coordinator
        parked = dict(coordinator._rebalance.awaiting._waiting)
        for group in coordinator._manager.groups.values():
            assert group.state is not GroupState.DEAD
            assert (group.leader in group.members) == bool(group.members)
            assert set(group.static_members.values()) <= set(group.members)
            assert set(group.pending_sync_members) <= set(group.members)
            assert group.state is not GroupState.EMPTY or not group.members
            for member in group.members.values():
                assert member.awaiting_join is None or group.state is GroupState.PREPARING_REBALANCE
                assert (
                    member.awaiting_sync is None or group.state is GroupState.COMPLETING_REBALANCE
                )
                assert member.awaiting_join is None or member.awaiting_sync is None
                for ticket in (member.awaiting_join, member.awaiting_sync):
                    if ticket is not None:
                        assert parked.pop(ticket) == (group, member)
        assert not parked, "tickets of nobody"

    @invariant()
    def generations_only_rise(self) -> None:
        group = self.world.coordinator._manager.groups.get(GROUP)
        if group is not self.group:
            self.group, self.generations = group, {}  # forgotten, deleted or restarted
        if group is None or group.state is not GroupState.COMPLETING_REBALANCE:
            return
        assert group.generation >= max(self.generations, default=0)
        known = self.generations.setdefault(group.generation, (group.leader, group.protocol))
        assert known == (group.leader, group.protocol), "a generation has one leader"

    @invariant()
    def an_assignment_is_what_the_leader_of_its_generation_decided(self) -> None:
        for client in self.clients:
            if client.is_settled and client.assignment:
                generation, _, member = client.assignment.decode().partition(":")
                assert int(generation) <= client.generation
                if client.instance_id is None:
                    assert member == client.member_id

    @invariant()
    def offsets_are_what_the_log_says(self) -> None:
        """Another coordinator that reads the log has the same."""
        other = World(self.world.config, loaded=False)
        other.log = self.world.log
        other.load()
        assert offsets_by_group(other.coordinator) == offsets_by_group(self.world.coordinator)
        assert not other.in_flight

    # --- where it must end ---

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        self.world.write_all()
        self.listen()
        room = min(self.world.config.members_max, CLIENTS)
        alive = self.clients[:room]
        for client in self.clients[room:]:
            if client.waiting is not None:
                self.world.disconnect(client.waiting)
                client.waiting = None
        for _ in range(100):
            self.behave(alive)
            if self.has_settled(alive):
                break
        assert self.has_settled(alive), (alive, self.world.coordinator.describe([GROUP]))
        self.is_restored_as_it_was()

    def has_settled(self, alive: list[Client]) -> bool:
        (group,) = self.world.coordinator.describe([GROUP])
        names = {member.member_id: member.assignment for member in group.members}
        return (
            group.state is GroupState.STABLE
            and names
            == {client.member_id: client.assignment for client in alive if client.is_settled}
            and all(client.is_settled for client in alive)
        )

    def behave(self, alive: list[Client]) -> None:
        """Everybody does what a consumer does within two seconds, and the log writes."""
        for client in alive:
            if client.waiting is None:
                self.send(client, *client.next_request())
        self.world.wait(2_000)
        self.world.write_all()
        self.listen()

    def is_restored_as_it_was(self) -> None:
        before = self.world.coordinator.describe([GROUP])
        offsets = offsets_by_group(self.world.coordinator)
        self.world.restart()
        assert self.world.coordinator.describe([GROUP]) == before
        assert offsets_by_group(self.world.coordinator) == offsets


Groups.TestCase.settings = examples(60, stateful_step_count=40)
TestGroupsInAnyOrder = Groups.TestCase
