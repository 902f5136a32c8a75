"""Runs the suite: exits 0 when exactly the tests of `tests.deny` fail, 1 otherwise, 2 where it can't be had."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.compat.librdkafka import suite

HERE = Path(__file__).parent
CAUSEWAY = Path(sys.executable).parent / "causeway"
SETTINGS = (
    "num.partitions = 4\n"  # what its tests take for granted of topics that create themselves
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compat.librdkafka", description=__doc__)
    parser.add_argument("tests", nargs="*", help="numbers, else all of tests.allow and tests.deny")
    parser.add_argument("--nodes", type=int, default=3)
    options = parser.parse_args()
    denied = _read("tests.deny")
    wanted = options.tests or sorted({**_read("tests.allow"), **denied})
    try:
        folder = suite.build()
    except suite.Unavailable as reason:
        print(f"librdkafka's suite can't be had: {reason}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="causeway-librdkafka-") as directory:
        bootstrap = _up(directory, options.nodes)
        try:
            return _judge(folder, bootstrap, wanted, denied, Path(directory))
        finally:
            subprocess.run([CAUSEWAY, "local", "down", "--dir", directory], check=True)


def _judge(
    folder: Path, bootstrap: str, wanted: list[str], denied: dict[str, str], logs: Path
) -> int:
    surprises = 0
    for outcome in suite.run(folder, bootstrap, wanted, logs):
        expected = outcome.passed != (outcome.test in denied)
        surprises += not expected
        verdict = "passed" if outcome.passed else f"failed: {outcome.why()}"
        print(f"{outcome.test} {verdict}{'' if expected else '  <- not expected'}", flush=True)
    print(f"{len(wanted)} tests, {surprises} not as expected")
    return 1 if surprises else 0


def _up(directory: str, nodes: int) -> str:
    """Where the region is. Its nodes are started once to get their settings, and again with those of the suite."""
    where = ["--dir", directory]
    shape = ["--region", "west", "--nodes", str(nodes)]
    subprocess.run([CAUSEWAY, "local", "up", *where, *shape], check=True, capture_output=True)
    subprocess.run([CAUSEWAY, "local", "down", *where], check=True, capture_output=True)
    for settings in Path(directory).glob("*/node-*.toml"):
        with settings.open("a") as file:
            file.write(SETTINGS)
    command = [CAUSEWAY, "local", "up", *where, "--json"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (region,) = json.loads(said)["regions"]
    return str(region["bootstrap"])


def _read(name: str) -> dict[str, str]:
    """Test numbers with what is said of them."""
    lines = (HERE / name).read_text().splitlines()
    return dict(line.split(" ", 1) if " " in line else (line, "") for line in lines if line)


if __name__ == "__main__":
    sys.exit(main())
