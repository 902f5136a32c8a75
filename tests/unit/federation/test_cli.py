"""The command line as a whole."""

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from federation.cli import COMMANDS, main


def _commands(
    command: click.Command, path: str = "causeway"
) -> Iterator[tuple[str, click.Command]]:
    """(what one types, command) of each command that does something."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        member = command.get_command(context, name)
        assert member is not None, f"{path} {name}"
        yield from _commands(member, f"{path} {name}")


def test_help_names_every_command() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for name, (_, about) in COMMANDS.items():
        assert name in result.output
        assert about in result.output


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_waits_for_nothing_heavy(word: str) -> None:
    program = (
        "import sys; from federation.cli import main\n"
        f"try: main(['{word}'])\n"
        "finally: print('LOADED', *(set(sys.modules) & {'grpc', 'pyspark', 'pandas', 'uvloop', 'pydantic', 'rich'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_a_description_of_a_region_waits_for_no_library_that_other_commands_need() -> None:
    program = (
        "import sys; from federation.cli import main\n"
        "try: main(['region', 'describe', '--help'])\n"
        "finally: print('LOADED', *(set(sys.modules) & {'grpc', 'pydantic', 'uvloop'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_an_unknown_command_is_a_wrong_question() -> None:
    result = CliRunner().invoke(main, ["lnik"])
    assert result.exit_code == 2
    assert "No such command 'lnik'" in result.output


def test_every_command_answers_scripts() -> None:
    deaf = [
        path
        for path, command in _commands(main)
        if not any("--json" in option.opts for option in command.params)
    ]
    assert not deaf, f"without --json: {deaf}"


def test_every_command_says_what_it_does() -> None:
    mute = [path for path, command in _commands(main) if not command.help]
    assert not mute, mute


def test_the_help_of_a_group_is_what_the_list_of_groups_says() -> None:
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        assert command.name == name
