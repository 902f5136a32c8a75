"""Placement JSON as operators write it, and every problem of one that cannot be read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.config.replica_placement import PlacementError, PromotionPolicy, RackCount, parse


def entry(rack: str, count: int = 1) -> dict[str, Any]:
    return {"count": count, "constraints": {"rack": rack}}


def test_replicas_observers_and_policy_are_read() -> None:
    text = json.dumps(
        {
            "version": 2,
            "replicas": [entry("west", 2), entry("north")],
            "observers": [entry("west"), entry("east", 2)],
            "observerPromotionPolicy": "under-replicated",
        }
    )
    placement = parse(text)
    assert placement is not None
    assert placement.replicas == (RackCount("west", 2), RackCount("north", 1))
    assert placement.observers == (RackCount("west", 1), RackCount("east", 2))
    assert placement.policy is PromotionPolicy.UNDER_REPLICATED
    assert (placement.replica_count, placement.observer_count) == (3, 3)


@pytest.mark.parametrize(
    ("version", "policy"),
    [(1, PromotionPolicy.LEADER_IS_OBSERVER), (2, PromotionPolicy.UNDER_MIN_ISR)],
)
def test_each_version_has_its_default_policy(version: int, policy: PromotionPolicy) -> None:
    placement = parse(json.dumps({"version": version, "replicas": [entry("a")]}))
    assert placement is not None and placement.policy is policy and placement.observers == ()


@pytest.mark.parametrize("blank", ["\v", "\f", " \t\r\n", "\u00a0"])
def test_what_surrounds_the_text_does_not_matter(blank: str) -> None:
    text = json.dumps({"version": 2, "replicas": [entry("a")]})
    assert parse(f"{blank}{text}{blank}") == parse(text)


def test_no_text_is_no_placement() -> None:
    assert parse("") is None and parse("  ") is None


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"version": 3, "replicas": [entry("a")]}, "version"),
        ({"replicas": [entry("a")]}, "version: required"),
        ({"version": 2}, "replicas: required"),
        ({"version": 2, "replicas": []}, "replicas"),
        ({"version": 2, "replicas": [entry("a", 0)]}, "replicas.0.count"),
        ({"version": 2, "replicas": [{"count": "2", "constraints": {"rack": "a"}}]}, "count"),
        ({"version": 2, "replicas": [{"count": 1}]}, "replicas.0.constraints: required"),
        ({"version": 2, "replicas": [entry("")]}, "replicas.0.constraints.rack"),
        ({"version": 2, "replicas": [entry("a"), entry("a")]}, "rack a is named twice"),
        ({"version": 2, "replicas": [entry("a")], "extra": 1}, "extra: unknown field"),
        (
            {"version": 1, "replicas": [entry("a")], "observerPromotionPolicy": "under-min-isr"},
            "needs version 2",
        ),
        (
            {"version": 2, "replicas": [entry("a")], "observerPromotionPolicy": "never"},
            "observerPromotionPolicy",
        ),
        ([], "object"),
    ],
)
def test_each_problem_is_named(given: Any, problem: str) -> None:
    with pytest.raises(PlacementError, match=problem):
        parse(json.dumps(given))


def test_all_problems_are_listed_at_once() -> None:
    with pytest.raises(PlacementError) as refused:
        parse('{"version": 9, "replicas": [{"count": 0, "constraints": {"zone": "a"}}]}')
    for name in ("version", "count", "rack: required", "zone: unknown field"):
        assert name in str(refused.value)


@given(st.text(max_size=40).filter(str.strip))
def test_any_text_is_judged_without_an_accident(text: str) -> None:
    with pytest.raises(PlacementError, match=r"."):
        parse(text)
