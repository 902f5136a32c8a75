"""The clients' commands: built, or fetched, once into a cache directory."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path.home() / ".cache" / "causeway" / "clients"


class Unavailable(Exception):
    """The client can't be had here; the message says why and what would help."""


def franz() -> list[str]:
    place = _ready("franz", "go", ["go", "mod", "tidy"], ["go", "build", "-o", "client", "."])
    return [str(place / "client")]


def kafkajs() -> list[str]:
    place = _ready("kafkajs", "node", ["npm", "install", "--silent", "--no-audit", "--no-fund"])
    return ["node", str(place / "main.js")]


def _ready(name: str, tool: str, *steps: list[str]) -> Path:
    """Its directory in the cache, once these steps have been done there for the sources as they are."""
    if shutil.which(tool) is None:
        raise Unavailable(f"{tool} isn't installed, which runs the client {name}")
    place = CACHE / name
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:
        # Test workers come at once, and one must not run what another builds.
        fcntl.flock(lock, fcntl.LOCK_EX)
        sources = {path.name: path.read_bytes() for path in sorted((HERE / name).iterdir())}
        stamp, wanted = place / "stamp", b"".join(sources.values())
        if not stamp.exists() or stamp.read_bytes() != wanted:
            stamp.unlink(missing_ok=True)
            _build(place, sources, steps)
            stamp.write_bytes(wanted)
    return place


def _build(place: Path, sources: dict[str, bytes], steps: tuple[list[str], ...]) -> None:
    for name, content in sources.items():
        (place / name).write_bytes(content)
    environment = os.environ | {"GOFLAGS": "-mod=mod"}
    for step in steps:
        done = subprocess.run(
            step, cwd=place, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip()[-400:]
            raise Unavailable(f"`{' '.join(step)}` does not end well here: {said}")
