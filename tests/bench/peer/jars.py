"""Kafka's jars: fetched once with Maven into a cache directory, and the `java` command line that runs them."""

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
POM = HERE / "pom.xml"
JAVA_OLDEST = 17
CACHE = Path(os.environ.get("KAFKA_JARS", Path.home() / ".cache" / "causeway" / "kafka-jars"))

# What bin/kafka-run-class.sh of the Kafka distribution passes.
JVM = (
    "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)  # fmt: skip


class Unavailable(Exception):
    """The jars can't be had here; the message says why and what would help."""


def fetch(pom: Path = POM, cache: Path = CACHE) -> None:
    """Makes sure that Java and the jars that `pom` names are there; quick when they are.

    Raises Unavailable with the reason.
    """
    _check_java()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        # Test workers come at once, and one must not read what another writes.
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = cache / "pom.xml"  # what the jars there were fetched for
        if not (stamp.exists() and stamp.read_bytes() == pom.read_bytes()):
            _copy(pom, cache)
            shutil.copy(pom, stamp)


def _copy(pom: Path, cache: Path) -> None:
    if shutil.which("mvn") is None:
        raise Unavailable("Maven isn't installed (on Debian: apt-get install maven)")
    goal = ("dependency:copy-dependencies", f"-DoutputDirectory={cache}")
    done = subprocess.run(
        ["mvn", "-q", "-B", "-f", pom, *goal], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Unavailable(
            f"Maven could not fetch the jars: {(done.stdout + done.stderr).strip()[:400]}"
        )


def java(main: str, *arguments: str, heap: str = "512m", more: Sequence[Path] = ()) -> list[str]:
    """The command that runs the class `main` of Kafka's jars and those in `more`; its log goes to stderr."""
    logging = f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}"
    classes = ":".join(f"{place}/*" for place in (CACHE, *more))
    return ["java", *JVM, f"-Xmx{heap}", logging, "-cp", classes, main, *arguments]


def _check_java() -> None:
    if shutil.which("java") is None:
        raise Unavailable(f"Java isn't installed; {JAVA_OLDEST} or newer is needed")
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < JAVA_OLDEST:
        raise Unavailable(f"Java {JAVA_OLDEST} or newer is needed, this is {said.splitlines()[:1]}")
