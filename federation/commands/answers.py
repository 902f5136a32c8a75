"""The output of every command: a sentence or a table for people, one JSON object for scripts.

A command has `@json_option`, prints with `answer(...)`, and fails with `Failure`. With `--json` a failure is one JSON
object on stdout too (`{"error": ..., "hint": ...}`), so a script always has one object to read beside the exit code.
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPE_COLUMNS = 180
NOT_WELL_EXIT = 3  # what is described is not well, as of `causeway local status`
_ANY_COLUMNS = 10_000

json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on stdout instead of text."
)


class Failure(click.ClickException):
    """A command failed: the reason, and what to do next."""

    def __init__(self, because: str, *, hint: str = "", exit_code: int = 1) -> None:
        super().__init__(because)
        self.hint = hint
        self.exit_code = exit_code  # type: ignore[misc]  # click reads it from the instance
        context = click.get_current_context(silent=True)
        self.as_json = bool(context and context.params.get("as_json"))

    def show(self, file: Any = None) -> None:
        if self.as_json:
            click.echo(json.dumps({"error": self.message, "hint": self.hint}), file=file)
            return
        click.echo(f"Error: {self.message}", file=file, err=True)
        if self.hint:
            click.echo(f"Next: {self.hint}", file=file, err=True)


def answer(result: Mapping[str, Any], as_json: bool, show: Callable[[], None]) -> None:
    """Print `result` as one JSON object, or call `show` to print it as text."""
    if as_json:
        click.echo(json.dumps(result))
    else:
        show()


def screen() -> "Console":
    """The console for text: as wide as the terminal, `PIPE_COLUMNS` wide in a pipe or a file."""
    # Not at the top: a node imports this module and shows no table.
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PIPE_COLUMNS, soft_wrap=False)


def show_table(table: "Table", console: "Console | None" = None) -> None:
    """Prints a table as wide as its values, even if the terminal is narrower: values are never cut off."""
    console = console or screen()
    anything_fits = console.options.update(max_width=_ANY_COLUMNS)
    console.width = max(console.width, console.measure(table, options=anything_fits).maximum)
    console.print(table)


def show_fitting_table(build: "Callable[[str], Table]", console: "Console | None" = None) -> None:
    """Prints a table whose phrases are of one line, or of one word a line where the terminal is narrower than that.

    `build` makes it, with what is to stand between the words of phrases.
    """
    console = console or screen()
    anything_fits = console.options.update(max_width=_ANY_COLUMNS)
    table = build(" ")
    if console.measure(table, options=anything_fits).maximum > console.width:
        table = build("\n")
    show_table(table, console)


def end(exit_code: int) -> NoReturn:
    """Exits with this code, after the output."""
    raise click.exceptions.Exit(exit_code)
