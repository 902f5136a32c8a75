"""Tests are deterministic: no sleeping, no patching, no mocks."""

import ast
import re

from tests.tidy.sources import ROOT, Source, hand_written

PATCHING = re.compile(r"\b(?:monkeypatch|unittest\.mock|MagicMock|mocker)\b")

# Real processes and clients take their own time; everything else runs on an instant that is passed in.
MAY_WAIT = ("tests/process/", "tests/compat/", "tests/bench/", "tests/spark/", "tests/sim/shell/")


def _tests() -> list[Source]:
    return [
        source
        for source in hand_written()
        if source.path.startswith("tests/") and not source.path.startswith("tests/tidy/")
    ]


def test_nothing_is_patched_or_mocked() -> None:
    patching = [source.path for source in _tests() if PATCHING.search(source.text)]
    assert not patching, f"cores need no patching, ports have fakes: {patching}"


def test_nothing_sleeps() -> None:
    sleeping = [
        f"{source.path}:{node.lineno}"
        for source in _tests()
        if not source.path.startswith(MAY_WAIT)
        for node in ast.walk(source.tree())
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("time.sleep", "asyncio.sleep")
    ]
    assert not sleeping, sleeping


def test_a_test_asserts_something() -> None:
    """A test without assertion, `raises` or a checker that it calls cannot fail for the right reason."""
    silent = [
        f"{source.path}:{node.lineno} {node.name}"
        for source in _tests()
        for node in ast.walk(source.tree())
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not any(
            isinstance(inner, ast.Assert | ast.Raise | ast.With | ast.Call)
            for inner in ast.walk(node)
        )
    ]
    assert not silent, silent


def test_unit_tests_lie_where_their_source_lies() -> None:
    lost = sorted(
        {
            folder
            for source in _tests()
            if source.path.startswith("tests/unit/") and "/test_" in source.path
            if not (
                ROOT / (folder := source.path.removeprefix("tests/unit/").rpartition("/")[0])
            ).is_dir()
        }
    )
    assert not lost, lost
