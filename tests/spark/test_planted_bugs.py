"""Bugs planted in the audit itself: each makes tests fail that pass without it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT

pytestmark = [pytest.mark.process, pytest.mark.timeout(120)]
UNIT = "tests/unit/federation/audit"
BUGS = {
    "a replica is skipped": (
        "plan.py",
        "if end is not None and one.since",
        "if end is not None and one.log.node_id < 1 and one.since",
        "test_replicas.py",
    ),
    "a head is excused": (
        "verdict/heads.py",
        "else Class.MISSING_ON_MIRROR",
        "else Class.EXPIRED_ON_ONE_SIDE",
        "verdict/test_heads.py",
    ),
    "the walk stops at the first unreadable batch": (
        "segments/batches.py",
        "                position = stop\n                continue\n",
        "                return\n",
        "comparison/test_compare.py",
    ),
    "what was not read is taken for kept": (
        "verdict/verdicts.py",
        "elif grave or read != wanted or nothing or not all_planned:",
        "elif grave:",
        "verdict/test_verdicts.py",
    ),
    "an index is believed": (
        "segments/indexes.py",
        "wrong |= self._is_inside & ~_leads(",
        "wrong &= self._is_inside & ~_leads(",
        "test_files.py",
    ),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources, to be changed."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("brokers", "linker", "federation", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def failed(tree: Path, tests: str) -> bool:
    """Its folder is its own: with that of all runs pytest removes what earlier ones left, which can take minutes."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--basetemp={tree / 'run'}",
        f"{UNIT}/{tests}",
    ]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return ran.returncode == 1


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_in_the_audit_makes_a_test_fail(tree: Path, bug: str) -> None:
    module, right, wrong, tests = BUGS[bug]
    path = tree / "federation" / "audit" / module
    source = path.read_text()
    assert source.count(right) == 1, f"{module} has changed: plant the bug anew"
    path.write_text(source.replace(right, wrong))
    try:
        assert failed(tree, tests)
    finally:
        path.write_text(source)
