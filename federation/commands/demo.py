"""`causeway demo`: two regions, a link, an audit and a failover."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from federation.commands.answers import Failure, answer, json_option, screen
from federation.local.layout import LocalError

_MARK = ".causeway-demo"


@click.command()
@click.option(
    "--dir",
    "directory",
    default="causeway-demo",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="For data, logs and reports; those of an earlier demo are replaced.",
)
@click.option("--keep", is_flag=True, help="Leave the regions running.")
@json_option
def demo(directory: Path, keep: bool, as_json: bool) -> None:
    """Two regions, a link, an audit, a kill -9, a failover and the way back, with real data, in under a minute.

    Exits 1 if a promise was broken. Stops all processes at its end, also after an error, unless --keep is given.
    """
    try:
        from federation.demo.regions import DemoError
        from federation.demo.screen import Screen
        from federation.demo.steps import run
    except ModuleNotFoundError as missing:
        raise Failure(
            f"{missing.name} is not installed", hint="pip install 'causeway[all]', or make setup"
        ) from missing

    directory = directory.absolute()
    console = screen()
    console.quiet = as_json
    try:
        _make_room(directory)
        with _nothing_left_running(directory, keep):
            summary = run(directory, Screen(console))
    except LocalError as error:
        raise Failure(str(error), hint=error.hint) from error
    except DemoError as error:
        raise Failure(str(error), hint=f"see the logs in {directory}/*/node-1.log") from error
    answer(summary.as_json(), as_json, lambda: console.print(summary.table()))
    if not as_json:
        _show_ending(directory, summary.seconds, keep)
    if summary.broken():
        raise Failure("; ".join(summary.broken()), hint=f"see {directory}")


def _show_ending(directory: Path, seconds: float, keep: bool) -> None:
    click.echo(f"{seconds:.0f} s; lost records, reports, logs and data are in {directory}")
    if keep:
        click.echo(f"East goes on: causeway local status --dir {directory}")


def _make_room(directory: Path) -> None:
    """Make an empty directory: that of an earlier demo is cleared, any other that is not empty is refused."""
    mark = directory / _MARK
    if mark.exists():
        _stop(directory)
        shutil.rmtree(directory)
    elif directory.exists() and any(directory.iterdir()):
        raise Failure(
            f"{directory} is not empty and not a demo's", hint="choose another --dir, or empty it"
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError as refusal:
        raise Failure(f"{directory}: {refusal.strerror}", hint="choose another --dir") from refusal


@contextmanager
def _nothing_left_running(directory: Path, keep: bool) -> Iterator[None]:
    """Stop the regions at the end of the demo (unless --keep), on Ctrl-C or SIGTERM, and after an error."""
    former = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except BaseException:
        _stop(directory)
        raise
    finally:
        signal.signal(signal.SIGTERM, former)
    if not keep:
        _stop(directory)


def _interrupt(number: int, frame: FrameType | None) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _stop(directory: Path) -> None:
    from federation.local import federation as local

    if (directory / "federation.json").exists():
        local.down(directory)
