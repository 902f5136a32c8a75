"""Filters of a link that are well formed and include nothing. They are refused when somebody gives them."""

from collections.abc import Container, Iterator
from typing import Final

from linker.config import LinkConfig
from linker.filters import Filter
from linker.name_patterns import LEGAL_NAME

TOPICS: Final = "auto.create.mirror.topics.filters"
_FILTERS_OF: Final = {
    "auto.create.mirror.topics.enable": TOPICS,
    "consumer.offset.sync.enable": "consumer.offset.group.filters",
}


def empty_filters(config: LinkConfig, given: Container[str]) -> list[str]:
    """Problems of filters that are `given`, or enabled, and include nothing. What a link had before stands, so that its
    other settings can be changed."""
    return [
        problem
        for enable, filters in _FILTERS_OF.items()
        if (enable in given or filters in given) and config.value(enable)
        for problem in _problems(filters, config.value(filters))
    ]


def _problems(key: str, filters: tuple[Filter, ...]) -> Iterator[str]:
    if all(one.exclude for one in filters):
        yield f"{key}: no filter has filterType INCLUDE, so nothing is admitted; the name * includes all"
    if key == TOPICS:
        yield from (_no_topic(one) for one in filters if not _may_match(one))


def _may_match(one: Filter) -> bool:
    return one.name == "*" or bool(LEGAL_NAME.fullmatch(one.name))


def _no_topic(one: Filter) -> str:
    hint, prefix = "1 to 249 of A-Z a-z 0-9 . _ -", one.name.rstrip("*")
    if prefix != one.name and LEGAL_NAME.fullmatch(prefix):
        hint = f'for names that begin so, give {prefix!r} with "patternType":"PREFIXED"'
    return f"{TOPICS}: no topic can be called {one.name!r}: {hint}"
