"""`causeway region voters`: what is checked before a change, what is asked, and what `describe --check` makes of it."""

import json
from typing import Any
from uuid import UUID

import pytest

from brokers.ids import id_text
from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.configs import DescribeConfigsResponse
from brokers.wire.messages.metadata import DescribeTopicPartitionsResponse
from brokers.wire.messages.quorum import (
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
    DescribeQuorumResponseTopic,
    QuorumListener,
    QuorumNode,
    QuorumReplicaState,
)
from brokers.wire.messages.quorum_voters import AddRaftVoterResponse, RemoveRaftVoterResponse
from tests.unit.federation.commands.broker_double import BrokerDouble, broker_double

NOW, SILENT_MS = 1_000_000, 60_000
CONTROLLERS = 2
DIRECTORIES = {node: UUID(int=100 + node) for node in range(1, 8)}


def replica(node: int, silent_ms: int = 0, end: int = 100) -> QuorumReplicaState:
    return QuorumReplicaState(
        replica_id=node,
        replica_directory_id=DIRECTORIES[node],
        log_end_offset=end,
        last_fetch_timestamp=NOW - silent_ms,
    )


class Quorum:
    """Node 1 leads; `away` are silent, `observers` fetch and do not vote."""

    def __init__(
        self, *voters: int, away: tuple[int, ...] = (), observers: tuple[int, ...] = ()
    ) -> None:
        self.changes: list[Any] = []
        self.error = 0
        self.knows_directories = True
        self._voters, self._away, self._observers = voters, away, observers
        self._broker: BrokerDouble

    def run(self, *arguments: str) -> Any:
        answers = {
            55: (2, self._describe), 60: (2, self._cluster), 80: (1, self._add), 81: (0, self._remove),
            32: (4, lambda _: DescribeConfigsResponse()), 75: (0, lambda _: DescribeTopicPartitionsResponse()),
        }  # fmt: skip
        with broker_double(answers) as self._broker:
            return self._broker.run("region", *arguments)

    def told(self, *arguments: str) -> Any:
        ran = self.run(*arguments, "--json")
        assert ran.exit_code == 0, ran.output
        return json.loads(ran.stdout)

    @property
    def _port(self) -> int:
        return int(self._broker.bootstrap.rpartition(":")[2])

    def _describe(self, request: Any) -> DescribeQuorumResponse:
        told = DescribeQuorumResponsePartition(
            leader_id=1,
            leader_epoch=4,
            high_watermark=100,
            current_voters=[
                replica(each, SILENT_MS if each in self._away else 0) for each in self._voters
            ],
            observers=[replica(each, 500, 90) for each in self._observers],
        )
        if not self.knows_directories:
            for each in told.current_voters:
                each.replica_directory_id = UUID(int=0)
        topics = [DescribeQuorumResponseTopic(topic_name="__cluster_metadata", partitions=[told])]
        listener = QuorumListener(name="CTRL", host="127.0.0.1", port=self._port)
        return DescribeQuorumResponse(
            topics=topics, nodes=[QuorumNode(node_id=1, listeners=[listener])]
        )

    def _cluster(self, request: Any) -> DescribeClusterResponse:
        if request.endpoint_type != CONTROLLERS:
            return DescribeClusterResponse(cluster_id="c", controller_id=1)
        at = [
            DescribeClusterBroker(broker_id=each, host=f"h{each}", port=9090 + each)
            for each in (1, 4)
        ]
        return DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=at)

    def _add(self, request: Any) -> AddRaftVoterResponse:
        self.changes.append(request)
        return AddRaftVoterResponse(error_code=self.error, error_message=None)

    def _remove(self, request: Any) -> RemoveRaftVoterResponse:
        self.changes.append(request)
        return RemoveRaftVoterResponse(
            error_code=self.error, error_message="try later" if self.error else None
        )


def test_voters_and_observers_are_described() -> None:
    told = Quorum(1, 2, 3, away=(3,), observers=(4,)).told("voters", "describe")
    assert (told["leader"], told["survives_losses"]) == (1, 0)
    assert [(each["id"], each["is_away"], each["silent_ms"]) for each in told["voters"]] == [
        (1, False, 0), (2, False, 0), (3, True, SILENT_MS),
    ]  # fmt: skip
    (observer,) = told["observers"]
    assert (observer["id"], observer["lag"], observer["directory"]) == (
        4,
        10,
        id_text(DIRECTORIES[4]),
    )
    printed = Quorum(1, 2, 3, away=(3,)).run("voters", "describe").output
    assert "Follower, away" in printed
    assert "3 voters, 3 not heard of, survives no loss" in printed


@pytest.mark.parametrize(
    ("voters", "away", "exit_code", "sentence"),
    [
        ((1,), (), 0, "1 voter: the region is there while it is"),
        ((1, 2), (), 3, "2 voters, survives no loss"),
        ((1, 2, 3), (), 0, "3 voters, survives the loss of 1"),
        ((1, 2, 3), (3,), 3, "3 voters, 3 not heard of, survives no loss"),
        ((1, 2, 3, 4, 5), (5,), 0, "5 voters, 5 not heard of, survives the loss of 1"),
        ((1, 2, 3, 4, 5), (4, 5), 3, "5 voters, 4, 5 not heard of, survives no loss"),
    ],
)
def test_check_says_when_a_quorum_survives_no_loss(
    voters: tuple[int, ...], away: tuple[int, ...], exit_code: int, sentence: str
) -> None:
    ran = Quorum(*voters, away=away).run("describe", "--check")
    assert ran.exit_code == exit_code
    assert f"quorum: {sentence}" in ran.output


def test_a_controller_that_follows_becomes_a_voter() -> None:
    quorum = Quorum(1, 2, observers=(4,))
    told = quorum.told("voters", "add", "4")
    assert (told["added"], told["voters"], told["survives_losses"]) == (4, 3, 1)
    (request,) = quorum.changes
    assert (request.voter_id, request.voter_directory_id) == (4, DIRECTORIES[4])
    (listener,) = request.listeners
    assert (listener.name, listener.host, listener.port) == ("CTRL", "h4", 9094)


def test_directory_and_listener_may_be_given() -> None:
    quorum = Quorum(1, observers=(5,))
    given = ("--directory-id", id_text(DIRECTORIES[6]), "--listener", "OTHER://far:9")
    quorum.told("voters", "add", "5", *given)
    (request,) = quorum.changes
    assert request.voter_directory_id == DIRECTORIES[6]
    assert [(each.name, each.host, each.port) for each in request.listeners] == [
        ("OTHER", "far", 9)
    ]
    for wrong in (("--listener", "far"), ("--listener", "far:99999"), ("--directory-id", "short")):
        assert quorum.run("voters", "add", "5", *wrong).exit_code == 2
    assert len(quorum.changes) == 1


@pytest.mark.parametrize(
    ("node", "because"),
    [
        (2, "node 2 is a voter already"),
        (6, "node 6 does not follow the quorum"),
        (5, "node 5 is not registered as a controller"),
    ],
)
def test_a_node_that_cannot_become_a_voter_is_refused(node: int, because: str) -> None:
    quorum = Quorum(1, 2, observers=(4, 5))
    ran = quorum.run("voters", "add", str(node))
    assert (ran.exit_code, quorum.changes) == (1, [])
    assert because in ran.output
    assert "Next:" in ran.output


@pytest.mark.parametrize(
    ("voters", "away", "node", "because"),
    [
        ((1, 2, 3), (3,), 2, "the quorum could not go on"),
        ((1, 2, 3), (), 3, "would survive no loss then, and 1 now"),
        ((1, 2, 3, 4, 5), (), 3, "would survive the loss of 1 then, and 2 now"),
        ((1,), (), 1, "is the last voter"),
        ((1, 2), (), 7, "node 7 is no voter"),
    ],
)
def test_what_leaves_a_worse_quorum_is_refused(
    voters: tuple[int, ...], away: tuple[int, ...], node: int, because: str
) -> None:
    quorum = Quorum(*voters, away=away)
    ran = quorum.run("voters", "remove", str(node))
    assert (ran.exit_code, quorum.changes) == (1, [])
    assert because in ran.output


def test_a_voter_that_is_away_is_removed_and_any_other_by_force() -> None:
    quorum = Quorum(1, 2, 3, away=(3,))
    assert quorum.told("voters", "remove", "3", "--dry-run")["removed"] is None
    assert quorum.changes == []
    told = quorum.told("voters", "remove", "3")
    assert (told["removed"], told["voters"]) == (3, 2)
    assert quorum.changes[0].voter_directory_id == DIRECTORIES[3]
    assert Quorum(1, 2, 3).told("voters", "remove", "3", "--force")["survives_losses"] == 0


def test_what_the_region_refuses_is_told() -> None:
    quorum = Quorum(1, 2, 3, away=(3,))
    quorum.error = 7
    ran = quorum.run("voters", "remove", "3")
    assert ran.exit_code == 1
    assert "node 3 is not removed: try later (REQUEST_TIMED_OUT)" in ran.output


def test_the_voters_of_a_static_quorum_have_no_directories_and_are_not_changed() -> None:
    quorum = Quorum(1, 2, 3, away=(3,))
    quorum.knows_directories = False
    ran = quorum.run("voters", "remove", "3")
    assert (ran.exit_code, quorum.changes) == (1, [])
    assert "the quorum is static (kraft.version 0)" in ran.output
