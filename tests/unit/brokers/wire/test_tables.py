"""The language of the tables."""

import pytest

from brokers.wire.defaults import default_expression
from brokers.wire.tables import (
    FAMILIES,
    LAST_VERSION,
    NEVER_FLEXIBLE,
    NO_VERSION,
    Family,
    Versions,
    parse,
    read_family,
)

TEXT = """
# A comment.
api 7 Fly 1-5 flexible 4
request
  pilot string?3+ = null
  legs []Leg 2+
    place Place
    minutes int32 3-4 = -1 ignorable
  backup Place 4+ tag 0
response
  error_code int16

record Landed type 9 0 flexible never
  at float64

struct Place
  name string
"""


@pytest.fixture(scope="module")
def family() -> Family:
    return parse("flights", TEXT)


def test_an_api_has_a_request_and_a_response(family: Family) -> None:
    request, response = family.schemas["FlyRequest"], family.schemas["FlyResponse"]
    assert (request.key, request.versions, request.first_flexible) == (7, (1, 5), 4)
    assert (response.key, response.versions, response.first_flexible) == (7, (1, 5), 4)


def test_a_record_stands_alone(family: Family) -> None:
    landed = family.schemas["Landed"]
    assert (landed.key, landed.versions, landed.first_flexible) == (9, (0, 0), NEVER_FLEXIBLE)


def test_versions_are_those_of_what_a_field_is_in_unless_it_says_other_ones(
    family: Family,
) -> None:
    pilot, legs, backup = family.structs["FlyRequest"].fields
    place, minutes = family.structs["Leg"].fields
    assert (pilot.versions, pilot.nullable) == ((1, 5), (3, 5))
    assert (legs.versions, legs.nullable) == ((2, 5), NO_VERSION)
    assert (place.versions, minutes.versions) == ((2, 5), (3, 4))
    assert (backup.versions, backup.tag) == ((4, 5), 0)
    assert family.structs["Place"].fields[0].versions == (0, LAST_VERSION)


def test_defaults_are_python_expressions(family: Family) -> None:
    pilot, legs, backup = family.structs["FlyRequest"].fields
    place, minutes = family.structs["Leg"].fields
    assert [default_expression(field) for field in (pilot, legs, backup, place, minutes)] == [
        "None",
        "[]",
        "None",
        "Place()",
        "-1",
    ]


def test_an_element_is_never_null_nor_an_array(family: Family) -> None:
    element = family.structs["FlyRequest"].fields[1].element()
    assert (element.type, element.is_array, element.nullable) == ("Leg", False, NO_VERSION)


@pytest.mark.parametrize("line", ["api 7 Fly 1-5", "request", "field int32", "  indented int32"])
def test_a_line_that_means_nothing_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        parse("flights", line)


def test_a_struct_is_described_once() -> None:
    with pytest.raises(ValueError, match="described twice"):
        parse("flights", TEXT + "struct Place\n  name string\n")


def test_no_message_is_in_two_families() -> None:
    names = [name for family in FAMILIES for name in read_family(family).schemas]
    assert len(names) == len(set(names))


def test_versions_know_what_they_contain() -> None:
    assert [version for version in range(6) if version in Versions(2, 4)] == [2, 3, 4]
    assert 0 not in NO_VERSION
