"""Watermarks of a disk: what is kept free by default, what settings make of it, and when a level is left."""

import pytest

from brokers.config.broker_config import BrokerConfig, ConfigError, from_settings
from brokers.config.disk_watermarks import (
    GIB,
    DiskLevel,
    Watermarks,
    watermark_problems,
    watermarks,
)

WARN, REFUSE = "disk.watermark.warn.free.", "disk.watermark.refuse.free."


def settings(**values: int) -> BrokerConfig:
    """`warn_bytes=1`"""
    given = {
        f"disk.watermark.{name.replace('_', '.free.')}": value for name, value in values.items()
    }
    return from_settings({"node.id": 1, "log.dirs": "data", **given})


@pytest.mark.parametrize(
    ("given", "total", "expected"),
    [
        ({}, 1000 * GIB, (10 * GIB, GIB)),
        ({}, 1000, (100, 20)),
        ({"refuse_bytes": 50}, 1000, (100, 50)),
        ({"refuse_bytes": 500}, 1000, (500, 500)),
        ({"refuse_percent": 5}, 1000 * GIB, (50 * GIB, 50 * GIB)),
        ({"refuse_percent": 5, "refuse_bytes": 20, "warn_percent": 30}, 1000, (300, 50)),
        ({"refuse_percent": 1, "refuse_bytes": 20, "warn_bytes": 30}, 1000, (30, 20)),
        ({"refuse_bytes": 0, "warn_bytes": 0}, 1000, (0, 0)),
        ({"refuse_percent": 0}, 1000, (100, 0)),
    ],
)
def test_of_bytes_and_percent_the_one_that_keeps_more_free(
    given: dict[str, int], total: int, expected: tuple[int, int]
) -> None:
    assert watermarks(settings(**given), total) == expected


def test_a_level_is_left_once_a_tenth_more_is_free() -> None:
    marks = Watermarks(warn=2000, refuse=1000)
    levels, level = [], DiskLevel.ROOM
    for free in (2000, 1999, 2199, 1000, 999, 1000, 1099, 1100, 2199, 2200):
        level = marks.level(free, level)
        levels.append(int(level))
    assert levels == [0, 1, 1, 1, 2, 2, 2, 1, 1, 0]


def test_followers_stop_once_half_of_what_is_kept_free_is_gone() -> None:
    marks = Watermarks(warn=2000, refuse=1000)
    levels, level = [], DiskLevel.ROOM
    for free in (500, 499, 549, 550, 0, 1100, 2200):
        level = marks.level(free, level)
        levels.append(int(level))
    assert levels == [2, 3, 3, 2, 3, 1, 0]


def test_a_watermark_of_nothing_is_never_reached() -> None:
    assert Watermarks(0, 0).level(0, DiskLevel.ROOM) is DiskLevel.ROOM


def test_a_watermark_above_the_disk_is_a_problem_that_says_what_to_do() -> None:
    config = settings(refuse_bytes=1000, warn_bytes=1001)
    assert [*watermark_problems(config, "/d", 1002)] == []
    (problem,) = watermark_problems(config, "/d", 1001)
    assert problem == (
        "disk.watermark.warn.free.bytes: 1001 bytes can't be free in /d, whose disk has 1001 in all; "
        "give less than that, or a share of the disk in percent"
    )


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"warn_bytes": 1, "refuse_bytes": 2}, WARN + "bytes"),
        ({"warn_percent": 1, "refuse_percent": 2}, WARN + "percent"),
        ({"refuse_percent": 100}, REFUSE + "percent"),
        ({"refuse_bytes": -1}, REFUSE + "bytes"),
    ],
)
def test_what_contradicts_itself_is_refused(given: dict[str, int], key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        settings(**given)
    assert [each.split(":")[0] for each in caught.value.problems] == [key]
