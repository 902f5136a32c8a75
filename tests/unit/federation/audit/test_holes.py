"""The hole ledger as given to an audit."""

import json

import pytest

from federation.audit.holes import Hole, parse

GOOD = {"topic": "t", "partition": 0, "from": 5, "to": 9, "cause": "expired"}


def test_holes_are_read() -> None:
    assert parse(json.dumps([GOOD])) == [Hole("t", 0, 5, 9, "expired")]
    assert parse("[]") == []


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("{", "not JSON"),
        ("{}", "a list"),
        ("[3]", "needs exactly"),
        ('[{"topic": "t"}]', "exactly"),
    ],
)
def test_what_is_no_ledger_is_refused(text: str, because: str) -> None:
    with pytest.raises(ValueError, match=because):
        parse(text)


@pytest.mark.parametrize(
    ("field", "value", "because"),
    [
        ("topic", 3, "topic must be a text"),
        ("partition", "0", "partition must be a whole number"),
        ("partition", True, "partition must be a whole number"),
        ("from", 9, "from must lie below to"),
        ("from", -1, "from must lie below to"),
        ("cause", None, "cause must be a text"),
    ],
)
def test_every_bad_field_is_named(field: str, value: object, because: str) -> None:
    with pytest.raises(ValueError, match=f"hole 1: {because}"):
        parse(json.dumps([GOOD, {**GOOD, field: value}]))


def test_all_bad_holes_are_named_at_once() -> None:
    with pytest.raises(ValueError, match=r"hole 0: .*hole 2: "):
        parse(json.dumps([{}, GOOD, {}]))
