"""Tests are deterministic: no sleeping, no patching, no mocks."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator

import pytest

from tests.tidy.sources import ROOT, Source, hand_written

PATCHING = re.compile(r"\b(?:monkeypatch|unittest\.mock|MagicMock|mocker)\b")

# Chance that nobody could ask to be repeated.
UNSEEDED = re.compile(
    r"\bRandom\(\)|\burandom\(|\buuid[14]\(|\bSystemRandom\(|\bsecrets\.|\bnp\.random"
)
SHARED = re.compile(r"(?<![\w.])random\.[a-z]+\(")  # of the module, whose state everybody changes
# The seed of a run itself, names and ports that nobody else has, and loads, which need only be incompressible.
MAY_DRAW = ("tests/conftest.py", "tests/process/hosts.py", "tests/bench/")

# A function of the tests that asserts for its callers says so by its name.
CHECKER = re.compile(r"_?(?:assert|check|expect)(?:_|$)|judge$")

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
        for node in source.nodes()
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("time.sleep", "asyncio.sleep")
    ]
    assert not sleeping, sleeping


def test_every_random_choice_has_a_seed() -> None:
    drawing = [
        f"{source.path}:{number} {line.strip()}"
        for source in _tests()
        if not source.path.startswith(MAY_DRAW)
        for number, line in enumerate(source.text.splitlines(), 1)
        if UNSEEDED.search(line) or ("\nimport random\n" in source.text and SHARED.search(line))
    ]
    assert not drawing, "draw from the fixture `rng`:\n" + "\n".join(drawing)


def test_a_test_asserts_something() -> None:
    """What can fail is an assertion, `pytest.raises`, or a checker that the test calls."""
    checkers = _checkers()
    silent = [
        f"{source.path}:{function.lineno} {function.name}"
        for source, function in _functions(_tests())
        if function.name.startswith("test_") and not _can_fail(function, checkers)
    ]
    assert not silent, "\n".join(silent)


def test_an_assertion_can_fail() -> None:
    idle = [
        f"{source.path}:{node.lineno} {ast.unparse(node)}"
        for source in _tests()
        for node in source.nodes()
        if isinstance(node, ast.Assert) and _always_holds(node.test)
    ]
    assert not idle, "\n".join(idle)


@pytest.mark.parametrize(
    "idle",
    [
        "True",
        "'why'",
        "f'{why}'",
        "(x, 'why')",
        "[x]",
        "(x for x in found)",
        "lambda: x",
        "x == 1 or True",
        "True and 'why'",
        "not None",
        "x is x",
        "1 == 1",
        "len(x) >= 0",
        "isinstance(1, int)",
    ],
)
def test_an_assertion_that_always_holds_is_recognised(idle: str) -> None:
    assert _always_holds(ast.parse(idle, mode="eval").body)


@pytest.mark.parametrize(
    "honest",
    ["x", "not x", "f(x) == f(x)", "x or y", "[*found]", "len(x) > 0", "isinstance(x, int)"],
)
def test_an_assertion_that_can_fail_is_recognised(honest: str) -> None:
    assert not _always_holds(ast.parse(honest, mode="eval").body)


@pytest.mark.parametrize(
    ("body", "can_fail"),
    [
        ("x = 1", False),
        ("run(1)", False),
        ("with open(p): run(1)", False),
        ("check_it(1)", True),
        ("check_another(1)", False),
        ("assert x", True),
        ("assert True", False),
        ("with pytest.raises(ValueError): run(1)", True),
    ],
)
def test_a_test_that_cannot_fail_is_recognised(body: str, can_fail: bool) -> None:
    assert _can_fail(ast.parse(body), {"check_it"}) is can_fail


def _functions(
    sources: Iterable[Source],
) -> Iterator[tuple[Source, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for source in sources:
        for node in source.nodes():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield source, node


def _checkers() -> set[str]:
    """Functions of the tests that are named as checkers and can themselves fail."""
    named = [function for _, function in _functions(_tests()) if CHECKER.match(function.name)]
    found: set[str] = set()
    while new := {each.name for each in named if _can_fail(each, found)} - found:
        found |= new
    return found


def _can_fail(tree: ast.AST, checkers: Collection[str]) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and not _always_holds(node.test):
            return True
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in ("pytest.raises", "pytest.fail") or called.split(".")[-1] in checkers:
                return True
    return False


def _always_holds(test: ast.expr) -> bool:
    """Whether the expression is true whatever the code under test does."""
    match test:
        case ast.Constant(value):
            return bool(value)
        case ast.JoinedStr() | ast.GeneratorExp() | ast.Lambda():
            return True
        case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts):
            return any(not isinstance(part, ast.Starred) for part in parts)
        case ast.BoolOp(ast.Or(), parts):
            return any(_always_holds(part) for part in parts)
        case ast.BoolOp(ast.And(), parts):
            return all(_always_holds(part) for part in parts)
        case ast.UnaryOp(ast.Not(), ast.Constant(value)):
            return not value
        case ast.Compare(left, [operator], [right]):
            return _compares_nothing(left, operator, right)
        case ast.Call(ast.Name("isinstance"), [ast.Constant(), *_]):
            return True
    return False


def _compares_nothing(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool:
    if isinstance(operator, ast.GtE) and ast.unparse(right) == "0":
        return ast.unparse(left).startswith("len(")
    is_called = any(isinstance(node, ast.Call) for node in ast.walk(left))
    is_same = ast.dump(left) == ast.dump(right) and not is_called
    return is_same or (isinstance(left, ast.Constant) and isinstance(right, ast.Constant))


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
