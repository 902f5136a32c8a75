"""A whole broker whose answers are counted, as a node with a metrics listener counts them."""

from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from brokers.effects import Hangup, Reply
from brokers.events import Request
from brokers.telemetry.partition_counters import PartitionCounters
from brokers.telemetry.request_times import RequestStamps
from brokers.telemetry.requests import traffic_text
from brokers.telemetry.state import state_text
from brokers.telemetry.traffic import Traffic
from tests.unit.brokers.api.whole import Whole

TOOK = 0.004  # seconds, every request
STAMPS = RequestStamps(0.0, 0.0, 0.001, 0.0035, 0.0035, TOOK)


class Counted(Whole):
    """`value("name", topic="t")` reads a sample of the page as Prometheus would."""

    def __init__(self, **settings: object) -> None:
        self.traffic = Traffic()
        self.changes = PartitionCounters(1)
        self._asked: dict[int, Request] = {}
        super().__init__(**settings)

    def feed(self, event: Any) -> None:
        if isinstance(event, Request):
            self._asked[event.ticket] = event
        super().feed(event)

    def _take(self, effect: Any) -> bool:
        match effect:
            case Reply(ticket, message):
                api = self.traffic.answered(self._asked.pop(ticket), message, 1.0)
                api.times.add(STAMPS)
            case Hangup(ticket):
                self.traffic.hung_up(self._asked.pop(ticket), 1.0).times.add(STAMPS)
        return super()._take(effect)

    def page(self) -> str:
        parts = self.broker.parts
        return "".join(
            (
                *state_text(parts, self.changes, self.now),
                *traffic_text(self.traffic, parts.raft.image, 1.0),
            )
        )

    def samples(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        found = {}
        for family in text_string_to_metric_families(self.page()):
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                assert key not in found, f"{key} is told twice"
                found[key] = sample.value
        return found

    def value(self, name: str, **labels: str) -> float | None:
        """None where the page has no such sample."""
        return self.samples().get((name, frozenset(labels.items())))
