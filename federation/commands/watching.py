"""`--watch`: the same again and again, for people at a terminal and for scripts that read a line at a time."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

import click

from federation.commands.answers import Failure, screen
from federation.commands.numbers import Seconds

EVERY_SECONDS: Final = 2.0
MAX_SECONDS: Final = 86_400.0
T = TypeVar("T")

watch_option = click.option(
    "--watch",
    "every_seconds",
    type=Seconds(0.1, MAX_SECONDS),
    is_flag=False,
    flag_value=EVERY_SECONDS,
    default=None,
    metavar="[SECONDS]",
    help=f"Show it again every SECONDS ({EVERY_SECONDS:.0f}) until Ctrl-C; with --json, one object a line.",
)


def watched(
    every_seconds: float | None,
    once: Callable[[], T],
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Calls `once`; with an interval, until Ctrl-C. A failure ends the first call only: regions come back.

    Returns what the last call returned.
    """
    last = once()
    try:
        while every_seconds is not None:
            sleep(every_seconds)
            console = screen()
            if console.is_terminal:
                console.clear()
            try:
                last = once()
            except Failure as failure:
                failure.show()
    except KeyboardInterrupt:
        pass
    return last
