"""`causeway node run` with settings that cannot be: everything that is wrong, and nothing is started."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from federation.cli import main


def run(path: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["node", "run", "--config", str(path), *options])


@pytest.mark.parametrize(
    ("settings", "because"),
    [
        (b"node.id = 1", "\n  log.dirs: required"),
        (b"node.id = [", "\n  not TOML: "),
        (b"# caf\xe9\nnode.id = 1", "\n  not UTF-8: invalid continuation byte at byte 5"),
    ],
)
def test_what_is_wrong_is_told_to_people_and_to_scripts(
    settings: bytes, because: str, tmp_path: Path
) -> None:
    path = tmp_path / "node.toml"
    path.write_bytes(settings)
    person, script = run(path), run(path, "--json")
    assert (person.exit_code, person.stdout) == (1, "")
    assert f"{path}: not started{because}" in person.stderr
    assert (script.exit_code, script.stderr) == (1, "")
    assert json.loads(script.stdout)["error"].startswith(f"{path}: not started{because}")
