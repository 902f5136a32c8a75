"""Kafka's tools in one Java process, one after another: starting it takes longer than what most of them do."""

import select
import subprocess
from pathlib import Path
from typing import IO, NamedTuple, cast

from tests.bench.peer import jars

DRIVER = Path(__file__).with_name("Tools.java")
WAIT_S = 110


class Ended(NamedTuple):
    """How a tool ended, and what it printed on stdout and stderr."""

    code: int
    printed: str


class Tools:
    """A context manager; a name without dots is in org.apache.kafka.tools."""

    def __init__(self) -> None:
        flags = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m")
        command = ["java", *flags, "-cp", f"{jars.CACHE}/*", str(DRIVER)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._questions = cast(IO[bytes], self._process.stdin)
        self._answers = cast(IO[bytes], self._process.stdout)

    def __enter__(self) -> "Tools":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._questions.close()
        self._answers.close()

    def run(self, main: str, *words: str) -> Ended:
        name = main if "." in main else f"org.apache.kafka.tools.{main}"
        self._questions.write(("\t".join((name, *words)) + "\n").encode())
        self._questions.flush()
        ready, _, _ = select.select([self._answers], [], [], WAIT_S)
        assert ready, f"{main} {' '.join(words)} did not end within {WAIT_S} s"
        code, size = map(int, self._answers.readline().split())
        return Ended(code, self._answers.read(size).decode())

    def __call__(self, main: str, *words: str) -> str:
        """What it prints when it ends well."""
        ended = self.run(main, *words)
        assert ended.code == 0, f"{main} {' '.join(words)}\n{ended.printed}"
        return ended.printed

    def refused(self, main: str, *words: str) -> str:
        """What it prints when it does not."""
        ended = self.run(main, *words)
        assert ended.code != 0, f"{main} {' '.join(words)}\n{ended.printed}"
        return ended.printed
