"""Kafka's jars: fetched once with Maven into a cache directory, and the `java` command line that runs them."""

import fcntl
import os
import re
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
POM = HERE / "pom.xml"
JAVA_OLDEST = 17
CACHE = Path(os.environ.get("KAFKA_JARS", Path.home() / ".cache" / "causeway" / "kafka-jars"))
STAMP = CACHE / "pom.xml"  # what the jars there were fetched for

# What bin/kafka-run-class.sh of the Kafka distribution passes.
JVM = (
    "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)  # fmt: skip


class Unavailable(Exception):
    """The jars can't be had here; the message says why and what would help."""


def fetch() -> None:
    """Makes sure that Java and the jars are there; quick when they are.

    Raises Unavailable with the reason.
    """
    _check_java()
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        # Test workers come at once, and one must not read what another writes.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (STAMP.exists() and STAMP.read_bytes() == POM.read_bytes()):
            _copy()


def _copy() -> None:
    if shutil.which("mvn") is None:
        raise Unavailable("Maven isn't installed (on Debian: apt-get install maven)")
    goal = ("dependency:copy-dependencies", f"-DoutputDirectory={CACHE}")
    done = subprocess.run(
        ["mvn", "-q", "-B", "-f", POM, *goal], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Unavailable(
            f"Maven could not fetch the jars: {(done.stdout + done.stderr).strip()[:400]}"
        )
    shutil.copy(POM, STAMP)


def java(main: str, *arguments: str, heap: str = "512m") -> list[str]:
    """The command that runs the class `main` of Kafka's jars; its log goes to stderr."""
    logging = f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}"
    return ["java", *JVM, f"-Xmx{heap}", logging, "-cp", f"{CACHE}/*", main, *arguments]


def _check_java() -> None:
    if shutil.which("java") is None:
        raise Unavailable(f"Java isn't installed; {JAVA_OLDEST} or newer is needed")
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < JAVA_OLDEST:
        raise Unavailable(f"Java {JAVA_OLDEST} or newer is needed, this is {said.splitlines()[:1]}")
