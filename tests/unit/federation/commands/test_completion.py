"""Completion with the Tab key, as a shell asks for it."""

import json
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from federation.cli import COMMANDS, main
from federation.commands.completion import PROGRAM, SHELLS, VARIABLE


def completed(*words: str, incomplete: str = "") -> dict[str, str | None]:
    """What may stand there, with its help."""
    shell = ShellComplete(main, {}, PROGRAM, VARIABLE)
    return {each.value: each.help for each in shell.get_completions(list(words), incomplete)}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_gets_a_script_that_asks_this_program(shell: str) -> None:
    ran = CliRunner().invoke(main, ["completion", shell])
    assert ran.exit_code == 0, ran.output
    assert f"{VARIABLE}={shell}_complete" in ran.stdout
    told = json.loads(CliRunner().invoke(main, ["completion", shell, "--json"]).stdout)
    assert told["script"] in ran.stdout


def test_commands_groups_and_options_are_completed() -> None:
    assert completed() == {name: about for name, (_, about) in COMMANDS.items()}
    assert set(completed(incomplete="re")) == {"region", "replica"}
    assert {"create", "describe"} <= completed("topic").keys()
    assert set(completed("topic", "create", incomplete="--repl")) == {
        "--replica-assignment", "--replica-placement", "--replication-factor",
    }  # fmt: skip
    assert set(completed("completion")) == set(SHELLS)


def test_a_first_word_is_completed_without_importing_the_commands() -> None:
    script = (
        "import sys; from click.shell_completion import ShellComplete; from federation.cli import main;"
        "assert ShellComplete(main, {}, 'causeway', 'X').get_completions([], '');"
        "sys.exit('grpc' in sys.modules or 'pyspark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=120).returncode == 0


def test_an_unknown_shell_is_a_usage_error() -> None:
    assert CliRunner().invoke(main, ["completion", "tcsh"]).exit_code == 2
