"""Filters that include nothing are refused when they are given."""

import json

import pytest

from linker.config import parse
from linker.empty_filters import TOPICS, empty_filters


def _given(*names: str, pattern: str = "LITERAL", kind: str = "INCLUDE") -> dict[str, str]:
    filters = [{"name": name, "patternType": pattern, "filterType": kind} for name in names]
    document = json.dumps({"topicFilters": filters})
    enabled = {"bootstrap.servers": "127.0.0.1:9092", "auto.create.mirror.topics.enable": "true"}
    return enabled | {TOPICS: document}


@pytest.mark.parametrize("pattern", ["LITERAL", "PREFIXED"])
@pytest.mark.parametrize("name", ["*", "orders", "a" * 249, "w.orders_1-2"])
def test_a_filter_that_some_topic_matches_is_admitted(name: str, pattern: str) -> None:
    given = _given(name, pattern=pattern)
    assert empty_filters(parse(given), given) == []


@pytest.mark.parametrize("pattern", ["LITERAL", "PREFIXED"])
@pytest.mark.parametrize("name", ["orders*", "**", "a b", "a" * 250, "größe", "a/b"])
def test_a_name_that_no_topic_can_have_is_refused(name: str, pattern: str) -> None:
    given = _given("orders", name, pattern=pattern)
    (problem,) = empty_filters(parse(given), given)
    assert problem.startswith(f"{TOPICS}: no topic can be called {name!r}: ")


def test_a_name_with_a_star_at_its_end_says_what_a_prefix_is() -> None:
    (problem,) = empty_filters(parse(_given("orders*")), _given("orders*"))
    assert problem.endswith("""give 'orders' with "patternType":"PREFIXED\"""")


def test_filters_that_only_exclude_admit_nothing() -> None:
    (problem,) = empty_filters(parse(_given("a", kind="EXCLUDE")), _given("a", kind="EXCLUDE"))
    assert "no filter has filterType INCLUDE" in problem


def test_what_a_link_had_before_stands() -> None:
    assert empty_filters(parse(_given("a*")), {"num.cluster.link.fetchers": "1"}) == []
