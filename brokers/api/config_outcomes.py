"""What AlterConfigs and IncrementalAlterConfigs share: asking the controller, and one answer per resource."""

from collections.abc import Callable

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.config_commands import AlterConfigs, ConfigOutcome


def propose(
    context: Context,
    request: Request,
    command: AlterConfigs,
    refused: list[ConfigOutcome],
    to_response: Callable[[list[ConfigOutcome]], object],
    now: Instant,
) -> list[Effect]:
    """The reply follows the decision; `refused` are resources that the controller is not asked about."""

    def then(result: tuple[ConfigOutcome, ...] | Refusal, now: Instant) -> list[Effect]:
        if isinstance(result, Refusal):
            error, because = result.error, result.because
            resources = dict.fromkeys(item.resource for item in command.items)
            result = tuple(
                ConfigOutcome(resource=resource, error=error, because=because)
                for resource in resources
            )
        return [Reply(request.ticket, to_response([*refused, *result]))]

    return context.propose(command, then, now)
