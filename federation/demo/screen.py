"""The output of the demo while it runs: a line for each step, and live progress of long ones."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.live import Live
from rich.table import Table

_REFRESH_S = 0.125
_BAR_WIDTH = 30


@dataclass(frozen=True, slots=True)
class Row:
    """A count, the total that it will reach, and a remark."""

    label: str
    count: int
    total: int
    remark: str = ""


class Screen:
    """Writes to a console, which prints nothing when it is `quiet`."""

    def __init__(self, console: Console) -> None:
        self.console = console

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Print the step when it begins, and its duration when it ends."""
        self.console.print(f"[bold]{what}[/bold]")
        started = time.monotonic()
        yield
        self.console.print(f"  [green]done[/green] in {time.monotonic() - started:.1f} s")

    def note(self, text: str) -> None:
        self.console.print(f"  {text}")

    def watch(self, rows: Callable[[], list[Row]], until: Callable[[], bool]) -> None:
        """Show rows live until `until` returns true."""
        with Live(_table(rows()), console=self.console, auto_refresh=False) as live:
            while not until():
                time.sleep(_REFRESH_S)
                live.update(_table(rows()), refresh=self.console.is_terminal)
            live.update(_table(rows()), refresh=True)
        if not self.console.is_terminal:
            self.console.print()  # in a pipe, Live ends without a line break


def _table(rows: list[Row]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=26)
    table.add_column()
    table.add_column(justify="right", min_width=9)
    table.add_column()
    for row in rows:
        table.add_row(f"  {row.label}", _bar(row), f"{row.count:,}", row.remark)
    return table


def _bar(row: Row) -> str:
    filled = _BAR_WIDTH * min(row.count, row.total) // max(1, row.total)
    return f"[cyan]{'━' * filled}[/cyan][bright_black]{'━' * (_BAR_WIDTH - filled)}[/bright_black]"
