"""Levels of features: what operators may finalize, and why not."""

from typing import Any
from uuid import UUID

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.broker_commands import (
    FeatureUpdate,
    RegisterController,
    UpdateFeatures,
)
from tests.unit.brokers.metadata.images import Region

UP, DOWN, UNSAFE = 1, 2, 3


def old_region() -> Region:
    """Begun by an older release."""
    region = Region(brokers=2)
    region.image.features = {"metadata.version": 25}
    return region


def update(region: Region, *items: tuple[str, int, int], **more: Any) -> None:
    region.do(UpdateFeatures(tuple(FeatureUpdate(*item) for item in items), **more))


def test_a_feature_is_raised_to_what_every_node_supports() -> None:
    region = old_region()
    update(region, ("metadata.version", 30, UP), ("group.version", 0, UP))
    assert region.image.features == {"metadata.version": 30}


def test_a_trial_changes_nothing() -> None:
    region = old_region()
    update(region, ("metadata.version", 30, UP), validate_only=True)
    assert region.image.features["metadata.version"] == 25


@pytest.mark.parametrize(
    ("item", "because"),
    [
        (("metadata.version", 31, UP), "supports 7 to 30"),
        (("metadata.version", 20, UP), "must be asked for as one"),
        (("metadata.version", 20, DOWN), "may hold what 20 cannot"),
        (("metadata.version", 20, UNSAFE), "may hold what 20 cannot"),
        (("metadata.version", 30, DOWN), "a downgrade was asked for"),
        (("metadata.version", 30, 9), "no upgrade type 9"),
        (("transaction.version", 2, UP), "supports 0 to 0"),
        (("share.version", 1, UP), "does not support this feature"),
        (("kraft.version", 1, UP), "raised by itself"),
        (("causeway.version", 2, UP), "supports 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_else_done(
    item: tuple[str, int, int], because: str
) -> None:
    region = old_region()
    with pytest.raises(Refusal, match=because) as refused:
        update(region, ("group.version", 0, UP), item)
    assert refused.value.error is KafkaError.INVALID_UPDATE_VERSION
    assert region.image.features == {"metadata.version": 25}


def test_a_node_that_is_too_old_is_named() -> None:
    region = old_region()
    region.register(2, features=(("metadata.version", 7, 26),))
    with pytest.raises(Refusal, match="node 2 does not support it"):
        update(region, ("metadata.version", 30, UP))
    update(region, ("metadata.version", 26, UP))
    assert region.image.features["metadata.version"] == 26


def test_controllers_are_asked_too() -> None:
    region = old_region()
    region.do(
        RegisterController(
            controller_id=3, incarnation=UUID(int=1), endpoints=(), features=(("metadata.version", 7, 28),)
        )
    )  # fmt: skip
    with pytest.raises(Refusal, match="node 3 does not support it"):
        update(region, ("metadata.version", 29, UP))


def test_our_own_level_is_raised_by_operators_and_never_lowered() -> None:
    region = old_region()
    region.register(3)
    assert "causeway.version" not in region.image.features, (
        "a node of the old release may come back"
    )
    update(region, ("causeway.version", 1, UP))
    assert region.image.features["causeway.version"] == 1
    with pytest.raises(Refusal, match="may hold what 0 cannot"):
        update(region, ("causeway.version", 0, UNSAFE))


def test_a_feature_that_is_named_twice_is_refused() -> None:
    with pytest.raises(Refusal, match="named twice"):
        update(old_region(), ("metadata.version", 30, UP), ("metadata.version", 29, UP))
