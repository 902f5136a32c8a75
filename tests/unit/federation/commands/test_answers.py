"""How commands answer: text for people, one JSON object for scripts."""

import json

import click
import pytest
from click.testing import CliRunner, Result

from federation.commands.answers import Failure, answer, end, json_option


@click.command()
@json_option
@click.option("--fails", is_flag=True)
@click.option("--code", type=int, default=0)
def _command(as_json: bool, fails: bool, code: int) -> None:
    if fails:
        raise Failure("the link is gone", hint="look at its other end", exit_code=code)
    answer({"lag": 0}, as_json, lambda: click.echo("no lag"))
    end(code)


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(_command, arguments)


def test_a_person_reads_text() -> None:
    result = _run()
    assert (result.exit_code, result.output) == (0, "no lag\n")


def test_a_script_reads_one_object() -> None:
    result = _run("--json")
    assert json.loads(result.output) == {"lag": 0}


@pytest.mark.parametrize("code", [0, 3])
def test_an_answer_may_end_in_any_code(code: int) -> None:
    assert _run("--code", str(code)).exit_code == code


def test_a_failure_says_why_and_what_next_on_stderr() -> None:
    result = _run("--fails", "--code", "1")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "Error: the link is gone\nNext: look at its other end\n"


def test_a_failure_is_an_object_too() -> None:
    result = _run("--fails", "--json", "--code", "4")
    assert result.exit_code == 4
    assert json.loads(result.stdout) == {
        "error": "the link is gone",
        "hint": "look at its other end",
    }
    assert result.stderr == ""


def test_a_failure_without_a_hint_has_one_line() -> None:
    with pytest.raises(Failure) as raised:
        raise Failure("no")
    assert (raised.value.hint, raised.value.exit_code, raised.value.as_json) == ("", 1, False)
