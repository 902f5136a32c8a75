"""Where brokers stand, and what an operator asks for who knows it: copies near, observers far (KIP-392, placement)."""

import json

from brokers.ids import BrokerId
from tests.sim.regions.weather import RegionWeather

NEAR, FAR = "near", "far"


def far_brokers(weather: RegionWeather) -> tuple[BrokerId, ...]:
    """Those whose copies of a topic with a placement are observers."""
    brokers = [each for each in weather.shape.numbers if weather.shape.is_broker(each)]
    return tuple(brokers[len(brokers) - weather.observers :])


def near_brokers(weather: RegionWeather) -> tuple[BrokerId, ...]:
    far = far_brokers(weather)
    brokers = (each for each in weather.shape.numbers if weather.shape.is_broker(each))
    return tuple(each for each in brokers if each not in far)


def rack_of(number: BrokerId, weather: RegionWeather) -> str | None:
    if weather.observers:
        return FAR if number in far_brokers(weather) else NEAR
    return f"rack{number % weather.racks}" if weather.racks else None


def placement_of(weather: RegionWeather) -> str | None:
    """As an operator writes it into a topic's settings."""
    if not weather.observers:
        return None
    return json.dumps(
        {
            "version": 2,
            "replicas": [{"count": weather.replication, "constraints": {"rack": NEAR}}],
            "observers": [{"count": weather.observers, "constraints": {"rack": FAR}}],
            "observerPromotionPolicy": weather.promotion,
        }
    )
