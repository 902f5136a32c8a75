"""The jars, and the regions on which every test runs: one node, and three of which one dies."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.peer import jars
from tests.compat.frameworks.programs import FRAMEWORKS, POM
from tests.process.members import Members

HERE = Path(__file__).resolve().parent
LONG_S = 900  # Java starts several times in each of these


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(LONG_S))


@pytest.fixture(scope="session", autouse=True)
def _jars() -> None:
    try:
        jars.fetch()
        jars.fetch(POM, FRAMEWORKS)
    except jars.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(
    params=[pytest.param(1, id="one-node"), pytest.param(3, id="three", marks=pytest.mark.soak)]
)
def members(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Members]:
    """A region of ours."""
    members = Members(tmp_path / "region", request.param)
    members.up()
    yield members
    members.down()
    for node in members.ids:
        assert "Traceback" not in members.log(node)
