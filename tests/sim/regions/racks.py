"""Where brokers stand, and what an operator asks for who knows it: copies near, observers far (KIP-392, placement)."""

import json

from brokers.ids import BrokerId
from tests.sim.regions.scenario import RegionScenario

NEAR, FAR = "near", "far"


def far_brokers(scenario: RegionScenario) -> tuple[BrokerId, ...]:
    """Those whose copies of a topic with a placement are observers."""
    brokers = [each for each in scenario.shape.numbers if scenario.shape.is_broker(each)]
    return tuple(brokers[len(brokers) - scenario.observers :])


def near_brokers(scenario: RegionScenario) -> tuple[BrokerId, ...]:
    far = far_brokers(scenario)
    brokers = (each for each in scenario.shape.numbers if scenario.shape.is_broker(each))
    return tuple(each for each in brokers if each not in far)


def rack_of(number: BrokerId, scenario: RegionScenario) -> str | None:
    if scenario.observers:
        return FAR if number in far_brokers(scenario) else NEAR
    return f"rack{number % scenario.racks}" if scenario.racks else None


def placement_of(scenario: RegionScenario) -> str | None:
    """As an operator writes it into a topic's settings."""
    if not scenario.observers:
        return None
    return json.dumps(
        {
            "version": 2,
            "replicas": [{"count": scenario.replication, "constraints": {"rack": NEAR}}],
            "observers": [{"count": scenario.observers, "constraints": {"rack": FAR}}],
            "observerPromotionPolicy": scenario.promotion,
        }
    )
