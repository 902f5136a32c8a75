"""The demo's data."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.demo.flights import FLIGHTS, encode, flights, number_of


@pytest.mark.slow
def test_every_flight_is_there_once_in_order() -> None:
    numbers = [number_of(flight.value) for flight in flights()]
    assert numbers == list(range(FLIGHTS))


def test_the_first_flight_is_the_table_s() -> None:
    first = next(flights())
    value = json.loads(first.value)
    assert first.key == b"N14228"
    assert (value["number"], value["carrier"], value["flight"], value["dest"]) == (
        0,
        "UA",
        1545,
        "IAH",
    )
    assert value["time_hour"] == "2013-01-01T10:00:00Z"


def test_a_flight_without_tail_number_has_no_key() -> None:
    assert encode(3, {"tailnum": "NA"}).key is None
    assert json.loads(encode(3, {"tailnum": ""}).value) == {"number": 3, "tailnum": None}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-6", -6),
        ("0", 0),
        ("517", 517),
        ("NA", None),
        ("", None),
        ("1-2", "1-2"),
        ("--1", "--1"),
        ("²", "²"),
    ],
)
def test_a_field_is_a_number_where_it_looks_like_one(text: str, value: object) -> None:
    assert json.loads(encode(0, {"tailnum": "N1", "field": text}).value)["field"] == value


@given(st.integers(0, 10**9), st.dictionaries(st.text(), st.text()))
def test_the_number_is_found_without_parsing_the_rest(number: int, row: dict[str, str]) -> None:
    row.pop("number", None)
    assert number_of(encode(number, {"tailnum": "N1", **row}).value) == number
