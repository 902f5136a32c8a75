"""A leader that is asked to stop while clients write to it: nothing is doubled, nothing acknowledged is lost, and who
follows what it says of the next leader is refused nothing."""

import pytest

from brokers.errors import KafkaError
from brokers.events import Disconnected
from brokers.ids import TopicPartition
from brokers.membership.broker_state import SILENCE_TIMEOUT_MS
from brokers.membership.controlled_shutdown import DRAIN_MS, TIMEOUT_MS
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.node.broker_lifecycle import ANNOUNCED_MS
from tests.playbooks.membership.client import Client
from tests.playbooks.membership.region import LATER_MS, Node, Region

LEADER, NEXT = 2, 3
PARTITION = TopicPartition("t", 0)
WRITES_MS = 150  # one each millisecond, until after the others know that the leader has gone


class Handing:
    """Three nodes, a topic on all of them, a client that writes to its leader whatever happens."""

    def __init__(self) -> None:
        self.region = Region()
        self.region.start(1, 2, 3)
        self.region.run(500)
        self.client = Client(self.region)
        topic = NewTopic(name="t", assignments=((0, (LEADER, NEXT, 1)),))
        forwarding = self.region.nodes[1].broker.parts.forwarding
        then = lambda result, now: []  # noqa: E731
        effects = forwarding.submit(CreateTopics((topic,)), then, self.region.now)
        self.region.nodes[1].take(effects)
        self.region.run(1_000)
        self.written: dict[int, bytes] = {}

    @property
    def leader(self) -> Node:
        return self.region.nodes[LEADER]

    def write_for(self, milliseconds: int, *, acks: int = -1) -> None:
        for _ in range(milliseconds):
            if self.leader.alive:
                self.write(LEADER, acks=acks)
            self.region.run(1)

    def write(self, node_id: int, *, acks: int = -1, version: int = 9) -> int:
        value = b"value %d" % self.region.now
        ticket = self.client.write(node_id, 0, value, acks=acks, version=version)
        self.written[ticket] = value
        return ticket

    @property
    def led_by(self) -> int:
        placed = self.region.image.partition(PARTITION)
        assert placed is not None
        return placed.leader

    def said(self, ticket: int) -> KafkaError | None:
        """None where the connection broke before there was an answer."""
        return self.client.said(ticket) if self.client.answers[ticket] is not None else None

    def kept_by(self, node_id: int) -> bytes:
        """Its log, as its files are."""
        disk = self.region.files[node_id]
        names = [name for name in disk.list("t-0") if name.endswith(".log")]
        return b"".join(bytes(disk.read(f"t-0/{name}", 0, 1 << 30)) for name in names)


@pytest.fixture
def handing() -> Handing:
    return Handing()


def occurrences(handing: Handing) -> dict[KafkaError | None, set[int]]:
    """What was said of writes -> how often such are in the log."""
    assert handing.led_by == NEXT
    data, found = handing.kept_by(NEXT), dict[KafkaError | None, set[int]]()
    for ticket, value in handing.written.items():
        found.setdefault(handing.said(ticket), set()).add(data.count(value))
    return found


@pytest.mark.parametrize("acks", [-1, 1])
def test_what_is_refused_while_leaderships_change_hands_is_nowhere(
    handing: Handing, acks: int
) -> None:
    handing.write_for(WRITES_MS // 3, acks=acks)
    handing.region.ask_to_end(LEADER)
    handing.write_for(WRITES_MS, acks=acks)
    handing.region.run(3_000)
    assert not handing.leader.alive
    assert occurrences(handing) == {
        KafkaError.NONE: {1},
        KafkaError.NOT_LEADER_OR_FOLLOWER: {0},
    }


def test_a_follower_that_does_not_come_up_is_not_waited_for_long(handing: Handing) -> None:
    handing.region.nodes[NEXT].stall()
    handing.write_for(5)
    handing.region.ask_to_end(LEADER)
    handing.region.run(ANNOUNCED_MS + DRAIN_MS - 10)
    assert handing.led_by == LEADER
    handing.region.run(100)
    assert handing.led_by != LEADER


def test_without_a_controller_it_ends_with_nothing_more_written(handing: Handing) -> None:
    handing.write_for(3, acks=1)
    handing.region.nodes[1].die()
    handing.region.ask_to_end(LEADER)
    handing.region.run(ANNOUNCED_MS)
    before = handing.leader.broker.parts.partitions.all[PARTITION].require_log().log_end_offset
    handing.write_for(SILENCE_TIMEOUT_MS + 100, acks=1)
    assert not handing.leader.alive
    said = [handing.said(ticket) for ticket in handing.written]
    assert said == [KafkaError.NONE] * before + [None] * (len(said) - before)
    kept = handing.kept_by(LEADER)
    assert sum(value in kept for value in handing.written.values()) == before


def test_what_a_client_did_not_wait_for_is_not_written(handing: Handing) -> None:
    handing.region.ask_to_end(LEADER)
    handing.region.run(ANNOUNCED_MS)
    handing.write_for(1, acks=1)
    continuations = handing.leader.broker.parts.continuations
    ticket = handing.leader.last_ticket
    assert ticket in continuations.abandoned
    handing.leader.feed(Disconnected((ticket,)))
    handing.region.run(3_000)
    assert ticket not in continuations.abandoned
    (told,) = handing.written
    assert handing.client.answers.get(told) is None  # nobody was told anything


HINTS = 10  # the version of Produce from which on answers name leaders


def test_who_follows_the_hint_is_refused_nothing_and_keeps_its_order(handing: Handing) -> None:
    placed = handing.region.image.partition(PARTITION)
    assert placed is not None
    handing.region.ask_to_end(LEADER)
    to, known, unanswered = LEADER, placed.leader_epoch, list[int]()
    for _ in range(WRITES_MS):
        unanswered.append(handing.write(to, version=HINTS))
        handing.region.run(1)
        while unanswered and handing.client.answers.get(unanswered[0]) is not None:
            leader, epoch = handing.client.named(unanswered.pop(0))
            to, known = (leader, epoch) if epoch > known else (to, known)
    handing.region.run(3_000)
    assert to == NEXT and known == placed.leader_epoch + 1 and not handing.leader.alive
    assert occurrences(handing) == {KafkaError.NONE: {1}}
    kept = handing.kept_by(NEXT)
    places = [kept.index(value) for value in handing.written.values()]
    assert places == sorted(places)


def test_nobody_is_named_while_nobody_goes_and_nobody_waits(handing: Handing) -> None:
    told, early = handing.write(LEADER, version=HINTS), handing.write(NEXT, version=HINTS)
    handing.region.run(50)
    assert handing.said(told) is KafkaError.NONE and handing.client.named(told) == (-1, -1)
    assert handing.said(early) is KafkaError.NOT_LEADER_OR_FOLLOWER
    assert handing.client.named(early)[0] == LEADER


def test_a_leader_that_says_it_goes_and_hangs_is_not_waited_for_long(handing: Handing) -> None:
    handing.region.ask_to_end(LEADER)
    handing.region.run(ANNOUNCED_MS // 2)
    assert handing.region.image.brokers[LEADER].in_controlled_shutdown
    handing.leader.stall()
    early = handing.write(NEXT, version=HINTS)
    handing.region.run(TIMEOUT_MS // 2)
    assert early not in handing.client.answers
    handing.region.run(TIMEOUT_MS // 2)
    assert handing.said(early) is KafkaError.NOT_LEADER_OR_FOLLOWER
    assert handing.client.named(early)[0] == LEADER


def test_only_the_next_leader_lets_requests_wait(handing: Handing) -> None:
    handing.region.ask_to_end(LEADER)
    handing.region.run(ANNOUNCED_MS // 2)
    astray = handing.write(1, version=HINTS)
    handing.region.run(LATER_MS * 2)
    assert handing.said(astray) is KafkaError.NOT_LEADER_OR_FOLLOWER
