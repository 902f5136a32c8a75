"""What a request did to each of its items: those that are done, and those that are refused, each with the reason.

The exit codes of a request that is done in part are here, too.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from brokers.errors import KafkaError, error_from_code
from federation.commands.answers import answer, end

REFUSED_EXIT: Final = 1
INCOMPLETE_EXIT: Final = (
    3  # some broker did not answer, and may have more; those that did not are named
)
_NO_CONTROLLER: Final = (
    "see `causeway region describe` for whether a controller is active, then try again"
)
_ANY: Final = {
    KafkaError.REQUEST_TIMED_OUT: _NO_CONTROLLER,
    KafkaError.NOT_CONTROLLER: _NO_CONTROLLER,
}


def reason_of(response: Any) -> str:
    """The message of a response, or of one of its items, with Kafka's name of its error."""
    name = error_from_code(response.error_code).name
    message = getattr(response, "error_message", None)
    return f"{message} ({name})" if message else name


def answer_each(
    result: Mapping[str, Any],
    lines: Sequence[str],
    refused: Mapping[str, str],
    *,
    hint: str,
    as_json: bool,
) -> None:
    """Prints `lines`, then what was refused to stderr. Exits 1 where anything was refused."""

    def show() -> None:
        for line in lines:
            click.echo(line)
        for name, reason in refused.items():
            click.echo(f"Error: {name}: {reason}", err=True)
        if refused:
            click.echo(f"Next: {hint}", err=True)

    whole = {**result, "refused": dict(refused)}
    answer({**whole, "hint": hint} if refused else whole, as_json, show)
    if refused:
        end(REFUSED_EXIT)


def next_step(errors: Sequence[int], known: Mapping[KafkaError, str], otherwise: str) -> str:
    """What to do after the first of these errors for which something is known."""
    found = {**_ANY, **known}
    return next(
        (found[error] for each in errors if (error := error_from_code(each)) in found), otherwise
    )
