"""An operator who takes controllers out of the quorum and lets them in again, one at a time (KIP-853).

Nodes whose disk was lost meanwhile ask for themselves to be let in; whoever comes second is told so.
"""

from typing import Any

from brokers.ids import BrokerId
from brokers.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
    QuorumReplicaState,
)
from brokers.wire.messages.quorum_voters import (
    AddRaftVoterRequest,
    RemoveRaftVoterRequest,
    VoterListener,
)
from tests.sim.regions.admins import brief
from tests.sim.regions.cluster import CONTROLLER_PORT, REGION, Cluster, place
from tests.sim.regions.routes import Routes

DESCRIBE_QUORUM, ADD_VOTER, REMOVE_VOTER = 55, 80, 81
VOTERS_MIN = 2  # with one, nothing may happen to it any more
ANSWER_MS = 8_000


class Elector:
    """One person. Never takes out so many that no majority would be left of those that stay."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._world = cluster.world
        self._rng = cluster.world.rng("elector")
        self._routes = Routes(cluster, "elector")

    async def meddle(self) -> None:
        """One change after the other, until clients are to stop."""
        while not self._cluster.stopping:
            await self._world.sleep(self._rng.randrange(300, 4_000))
            await self._change()

    async def _change(self) -> None:
        topic = DescribeQuorumRequestTopic(
            topic_name="__cluster_metadata",
            partitions=[DescribeQuorumRequestPartition(partition_index=0)],
        )
        request = DescribeQuorumRequest(topics=[topic])
        answer = await self._routes.ask_anyone(DESCRIBE_QUORUM, request, timeout_ms=ANSWER_MS)
        if answer is None or answer.error_code or answer.topics[0].partitions[0].error_code:
            return
        found = answer.topics[0].partitions[0]
        out = self._outside(found)
        if out and self._rng.random() < 0.7:
            await self._add(self._rng.choice(out))
        elif len(found.current_voters) > VOTERS_MIN:
            await self._remove(self._rng.choice(found.current_voters))

    def _outside(self, found: Any) -> list[QuorumReplicaState]:
        """Controllers that copy the log and have no vote."""
        voters: list[BrokerId] = [each.replica_id for each in found.current_voters]
        controllers = self._cluster.controllers
        others = (each for each in found.observers if each.replica_id in controllers)
        return [each for each in others if each.replica_id not in voters]

    async def _add(self, who: QuorumReplicaState) -> None:
        host = place(who.replica_id)
        request = AddRaftVoterRequest(
            cluster_id=REGION,
            timeout_ms=ANSWER_MS // 2,
            voter_id=who.replica_id,
            voter_directory_id=who.replica_directory_id,
            listeners=[VoterListener(name="CONTROLLER", host=host, port=CONTROLLER_PORT)],
            ack_when_committed=self._rng.random() < 0.5,
        )
        answer = await self._routes.ask_anyone(ADD_VOTER, request, timeout_ms=ANSWER_MS)
        self._note(f"let {host} in", answer)

    async def _remove(self, who: QuorumReplicaState) -> None:
        request = RemoveRaftVoterRequest(
            cluster_id=REGION,
            voter_id=who.replica_id,
            voter_directory_id=who.replica_directory_id,
        )
        answer = await self._routes.ask_anyone(REMOVE_VOTER, request, timeout_ms=ANSWER_MS)
        self._note(f"take {place(who.replica_id)} out", answer)

    def _note(self, what: str, answer: Any) -> None:
        self._world.note("elector", f"{what}: {'no answer' if answer is None else brief(answer)}")
