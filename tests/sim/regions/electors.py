"""An operator who takes controllers out of the quorum and lets them in again, one at a time (KIP-853).

Nodes whose disk was lost meanwhile ask for themselves to be let in; whoever comes second is told so.
"""

from typing import Any

from brokers.errors import KafkaError
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
    """One person. Takes nobody out while another's disk is lost: those that stay would be no majority.

    Kafka would let him; `Cluster.reseating` keeps disks from being lost meanwhile.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._world = cluster.world
        self._rng = cluster.world.rng("elector")
        self._routes = Routes(cluster, "elector")

    async def meddle(self) -> None:
        """One change after the other, until clients are to stop."""
        while not self._cluster.stopping:
            await self._world.sleep(self._rng.randrange(300, 4_000))
            self._cluster.reseating = True
            if await self._change():  # else nobody knows what may still come of it
                self._cluster.reseating = False

    async def _change(self) -> bool:
        """Whether it is known what came of it."""
        topic = DescribeQuorumRequestTopic(
            topic_name="__cluster_metadata",
            partitions=[DescribeQuorumRequestPartition(partition_index=0)],
        )
        request = DescribeQuorumRequest(topics=[topic])
        answer = await self._routes.ask_anyone(DESCRIBE_QUORUM, request, timeout_ms=ANSWER_MS)
        if answer is None or answer.error_code or answer.topics[0].partitions[0].error_code:
            return True
        found = answer.topics[0].partitions[0]
        out = self._outside(found)
        if out and self._rng.random() < 0.7:
            return await self._add(self._rng.choice(out))
        if len(found.current_voters) > VOTERS_MIN and self._are_whole(found.current_voters):
            return await self._remove(self._rng.choice(found.current_voters))
        return True

    def _are_whole(self, voters: list[QuorumReplicaState]) -> bool:
        """All of them have the disks that they vote with."""
        nodes = self._cluster.nodes
        return all(
            nodes[each.replica_id].disk.directory == each.replica_directory_id for each in voters
        )

    def _outside(self, found: Any) -> list[QuorumReplicaState]:
        """Controllers that copy the log and have no vote."""
        voters: list[BrokerId] = [each.replica_id for each in found.current_voters]
        controllers = self._cluster.controllers
        others = (each for each in found.observers if each.replica_id in controllers)
        return [each for each in others if each.replica_id not in voters]

    async def _add(self, who: QuorumReplicaState) -> bool:
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
        return self._note(f"let {host} in", answer)

    async def _remove(self, who: QuorumReplicaState) -> bool:
        request = RemoveRaftVoterRequest(
            cluster_id=REGION,
            voter_id=who.replica_id,
            voter_directory_id=who.replica_directory_id,
        )
        answer = await self._routes.ask_anyone(REMOVE_VOTER, request, timeout_ms=ANSWER_MS)
        return self._note(f"take {place(who.replica_id)} out", answer)

    def _note(self, what: str, answer: Any) -> bool:
        self._world.note("elector", f"{what}: {'no answer' if answer is None else brief(answer)}")
        unsure = (KafkaError.NOT_LEADER_OR_FOLLOWER, KafkaError.REQUEST_TIMED_OUT)
        return answer is not None and answer.error_code not in unsure
