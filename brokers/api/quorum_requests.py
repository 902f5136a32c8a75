"""The quorum's own requests, which `RaftManager` answers: Fetch of the metadata log (key 1), Vote (52),
BeginQuorumEpoch (53), EndQuorumEpoch (54), DescribeQuorum (55), FetchSnapshot (59), AddRaftVoter (80),
RemoveRaftVoter (81), UpdateRaftVoter (82).

Controllers ask one another at their own listener. A broker forwards operators' requests (55, 80, 81) as
they are to the leader of the quorum (KIP-595, KIP-853).
"""

from typing import NamedTuple

from brokers.api.ports import ControllerPort, OnBrokerHeartbeat
from brokers.continuations import Continuations
from brokers.effects import Effect, Hangup, Reply
from brokers.events import Answered, Request
from brokers.ids import Instant
from brokers.membership.controller_channel import FORWARDING_CHANNEL
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.fetch import FetchRequest

FORWARD_MS = 30_000


class QuorumApi(NamedTuple):
    """One of the quorum's APIs, with the versions that a listener serves."""

    KEY: int
    VERSIONS: tuple[int, int]


# Since version 12 a fetch has the leader epoch of its last record.
FETCH_METADATA = QuorumApi(ApiKey.FETCH, (12, 18))
FOR_NODES = (
    QuorumApi(ApiKey.VOTE, (0, 2)),
    QuorumApi(ApiKey.BEGIN_QUORUM_EPOCH, (0, 1)),
    QuorumApi(ApiKey.END_QUORUM_EPOCH, (0, 1)),
    QuorumApi(ApiKey.DESCRIBE_QUORUM, (0, 2)),
    QuorumApi(ApiKey.FETCH_SNAPSHOT, (0, 1)),
    QuorumApi(ApiKey.ADD_RAFT_VOTER, (0, 1)),
    QuorumApi(ApiKey.REMOVE_RAFT_VOTER, (0, 0)),
    QuorumApi(ApiKey.UPDATE_RAFT_VOTER, (0, 0)),
)
FOR_CLIENTS = (
    QuorumApi(ApiKey.DESCRIBE_QUORUM, (0, 2)),
    QuorumApi(ApiKey.ADD_RAFT_VOTER, (0, 1)),
    QuorumApi(ApiKey.REMOVE_RAFT_VOTER, (0, 0)),
)


class QuorumHandler:
    """Answers the quorum's requests at the controller listener, or forwards them from a broker's listener."""

    def __init__(
        self, controller: ControllerPort, continuations: Continuations, heard: OnBrokerHeartbeat
    ) -> None:
        self._controller = controller
        self._continuations = continuations
        self._heard = heard

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        """Answer here: as the leader, or with the leader that this node knows."""
        return self._controller.on_quorum_request(request, now)

    def fetch(self, request: Request, now: Instant) -> list[Effect]:
        """A Fetch of the metadata log, which also shows that the fetching node is alive."""
        message = request.message
        assert isinstance(message, FetchRequest)
        state = message.replica_state
        replica_id = message.replica_id if state is None else state.replica_id
        self._heard(replica_id, request.ticket, now)
        return self.handle(request, now)

    def forward(self, request: Request, now: Instant) -> list[Effect]:
        """Forward a client's request as it is to the leader of the quorum."""
        leader = self._controller.controller
        if self._controller.is_active or leader is None:
            return self.handle(request, now)

        def then(answered: Answered, now: Instant) -> list[Effect]:
            if answered.message is None:  # the outcome is unknown; the client asks again
                because = f"the quorum's leader: {answered.failure.value}"
                return [Hangup(request.ticket, because)]
            return [Reply(request.ticket, answered.message)]

        key, version = request.api_key, request.api_version
        return self._continuations.ask(
            leader, FORWARDING_CHANNEL, key, version, request.message, FORWARD_MS, then
        )
