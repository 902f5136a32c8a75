"""The audit of the demo: `causeway audit run` in a process of its own."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from federation.demo.regions import DemoError

FIELDS = ("verdict", "said", "exit_code", "html", "json")


def audit(directory: Path, topic: str) -> dict[str, Any]:
    """Runs the audit and returns some fields of its JSON. Raises DemoError when the audit could not run."""
    command = [sys.executable, "-P", "-m", "federation", "audit", "run", "--json"]
    command += ["--dir", str(directory), "--source", "west", "--mirror", "east"]
    command += ["--topic", topic, "--out", str(directory / "audit")]
    with (directory / "audit.log").open("w") as log:
        # A session of its own, so that Spark's Java can be ended with it.
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        )
        try:
            output, _ = process.communicate()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    try:
        document = json.loads(output)
    except ValueError:
        document = {"error": f"it ended with {process.returncode} (see {directory}/audit.log)"}
    if "error" in document:
        raise DemoError(f"the audit could not run: {document['error']}")
    return {name: document[name] for name in FIELDS}
