"""Filters of names, in the JSON of Cluster Linking. A filter that excludes a name overrides those that include it."""

import json
from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple


class Pattern(Enum):
    """How a filter's name is compared; `*` matches every name."""

    LITERAL = "LITERAL"
    PREFIXED = "PREFIXED"


class Filter(NamedTuple):
    """One entry of a filter list."""

    name: str
    pattern: Pattern = Pattern.LITERAL
    exclude: bool = False

    def matches(self, name: str) -> bool:
        if self.name == "*":
            return True
        return name.startswith(self.name) if self.pattern is Pattern.PREFIXED else name == self.name


FILTERS_MAX: Final = 10_000  # of one list
WEIGHT_MAX: Final = 100  # of a topic among others
EVERYTHING = (Filter("*"),)


def admits(filters: Iterable[Filter], name: str) -> bool:
    """Whether some filter includes the name and none excludes it."""
    matching = [one for one in filters if one.matches(name)]
    return bool(matching) and not any(one.exclude for one in matching)


def parse_filters(text: str, key: str) -> tuple[Filter, ...]:
    """`{key: [{"name", "patternType", "filterType"}]}` -> filters; raises ValueError with the problem."""
    return tuple(_filter(item) for item in _listed(text, key))


def parse_weights(text: str, key: str) -> tuple[tuple[Filter, int], ...]:
    """`{key: [{"name", "patternType", "weight"}]}` -> names with weights; raises ValueError with the problem."""
    return tuple(_weight(item) for item in _listed(text, key))


def _weight(item: object) -> tuple[Filter, int]:
    if not isinstance(item, dict) or set(item) != {"name", "patternType", "weight"}:
        raise ValueError(f"{item!r}: give name, patternType and weight")
    weight = item["weight"]
    if isinstance(weight, bool) or not isinstance(weight, int) or not 1 <= weight <= WEIGHT_MAX:
        raise ValueError(f"weight {weight!r}: a whole number from 1 to {WEIGHT_MAX}")
    named = {name: item[name] for name in ("name", "patternType")}
    return _filter(named | {"filterType": "INCLUDE"}), weight


def _listed(text: str, key: str) -> list[object]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from None
    except RecursionError:
        raise ValueError("not JSON of a filter list: nested too deeply") from None
    if (
        not isinstance(document, dict)
        or list(document) != [key]
        or not isinstance(document[key], list)
    ):
        raise ValueError(f'must be {{"{key}": [...]}}')
    if len(document[key]) > FILTERS_MAX:
        raise ValueError(f"{len(document[key])} filters, above {FILTERS_MAX}")
    return list(document[key])


def _filter(item: object) -> Filter:
    if not isinstance(item, dict) or set(item) != {"name", "patternType", "filterType"}:
        raise ValueError(f"{item!r}: give name, patternType and filterType")
    if not isinstance(item["name"], str) or not item["name"]:
        raise ValueError(f"{item!r}: name must be a text that is not empty")
    if any("\ud800" <= letter <= "\udfff" for letter in item["name"]):
        raise ValueError(f"{item!r}: name holds half a character, which no group can be called")
    if item["patternType"] not in list(Pattern.__members__):  # of any type, lists too
        raise ValueError(f"{item!r}: patternType is LITERAL or PREFIXED")
    if item["filterType"] not in ("INCLUDE", "EXCLUDE"):
        raise ValueError(f"{item!r}: filterType is INCLUDE or EXCLUDE")
    return Filter(item["name"], Pattern[item["patternType"]], item["filterType"] == "EXCLUDE")
