"""A usage error of a command: usage for people, one object for scripts."""

import json

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
