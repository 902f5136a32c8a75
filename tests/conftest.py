"""Settings that hold for every test, and how workers share them."""

import gc
import os
from functools import cache
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from federation.local.settings import PORTS, PORTS_VARIABLE
from tests.quick import EXAMPLES, PROFILE

# Tests share their cores with processes that other tests start, so no test may depend on how long it takes.
settings.register_profile("causeway", deadline=None, print_blob=True)
settings.register_profile(PROFILE, settings.get_profile("causeway"), max_examples=EXAMPLES)
settings.load_profile("causeway")

SEED = "CAUSEWAY_TEST_SEED"  # in the environment, so that every worker of a run has it

WORKERS_MAX = 16  # of more, some share their ports

HERE = Path(__file__).resolve().parent
# Layers whose tests run for many seconds, so that none of them is the last one running. Those of the first two share
# nothing with their neighbours, unless their file has a fixture for all of them; others stay with their file.
SLOW = ("process", "sim", "spark", "compat")
ALONE = ("process", "sim")


def _share_ports() -> None:
    """Each worker has ports of its own for local regions: a free one may be that of a node that a test has killed."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker:
        share = len(PORTS) // WORKERS_MAX
        first = PORTS.start + int(worker.removeprefix("gw")) % WORKERS_MAX * share
        os.environ[PORTS_VARIABLE] = f"{first}-{first + share - 1}"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """One seed is behind all that a run draws at random, Hypothesis' examples among it."""
    _share_ports()
    os.environ.setdefault(SEED, str(SystemRandom().randrange(1 << 32)))
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = os.environ[SEED]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"To draw the same at random: {SEED}={os.environ[SEED]}")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Random:
    """What a test draws from, where nothing else has a seed for it."""
    return Random(f"{os.environ[SEED]} {request.node.nodeid}")


def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are cores: tests of processes wait more than they work."""
    return max(1, (os.cpu_count() or 1) * 3 // 2)


class Layers(LoadScopeScheduling):
    """Deals tests out to workers: file by file, or one by one where they share nothing."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::")[0]
        return nodeid if Path(file).parts[1] in ALONE and not _is_shared(file) else file


@cache
def _is_shared(file: str) -> bool:
    """Whether its tests have nodes in common, which every worker would start for itself."""
    return 'fixture(scope="module"' in (HERE.parent / file).read_text()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Layers:
    return Layers(config, log)


def pytest_collection_finish() -> None:
    """Thousands of tests and all modules stay to the end of a run: the collector need not look at them again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _turn(_layer(item)))


def _layer(item: pytest.Item) -> str:
    return item.path.relative_to(HERE).parts[0]


def _turn(layer: str) -> int:
    return SLOW.index(layer) if layer in SLOW else len(SLOW)
