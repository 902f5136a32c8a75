"""A benchmark that is ended early."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.process.asking import until

TIMEOUT_S = 60


@pytest.mark.process
def test_its_nodes_end_with_it(tmp_path: Path) -> None:
    words = ("--quick", "--no-peer", "--repeat", "1", "--only", "recompress-lz4")
    with (tmp_path / "log").open("w") as log:
        bench = subprocess.Popen(
            [sys.executable, "-m", "tests.bench", *words, "--out", str(tmp_path / "out")],
            env=os.environ | {"TMPDIR": str(tmp_path)},
            stdout=log,
            stderr=log,
        )
    try:
        until(lambda: len(nodes(tmp_path)) == 2, TIMEOUT_S, (tmp_path / "log").read_text)
        bench.send_signal(signal.SIGTERM)
        assert bench.wait(TIMEOUT_S) == 128 + signal.SIGTERM, (tmp_path / "log").read_text()
        assert nodes(tmp_path) == []
        assert list(tmp_path.glob("causeway-bench-*")) == []
    finally:
        bench.kill()
        for each in nodes(tmp_path):
            each.kill()


def nodes(directory: Path) -> list[psutil.Process]:
    """The nodes whose settings lie in the directory."""
    found = []
    for each in psutil.process_iter(["cmdline"]):
        words = each.info["cmdline"] or ()
        if "run" in words and any(word.startswith(str(directory)) for word in words):
            found.append(each)
    return found
