"""Real processes: every test here starts its own, and none is left running."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.ledger import abandon_all
from tests.process.nodes import BrokerProcess

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.process)


@pytest.fixture(autouse=True)
def _no_ledger_is_left() -> Iterator[None]:
    yield
    abandon_all()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[BrokerProcess]:
    """A node that answers."""
    process = BrokerProcess(tmp_path)
    process.start()
    yield process
    if process.is_running():
        process.kill()
