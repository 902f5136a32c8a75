"""The levels of Python's loggers, by Kafka's names."""

import logging
from collections.abc import Iterator

import pytest

from brokers.shell.log_levels import PythonLogLevels

PARENT, CHILD = "causeway_levels", "causeway_levels.child.leaf"


@pytest.fixture(autouse=True)
def loggers() -> Iterator[None]:
    logging.getLogger(CHILD)
    before = logging.root.level
    yield
    logging.root.setLevel(before)
    for name in (PARENT, CHILD):
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_a_level_holds_for_the_logger_and_those_below_it() -> None:
    levels = PythonLogLevels()
    assert {"root", PARENT, CHILD} <= levels.levels().keys(), "a package is a logger, too"
    levels.set_level("root", "ERROR")
    assert levels.levels()[CHILD] == "ERROR"
    levels.set_level(PARENT, "DEBUG")
    assert levels.levels()[CHILD] == "DEBUG"
    assert logging.getLogger(CHILD).isEnabledFor(logging.DEBUG)
    levels.set_level(CHILD, "FATAL")
    assert not logging.getLogger(CHILD).isEnabledFor(logging.ERROR)
    levels.set_level(CHILD, None)
    assert levels.levels()[CHILD] == "DEBUG"


@pytest.mark.parametrize("level", ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"])
def test_every_level_of_kafka_is_one(level: str) -> None:
    levels = PythonLogLevels()
    levels.set_level(CHILD, level)
    assert levels.levels()[CHILD] == level


def test_a_level_between_two_is_the_next_that_lets_no_more_through() -> None:
    logging.getLogger(CHILD).setLevel(25)
    assert PythonLogLevels().levels()[CHILD] == "WARN"
