"""A measure's topics are gone when it ends: no memory is freed in the middle of the next one."""

from pathlib import Path

import pytest

from tests.bench import ours, space, topics
from tests.bench.ours_wan import OurWan
from tests.bench.peer import cluster, kafka
from tests.bench.systems import DESTINATION, SOURCE
from tests.process.asking import until

TIMEOUT_S = 30  # by default files stay for 60 s


def test_files_of_deleted_topics_stay_as_long_in_each_system() -> None:
    key = "log.segment.delete.delay.ms"
    assert str(ours.SETTINGS[key]) == kafka.NODE[key] == cluster.SETTINGS[key]


def test_space_that_is_there_is_not_waited_for() -> None:
    assert space.await_free(space.free(), timeout_s=0)


def test_space_that_does_not_come_back_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert not space.await_free(space.free() + 10 * space.SLACK_BYTES, timeout_s=0)
    assert "MB of the disk did not come back" in capsys.readouterr().err


@pytest.mark.process
def test_files_of_a_deleted_topic_are_gone_soon(tmp_path: Path) -> None:
    regions = OurWan(tmp_path)
    regions.up()
    try:
        for name in (SOURCE, DESTINATION):
            topics.create(regions.region(name).bootstrap, "orders", 2)
        assert len(folders(tmp_path)) == 4
        for name in (SOURCE, DESTINATION):
            topics.delete(regions.region(name).bootstrap, "orders")
        until(lambda: not folders(tmp_path), TIMEOUT_S, lambda: str(folders(tmp_path)))
    finally:
        regions.down()


def folders(directory: Path) -> list[Path]:
    return list(directory.glob("*/data/*orders*"))
