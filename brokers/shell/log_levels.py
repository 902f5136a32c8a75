"""The levels of this process's loggers, by Kafka's names of levels."""

import logging
from collections.abc import Mapping
from typing import Final

from brokers.ports import ROOT_LOGGER

_NUMBERS: Final[Mapping[str, int]] = {
    "TRACE": 5,  # Python has none below DEBUG
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}


class PythonLogLevels:
    """A `LogLevels`. Packages are loggers, too, whose level holds for all below them."""

    def levels(self) -> Mapping[str, str]:
        names = [ROOT_LOGGER, *logging.root.manager.loggerDict]
        return {name: _name(logging.getLogger(_python(name)).getEffectiveLevel()) for name in names}

    def set_level(self, logger: str, level: str | None) -> None:
        number = logging.NOTSET if level is None else _NUMBERS[level]
        logging.getLogger(_python(logger)).setLevel(number)


def _python(name: str) -> str | None:
    return None if name == ROOT_LOGGER else name


def _name(number: int) -> str:
    """The lowest of Kafka's levels that lets through what this one does; FATAL at most."""
    return next((name for name, each in _NUMBERS.items() if each >= number), "FATAL")
