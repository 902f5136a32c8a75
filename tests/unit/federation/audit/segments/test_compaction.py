"""What checkpoint files say of compaction, and directories that have none."""

from pathlib import Path

import pytest

from federation.audit.segments.checkpoints import (
    CLEANER_OFFSETS,
    COMPLETE_FROM,
    MARKERS_FROM,
    RECOVERY_POINTS,
)
from federation.audit.segments.compaction import Compaction, Compactions
from tests.spark.generate import write_checkpoint

KEY = ("t", 0)


def test_our_checkpoint_counts_and_kafka_s_is_the_lower_bound(tmp_path: Path) -> None:
    write_checkpoint(str(tmp_path), CLEANER_OFFSETS, {KEY: 5, ("t", 1): 9})
    assert Compactions(str(tmp_path)).of(KEY) == Compaction(5, 0)
    write_checkpoint(str(tmp_path), COMPLETE_FROM, {KEY: 7, ("t", 1): 8})
    write_checkpoint(str(tmp_path), MARKERS_FROM, {KEY: 3})
    found = Compactions(str(tmp_path))
    assert found.of(KEY) == Compaction(7, 3)
    assert found.of(("t", 1)) == Compaction(9, 0)


@pytest.mark.parametrize("beside", [None, "meta.properties", RECOVERY_POINTS])
def test_folders_without_any_file_beside_them_say_nothing(
    tmp_path: Path, beside: str | None
) -> None:
    (tmp_path / "t-0").mkdir()
    if beside is not None:
        (tmp_path / beside).touch()
    assert Compactions(str(tmp_path)).of(KEY) == (None if beside is None else Compaction())
