"""Limits and repetitions."""

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.controller_result import RECORDS_MAX, RecordBudget, once


def test_a_budget_is_shared_and_a_refused_part_takes_nothing() -> None:
    budget = RecordBudget()
    budget.take(RECORDS_MAX - 1)
    with pytest.raises(Refusal) as refused:
        budget.take(2)
    assert refused.value.error is KafkaError.POLICY_VIOLATION
    budget.take(1)


def test_each_key_once_in_order_with_whether_it_came_again() -> None:
    assert list(once("abcab")) == [("a", True), ("b", True), ("c", False)]
