"""Settings that hold for every test, and how workers share them."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Tests share their cores with processes that other tests start, so no test may depend on how long it takes.
settings.register_profile("causeway", deadline=None, print_blob=True)
settings.load_profile("causeway")

HERE = Path(__file__).resolve().parent
# Layers whose tests run for many seconds, so that none of them is the last one running. Those of the first two share
# nothing with their neighbours; all others stay with their file, whose fixtures they share.
SLOW = ("process", "sim", "spark", "compat")
ALONE = ("process", "sim")


def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are cores: tests of processes wait more than they work."""
    return max(1, (os.cpu_count() or 1) * 3 // 2)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _turn(_layer(item)))
    for item in items:
        if _layer(item) not in ALONE:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))


def _layer(item: pytest.Item) -> str:
    return item.path.relative_to(HERE).parts[0]


def _turn(layer: str) -> int:
    return SLOW.index(layer) if layer in SLOW else len(SLOW)
