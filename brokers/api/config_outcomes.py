"""What AlterConfigs and IncrementalAlterConfigs share: the decision, and the outcomes where there is none."""

from collections.abc import Callable, Iterable, Sequence

from brokers.api.ports import ControllerPort
from brokers.continuations import Then
from brokers.effects import Effect
from brokers.errors import Refusal
from brokers.ids import Instant
from brokers.metadata.commands.config_commands import AlterConfigs, ConfigOutcome, Resource
from brokers.wire.message import Message


def decide(
    controller: ControllerPort,
    command: AlterConfigs,
    respond: Callable[[Sequence[ConfigOutcome]], Message],
    then: Then,
    now: Instant,
) -> list[Effect]:
    """`then` receives the response that `respond` makes of one outcome for each resource of the command."""

    def decided(result: tuple[ConfigOutcome, ...] | Refusal, now: Instant) -> list[Effect]:
        if isinstance(result, Refusal):
            result = refused((item.resource for item in command.items), result)
        return then(respond(result), now)

    return controller.decide_once(command, decided, now)


def refused(resources: Iterable[Resource], refusal: Refusal) -> tuple[ConfigOutcome, ...]:
    """The same outcome for each of the resources."""
    error, because = refusal.error, refusal.because
    return tuple(
        ConfigOutcome(resource=resource, error=error, because=because)
        for resource in dict.fromkeys(resources)
    )
