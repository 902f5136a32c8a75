"""A node's `/metrics` and `/health` as Prometheus and a supervisor ask for them."""

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

TIMEOUT_S = 20


class Scrape:
    """One page, read by Prometheus' own parser; no sample and no family may be there twice."""

    def __init__(self, address: str) -> None:
        self.kinds: dict[str, str] = {}
        self._values: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
        for family in text_string_to_metric_families(get(address, "/metrics")[1]):
            assert family.name not in self.kinds, f"{family.name} is told twice"
            self.kinds[family.name] = family.type
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                assert key not in self._values, f"{key} is told twice"
                self._values[key] = sample.value

    def value(self, name: str, **labels: str) -> float:
        """0 where there is no such sample: nothing has been counted yet."""
        return self._values.get((name, frozenset(labels.items())), 0)

    def total(self, name: str, **labels: str) -> float:
        """The sum of all samples that have these labels, and others."""
        wanted = frozenset(labels.items())
        return sum(
            value for (found, has), value in self._values.items() if found == name and wanted <= has
        )

    def counters(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        return {key: value for key, value in self._values.items() if key[0].endswith("_total")}


def get(address: str, path: str) -> tuple[int, str]:
    try:
        with urlopen(f"http://{address}{path}", timeout=TIMEOUT_S) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def health(address: str, path: str = "/health") -> tuple[int, Any]:
    status, text = get(address, path)
    return status, json.loads(text)
