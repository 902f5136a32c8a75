"""Filters: excluding wins over including."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.filters import EVERYTHING, Filter, Pattern, admits, parse_filters

NAMES = st.text("abc", max_size=4)
FILTERS = st.builds(Filter, NAMES.filter(bool), st.sampled_from(Pattern), st.booleans())


@given(st.lists(FILTERS, max_size=5), NAMES)
def test_a_name_is_admitted_if_included_and_not_excluded(filters: list[Filter], name: str) -> None:
    def hit(one: Filter) -> bool:
        return name.startswith(one.name) if one.pattern is Pattern.PREFIXED else name == one.name

    included = any(hit(one) for one in filters if not one.exclude)
    excluded = any(hit(one) for one in filters if one.exclude)
    assert admits(filters, name) == (included and not excluded)


def test_a_star_is_every_name_and_no_filter_is_none() -> None:
    assert admits(EVERYTHING, "anything")
    assert not admits((), "anything")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"groupFilters":{}}',
        '{"groupFilters":[1]}',
        '{"groupFilters":[{"name":"","patternType":"LITERAL","filterType":"INCLUDE"}]}',
        '{"groupFilters":[{"name":"a","patternType":"REGEX","filterType":"INCLUDE"}]}',
        '{"groupFilters":[{"name":"a","patternType":"LITERAL","filterType":"MAYBE"}]}',
        '{"groupFilters":[{"name":1,"patternType":"LITERAL","filterType":"INCLUDE"}]}',
        '{"groupFilters":[{"name":"a","patternType":[],"filterType":"INCLUDE"}]}',
        '{"groupFilters":[{"name":"a","patternType":"LITERAL","filterType":{}}]}',
        '{"groupFilters":[{"name":"\\ud800","patternType":"LITERAL","filterType":"INCLUDE"}]}',
        "[" * 100_000,
    ],
)
def test_what_is_not_the_documented_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as failure:
        parse_filters(text, "groupFilters")
    assert str(failure.value)
