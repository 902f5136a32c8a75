"""The hole ledger as given to an audit."""

import json

import pytest

from federation.audit.verdict.holes import KnownHole, parse, parse_cuts

GOOD = {"topic": "t", "partition": 0, "from": 5, "to": 9, "cause": "expired"}


def test_holes_are_read() -> None:
    assert parse(json.dumps([GOOD])) == [KnownHole("t", 0, 5, 9, "expired")]
    assert parse("[]") == []


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("{", "not JSON"),
        ("{}", "a list"),
        ("3", "a list"),
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


def described(**fields: object) -> str:
    """As `causeway mirror describe --json` prints it, in part."""
    return json.dumps({"mirror_topic": "t", "mirror_status": "STOPPED", "holes": [], **fields})


def test_holes_are_read_from_a_mirror_s_description() -> None:
    row = {
        "topic": "t",
        "partition": 3,
        "from_offset": 0,
        "to_offset": 7,
        "cause": "SOURCE_LOG_START",
    }
    text = described(holes=[{**row, "first_seen_ms": 17}])
    assert parse(text) == [KnownHole("t", 3, 0, 7, "SOURCE_LOG_START")]
    assert parse(described()) == []


def test_a_cut_is_read_from_a_mirror_s_description_or_a_list() -> None:
    cut = {"kind": "FAILOVER", "partitions": [{"partition": 2, "offset": 90, "missing": 0}]}
    assert parse_cuts(described(cut=cut)) == {("t", 2): 90}
    assert parse_cuts('[{"topic": "t", "partition": 2, "offset": 90}]') == {("t", 2): 90}


@pytest.mark.parametrize(
    ("text", "because"),
    [
        (described(), "there is no cut in it"),
        (described(cut={"partitions": [{"partition": 2}]}), "cut 0: offset must be a whole number"),
        ('[{"topic": "t", "partition": 2, "offset": -1}]', "cut 0: offset is negative"),
        ("3", "a list of cuts"),
        ("{", "not JSON"),
    ],
)
def test_what_holds_no_cut_is_refused(text: str, because: str) -> None:
    with pytest.raises(ValueError, match=because):
        parse_cuts(text)
