"""What the operator log gets of changes of the voters, which the quorum makes without the controller (KIP-853)."""

from collections.abc import Iterable, Iterator

from brokers.effects import Reply
from brokers.events import Request
from brokers.ids import Ticket, id_text
from brokers.metadata.commands.operation_commands import RecordOperation
from brokers.wire.messages.quorum_voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)


class VoterOperations:
    """Requests that change the voters, until they are answered. A broker that forwards one is who asks for it."""

    def __init__(self) -> None:
        self._asked: dict[Ticket, Request] = {}

    def asked(self, request: Request) -> None:
        if isinstance(request.message, AddRaftVoterRequest | RemoveRaftVoterRequest):
            self._asked[request.ticket] = request

    def completed(self, effects: Iterable[object]) -> Iterator[RecordOperation]:
        """Those that these effects answer without an error."""
        if not self._asked:
            return
        for effect in effects:
            if not isinstance(effect, Reply):
                continue
            request = self._asked.pop(effect.ticket, None)
            if request is not None and _is_done(effect.message) and request.origin is not None:
                message = request.message
                assert isinstance(message, AddRaftVoterRequest | RemoveRaftVoterRequest)
                added = isinstance(message, AddRaftVoterRequest)
                yield RecordOperation(
                    origin=request.origin,
                    operation="AddRaftVoter" if added else "RemoveRaftVoter",
                    resources=(("voter", str(message.voter_id)),),
                    details=f"directory {id_text(message.voter_directory_id)}",
                )


def _is_done(response: object) -> bool:
    return (
        isinstance(response, AddRaftVoterResponse | RemoveRaftVoterResponse)
        and not response.error_code
    )
