"""Topics by name or by pattern, whatever the pattern is."""

import asyncio
from collections.abc import Iterable
from time import process_time

import pytest

from linker.shell.rest.errors import RequestRefused
from linker.shell.rest.schemas import AlterMirrorsRequestData
from linker.shell.rest.topic_names import topics_of

MIRRORS = ("orders", "orders.eu", "payments")


def found(mirrors: Iterable[str] = MIRRORS, **body: object) -> list[str]:
    async def of_link() -> Iterable[str]:
        return mirrors

    request = AlterMirrorsRequestData.model_validate(body)
    return asyncio.run(topics_of(request, of_link, "no topic"))


def test_names_are_taken_as_they_are_and_once() -> None:
    assert found(mirror_topic_names=["b", "a", "b"]) == ["b", "a"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (".*", list(MIRRORS)),
        ("orders", ["orders"]),
        (r"orders\..+|pay.*", ["orders.eu", "payments"]),
    ],
)
def test_a_pattern_matches_whole_names(pattern: str, names: list[str]) -> None:
    assert found(mirror_topic_name_pattern=pattern) == names


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"mirror_topic_names": ["a"], "mirror_topic_name_pattern": "a"},
        {"mirror_topic_name_pattern": "none.*"},
        {"mirror_topic_name_pattern": "("},
        {"mirror_topic_name_pattern": r"(a)\1"},
    ],
)
def test_what_names_nothing_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(RequestRefused) as failure:
        found(**body)
    assert failure.value.status == 400 and failure.value.data.message


def test_a_pattern_that_backtracks_costs_no_more() -> None:
    """Python's own expressions need hours for this one."""
    before = process_time()
    topics = ("a" * 249, "orders")
    assert found(topics, mirror_topic_name_pattern="(a+)+b|orders") == ["orders"]
    assert process_time() - before < 60
