"""The names of topics on a command line: as arguments, or as `--topics A,B` of Kafka's tools."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click


def topic_names(*, required: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds `[TOPIC]...` and `--topics`; the command gets both as the tuple `topics`, each name once."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.argument("arguments", metavar="[TOPIC]...", nargs=-1)
        @click.option("--topics", "listed", metavar="A,B,...", help="The same, as one value.")
        @wraps(command)
        def with_topics(
            *others: Any, arguments: tuple[str, ...], listed: str | None, **named: Any
        ) -> Any:
            names = [name.strip() for name in (listed or "").split(",") if name.strip()]
            if listed is not None and not names:  # in a request, no names mean all topics
                raise click.UsageError("--topics names no topic.")
            topics = tuple(dict.fromkeys((*arguments, *names)))
            if required and not topics:
                raise click.UsageError("Name a topic.")
            return command(*others, topics=topics, **named)

        return with_topics

    return decorate
