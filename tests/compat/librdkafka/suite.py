"""The test runner: sources from npm, built with the C compiler that is there."""

import fcntl
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = "@confluentinc/kafka-javascript@1.10.1"  # carries librdkafka 2.15.1 with all its tests
NEEDED = ("npm", "gcc", "g++", "make")
CACHE = Path(
    os.environ.get("LIBRDKAFKA_SUITE", Path.home() / ".cache" / "causeway" / "librdkafka-suite")
)
KAFKA_VERSION = "4.0.0.0"  # which tests the runner thinks possible
TEST_S = 180


class Unavailable(Exception):
    """The suite can't be had here; the message says why and what would help."""


class Outcome(NamedTuple):
    test: str
    passed: bool
    log: Path

    def why(self) -> str:
        """The first complaint, without the runner's colours."""
        text = re.sub(r"\x1b\[\d+m", "", self.log.read_text(errors="replace"))
        found = re.search(r"### Test .* failed at .*\n(.*)", text)
        return found[0].replace("\n", " ") if found else f"see {self.log}"


def build() -> Path:
    """The folder of the built runner; quick when it is there. Raises Unavailable with the reason."""
    if missing := [tool for tool in NEEDED if shutil.which(tool) is None]:
        raise Unavailable(f"{', '.join(missing)} must be installed")
    CACHE.mkdir(parents=True, exist_ok=True)
    root = CACHE / "package" / "deps" / "librdkafka"
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "tests" / "test-runner").exists():
            _fetch()
            _run("./configure", "--disable-gssapi", "--disable-optimization", at=root)
            _run("make", f"-j{os.cpu_count()}", "libs", at=root)
            _run("make", f"-j{os.cpu_count()}", "-C", "tests", "build", at=root)
    return root / "tests"


def _fetch() -> None:
    _run("npm", "pack", PACKAGE, at=CACHE)
    (archive,) = CACHE.glob("*.tgz")
    with tarfile.open(archive) as packed:
        packed.extractall(CACHE, filter="data")


def _run(*command: str, at: Path) -> None:
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-400:]
        raise Unavailable(f"{' '.join(command)} failed in {at}: {said}")


def run(folder: Path, bootstrap: str, tests: list[str], logs: Path) -> Iterator[Outcome]:
    """Each test by itself, since one that fails aborts the runner."""
    (logs / "test.conf").write_text(f"bootstrap.servers={bootstrap}\n")
    settings = {
        "RDKAFKA_TEST_CONF": str(logs / "test.conf"),
        "TEST_KAFKA_VERSION": KAFKA_VERSION,
        "LD_LIBRARY_PATH": "../src:../src-cpp",
    }
    for test in tests:
        log = logs / f"{test}.log"
        with log.open("wb") as sink:
            command = ["timeout", str(TEST_S), "./test-runner", "-p1", "-Q", "-E"]
            done = subprocess.run(
                command, cwd=folder, env=os.environ | settings | {"TESTS": test}, stdout=sink,
                stderr=sink, check=False,
            )  # fmt: skip
        yield Outcome(test, done.returncode == 0, log)
