"""The operator log's entries of what a broker changes beside the controller: groups, records, log directories, loggers.

The client is answered first: its request needs no controller, and must not wait for one. So an entry is lost where the
broker dies in between, or where no controller can write it; the broker's own log says so then.
"""

from collections.abc import Sequence

from brokers.effects import Changed, Effect
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.membership.forwarding import ForwardingManager
from brokers.metadata.commands.operation_commands import ChangedResource, RecordOperation
from brokers.metadata.controller.operation_log import is_written
from brokers.metadata.log.raft_manager import RaftManager
from brokers.timers import Timers


class OperationRecorder:
    """`record` once for each request that changed something."""

    def __init__(self, raft: RaftManager, forwarding: ForwardingManager, timers: Timers) -> None:
        self._raft = raft
        self._forwarding = forwarding
        self._timers = timers

    def record(
        self,
        request: Request,
        operation: str,
        resources: Sequence[ChangedResource],
        details: Sequence[str] = (),
    ) -> None:
        """`resources` without a member: nothing was changed. A node's own request, which has no origin, is not told."""
        origin = request.origin
        if not resources or origin is None or not is_written(self._raft.image):
            return
        command = RecordOperation(
            origin=origin,
            operation=operation,
            resources=tuple(dict.fromkeys(resources)),
            details="; ".join(details),
        )
        self._timers.set(0, lambda now: self._submit(command, now))

    def _submit(self, command: RecordOperation, now: Instant) -> list[Effect]:
        def submitted(result: object, at: Instant) -> list[Effect]:
            if not isinstance(result, Refusal):
                return []
            what = f"operator log: {command.operation} of {command.resources[0][1]}"
            return [Changed(what, "no entry", result.because or result.error.name)]

        return self._forwarding.submit(command, submitted, now)
