"""The audit as a process of its own, on the Java that is here and on the one from PyPI."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.cases import planted

pytestmark = pytest.mark.spark
# What Spark's start script calls; with nothing else on the PATH there is no Java.
SCRIPT_NEEDS = (
    "bash",
    "sh",
    "dirname",
    "env",
    "uname",
    "ps",
    "cat",
    "rm",
    "head",
    "sed",
    "grep",
    "ls",
)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("java", ["installed", "packaged"])
def test_an_audit_starts_quietly_and_says_its_verdict(tmp_path: Path, java: str) -> None:
    environment = dict(os.environ)
    if java == "packaged":
        tools = tmp_path / "tools"
        tools.mkdir()
        for name in SCRIPT_NEEDS:
            if found := shutil.which(name):
                (tools / name).symlink_to(found)
        environment = {"PATH": str(tools), "HOME": os.environ.get("HOME", "/tmp")}
    elif shutil.which("java") is None:
        pytest.skip("no Java is installed")
    case = planted(str(tmp_path), 2, ("other_value",))
    command = [sys.executable, "-m", "federation", "audit", "run", "--json"]
    command += ["--source-dir", case.source, "--mirror-dir", case.mirror]
    command += ["--out", str(tmp_path / "out"), "--master", "local[1]"]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ran.returncode == 1, ran.stderr
    assert json.loads(ran.stdout)["verdict"] == "broken"
    assert ran.stderr == ""
