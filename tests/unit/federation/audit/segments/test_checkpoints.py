"""Kafka's checkpoint files."""

from pathlib import Path

import pytest

from federation.audit.segments.checkpoints import HIGH_WATERMARKS, parse, read


def test_offsets_are_read_by_topic_and_partition() -> None:
    assert parse("0\n2\nflights 0 17\nmy.topic-x 11 9223372036854775807\n") == {
        ("flights", 0): 17,
        ("my.topic-x", 11): (1 << 63) - 1,
    }
    assert parse("0\n0\n") == {}
    assert parse("") == {}  # as Kafka makes the file


@pytest.mark.parametrize(
    "text",
    [
        "0\n",
        "1\n0\n",
        "0\nx\n",
        "0\n2\nflights 0 17\n",
        "0\n1\nflights 0\n",
        "0\n1\na 0 b\n",
        "0\n-1\n",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse(text)


def test_a_file_that_is_not_there_holds_no_offsets(tmp_path: Path) -> None:
    assert read(str(tmp_path), HIGH_WATERMARKS) == {}


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / HIGH_WATERMARKS).write_text("damaged")
    with pytest.raises(ValueError, match=HIGH_WATERMARKS):
        read(str(tmp_path), HIGH_WATERMARKS)
