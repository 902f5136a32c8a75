"""`causeway demo`: the whole product once through."""

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
    help="Where data, logs and reports go; what a former demo left there is replaced.",
)
@click.option("--keep", is_flag=True, help="Leave the regions up for a look around.")
@json_option
def demo(directory: Path, keep: bool, as_json: bool) -> None:
    """Two regions, a link, an audit, a kill -9 and a failover, with real data, in under a minute.

    Exits 1 if anything did not go as promised. Leaves no process behind, however it ends, unless --keep is given.
    """
    try:
        from federation.demo.regions import DemoError
        from federation.demo.screen import Screen
        from federation.demo.steps import play
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
            closing = play(directory, Screen(console))
    except LocalError as error:
        raise Failure(str(error), hint=error.hint) from error
    except DemoError as error:
        raise Failure(str(error), hint=f"see the logs in {directory}/*/node-1.log") from error
    answer(closing.as_json(), as_json, lambda: console.print(closing.table()))
    if not as_json:
        _show_ending(directory, closing.seconds, keep)
    if closing.broken():
        raise Failure("; ".join(closing.broken()), hint=f"see {directory}")


def _show_ending(directory: Path, seconds: float, keep: bool) -> None:
    click.echo(f"{seconds:.0f} s; lost records, reports, logs and data are in {directory}")
    if keep:
        click.echo(f"East goes on: causeway local status --dir {directory}")


def _make_room(directory: Path) -> None:
    """Make an empty directory: a former demo's is cleared; any other that is not empty is refused."""
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
