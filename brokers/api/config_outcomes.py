"""What AlterConfigs and IncrementalAlterConfigs share: the outcomes of their resources."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from brokers.errors import Refusal
from brokers.metadata.commands.config_commands import ConfigOutcome
from brokers.wire.messages.configs import AlterConfigsResource, IncrementalAlterConfigsResource

ResponseT = TypeVar("ResponseT")


def refused(
    resources: Iterable[AlterConfigsResource | IncrementalAlterConfigsResource], refusal: Refusal
) -> list[ConfigOutcome]:
    """The same outcome for each of the resources."""
    names = dict.fromkeys((each.resource_type, each.resource_name) for each in resources)
    error, because = refusal.error, refusal.because
    return [ConfigOutcome(resource=name, error=error, because=because) for name in names]


def responses(
    response: Callable[..., ResponseT], outcomes: Iterable[ConfigOutcome]
) -> list[ResponseT]:
    """One `response` for each outcome, of either API."""
    return [
        response(
            error_code=outcome.error,
            error_message=outcome.because,
            resource_type=outcome.resource[0],
            resource_name=outcome.resource[1],
        )
        for outcome in outcomes
    ]
