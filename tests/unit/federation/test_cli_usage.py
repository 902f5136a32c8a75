"""A usage error of a command: usage for people, one object for scripts."""

import json
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner, Result

from federation.cli import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (["region", "describe", "--bogus"], "No such option '--bogus'."),
        (["region", "describe"], "Give --bootstrap-server, or --dir and --region."),
        (["region", "reassign", "verify"], "Missing option '--reassignment-json-file'."),
        (["region", "nonsense"], "No such command 'nonsense'."),
        (["nonsense"], "No such command 'nonsense'."),
    ],
)
def test_a_script_that_asks_wrongly_reads_one_object(arguments: list[str], because: str) -> None:
    ran = run(*arguments, "--json")
    assert (ran.exit_code, ran.stderr) == (2, "")
    told = json.loads(ran.stdout)
    assert told["error"] == because
    assert told["hint"].startswith("see `")
    assert told["hint"].endswith(" --help`")


def test_a_person_who_asks_wrongly_is_shown_the_usage() -> None:
    ran = run("region", "describe", "--bogus")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "Usage: " in ran.stderr
    assert "No such option '--bogus'." in ran.stderr


def parameters(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Parameter]]:
    """Of this command and those below it, with their full names."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            assert below is not None
            yield from parameters(below, f"{name} {each}".strip())
    for parameter in command.params:
        yield f"{name} {parameter.name}", parameter


def test_every_number_has_bounds_that_its_field_carries() -> None:
    """A number beyond them would end the command in a traceback, or be taken for another."""
    unbounded = []
    for name, parameter in parameters(main):
        kind = parameter.type
        if isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
            is_range = isinstance(kind, click.IntRange | click.FloatRange)
            if not is_range or kind.min is None or kind.max is None:
                unbounded.append(name)
    assert unbounded == []


AT = ("--bootstrap-server", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (["orphans", "show", "orders-0/1-2.e0", "--limit", "-1"], "-1 is not in the range 0<=x<="),
        (["orphans", "show", "orders-0/1-2.e0", "--limit", f"{1 << 70}"], "is not in the range"),
        (["mirror", "lost", "orders", "--limit", "-1"], "-1 is not in the range 0<=x<="),
        (["mirror", "promote", "orders", "--timeout-ms", "0"], "0 is not in the range 1<=x<="),
        (["mirror", "promote", "orders", "--timeout-ms", f"{1 << 70}"], "is not in the range"),
        (["lineage", "orders", "--partition", "-1"], "-1 is not in the range 0<=x<="),
        (["replica", "status", "--timeout", "nan"], "'nan' is not a number of seconds."),
        (["link", "list", "--watch", "nan"], "'nan' is not a number of seconds."),
        (["link", "list", "--watch", "inf"], "inf is not in the range 0.1<=x<=86400.0"),
    ],
)
def test_a_number_out_of_its_bounds_is_a_usage_error(arguments: list[str], because: str) -> None:
    ran = run(*arguments, *AT)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert because in " ".join(ran.stderr.replace("│", "").split())
