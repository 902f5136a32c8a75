"""The quorum's own requests, which the metadata plane answers: Fetch of the metadata log (key 1), Vote (52),
BeginQuorumEpoch (53), EndQuorumEpoch (54), DescribeQuorum (55), FetchSnapshot (59), AddRaftVoter (80),
RemoveRaftVoter (81), UpdateRaftVoter (82).

Controllers ask one another at their own listener. What operators ask (55, 80, 81) is taken at the clients' listener
too, and brought to whoever leads the quorum, as it came (KIP-595, KIP-853).
"""

from collections.abc import Callable
from dataclasses import dataclass

from brokers.api.context import Context
from brokers.effects import Effect, Hangup, Reply
from brokers.events import Answered, Request
from brokers.ids import Instant
from brokers.membership.controller_channel import COMMAND_CHANNEL
from brokers.wire.messages.fetch import FetchRequest

FETCH, VOTE, BEGIN_EPOCH, END_EPOCH, DESCRIBE, FETCH_SNAPSHOT = 1, 52, 53, 54, 55, 59
ADD_VOTER, REMOVE_VOTER, UPDATE_VOTER = 80, 81, 82
FORWARD_MS = 30_000


@dataclass(frozen=True, slots=True)
class QuorumApi:
    """One of them, at one listener."""

    KEY: int
    VERSIONS: tuple[int, int]
    handle: Callable[[Context, Request, Instant], list[Effect]]


def _answer(context: Context, request: Request, now: Instant) -> list[Effect]:
    return context.run_plane(context.plane.on_request(request, now), now)


def _fetch(context: Context, request: Request, now: Instant) -> list[Effect]:
    """Whoever fetches the metadata log is there."""
    message = request.message
    assert isinstance(message, FetchRequest)
    state = message.replica_state
    replica_id = message.replica_id if state is None else state.replica_id
    context.heard(replica_id, request.ticket, now)
    return _answer(context, request, now)


def _forward(context: Context, request: Request, now: Instant) -> list[Effect]:
    leader = context.controller
    if context.is_active or leader is None:
        return _answer(context, request, now)

    def then(answered: Answered, now: Instant) -> list[Effect]:
        if answered.message is None:  # nobody knows what came of it; clients ask again
            return [Hangup(request.ticket, f"the quorum's leader: {answered.failure.value}")]
        return [Reply(request.ticket, answered.message)]

    key, version = request.api_key, request.api_version
    return context.ask(leader, COMMAND_CHANNEL, key, version, request.message, FORWARD_MS, then)


FOR_NODES = (
    QuorumApi(
        FETCH, (12, 18), _fetch
    ),  # from 12 on a fetch says of which epoch its last record was
    QuorumApi(VOTE, (0, 2), _answer),
    QuorumApi(BEGIN_EPOCH, (0, 1), _answer),
    QuorumApi(END_EPOCH, (0, 1), _answer),
    QuorumApi(DESCRIBE, (0, 2), _answer),
    QuorumApi(FETCH_SNAPSHOT, (0, 1), _answer),
    QuorumApi(ADD_VOTER, (0, 1), _answer),
    QuorumApi(REMOVE_VOTER, (0, 0), _answer),
    QuorumApi(UPDATE_VOTER, (0, 0), _answer),
)
FOR_CLIENTS = (
    QuorumApi(DESCRIBE, (0, 2), _forward),
    QuorumApi(ADD_VOTER, (0, 1), _forward),
    QuorumApi(REMOVE_VOTER, (0, 0), _forward),
)
